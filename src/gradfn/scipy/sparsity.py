"""Sparse Jacobians and Hessians, by one backward pass for each colour of their pattern."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..utils._pytree import tree_leaves
from .coloring import Coloring, color_hessian, color_jacobian
from .evaluation import Evaluation, Func, Traced, evaluated
from .objective import number
from .packing import Packing, Vector
from .trees import Tree


def sparse_jacobian(f: Func, x: Tree, sparsity: Any | Coloring = None, *, args: Any = ()) -> Any:
    """The Jacobian of ``f(x, *args)`` at `x` as a `scipy.sparse.csr_array`.

    Rows are the elements of ``f(x)``, columns those of `x`, each tensor or tree as `ravel` orders
    it. `sparsity` has an entry wherever the Jacobian may have one: anything that `scipy.sparse`
    takes, or its `color_jacobian`, which says how many backward passes the Jacobian takes
    (`passes`) and can be used again at other points. Entries that the pattern lacks must be zero:
    others are added to wrong places. Without a pattern `jacobian_sparsity` finds it, which costs
    more than the Jacobian itself.

    >>> import gradfn
    >>> sparse_jacobian(lambda x: x[1:] * x[:-1], gradfn.tensor([2.0, 3.0, 4.0])).toarray()
    array([[3., 2., 0.],
           [0., 4., 3.]])
    """
    if sparsity is None:
        sparsity = jacobian_sparsity(f, x, args=args)
    evaluation = evaluated(f, x, args)
    coloring = as_coloring(sparsity, (evaluation.codomain.size, evaluation.domain.size))
    return compressed_jacobian(evaluation, coloring)


def sparse_hessian(f: Func, x: Tree, sparsity: Any | Coloring = None, *, args: Any = ()) -> Any:
    """The Hessian of ``f(x, *args)``, a real scalar, at `x` as a `scipy.sparse.csr_array`.

    As `sparse_jacobian` of the gradient, but that a symmetric matrix needs fewer passes: those of
    `color_hessian`. Without a pattern `hessian_sparsity` finds it.

    >>> import gradfn
    >>> sparse_hessian(lambda x: (x[1:] * x[:-1]).sum(), gradfn.tensor([2.0, 3.0, 4.0])).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    if sparsity is None:
        sparsity = hessian_sparsity(f, x, args=args)
    evaluation = evaluated(f, x, args)
    number(evaluation)
    size = evaluation.domain.size
    coloring = as_coloring(sparsity, (size, size), symmetric=True)
    return compressed_jacobian(evaluation.gradient(twice=True), coloring)


def jacobian_sparsity(f: Func, x: Tree, *, args: Any = (), points: int = 3) -> Any:
    """Where the Jacobian of ``f(x, *args)`` has entries: a `scipy.sparse.csr_array` of ones.

    The Jacobian is computed at `x` and at ``points - 1`` random points around it, within 1 % of x
    (of one where x is smaller), row by row or column by column, whichever are fewer; entries that
    are not zero at one of them (or NaN) belong to the pattern. So it costs a backward pass for each
    row, and misses entries that are zero at all these points, such as those of a branch that is
    not taken near `x`. Meant to be found once and kept.

    >>> import gradfn
    >>> jacobian_sparsity(lambda x: x**2, gradfn.zeros(2)).toarray()
    array([[1, 0],
           [0, 1]])
    """
    return _union(_around(f, x, args, points))


def hessian_sparsity(f: Func, x: Tree, *, args: Any = (), points: int = 3) -> Any:
    """Where the Hessian of ``f(x, *args)`` has entries; see `jacobian_sparsity`.

    >>> import gradfn
    >>> hessian_sparsity(lambda x: x.prod() + x[2], gradfn.zeros(3)).toarray()
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]])
    """
    found = _union(evaluation.gradient(twice=True) for evaluation in _around(f, x, args, points))
    return ((found + found.T) != 0).astype(np.int64)


def as_coloring(
    sparsity: Any | Coloring, shape: tuple[int, int], symmetric: bool = False
) -> Coloring:
    """The colouring of a pattern; ValueError unless it is one of matrices of this `shape`."""
    if not isinstance(sparsity, Coloring):
        sparsity = color_hessian(sparsity) if symmetric else color_jacobian(sparsity)
    if sparsity.sparsity.shape != shape:
        kind = "Hessian" if symmetric else "Jacobian"
        raise ValueError(
            f"the sparsity is of shape {sparsity.sparsity.shape}, but the {kind} of {shape}"
        )
    return sparsity


def compressed_jacobian(evaluation: Evaluation, coloring: Coloring) -> Any:
    """The Jacobian, whose products with the seeds of the colours show all its entries."""
    pattern, colors = coloring.sparsity.tocoo(), coloring.colors
    rows, columns = pattern.coords
    if coloring.by == "columns":
        values = evaluation.jvp(coloring.seeds)[colors[columns], rows]
    else:
        products = evaluation.vjp(coloring.seeds)
        values = products[colors[rows], columns]
        if coloring.by == "symmetric":
            # Alone in its column among the rows of its colour; else the mirrored entry is.
            alone = _counts(coloring)[colors[rows], columns] == 1
            values = np.where(alone, values, products[colors[columns], rows])
    jacobian = coloring.sparsity.astype(np.float64)
    jacobian.data = values
    return jacobian


def _counts(coloring: Coloring) -> Any:
    """How many rows of each colour have an entry in each column."""
    return coloring.seeds @ coloring.sparsity


def _around(f: Func, x: Tree, args: Any, points: int) -> Any:
    """Evaluations at `x` and at random points around it."""
    domain = Packing(x, "x")
    traced, start = Traced(f, domain, args), domain.pack(tree_leaves(x))
    random = np.random.default_rng(0)
    for index in range(points):
        step = 0.01 * np.maximum(np.abs(start), 1) if index else 0.0
        yield traced.at(start + step * random.uniform(-1, 1, start.shape))


def _union(evaluations: Any) -> Any:
    """The pattern of all entries that one of the Jacobians has."""
    return (sum(_entries(evaluation) for evaluation in evaluations) != 0).astype(np.int64)


def _entries(evaluation: Evaluation) -> Any:
    """Ones where the Jacobian is not zero, from one row (or column) at a time."""
    from scipy.sparse import csr_array, vstack

    rows, columns = evaluation.codomain.size, evaluation.domain.size
    by_rows = rows <= columns
    product = evaluation.vjp if by_rows else evaluation.jvp
    lines = [csr_array(product(unit)[None] != 0) for unit in _units(min(rows, columns))]
    if not lines:
        return csr_array((rows, columns), dtype=bool)
    found = vstack(lines, format="csr")
    return found if by_rows else found.T.tocsr()


def _units(size: int) -> Any:
    for index in range(size):
        unit: Vector = np.zeros(size)
        unit[index] = 1
        yield unit
