"""Derivatives of solutions, by the implicit function theorem.

Where ``F(x, θ) = 0`` defines ``x(θ)`` and ``∂F/∂x`` is regular, ``dx/dθ = -(∂F/∂x)⁻¹ ∂F/∂θ``. The
gradient ``g`` of x becomes ``-wᵀ ∂F/∂θ`` with ``(∂F/∂x)ᵀ w = g``; and ``w`` is itself defined by an
equation, so that the same rule gives its derivatives, and gradients of any order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..autograd.grad_mode import enable_grad, is_grad_enabled
from ..errors import LinAlgError
from ..func.levels import fresh, taken_out
from ..utils._pytree import TreeSpec, tree_leaves
from .dependence import Dependence, Numeric, Remembered, Tensors
from .evaluation import Evaluation, Func, filled, gradients, real_scalar
from .packing import Packing, Vector
from .trees import Tree, tensors_of

LinearSolver = Literal["dense", "gmres", "cg"] | Callable[[Any, Vector], Vector]


def implicit(
    solve: Func | None = None,
    *,
    condition: Func | None = None,
    objective: Func | None = None,
    linear_solver: LinearSolver = "dense",
) -> Any:
    """`solve` as a differentiable function: gradients come from what defines its result.

    ``x = solve(*args)`` is a tensor or a tree of them with ``condition(x, *args) = 0``, as many
    numbers as x has; or a stationary point, such as the minimum, of ``objective(x, *args)``.
    `solve` can be any code, of SciPy or one's own: it runs without a graph, and its keyword
    arguments are its own. Gradients of any order reach the tensors in `args`, and the parameters of
    `condition` or `objective` where that is a module. Without `solve` it is a decorator.

    One linear system with the Jacobian ``∂condition/∂x`` is solved for each backward pass: from
    the full matrix ("dense"), or from products with it ("gmres"; "cg" where it is symmetric and
    positive definite, as for a minimum), or by ``linear_solver(operator, vector)``, a function of a
    `scipy.sparse.linalg.LinearOperator`.

    Gradients are those at the x that `solve` returns, and as accurate as it is.

    Raises ValueError unless one of `condition` and `objective` is given; RuntimeError where the
    condition has another size than x, where it depends on tensors that require grad and are not
    among `args`, or where the linear solver fails; LinAlgError where the Jacobian is singular.

    See A. Griewank, A. Walther, "Evaluating derivatives", SIAM (2008), chapter 15.

    >>> import gradfn
    >>> @implicit(condition=lambda x, a: x**3 - a)
    ... def cube_root(a):
    ...     return gradfn.tensor(float(a) ** (1 / 3))
    >>> a = gradfn.tensor(8.0, requires_grad=True)
    >>> (slope,) = gradfn.autograd.grad(cube_root(a), a, create_graph=True)
    >>> slope.item(), gradfn.autograd.grad(slope, a)[0].item()  # 1/12, -1/144
    (0.0833..., -0.00694...)
    """
    if (condition is None) == (objective is None):
        raise ValueError(
            "implicit needs either a condition that is zero at the solution or an objective that "
            "is stationary there"
        )
    if solve is None:
        return functools.partial(
            implicit, condition=condition, objective=objective, linear_solver=linear_solver
        )

    @functools.wraps(solve)
    def solved(*args: Any, **kwargs: Any) -> Tree:
        given = Dependence(condition or objective, args)
        return _solution(
            given,
            _itself if condition else _stationary,
            lambda tensors: solve(*given.args(tensors), **kwargs),
            linear_solver,
        )

    return solved


def fixed_point(
    g: Func,
    x0: Tree,
    *args: Any,
    tol: float | None = None,
    maxiter: int = 500,
    method: Literal["del2", "iteration"] = "del2",
    linear_solver: LinearSolver = "dense",
) -> Tree:
    """The solution of ``x = g(x, *args)`` near `x0`, differentiable by the tensors in `args`.

    Found by `scipy.optimize.fixed_point`: by iterating `g`, which must contract, with Steffensen's
    acceleration of each number ("del2") or without ("iteration"), until the relative change is at
    most `tol`, by default 1e-8, or 100 times the spacing of a coarser dtype. Then see `implicit`.
    `g` may be a module: gradients reach its parameters.

    Raises RuntimeError where `maxiter` iterations do not suffice.

    >>> import gradfn
    >>> a = gradfn.tensor(2.0, dtype=gradfn.float64, requires_grad=True)
    >>> x = fixed_point(lambda x, a: (x + a / x) / 2, gradfn.ones_like(a), a)
    >>> x.backward()
    >>> x.detach() ** 2, 2 * x.detach() * a.grad  # the slope of the root is 1/(2x)
    (tensor(2.0000, dtype=torch.float64), tensor(1., dtype=torch.float64))
    """
    domain, given = Packing(x0, "x0"), Dependence(g, args)
    if tol is None:
        tol = domain.tolerance

    def solve(tensors: Tensors) -> Tree:
        from scipy import optimize

        f = given.function(tensors)

        def step(vector: Vector) -> Vector:
            return domain.pack(domain.tensors(f(domain.unpacked(vector)), "g(x)"))

        start = domain.pack(tree_leaves(x0))
        return domain.unpacked(optimize.fixed_point(step, start, (), tol, maxiter, method))

    def condition_of(f: Func) -> Func:
        def difference(x: Tree) -> Tree:
            pairs = zip(tree_leaves(x), domain.tensors(f(x), "g(x)"), strict=True)
            return [before - after for before, after in pairs]

        return difference

    return _solution(given, condition_of, solve, linear_solver)


def _itself(condition: Func) -> Func:
    return condition


def _stationary(objective: Func) -> Func:
    """The condition that the gradient of `objective` is zero."""

    def gradient(x: Tree) -> Tree:
        with enable_grad():
            tensors, spec = tensors_of(x, "x")
            variables = [fresh(tensor) for tensor in tensors]
            value = real_scalar(objective(spec.unflatten(variables)), "objective(x)")
            found = gradients([value], variables, [value.new_ones(value.shape)], create_graph=True)
            return taken_out(list(filled(found, variables)), variables)

    return gradient


@dataclass
class Problem:
    """A solution's definition: ``condition(x, known) = 0``, and how x is computed."""

    solve: Callable[[Tensors], Tensors]
    condition: Callable[[Tensors, Tensors], Tensors]
    linear_solver: LinearSolver

    def adjoint(self, unknowns: int) -> Problem:
        """The linear problem ``(∂condition/∂x)ᵀ w = g`` for w; `known` are x, the known and g."""

        def condition(w: Tensors, known: Tensors) -> Tensors:
            x, known, g = known[:unknowns], known[unknowns:-unknowns], known[-unknowns:]
            with enable_grad():
                at = [fresh(tensor) for tensor in x]
                values = self.condition(at, known)
                pulled = filled(gradients(values, at, w, create_graph=True), at)
            return [a - b for a, b in zip(pulled, g, strict=True)]

        last = Remembered()

        def solver_at(point: Tensors) -> Callable[[Vector], Vector]:
            return self._transposed_solver(point[:unknowns], point[unknowns:])

        def solve(known: Tensors) -> Tensors:
            g = known[-unknowns:]
            packing = Packing(list(g), "gradient")
            return packing.unpack(last.of(solver_at, known[:-unknowns])(packing.pack(g)))

        return Problem(solve, condition, self.linear_solver)

    def _transposed_solver(self, x: Tensors, known: Tensors) -> Callable[[Vector], Vector]:
        """``g -> w``, at x."""
        at = [tensor.detach().requires_grad_() for tensor in x]
        with enable_grad():
            values = self.condition(at, [tensor.detach() for tensor in known])
        domain, codomain = Packing(at, "x"), Packing(list(values), "condition(x)")
        evaluation = Evaluation(domain, at, codomain, values)
        if self.linear_solver == "dense":
            return _direct(evaluation.jacobian().T)
        return _iterative(evaluation, self.linear_solver)


class ImplicitFunction(Numeric):
    """The unknowns of a problem as functions of the known tensors."""

    @staticmethod
    def compute(what: Problem, tensors: Tensors) -> Tensors:
        return what.solve(tensors)

    @classmethod
    def setup_context(cls, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Also make the problem of the adjoint, which is solved in each backward pass."""
        super().setup_context(ctx, inputs, output)
        ctx.adjoint = ctx.what.adjoint(ctx.results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        problem, unknowns = ctx.what, ctx.results
        x, known = ctx.saved_tensors[:unknowns], ctx.saved_tensors[unknowns:]
        w = ImplicitFunction.apply(ctx.adjoint, *x, *known, *grads)
        create_graph = is_grad_enabled()
        with enable_grad():
            needed = ctx.needs_input_grad[1:]
            at = [fresh(t) if need else t for t, need in zip(known, needed, strict=True)]
            wanted = [t for t, need in zip(at, needed, strict=True) if need]
            values = problem.condition(x, at)
            found = iter(gradients(values, wanted, [-part for part in w], create_graph))
        return None, *(next(found) if need else None for need in needed)


def _solution(
    given: Dependence,
    condition_of: Callable[[Func], Func],
    solve: Callable[[Tensors], Tree],
    linear_solver: LinearSolver,
) -> Tree:
    """The solution, as a function of the given tensors."""
    specs: list[TreeSpec] = []

    def solved(tensors: Tensors) -> Tensors:
        x = solve(tensors)
        specs[:] = [Packing(x, "the solution").spec]
        return tree_leaves(x)

    def condition(x: Tensors, tensors: Tensors) -> Tensors:
        values = condition_of(given.function(tensors))(specs[0].unflatten(x))
        return tensors_of(values, "condition(x)")[0]

    x = ImplicitFunction.apply(Problem(solved, condition, linear_solver), *given.tensors)
    if is_grad_enabled():
        values = condition(*([t.detach() for t in tensors] for tensors in (x, given.tensors)))
        _check(x, values)
        given.check_closed(values, "the condition")
    return specs[0].unflatten(x)


def _check(x: Tensors, values: Tensors) -> None:
    """RuntimeError unless there are as many conditions as unknowns."""
    unknowns, conditions = Packing(list(x), "x"), Packing(list(values), "condition(x)")
    if unknowns.size != conditions.size:
        raise RuntimeError(
            f"a solution of {unknowns.size} numbers needs as many conditions, but condition(x) has "
            f"{conditions.size}, of shapes {[list(shape) for shape in conditions.shapes]}"
        )


def _direct(matrix: Vector) -> Callable[[Vector], Vector]:
    """``b -> matrix⁻¹ b``; LinAlgError where the matrix is singular."""

    def solve(b: Vector) -> Vector:
        try:
            return np.asarray(np.linalg.solve(matrix, b), np.float64)
        except np.linalg.LinAlgError as error:
            raise LinAlgError(
                "The solver failed because the input matrix is singular: the condition does not "
                "determine how its solution changes"
            ) from error

    return solve


def _iterative(evaluation: Evaluation, linear_solver: Any) -> Callable[[Vector], Vector]:
    """``b -> w`` with ``Jᵀw = b``, from products with the Jacobian J alone."""
    from scipy.sparse import linalg

    size = evaluation.domain.size
    operator = linalg.LinearOperator(
        (size, size), matvec=evaluation.vjp, rmatvec=evaluation.jvp, dtype=np.float64
    )
    if callable(linear_solver):
        return functools.partial(linear_solver, operator)
    options = {"rtol": max(1e-12, 10 * evaluation.domain.eps)}
    if linear_solver == "gmres":
        options["restart"] = min(size, 50)

    def solve(b: Vector) -> Vector:
        found, info = getattr(linalg, linear_solver)(operator, b, **options)
        if info:
            raise RuntimeError(
                f"{linear_solver} did not converge on the linear system of the gradient: the "
                'condition may be near singular; linear_solver="dense" solves it directly'
            )
        return found  # type: ignore[no-any-return]

    return solve
