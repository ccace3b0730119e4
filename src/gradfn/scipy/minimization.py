"""`minimize`: SciPy's optimisers on functions of tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from .evaluation import Func, Traced
from .objective import Objective
from .packing import Packing, Vector, started
from .trees import Tree, parts_as

Order = Literal["value", "gradient", "product", "Hessian"]

# The most that each method uses; the others use a gradient.
ORDERS: dict[str, Order] = {
    "custom": "product",
    "nelder-mead": "value",
    "powell": "value",
    "cobyla": "value",
    "cobyqa": "value",
    "newton-cg": "product",
    "trust-ncg": "product",
    "trust-krylov": "product",
    "trust-constr": "product",
    "dogleg": "Hessian",
    "trust-exact": "Hessian",
}

# The tolerances on gradients and on relative decreases, of the methods that have them.
TOLERANCES: dict[str, tuple[str, ...]] = {
    "cg": ("gtol",),
    "bfgs": ("gtol",),
    "l-bfgs-b": ("gtol", "ftol"),
    "trust-ncg": ("gtol",),
    "trust-krylov": ("gtol",),
    "trust-exact": ("gtol",),
    "trust-constr": ("gtol",),
    "dogleg": ("gtol",),
}


def minimize(
    f: Func,
    x0: Tree,
    *,
    args: Any = (),
    method: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[..., Any] | None = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """A minimum of ``f(x, *args)`` near `x0`, by `scipy.optimize.minimize`.

    `x0` is a tensor, or a dict, list or tuple of tensors; `f` takes the same and returns a real
    scalar tensor. SciPy's result comes back with `x` (and `jac`, its gradient) in the structure,
    shapes and dtypes of `x0`, without a graph. The rest is in SciPy's coordinates: see `ravel`.

    The methods get what they use: gradients (BFGS, which is the default, CG, L-BFGS-B, TNC, SLSQP),
    products with the Hessian (Newton-CG, trust-ncg, trust-krylov, trust-constr), the Hessian
    (dogleg, trust-exact), or values alone. `f` runs once at each point, for all of them.

    `bounds` is in the structure of `x0`, with a pair ``(low, high)`` of numbers or tensors, or None
    for no bound, for each tensor; or what SciPy takes. `constraints` are SciPy's: of those in a
    dict or a NonlinearConstraint the function is one of tensors like `f`, its derivatives are
    computed. `callback` gets `x` in the structure of `x0`, or SciPy's ``intermediate_result``.

    `f` computes in the dtypes of `x0`, SciPy in float64. Line searches cannot see decreases below
    the spacing of a coarse dtype, so without `tol` those on gradients are at least its root, about
    3e-4 for float32.

    Raises RuntimeError for an `x0` of integers and for an `f` that is no real scalar or does not
    depend on x, TypeError for what are no tensors, ValueError where `f` is NaN.

    >>> import gradfn
    >>> def rosenbrock(x):
    ...     return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    >>> minimize(rosenbrock, gradfn.zeros(3, dtype=gradfn.float64), method="trust-exact").x
    tensor([1.0000, 1.0000, 1.0000], dtype=torch.float64)
    """
    from scipy import optimize

    domain, start = started(x0)
    if method is None:
        method = "SLSQP" if constraints else "BFGS" if bounds is None else "L-BFGS-B"
    name = method.lower() if isinstance(method, str) else "custom"
    order = ORDERS.get(name, "gradient")
    objective = Objective(f, domain, args, order != "value", order in ("product", "Hessian"))
    result = optimize.minimize(
        objective.number if order == "value" else objective.number_and_gradient,
        start,
        method=method,
        jac=order != "value",
        hess=objective.hessian if order == "Hessian" else None,
        hessp=objective.hessian_product if order == "product" else None,
        bounds=packed_bounds(bounds, domain),
        constraints=_constraints(constraints, domain, twice=name == "trust-constr"),
        tol=tol,
        callback=_callback(callback, domain),
        options=_tolerances(name, tol, domain.eps) | (options or {}),
    )
    return in_structure(result, domain)


def in_structure(result: Any, domain: Packing) -> Any:
    """SciPy's `result` with its vectors of the domain in the structure of x0."""
    for key in ("x", "jac", "grad"):
        value = result.get(key)
        if isinstance(value, np.ndarray) and value.shape == (domain.size,):
            result[key] = domain.unpacked(value)
    return result


def packed_bounds(bounds: Any, domain: Packing) -> Any:
    """SciPy's Bounds for those of a tree; ValueError where a tensor has no pair of them."""
    from scipy.optimize import Bounds

    if bounds is None or isinstance(bounds, Bounds):
        return bounds
    lows, highs = [], []
    for name, shape, dtype, pair in zip(
        domain.names,
        domain.shapes,
        domain.dtypes,
        parts_as(domain.spec, bounds, "bounds"),
        strict=True,
    ):
        if dtype.is_complex and pair is not None:
            raise NotImplementedError(f"bounds of complex tensors, here {name}")
        low, high = _ends(pair, name)
        lows.append(np.broadcast_to(low, shape).ravel())
        highs.append(np.broadcast_to(high, shape).ravel())
    return Bounds(np.concatenate(lows), np.concatenate(highs))


def _ends(pair: Any, name: str) -> tuple[Vector, Vector]:
    """The lower and the upper bounds of one tensor, from a pair or a sequence of pairs."""
    if isinstance(pair, np.ndarray):
        pair = pair.tolist()
    if isinstance(pair, list | tuple) and any(isinstance(end, list | tuple) for end in pair):
        lows, highs = zip(*(_ends(end, name) for end in pair), strict=True)
        return np.array(lows), np.array(highs)
    if pair is not None and not (isinstance(pair, list | tuple) and len(pair) == 2):
        raise ValueError(f"the bounds of {name} must be a pair (low, high) or None, but got {pair}")
    low, high = pair or (None, None)
    return (
        np.asarray(-np.inf if low is None else low, dtype=np.float64),
        np.asarray(np.inf if high is None else high, dtype=np.float64),
    )


def _constraints(constraints: Any, domain: Packing, twice: bool) -> list[Any]:
    """SciPy's constraints with their derivatives; with `twice` also the second ones."""
    from scipy.optimize import LinearConstraint, NonlinearConstraint

    if isinstance(constraints, dict | LinearConstraint | NonlinearConstraint):
        constraints = [constraints]
    return [_constraint(constraint, domain, twice) for constraint in constraints]


def _constraint(constraint: Any, domain: Packing, twice: bool) -> Any:
    from scipy.optimize import LinearConstraint, NonlinearConstraint
    from scipy.sparse.linalg import LinearOperator

    if isinstance(constraint, LinearConstraint):
        return constraint
    if isinstance(constraint, NonlinearConstraint):
        traced = Traced(constraint.fun, domain, name="constraint")

        def hessian(x: Vector, weights: Vector) -> Any:
            weighted = traced.at(x).weighted(weights)
            return LinearOperator((domain.size, domain.size), weighted.vjp, dtype=np.float64)

        more = {"hess": hessian} if twice else {}
        low, high, keep_feasible = constraint.lb, constraint.ub, constraint.keep_feasible
        return NonlinearConstraint(
            traced.value, low, high, traced.jacobian, keep_feasible=keep_feasible, **more
        )
    traced = Traced(constraint["fun"], domain, constraint.get("args", ()), name="constraint")
    return {"type": constraint["type"], "fun": traced.value, "jac": traced.jacobian}


def _callback(callback: Callable[..., Any] | None, domain: Packing) -> Any:
    """`callback` for SciPy, which looks at the names of its arguments."""
    if callback is None:
        return None
    if inspect.signature(callback).parameters.keys() == {"intermediate_result"}:

        def reported(intermediate_result: Any) -> Any:
            copy = type(intermediate_result)(intermediate_result)
            return callback(intermediate_result=in_structure(copy, domain))

        return reported
    return lambda x, *state: callback(domain.unpacked(x), *state)


def _tolerances(method: str, tol: float | None, eps: float) -> dict[str, float]:
    """Options that keep a method from searching for decreases below the spacing of the dtype."""
    if tol is not None or eps <= 2.0**-52:
        return {}
    return {name: eps if name == "ftol" else eps**0.5 for name in TOLERANCES.get(method, ())}
