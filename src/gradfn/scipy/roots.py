"""Roots and least squares: SciPy's solvers on functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..creation import zeros
from ..dtypes import float64
from ..tensor import Tensor
from .coloring import Coloring
from .evaluation import Func, Traced
from .minimization import in_structure, packed_bounds
from .objective import Objective
from .packing import Packing, Vector, started
from .sparsity import as_coloring, compressed_jacobian
from .trees import Tree


def root(
    f: Func,
    x0: Tree,
    *,
    args: Any = (),
    method: str = "hybr",
    tol: float | None = None,
    callback: Callable[..., Any] | None = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """A solution of ``f(x, *args) = 0`` near `x0`, by `scipy.optimize.root`.

    `x0` is a tensor, or a dict, list or tuple of tensors, and `f` returns as many numbers, as a
    tensor or a tree as well. In SciPy's result `x` is in the structure of `x0` and `fun`, the value
    there, in that of ``f(x)``. The methods "hybr" and "lm" get the Jacobian; the others use none.

    For gradients of the root with respect to `args` see `implicit`.

    Raises RuntimeError for an `x0` of integers and where the numbers of equations and unknowns
    differ (method "lm" takes more equations).

    >>> import gradfn
    >>> a = gradfn.tensor([2.0, 9.0], dtype=gradfn.float64)
    >>> root(lambda x, a: x * x - a, gradfn.ones_like(a), args=(a,)).x
    tensor([1.4142, 3.0000], dtype=torch.float64)
    """
    from scipy import optimize

    domain, start = started(x0)
    jacobian = method.lower() in ("hybr", "lm")
    traced = Traced(f, domain, args, recorded=jacobian)
    codomain = traced.at(start).codomain
    if codomain.size < domain.size or (codomain.size > domain.size and method.lower() != "lm"):
        raise RuntimeError(
            f"root of {domain.size} unknowns needs as many equations, but f(x) has {codomain.size} "
            f"(shapes {[list(shape) for shape in codomain.shapes]}); see least_squares for more"
        )
    result = optimize.root(
        traced.value,
        start,
        method=method,
        jac=traced.jacobian if jacobian else None,
        tol=tol,
        callback=callback and (lambda x, value: callback(domain.unpacked(x), value)),
        options=options,
    )
    return with_values(in_structure(result, domain), codomain)


def least_squares(
    f: Func,
    x0: Tree,
    *,
    args: Any = (),
    bounds: Any = None,
    sparsity: Any | Coloring = None,
    **options: Any,
) -> Any:
    """A minimum of ``½ Σ ρ(f(x, *args)²)`` near `x0`, by `scipy.optimize.least_squares`.

    `f` returns the residuals, as a tensor or a tree of them, in any number; the loss ρ is the
    identity unless `options` name another one. They are SciPy's: ``method``, ``loss``, ``f_scale``,
    ``x_scale``, ``ftol``, ``xtol``, ``gtol``, ``max_nfev``, ... The Jacobian is computed; with
    `sparsity`, a pattern or a Coloring as for `sparse_jacobian`, it is a sparse one.

    In SciPy's result `x` and `grad` are in the structure of `x0`, and `fun` is in that of
    ``f(x)``. `bounds` are as for `minimize`.

    >>> import gradfn
    >>> t = gradfn.tensor([0.0, 1.0, 2.0], dtype=gradfn.float64)
    >>> y = 3 * gradfn.exp(-0.5 * t)
    >>> x0 = {"height": gradfn.ones((), dtype=t.dtype), "rate": gradfn.ones((), dtype=t.dtype)}
    >>> least_squares(lambda x: x["height"] * gradfn.exp(-x["rate"] * t) - y, x0).x
    {'height': tensor(3., dtype=torch.float64), 'rate': tensor(0.5000, dtype=torch.float64)}
    """
    from scipy import optimize

    domain, start = started(x0)
    traced = Traced(f, domain, args)
    codomain = traced.at(start).codomain
    jacobian: Callable[[Vector], Any] = traced.jacobian
    if sparsity is not None:
        coloring = as_coloring(sparsity, (codomain.size, domain.size))

        def jacobian(x: Vector) -> Any:
            return compressed_jacobian(traced.at(x), coloring)

    packed = packed_bounds(bounds, domain)
    result = optimize.least_squares(
        traced.value,
        start,
        jac=jacobian,
        bounds=(-np.inf, np.inf) if packed is None else packed,
        **options,
    )
    return with_values(in_structure(result, domain), codomain)


def with_values(result: Any, codomain: Packing) -> Any:
    """SciPy's `result` with the values `fun` in the structure of what the function returned."""
    result["fun"] = codomain.unpacked(result["fun"])
    return result


def root_scalar(
    f: Func,
    x0: Any = None,
    *,
    args: Any = (),
    bracket: tuple[Any, Any] | None = None,
    method: str | None = None,
    **options: Any,
) -> Any:
    """A solution of ``f(x, *args) = 0`` for one number x, by `scipy.optimize.root_scalar`.

    `x0` is a tensor of one element; or `bracket` holds two of them, or numbers, between which the
    sign changes. The methods "newton" (the default without a bracket) and "halley" get derivatives;
    "brentq" (the default with a bracket), "brenth", "ridder", "bisect", "toms748" and "secant" use
    none. `options` are SciPy's ``x1``, ``xtol``, ``rtol``, ``maxiter``, ``options``. In SciPy's
    result, `root` is a tensor of the shape and dtype of `x0`, or of float64 between numbers.

    Raises ValueError without `x0` and `bracket`, RuntimeError where `f` is no real scalar.

    >>> import gradfn
    >>> root_scalar(lambda x: x**3 - 8, gradfn.tensor(1.0), method="halley").root
    tensor(2.)
    """
    from scipy import optimize

    ends = [end for end in (bracket or ()) if isinstance(end, Tensor)]
    like = x0 if x0 is not None else ends[0] if ends else zeros((), dtype=float64)
    if x0 is None and bracket is None:
        raise ValueError("root_scalar needs x0, where to start, or bracket, two ends to search")
    domain = Packing(like, "x0")
    order = {"newton": 1, "halley": 2}.get(method or ("newton" if bracket is None else "brentq"), 0)
    objective = Objective(f, domain, args, recorded=order > 0, twice=order > 1)

    if domain.eps > 2.0**-52:
        options.setdefault("rtol", 4 * domain.eps)

    def value(x: float) -> float:
        return objective.number(np.array([x]))

    def slope(x: float) -> float:
        return float(objective.number_and_gradient(np.array([x]))[1][0])

    def bend(x: float) -> float:
        return float(objective.hessian(np.array([x]))[0, 0])

    result = optimize.root_scalar(
        value,
        bracket=bracket and [_number(end) for end in bracket],
        x0=None if x0 is None else x0.item(),
        fprime=slope if order else None,
        fprime2=bend if order > 1 else None,
        method=method,
        **options,
    )
    result["root"] = domain.unpacked(np.array([result["root"]]))
    return result


def _number(end: Any) -> float:
    return float(end.detach() if isinstance(end, Tensor) else end)
