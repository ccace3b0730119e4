"""`gradfn.scipy.minimize`."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize

import gradfn
from gradfn.scipy import minimize
from gradfn.scipy.minimization import ORDERS

GRADIENTS = ["BFGS", "CG", "L-BFGS-B", "TNC", "SLSQP"]
METHODS = [*GRADIENTS, *(name for name in ORDERS if name != "custom")]
MATRIX = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
VECTOR = np.array([1.0, 2.0, -1.0])
SOLUTION = np.linalg.solve(MATRIX, VECTOR)


def double(values: Any) -> gradfn.Tensor:
    return gradfn.tensor(values, dtype=gradfn.float64)


def quadratic(x: gradfn.Tensor) -> gradfn.Tensor:
    return 0.5 * x @ gradfn.tensor(MATRIX, dtype=x.dtype) @ x - x @ gradfn.tensor(
        VECTOR, dtype=x.dtype
    )


def rosenbrock(x: gradfn.Tensor) -> gradfn.Tensor:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@pytest.mark.parametrize("dtype", [gradfn.float64, gradfn.float32])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_minimum_of_a_quadratic(method: str, dtype: gradfn.dtype) -> None:
    found = minimize(quadratic, gradfn.zeros(3, dtype=dtype), method=method)
    assert found.success, found.message
    assert found.x.dtype == dtype and not found.x.requires_grad
    np.testing.assert_allclose(found.x.numpy(), SOLUTION, atol=3e-3)


@pytest.mark.parametrize("method", ["BFGS", "Newton-CG", "trust-exact", "dogleg", "trust-krylov"])
def test_derivatives_are_those_that_scipy_would_be_given_by_hand(method: str) -> None:
    x0 = np.array([1.2, 1.1, 1.3])
    order = ORDERS.get(method.lower())
    expected = optimize.minimize(
        optimize.rosen,
        x0,
        method=method,
        jac=optimize.rosen_der,
        hess=optimize.rosen_hess if order == "Hessian" else None,
        hessp=optimize.rosen_hess_prod if order == "product" else None,
    )
    found = minimize(rosenbrock, double(x0), method=method)
    np.testing.assert_allclose(found.x.numpy(), expected.x, rtol=1e-6)
    assert (found.nit, found.nfev) == (expected.nit, expected.nfev)


def test_trees_keep_their_structure_shapes_and_dtypes() -> None:
    x0 = {
        "w": gradfn.zeros(2, 2),
        "rest": [gradfn.zeros((), dtype=gradfn.float64), (gradfn.zeros(0), gradfn.ones(1))],
    }

    def f(x: dict[str, Any]) -> gradfn.Tensor:
        scalar, (empty, one) = x["rest"]
        return ((x["w"] - 3) ** 2).sum() + (scalar + 1) ** 2 + empty.sum() + (one - 2).square()[0]

    found = minimize(f, x0)
    for tree in (found.x, found.jac):
        assert tree["w"].dtype == gradfn.float32 and tree["w"].shape == (2, 2)
        assert tree["rest"][0].dtype == gradfn.float64 and tree["rest"][0].shape == ()
        assert isinstance(tree["rest"][1], tuple) and tree["rest"][1][0].shape == (0,)
    assert gradfn.allclose(found.x["w"], gradfn.full((2, 2), 3.0), atol=1e-3)
    assert found.x["rest"][0].item() == pytest.approx(-1, abs=1e-3)
    assert found.x["rest"][1][1].item() == pytest.approx(2, abs=1e-3)
    assert x0["w"].eq(0).all()


@pytest.mark.parametrize("method", ["BFGS", "trust-exact"])
def test_complex_numbers(method: str) -> None:
    target = gradfn.tensor([1 + 2j, -3j], dtype=gradfn.complex128)
    found = minimize(lambda z: (z - target).abs().square().sum(), target * 0 + 1, method=method)
    assert gradfn.allclose(found.x, target, atol=1e-5)


def test_the_function_runs_once_at_each_point() -> None:
    points = []

    def f(x: gradfn.Tensor, scale: float) -> gradfn.Tensor:
        points.append(tuple(x.tolist()))
        return scale * rosenbrock(x)

    for method in ("BFGS", "trust-ncg", "trust-exact"):
        points.clear()
        found = minimize(f, double([1.5, 1.5]), args=2.0, method=method)
        assert len(points) == len(set(points)) == found.nfev


@pytest.mark.parametrize("bounds", [(0.5, None), [(0.5, None)] * 3, optimize.Bounds(0.5)])
@pytest.mark.parametrize("method", [None, "L-BFGS-B", "TNC", "SLSQP", "trust-constr", "Powell"])
def test_bounds(method: str | None, bounds: Any) -> None:
    found = minimize(quadratic, gradfn.ones(3, dtype=gradfn.float64), method=method, bounds=bounds)
    expected = optimize.minimize(
        lambda x: 0.5 * x @ MATRIX @ x - x @ VECTOR, np.ones(3), bounds=[(0.5, None)] * 3
    )
    np.testing.assert_allclose(found.x.numpy(), expected.x, atol=1e-3)


def test_bounds_of_a_tree_go_by_tensor() -> None:
    x0 = (double([0.5, 0.5]), double(0.5))
    bounds = ((0.0, double([1.0, 3.0])), None)
    found = minimize(lambda x: ((x[0] - 2) ** 2).sum() + (x[1] + 7) ** 2, x0, bounds=bounds)
    assert gradfn.allclose(found.x[0], double([1.0, 2.0]))
    assert found.x[1].item() == pytest.approx(-7)
    with pytest.raises(ValueError, match=r"bounds of x0\[1\] must be a pair"):
        minimize(lambda x: x[1], x0, bounds=(None, 3.0))
    with pytest.raises(ValueError, match="bounds has the wrong structure"):
        minimize(lambda x: x[1], x0, bounds={"a": None})


def circle(x: gradfn.Tensor) -> gradfn.Tensor:
    return x.square().sum() - 1


@pytest.mark.parametrize(
    ("method", "constraint"),
    [
        (None, {"type": "eq", "fun": circle}),
        ("SLSQP", {"type": "eq", "fun": lambda x, radius: circle(x) + 1 - radius, "args": (1.0,)}),
        ("SLSQP", optimize.NonlinearConstraint(circle, 0, 0)),
        ("trust-constr", {"type": "eq", "fun": circle}),
        ("trust-constr", optimize.NonlinearConstraint(circle, 0, 0)),
        ("COBYQA", optimize.NonlinearConstraint(circle, 0, 0)),
    ],
)
def test_constraints_are_functions_of_tensors(method: str | None, constraint: Any) -> None:
    direction = double([3.0, 4.0])
    found = minimize(
        lambda x: direction @ x, double([-1.0, 0.5]), method=method, constraints=constraint
    )
    np.testing.assert_allclose(found.x.numpy(), [-0.6, -0.8], atol=1e-5)


def test_linear_constraints_are_in_the_coordinates_of_ravel() -> None:
    constraint = optimize.LinearConstraint([[1.0, 1.0]], 1.0, 1.0)
    x0 = {"a": double(0.0), "b": double(0.0)}
    found = minimize(lambda x: x["a"] ** 2 + 3 * x["b"] ** 2, x0, constraints=constraint)
    assert found.x["a"].item() == pytest.approx(0.75)


def test_the_callback_gets_the_structure_and_can_stop() -> None:
    seen = []

    def callback(x: dict[str, gradfn.Tensor]) -> None:
        seen.append(x["x"])
        if len(seen) == 2:
            raise StopIteration

    def reported(intermediate_result: Any) -> None:
        seen.append(intermediate_result.x["x"])

    x0 = {"x": double([-1.0, 1.5])}
    found = minimize(lambda x: rosenbrock(x["x"]), x0, callback=callback)
    assert len(seen) == 2 and found.x["x"].equal(seen[-1])
    seen.clear()
    found = minimize(lambda x: rosenbrock(x["x"]), x0, callback=reported, method="L-BFGS-B")
    assert found.x["x"].equal(seen[-1]) and len(seen) == found.nit
    seen.clear()
    minimize(lambda x: rosenbrock(x["x"]), x0, method="trust-constr", callback=lambda x, state: 0)


def test_infinite_values_bound_the_domain() -> None:
    def f(x: gradfn.Tensor) -> gradfn.Tensor:
        return gradfn.where(x > 0, x - x.log(), gradfn.inf).sum()

    assert minimize(f, double([0.01])).x.item() == pytest.approx(1)


@pytest.mark.parametrize(
    ("f", "x0", "error", "message"),
    [
        (lambda x: x * 2, double([1.0, 2.0]), RuntimeError, r"real scalar outputs.* shape \[2\]"),
        (lambda x: x.sum() + 1j, double([1.0]), RuntimeError, "real scalar.*complex128"),
        (quadratic, gradfn.arange(3), RuntimeError, "floating point.*x0 is of torch.int64"),
        (quadratic, [1.0, 2.0, 3.0], TypeError, r"x0\[0\] must be a tensor.*got float"),
        (quadratic, [], ValueError, "x0 has no elements"),
        (lambda x: 3.0, double([1.0]), TypeError, r"f\(x\) must be a tensor.*got float"),
        (lambda x: x.detach().sum(), double([1.0]), RuntimeError, "does not depend on x"),
        (
            lambda x: gradfn.ones(1, requires_grad=True),
            double([1.0]),
            RuntimeError,
            "does not depend on x",
        ),
        (lambda x: (x - 2).log().sum(), double([1.0]), ValueError, r"f\(x\) is nan at x = tensor"),
    ],
)
@pytest.mark.parametrize("method", ["BFGS", "trust-ncg"])
def test_errors(f: Any, x0: Any, error: type[Exception], message: str, method: str) -> None:
    with pytest.raises(error, match=message):
        minimize(f, x0, method=method)


def test_arguments_need_no_tuple() -> None:
    target = double([1.0, 2.0])
    found = minimize(lambda x, a: (x - a).square().sum(), target * 0, args=target)
    assert gradfn.allclose(found.x, target)


def test_unknown_methods_are_scipys_error() -> None:
    with pytest.raises(ValueError, match="Unknown solver"):
        minimize(quadratic, gradfn.zeros(3), method="steepest")
