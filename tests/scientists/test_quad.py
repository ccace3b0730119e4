"""`gradfn.scipy.quad`: integrals and their gradients."""

from math import pi
from typing import Any

import numpy as np
import pytest
from scipy.integrate import IntegrationWarning

import gradfn
from gradfn import nn
from gradfn.autograd import grad, gradcheck, gradgradcheck
from gradfn.autograd.functional import jacobian
from gradfn.scipy import quad

Tensor = gradfn.Tensor


def double(values: Any, requires_grad: bool = False) -> Tensor:
    return gradfn.tensor(values, dtype=gradfn.float64, requires_grad=requires_grad)


def test_closed_forms() -> None:
    assert quad(lambda x: x.sin(), 0, pi).item() == pytest.approx(2)
    assert quad(lambda x: (-x * x).exp(), -gradfn.inf, gradfn.inf).item() == pytest.approx(pi**0.5)
    assert quad(lambda x: x**-0.5, 0, 1).item() == pytest.approx(2)
    assert quad(lambda x: x, 1, 0).item() == pytest.approx(-0.5)
    assert quad(lambda x: x**3, -1, 1).item() == pytest.approx(0)


def test_gradients_of_limits_and_arguments() -> None:
    def integral(a: Tensor, b: Tensor, w: Tensor) -> Tensor:
        return quad(lambda x, w: (w * x).sin() * x, a, b, w, epsrel=1e-12)  # type: ignore[no-any-return]

    inputs = double(0.3, True), double([1.2], True), double([1.0, 2.0], True)
    assert integral(*inputs).shape == (2,)
    assert gradcheck(integral, inputs)
    assert gradgradcheck(integral, inputs)


def test_derivatives_of_the_third_order() -> None:
    rate = found = double(2.0, True)
    found = quad(lambda x, rate: (-rate * x).exp(), 0, gradfn.inf, rate, epsrel=1e-10)
    for expected in (-1 / 4, 2 / 8, -6 / 16):
        (found,) = grad(found, rate, create_graph=True)
        assert found.item() == pytest.approx(expected)


def test_infinite_limits_have_no_gradient() -> None:
    a, b = double(0.0, True), double(gradfn.inf, True)
    quad(lambda x: (-x).exp(), a, b).backward()
    assert a.grad.item() == -1 and b.grad.item() == 0


def test_trees_and_complex_values() -> None:
    def f(x: Tensor, p: dict[str, Tensor]) -> dict[str, Any]:
        return {"wave": (1j * p["w"] * x).exp(), "powers": [x ** p["n"]]}

    p = {"w": double(3.0, True), "n": double([1.0, 2.0, 3.0])}
    found = quad(f, 0, 1, p)
    assert gradfn.allclose(found["powers"][0], 1 / (p["n"] + 1))
    assert found["wave"].item() == pytest.approx((np.exp(3j) - 1) / 3j)
    assert gradcheck(lambda w: quad(f, 0, 1, {**p, "w": w})["wave"], p["w"])


def test_parameters_of_a_module_are_arguments() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(1, 3), nn.Tanh(), nn.Linear(3, 1))

        def forward(self, x: Tensor) -> Tensor:
            return self.layers(x.reshape(1))  # type: ignore[no-any-return]

    gradfn.manual_seed(0)
    model = Model().double()
    parameters = tuple(model.parameters())
    assert gradcheck(lambda *_: quad(model, 0, 1, epsrel=1e-12), parameters)
    assert gradgradcheck(lambda *_: quad(model, 0, 1, epsrel=1e-12), parameters)


def test_the_argument_is_of_the_widest_dtype() -> None:
    seen = []

    def f(x: Tensor, scale: Any) -> Tensor:
        seen.append((x.dtype, tuple(x.shape)))
        return x * scale

    for scale, expected in ((1, gradfn.float64), (gradfn.ones(2), gradfn.float32)):
        seen.clear()
        assert quad(f, 0, 1, scale).dtype == expected
        assert set(seen) == {(expected, ())}
    assert quad(f, gradfn.zeros(1), double(1.0), gradfn.ones(2)).dtype == gradfn.float32
    assert seen[-1] == (gradfn.float64, ())


@pytest.mark.parametrize("vectorize", [False, True])
def test_batches(vectorize: bool) -> None:
    rates = double([1.0, 2.0, 4.0])

    def integral(rate: Tensor) -> Tensor:
        return quad(lambda x, rate: (-rate * x).exp(), 0, gradfn.inf, rate)  # type: ignore[no-any-return]

    expected = (-1 / rates**2).diag()
    assert gradfn.allclose(jacobian(integral, rates, vectorize=vectorize), expected)
    assert gradfn.allclose(gradfn.func.vmap(integral)(rates), 1 / rates)
    slopes = gradfn.func.vmap(gradfn.func.grad(integral))(rates)
    assert gradfn.allclose(slopes, -1 / rates**2)


def test_errors() -> None:
    hidden = double(2.0, True)
    with pytest.raises(RuntimeError, match=r"quad did not converge between 0\.0 and 1\.0"):
        quad(lambda x: (1000 * x).sin(), 0, 1, limit=2)
    with pytest.raises(RuntimeError, match=r"f\(x\) depends on a tensor that requires grad"):
        quad(lambda x: hidden * x, 0, 1)
    with pytest.raises(TypeError, match=r"f\(x\) must be a tensor.*got float"):
        quad(float, 0, 1)
    with pytest.raises(TypeError, match="limits of an integral must be real"):
        quad(gradfn.sin, gradfn.tensor(1j), 0)
    with pytest.warns(IntegrationWarning, match="the integral has an error of about"):
        quad(lambda x: (1000 * x).sin(), 0, 1, epsrel=1e-30)
