"""Derivatives through solutions: `gradfn.scipy.implicit` and `fixed_point`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse.linalg import bicgstab

import gradfn
from gradfn import nn
from gradfn.autograd import grad, gradcheck, gradgradcheck
from gradfn.autograd.functional import hessian, jacobian
from gradfn.scipy import fixed_point, implicit, minimize, root

Tensor = gradfn.Tensor


def double(values: Any, requires_grad: bool = False) -> Tensor:
    return gradfn.tensor(values, dtype=gradfn.float64, requires_grad=requires_grad)


def by_bicgstab(operator: Any, vector: Any) -> Any:
    return bicgstab(operator, vector, rtol=1e-13)[0]


SOLVERS = ["dense", "gmres", by_bicgstab]


@implicit(condition=lambda x, a: x**3 - a)
def cube_root(a: Tensor) -> Tensor:
    return gradfn.tensor(np.cbrt(a.numpy()))


@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (0,)])
def test_roots_of_any_shape(shape: tuple[int, ...]) -> None:
    a = gradfn.tensor(np.random.default_rng(0).uniform(1, 2, shape), requires_grad=True)
    assert gradfn.allclose(cube_root(a) ** 3, a)
    assert gradcheck(cube_root, a)
    assert gradgradcheck(cube_root, a)


def test_derivatives_of_the_third_order() -> None:
    a = double(2.0, requires_grad=True)
    found = cube_root(a)
    for factor in (1 / 3, -2 / 9, 10 / 27):
        (found,) = grad(found, a, create_graph=True)
        a_power = -np.round(np.log(abs(found.item() / factor)) / np.log(2) * 3) / 3
        assert found.item() == pytest.approx(factor * 2**-a_power)


def linear(matrix: Tensor, b: Tensor) -> Tensor:
    return gradfn.tensor(np.linalg.solve(matrix.numpy(), b.numpy()))


@pytest.mark.parametrize("linear_solver", SOLVERS)
def test_the_solution_of_a_linear_system(linear_solver: Any) -> None:
    solved = implicit(linear, condition=lambda x, A, b: A @ x - b, linear_solver=linear_solver)
    matrix = double([[3.0, 1, 0], [-1, 4, 1], [0, 2, 5]], True)
    b = double([1.0, 2, 3], True)
    assert gradcheck(solved, (matrix, b))
    assert gradgradcheck(solved, (matrix, b))

    def objective(solve: Callable[..., Tensor]) -> Callable[..., Tensor]:
        return lambda A, b: (solve(A, b) ** 3).sum()

    found = hessian(objective(solved), (matrix, b))
    expected = hessian(objective(gradfn.linalg.solve), (matrix, b))
    for rows, due in zip(found, expected, strict=True):
        for block, other in zip(rows, due, strict=True):
            assert gradfn.allclose(block, other, atol=1e-8)


@pytest.mark.parametrize("linear_solver", ["dense", "cg", "gmres"])
def test_the_minimum_of_a_regularised_fit(linear_solver: Any) -> None:
    random = np.random.default_rng(0)
    data, target = double(random.normal(size=(8, 3))), double(random.normal(size=8))

    def cost(w: Tensor, data: Tensor, penalty: Tensor) -> Tensor:
        return (data @ w - target).square().sum() + penalty.exp() * w.square().sum()

    @implicit(objective=cost, linear_solver=linear_solver)
    def fit(data: Tensor, penalty: Tensor) -> Tensor:
        w0 = gradfn.zeros(3, dtype=gradfn.float64)
        found = minimize(cost, w0, args=(data, penalty), method="trust-exact", tol=1e-12)
        return found.x  # type: ignore[no-any-return]

    def explicit(data: Tensor, penalty: Tensor) -> Tensor:
        matrix = data.T @ data + penalty.exp() * gradfn.eye(3, dtype=data.dtype)
        return gradfn.linalg.solve(matrix, data.T @ target)  # type: ignore[no-any-return]

    penalty = double(0.5, True)
    assert gradcheck(fit, (data.requires_grad_(), penalty))
    for order in (jacobian, hessian):
        found = order(lambda p: fit(data.detach(), p)[0], penalty)
        assert gradfn.allclose(found, order(lambda p: explicit(data.detach(), p)[0], penalty))


def test_trees_of_unknowns_and_of_arguments() -> None:
    def condition(x: dict[str, Any], args: tuple[Tensor, int], scale: float) -> list[Tensor]:
        return [x["sum"] - scale * args[0].sum(), x["parts"][0] ** args[1] - args[0]]

    @implicit(condition=condition)
    def solve(args: tuple[Tensor, int], scale: float, *, trace: list[str]) -> dict[str, Any]:
        trace.append("solved")
        return {"sum": scale * args[0].sum(), "parts": (args[0].sqrt(),)}

    trace: list[str] = []
    a = double([4.0, 9.0], True)
    found = solve((a, 2), 3.0, trace=trace)
    assert isinstance(found["parts"], tuple) and trace == ["solved"]
    (slope,) = grad(found["sum"] + found["parts"][0].sum(), a)
    assert gradfn.allclose(slope, double([3 + 1 / 4, 3 + 1 / 6]))
    assert gradcheck(lambda a: solve((a, 2), 3.0, trace=trace)["parts"][0], a)


def test_complex_unknowns() -> None:
    solved = implicit(gradfn.sqrt, condition=lambda x, a: x * x - a)
    a = gradfn.tensor([1 + 2j, -3 + 1j], dtype=gradfn.complex128, requires_grad=True)
    assert gradcheck(solved, a)
    assert gradgradcheck(solved, a)


def test_parameters_of_a_module_are_arguments() -> None:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(2, 2, dtype=gradfn.float64)

        def forward(self, x: Tensor, inputs: Tensor) -> Tensor:
            return (self.inner(x) / 4).tanh() + inputs

    gradfn.manual_seed(0)
    layer, inputs = Layer(), double([0.3, -0.7], True)
    x0 = gradfn.zeros(2, dtype=gradfn.float64)

    def run(*_: Tensor) -> Tensor:
        return fixed_point(layer, x0, inputs, tol=1e-14)  # type: ignore[no-any-return]

    unrolled = x0
    for _ in range(60):
        unrolled = layer(unrolled, inputs)
    wanted = (inputs, *layer.parameters())
    assert gradfn.allclose(run(), unrolled)
    for found, expected in zip(
        grad(run().sum(), wanted), grad(unrolled.sum(), wanted), strict=True
    ):
        assert gradfn.allclose(found, expected)
    assert gradcheck(run, wanted)


def test_many_backward_passes_compute_the_jacobian_once() -> None:
    calls = []

    def condition(x: Tensor, a: Tensor) -> Tensor:
        calls.append(x.requires_grad)
        return x**3 - a

    a = double([1.0, 8.0, 27.0], True)
    x = implicit(lambda a: gradfn.tensor(np.cbrt(a.numpy())), condition=condition)(a)
    calls.clear()
    for index in range(3):
        grad(x[index], a, retain_graph=True)
    assert len(calls) == 3 + 1


@pytest.mark.parametrize("vectorize", [False, True])
def test_batches_of_gradients(vectorize: bool) -> None:
    a = double([1.0, 8.0, 27.0])
    found = jacobian(cube_root, a, vectorize=vectorize)
    assert gradfn.allclose(found, double([1 / 3, 1 / 12, 1 / 27]).diag())
    found = hessian(lambda a: cube_root(a).sum(), a, vectorize=vectorize)
    assert gradfn.allclose(found, double([-2 / 9, -2 / 288, -2 / 2187]).diag())


def test_batches_of_problems() -> None:
    a = double([1.0, 8.0, 27.0])
    assert gradfn.allclose(gradfn.func.vmap(cube_root)(a), double([1.0, 2, 3]))
    slopes = gradfn.func.vmap(gradfn.func.grad(cube_root))(a)
    assert gradfn.allclose(slopes, double([1 / 3, 1 / 12, 1 / 27]))


def test_there_is_a_graph_only_where_one_is_wanted() -> None:
    assert not cube_root(double(8.0)).requires_grad
    with gradfn.no_grad():
        assert not cube_root(double(8.0, True)).requires_grad
    x = gradfn.autograd.grad(
        cube_root(double([8.0], True)).sum(), a := double(1.0, True), allow_unused=True
    )
    assert x == (None,) and a.grad is None


def test_with_roots_of_scipy() -> None:
    def system(x: Tensor, a: Tensor) -> Tensor:
        return gradfn.stack([x[0] * x[1] - a[0], x[0] - x[1] - a[1]])

    solved = implicit(
        lambda a: root(system, double([2.0, 1.0]), args=(a,), tol=1e-14).x, condition=system
    )
    assert gradcheck(solved, double([2.0, 1.0], True))


def test_float32() -> None:
    a = gradfn.tensor([2.0, 3.0], requires_grad=True)
    x = fixed_point(lambda x, a: (x + a / x) / 2, gradfn.ones(2), a)
    (slope,) = grad(x.sum(), a)
    assert x.dtype == slope.dtype == gradfn.float32
    assert gradfn.allclose(slope, 0.5 / a.sqrt())


@pytest.mark.parametrize("method", ["del2", "iteration"])
def test_fixed_points_of_trees(method: Any) -> None:
    def step(x: dict[str, Tensor], a: Tensor) -> dict[str, Tensor]:
        return {"x": (a * x["y"]).cos(), "y": x["x"] / 2}

    x0 = {"x": double(0.5), "y": double([0.5])[0]}
    a = double(0.7, True)
    found = fixed_point(step, x0, a, tol=1e-13, method=method)
    assert found["x"].item() == pytest.approx(np.cos(0.35 * found["x"].item()))
    assert gradcheck(lambda a: fixed_point(step, x0, a, tol=1e-14, method=method)["x"], a)


def test_errors() -> None:
    hidden = double(2.0, True)
    with pytest.raises(ValueError, match="either a condition"):
        implicit(lambda: 0)
    with pytest.raises(ValueError, match="either a condition"):
        implicit(lambda: 0, condition=gradfn.sin, objective=gradfn.sum)
    with pytest.raises(RuntimeError, match=r"solution of 2 numbers.*has 1, of shapes \[\[\]\]"):
        implicit(gradfn.sqrt, condition=lambda x, a: (x * x - a).sum())(double([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="tensor that requires grad and is not among its arg"):
        implicit(gradfn.sqrt, condition=lambda x, a: x * x - a * hidden)(double(1.0))
    with pytest.raises(TypeError, match=r"the solution must be a tensor.*got float"):
        implicit(float, condition=lambda x, a: x - a)(double(1.0))
    with pytest.raises(RuntimeError, match=r"floating point.* the solution is of torch.int64"):
        implicit(lambda a: gradfn.tensor(1), condition=lambda x, a: x - a)(double(1.0, True))
    with pytest.raises(RuntimeError, match=r"real scalar outputs, but objective\(x\) has shape"):
        implicit(gradfn.sqrt, objective=lambda x, a: x - a)(double([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="Failed to converge"):
        fixed_point(lambda x: 2 * x + 1, double(1.0), maxiter=5, method="iteration")
    double_root = implicit(gradfn.zeros_like, condition=lambda x, a: x**2 - a)(double(0.0, True))
    with pytest.raises(gradfn.linalg.LinAlgError, match="singular"):
        double_root.backward()


def test_linear_solvers_that_fail() -> None:
    turn = double(scipy.linalg.circulant([0.0, 1.0, 0, 0]), True)
    solved = implicit(linear, condition=lambda x, A, b: A @ x - b, linear_solver="cg")(
        turn, double([1.0, 2, 3, 4])
    )
    with pytest.raises(RuntimeError, match="cg did not converge"):
        solved[0].backward()
