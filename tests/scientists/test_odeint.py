"""`gradfn.scipy.odeint`: solutions, and gradients by the adjoint method."""

from typing import Any

import numpy as np
import pytest
from scipy import integrate

import gradfn
from gradfn import nn
from gradfn.autograd import grad, gradcheck, gradgradcheck
from gradfn.autograd.functional import hessian, jacobian
from gradfn.scipy import odeint, odeint_event

Tensor = gradfn.Tensor
TIGHT: dict[str, Any] = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}


def double(values: Any, requires_grad: bool = False) -> Tensor:
    return gradfn.tensor(values, dtype=gradfn.float64, requires_grad=requires_grad)


def decay(t: Tensor, y: Tensor, rate: Tensor) -> Tensor:
    return -rate * y


T = double([0.0, 0.5, 2.0])
MATRIX = double([[-0.1, 2.0], [-2.0, -0.1]])


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF", "LSODA"])
@pytest.mark.parametrize("backwards", [False, True])
def test_every_method_follows_a_linear_equation(method: str, backwards: bool) -> None:
    t, y0 = T.flip(0) if backwards else T, double([1.0, -2.0], True)
    matrix = MATRIX.clone().requires_grad_()
    y = odeint(lambda t, y, A: A @ y, y0, t, matrix, method=method, rtol=1e-8, atol=1e-10)
    exact = gradfn.stack([gradfn.linalg.matrix_exp(matrix * (s - t[0])) @ y0 for s in t])
    assert y[0].equal(y0)
    np.testing.assert_allclose(y.detach().numpy(), exact.detach().numpy(), rtol=1e-5, atol=1e-6)
    weights = double([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    results = (grad((states * weights).sum(), (y0, matrix)) for states in (y, exact))
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)


def test_gradients_of_everything() -> None:
    def f(t: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return a * (t * b).cos() * y.flip(0) - y**2

    def solve(y0: Tensor, t: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return odeint(f, y0, t, a, b, **TIGHT)  # type: ignore[no-any-return]

    inputs = double([1.0, 0.5]), double([0.2, 0.7, 1.5]), double([0.8, 1.1]), double(3.0)
    assert gradcheck(solve, tuple(tensor.requires_grad_() for tensor in inputs))
    t = double([0.7, 0.5, 0.2], True)
    assert gradcheck(lambda y0, t: solve(y0, t, *inputs[2:]), (inputs[0], t))


def test_the_adjoint_may_be_constant_where_the_solution_is_not() -> None:
    frequency, t = double(30.0, True), double([0.0, 3.0], True)
    y = odeint(lambda t, y, w: (w * t).sin(), double(0.0), t, frequency, **TIGHT)
    exact = (1 - (frequency * t[1]).cos()) / frequency
    assert gradfn.allclose(y[1], exact, rtol=1e-10)
    results = (grad(value, (frequency, t)) for value in (y[1], exact))
    for found, expected in zip(*results, strict=True):
        assert gradfn.allclose(found, expected, rtol=1e-9)


def test_gradients_of_gradients() -> None:
    def solve(y0: Tensor, rate: Tensor, end: Tensor) -> Tensor:
        t = gradfn.stack([gradfn.zeros_like(end), end])
        return odeint(decay, y0, t, rate, **TIGHT)[1]  # type: ignore[no-any-return]

    inputs = double(2.0, True), double(0.7, True), double(1.3, True)
    assert gradgradcheck(solve, inputs)

    def exact(y0: Tensor, rate: Tensor, end: Tensor) -> Tensor:
        return y0 * (-rate * end).exp()

    found, expected = (hessian(value, inputs) for value in (solve, exact))
    assert gradfn.allclose(double(found), double(expected), atol=1e-8)
    first = grad(solve(*inputs), inputs[1], create_graph=True)[0]
    assert gradfn.allclose(first, grad(exact(*inputs), inputs[1])[0])


def test_trees_of_states_and_of_arguments() -> None:
    def f(t: Tensor, state: dict[str, Any], spring: dict[str, Tensor], sign: int) -> dict[str, Any]:
        x, (v,) = state["x"], state["v"]
        return {"x": v, "v": (sign * spring["k"] * x,)}

    y0 = {"x": double([[1.0, 2.0]]), "v": (double([[0.0, 1.0]]),)}
    k = double(4.0, True)
    y = odeint(f, y0, T, {"k": k}, -1, **TIGHT)
    assert y["x"].shape == (3, 1, 2) and isinstance(y["v"], tuple)
    exact = y0["x"] * (2 * T[2]).cos() + y0["v"][0] / 2 * (2 * T[2]).sin()
    assert gradfn.allclose(y["x"][2], exact)
    assert gradcheck(lambda k: odeint(f, y0, T, {"k": k}, -1, **TIGHT)["v"][0], k)


def test_complex_states() -> None:
    def f(t: Tensor, z: Tensor, w: Tensor) -> Tensor:
        return 1j * w * z

    w, z0 = double(1.5, True), gradfn.tensor([1 + 1j], dtype=gradfn.complex128, requires_grad=True)
    z = odeint(f, z0, T, w, **TIGHT)
    assert gradfn.allclose(z[1], z0 * (0.75j * gradfn.ones(())).exp())
    assert gradcheck(lambda z0, w: odeint(f, z0, T, w, **TIGHT), (z0, w))


def test_parameters_of_a_module_are_arguments() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))

        def forward(self, t: Tensor, y: Tensor) -> Tensor:
            return self.layers(y) * t.cos()  # type: ignore[no-any-return]

    gradfn.manual_seed(0)
    model, y0 = Model().double(), double([[0.3, -0.4], [1.0, 2.0]])
    parameters = tuple(model.parameters())
    assert gradcheck(lambda *_: odeint(model, y0, T, **TIGHT), parameters)
    (slope,) = grad(odeint(model, y0, T, **TIGHT).sum(), parameters[0], create_graph=True)
    (bend,) = grad(slope.sum(), parameters[3])

    def slope_at(shift: float) -> Any:
        with gradfn.no_grad():
            parameters[3].add_(shift)
        found = grad(odeint(model, y0, T, **TIGHT).sum(), parameters[0])[0].sum().item()
        with gradfn.no_grad():
            parameters[3].sub_(shift)
        return found

    assert (slope_at(1e-5) - slope_at(-1e-5)) / 2e-5 == pytest.approx(bend.sum().item(), rel=1e-5)


def test_stiff_equations() -> None:
    def f(t: Tensor, y: Tensor, k: Tensor) -> Tensor:
        return -k * (y - t.cos())

    k = double(1e4, True)
    for method in ("Radau", "BDF", "LSODA"):
        y = odeint(f, double(0.0, True), double([0.0, 2.0]), k, method=method)
        assert y[1].item() == pytest.approx(np.cos(2.0) + np.sin(2.0) / 1e4, rel=1e-6)
        assert grad(y[1], k)[0].item() == pytest.approx(-np.sin(2.0) / 1e8, rel=1e-3)


def test_scipys_solution_is_returned_as_it_is() -> None:
    expected = integrate.solve_ivp(
        lambda t, y: -0.5 * y, (0, 2), [1.0], t_eval=T.numpy(), rtol=1e-5, atol=1e-7, max_step=0.1
    )
    y = odeint(decay, double([1.0]), T, 0.5, rtol=1e-5, atol=1e-7, max_step=0.1)
    np.testing.assert_array_equal(y.numpy(), expected.y.T)


def test_backward_passes_share_the_forward_solution() -> None:
    calls = []

    def f(t: Tensor, y: Tensor, rate: Tensor) -> Tensor:
        calls.append(t.item())
        return -rate * y

    rate = double(0.5, True)
    y = odeint(f, double([1.0, 2.0]), double([0.0, 1.0]), rate, max_step=0.01)
    assert len(calls) > 600
    calls.clear()
    grad(y[1, 0], rate, retain_graph=True)
    once = len(calls)
    grad(y[1, 1], rate)
    assert len(calls) == 2 * once
    assert calls[0] == 1.0 and min(calls[:300]) > 0.4  # backwards from the end at once


def test_only_what_is_wanted_is_computed() -> None:
    assert not odeint(decay, double(1.0), T, double(0.5)).requires_grad
    y0, rate = double(1.0, True), double(0.5)
    odeint(decay, y0, T, rate).sum().backward()
    assert rate.grad is None
    assert y0.grad.item() == pytest.approx((-0.5 * T).exp().sum().item(), rel=1e-6)
    with gradfn.no_grad():
        assert not odeint(decay, y0, T, rate).requires_grad
    assert odeint(decay, y0, T[:1], rate).tolist() == [1.0]


@pytest.mark.parametrize("vectorize", [False, True])
def test_batches_of_gradients(vectorize: bool) -> None:
    found = jacobian(
        lambda y0: odeint(decay, y0, T, 0.5, **TIGHT), double([1.0, 2.0]), vectorize=vectorize
    )
    expected = (-0.5 * T).exp()[:, None, None] * gradfn.eye(2, dtype=gradfn.float64)
    assert gradfn.allclose(found, expected)


def test_batches_of_problems() -> None:
    rates = double([0.1, 0.5, 2.0])

    def final(rate: Tensor) -> Tensor:
        return odeint(decay, double(1.0), T, rate, **TIGHT)[-1]  # type: ignore[no-any-return]

    assert gradfn.allclose(gradfn.func.vmap(final)(rates), (-2 * rates).exp())
    slopes = gradfn.func.vmap(gradfn.func.grad(final))(rates)
    assert gradfn.allclose(slopes, -2 * (-2 * rates).exp())


def test_float32() -> None:
    y0, rate = gradfn.tensor([1.0, 2.0], requires_grad=True), gradfn.tensor(0.5, requires_grad=True)
    y = odeint(decay, y0, T.float(), rate)
    assert y.dtype == gradfn.float32
    y[2].sum().backward()
    assert y0.grad.dtype == rate.grad.dtype == gradfn.float32
    assert rate.grad.item() == pytest.approx(-6 * np.exp(-1), rel=1e-3)


def test_errors() -> None:
    hidden = double(2.0, True)
    y0 = double([1.0, 2.0])
    with pytest.raises(ValueError, match=r"strictly increasing or decreasing, but is \[0.0, 1"):
        odeint(decay, y0, double([0.0, 1.0, 1.0]), 0.5)
    with pytest.raises(ValueError, match=r"one dimension, but it has shape \[2\] and .*int64"):
        odeint(decay, y0, gradfn.arange(2), 0.5)
    with pytest.raises(TypeError, match="t must be a tensor of times, but got list"):
        odeint(decay, y0, [0.0, 1.0], 0.5)
    with pytest.raises(RuntimeError, match=r"f\(t, y\) must have the shape \[2\] of y0, but"):
        odeint(lambda t, y: y.sum(), y0, T)
    with pytest.raises(ValueError, match=r"f\(t, y\) has the wrong structure"):
        odeint(lambda t, y: y["x"], {"x": y0}, T)
    with pytest.raises(RuntimeError, match=r"f\(t, y\) is of torch.complex128 where y0 is of"):
        odeint(lambda t, y: 1j * y, y0, T)
    with pytest.raises(RuntimeError, match="tensor that requires grad and is not among its arg"):
        odeint(lambda t, y: hidden * y, y0, T)
    with pytest.raises(ValueError, match=r"f\(t, y\) is not finite at the start, where t is 0.0"):
        odeint(lambda t, y: (y - 5).log(), y0, T)
    with pytest.raises(RuntimeError, match=r"odeint stopped at t = 0\.\d+ on the way from 0"):
        odeint(lambda t, y: y**2, y0, T)


def test_options_are_scipys() -> None:
    rate = double(0.5, True)
    y = odeint(decay, double(1.0), T, rate, first_step=0.7, method=integrate.Radau)
    assert grad(y[2], rate)[0].item() == pytest.approx(-2 * np.exp(-1), rel=1e-5)
    with pytest.raises(NotImplementedError, match="events"):
        odeint(decay, double(1.0), T, rate, events=lambda t, y: y)


def test_what_the_function_does_to_its_arguments_stays_there() -> None:
    y0 = double([1.0])
    y = odeint(lambda t, y: y.neg_(), y0, T)
    assert y0.item() == 1 and y[2].item() == pytest.approx(np.exp(-2))


# Events


def fall(t: Tensor, y: Tensor, g: Tensor) -> Tensor:
    return gradfn.stack([y[1], -g])


def landing(y0: Tensor, t0: Tensor, g: Tensor, floor: Tensor) -> tuple[Tensor, Tensor]:
    return odeint_event(  # type: ignore[no-any-return]
        lambda t, y, g, floor: fall(t, y, g),
        y0,
        t0,
        lambda t, y, g, floor: y[0] - floor,
        g,
        floor,
        t_end=100,
        **TIGHT,
    )


def test_the_time_and_the_state_of_an_event() -> None:
    inputs = double([3.0, 1.0], True), double(0.5, True), double(9.81, True), double(1.0, True)
    y0, t0, g, floor = inputs
    t, y = landing(*inputs)
    speed = (y0[1] ** 2 + 2 * g * (y0[0] - floor)).sqrt()
    assert gradfn.allclose(t, t0 + (y0[1] + speed) / g)
    assert gradfn.allclose(y, gradfn.stack([floor, -speed]))
    assert gradcheck(landing, inputs)
    expected = grad(-speed, inputs, allow_unused=True, materialize_grads=True)
    for found, due in zip(grad(y[1], inputs), expected, strict=True):
        assert gradfn.allclose(found, due, atol=1e-8)


def test_second_derivatives_of_the_time_of_an_event() -> None:
    floor, t0, y0 = double(0.0), double(0.0), double([2.0, 0.0])
    found = hessian(lambda g: landing(y0, t0, g, floor)[0], double(9.81))
    assert found.item() == pytest.approx(0.75 * 2 / 9.81**2.5)


def test_only_events_in_the_direction_count() -> None:
    def swing(t: Tensor, y: Tensor) -> Tensor:
        return gradfn.stack([y[1], -y[0]])

    y0, t0 = double([1.0, 0.0]), double([0.0])
    for direction, quarters in ((0, 1), (-1, 1), (1, 3)):
        t, _ = odeint_event(swing, y0, t0, lambda t, y: y[0], t_end=9, direction=direction, **TIGHT)
        assert t.item() == pytest.approx(quarters * np.pi / 2)
    with pytest.raises(RuntimeError, match=r"no event between t = 0\.0 and t_end = 1"):
        odeint_event(swing, y0, t0, lambda t, y: y[0], t_end=1)
    with pytest.raises(TypeError, match="t0 must be a tensor of floating point"):
        odeint_event(swing, y0, 0.0, lambda t, y: y[0], t_end=1)
    hidden = double(0.5, True)
    with pytest.raises(RuntimeError, match=r"event\(t, y\) depends on a tensor that requires grad"):
        odeint_event(swing, y0, t0, lambda t, y: y[0] - hidden, t_end=9)
