"""`root`, `root_scalar` and `least_squares` of `gradfn.scipy`."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from scipy import optimize

import gradfn
from gradfn.scipy import color_jacobian, jacobian_operator, least_squares, root, root_scalar

Tensor = gradfn.Tensor


def double(values: Any) -> gradfn.Tensor:
    return gradfn.tensor(values, dtype=gradfn.float64)


def system(x: gradfn.Tensor) -> gradfn.Tensor:
    return gradfn.stack([x[0] * x[1] - 2, x[0] - x[1] - 1])


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov", "broyden1", "df-sane"])
def test_roots(method: str) -> None:
    found = root(system, double([1.8, 0.9]), method=method)
    assert found.success, found.message
    np.testing.assert_allclose(found.x.numpy(), [2, 1], atol=1e-5)
    np.testing.assert_allclose(found.fun.numpy(), 0, atol=1e-5)


@pytest.mark.parametrize("method", ["hybr", "lm"])
def test_the_jacobian_is_computed(method: str) -> None:
    calls = []

    def f(x: gradfn.Tensor) -> gradfn.Tensor:
        calls.append(x)
        return system(x)

    found = root(f, double([3.0, 3.0]), method=method)
    expected = optimize.root(
        lambda x: [x[0] * x[1] - 2, x[0] - x[1] - 1],
        [3.0, 3.0],
        method=method,
        jac=lambda x: [[x[1], x[0]], [1, -1]],
    )
    assert (found.nfev, found.njev) == (expected.nfev, expected.njev)
    assert len(calls) <= found.nfev + 1


def test_roots_of_trees() -> None:
    def f(x: dict[str, gradfn.Tensor], a: gradfn.Tensor) -> tuple[gradfn.Tensor, ...]:
        return x["z"] ** 2 + a, x["r"] - x["z"].imag.sum()

    x0 = {"r": gradfn.zeros(()), "z": gradfn.tensor([1 + 1j, -1 - 2j], dtype=gradfn.complex128)}
    found = root(f, x0, args=(double(4.0),))
    assert found.x["z"].numpy() == pytest.approx(np.array([2j, -2j]))
    assert found.x["r"].dtype == gradfn.float32 and found.x["r"].item() == pytest.approx(
        0, abs=1e-6
    )
    assert isinstance(found.fun, tuple) and found.fun[0].dtype == gradfn.complex128


def test_as_many_equations_as_unknowns() -> None:
    with pytest.raises(RuntimeError, match=r"2 unknowns needs as many equations, but f\(x\) has 1"):
        root(lambda x: x.sum(), double([1.0, 2.0]))
    assert root(lambda x: gradfn.cat([x - 1, x - 1]), double([0.0]), method="lm").success
    with pytest.raises(ValueError, match="x0 has no elements"):
        root(lambda x: x, double([]))


@pytest.mark.parametrize("method", [None, "brentq", "bisect", "toms748", "ridder", "brenth"])
def test_roots_between_two_ends(method: str | None) -> None:
    found = root_scalar(lambda x: x.cos() - x, bracket=(0.0, double(1.0)), method=method)
    assert found.converged and found.root.dtype == gradfn.float64
    assert found.root.item() == pytest.approx(0.7390851332151607)


@pytest.mark.parametrize("method", [None, "newton", "halley", "secant"])
def test_roots_near_a_number(method: str | None) -> None:
    more = {"x1": 2.0} if method == "secant" else {}
    x0 = gradfn.ones(1, 1, requires_grad=True)
    found = root_scalar(lambda x, a: (x**3 - a).sum(), x0, args=(27,), method=method, **more)
    assert found.root.shape == (1, 1) and found.root.dtype == gradfn.float32
    assert found.root.item() == pytest.approx(3)
    irrational = root_scalar(lambda x: (x**3 - 7).sum(), x0, method=method, **more)
    assert irrational.converged and irrational.root.item() == pytest.approx(7 ** (1 / 3))


def test_halley_takes_fewer_steps_than_newton() -> None:
    x0 = double(6.0)
    newton, halley = (
        root_scalar(lambda x: x.exp() - 1000, x0, method=method) for method in ("newton", "halley")
    )
    assert halley.iterations < newton.iterations


def test_a_root_needs_somewhere_to_start() -> None:
    with pytest.raises(ValueError, match="root_scalar needs x0"):
        root_scalar(lambda x: x)
    with pytest.raises(RuntimeError, match="real scalar"):
        root_scalar(lambda x: gradfn.stack([x, x]), double(1.0))


T = double(np.linspace(0, 2, 11))
Y = 3 * (-0.5 * T).exp() + 1


def residuals(x: dict[str, gradfn.Tensor]) -> dict[str, gradfn.Tensor]:
    return {"r": x["height"] * (-x["rate"] * T).exp() + x["offset"] - Y}


START = {"height": double(1.0), "rate": double(1.0), "offset": double(0.0)}


@pytest.mark.parametrize("options", [{}, {"method": "lm"}, {"loss": "soft_l1", "method": "dogbox"}])
def test_least_squares(options: dict[str, Any]) -> None:
    found = least_squares(residuals, START, **options)
    assert found.x["height"].item() == pytest.approx(3)
    assert found.x["rate"].item() == pytest.approx(0.5)
    assert found.fun["r"].shape == (11,) and found.jac.shape == (11, 3)
    assert found.grad["rate"].item() == pytest.approx(0, abs=1e-6)


def test_least_squares_within_bounds() -> None:
    bounds = {"height": (0, 2), "rate": None, "offset": (None, 5.0)}
    found = least_squares(residuals, START, bounds=bounds)
    assert found.x["height"].item() == pytest.approx(2)


def test_least_squares_with_a_sparse_jacobian() -> None:
    size = 50
    pattern = scipy.sparse.diags_array([1.0, 1.0], offsets=[0, 1], shape=(size - 1, size))
    start, last = gradfn.zeros(size, dtype=gradfn.float64), double([3.0])

    def f(x: gradfn.Tensor) -> gradfn.Tensor:
        return (x[1:] - x[:-1] ** 3 - 0.1) * 2

    for sparsity in (pattern, color_jacobian(pattern)):
        found = least_squares(f, start, sparsity=sparsity)
        assert scipy.sparse.issparse(found.jac)
        np.testing.assert_allclose(found.fun.numpy(), 0, atol=1e-6)
    with pytest.raises(ValueError, match=r"sparsity is of shape \(49, 50\), but .* \(50, 50\)"):
        least_squares(lambda x: x - last, start, sparsity=pattern)


class Outside(gradfn.autograd.Function):
    """The exponential, with a gradient that NumPy computes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return gradfn.from_numpy(np.exp(x.detach().numpy()))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return gradfn.from_numpy(grad.detach().numpy() * np.exp(x.detach().numpy()))


def test_functions_that_compute_outside_of_the_graph() -> None:
    x = double([1.0, 2.0])
    found = root(lambda x: Outside.apply(x) - 3, x).x
    np.testing.assert_allclose(found.numpy(), np.log([3, 3]))

    def residuals(x: Tensor) -> Tensor:
        return gradfn.cat([Outside.apply(x) - 3, x - 1])

    jacobian = least_squares(residuals, x).jac
    np.testing.assert_allclose(jacobian[2:], np.eye(2))
    assert jacobian[0, 0] > 1 and jacobian[0, 1] == 0
    with pytest.raises(RuntimeError, match="custom function computes its own outside"):
        jacobian_operator(Outside.apply, x).matvec([1.0, 1.0])
    assert not jacobian_operator(gradfn.round, x).matvec([1.0, 1.0]).any()
