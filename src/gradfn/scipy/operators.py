"""Jacobians and Hessians as SciPy's linear operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .evaluation import Func, evaluated
from .objective import number
from .packing import Vector
from .trees import Tree

Product = Callable[[Vector], Vector]


def jacobian_operator(f: Func, x: Tree, *, args: Any = ()) -> Any:
    """The Jacobian of ``f(x, *args)`` at `x` as a `scipy.sparse.linalg.LinearOperator`.

    For functions from trees to trees of tensors; the operator is of float64 and acts on the vectors
    that `ravel` makes of them. `f` runs once; each product, with the operator or with its transpose
    (``rmatvec``), is then one backward pass. For `lsqr`, `svds`, `gmres` and others.

    >>> import gradfn
    >>> J = jacobian_operator(lambda x: x.cumsum(0), gradfn.zeros(3))
    >>> J @ [1.0, 2.0, 3.0], J.T @ [1.0, 2.0, 3.0]
    (array([1., 3., 6.]), array([6., 5., 3.]))
    """
    evaluation = evaluated(f, x, args)
    shape = (evaluation.codomain.size, evaluation.domain.size)
    return _operator(shape, evaluation.jvp, evaluation.vjp)


def hessian_operator(f: Func, x: Tree, *, args: Any = ()) -> Any:
    """The Hessian of ``f(x, *args)`` at `x` as a `scipy.sparse.linalg.LinearOperator`.

    `f` returns a real scalar; the operator is of float64, symmetric, and acts on the vector that
    `ravel` makes of `x`. `f` and its gradient run once; each product is then one backward pass. For
    `eigsh`, `cg`, `minres` and others.

    Raises RuntimeError unless ``f(x)`` is one real number that depends on x.

    >>> import gradfn
    >>> from scipy.sparse.linalg import eigsh
    >>> x = gradfn.tensor([1.0, 2.0, 3.0], dtype=gradfn.float64)
    >>> eigsh(hessian_operator(lambda x: (x**4).sum(), x), k=1, return_eigenvectors=False)
    array([108.])
    """
    evaluation = evaluated(f, x, args)
    number(evaluation)
    gradient = evaluation.gradient(twice=True)

    size = evaluation.domain.size
    return _operator((size, size), gradient.vjp, gradient.vjp)


def _operator(shape: tuple[int, int], forward: Product, transposed: Product) -> Any:
    """The linear operator of two products with vectors, or with each row of a matrix."""
    from scipy.sparse.linalg import LinearOperator

    def on_vector(product: Product) -> Callable[[Any], Vector]:
        return lambda v: product(np.asarray(v, np.float64).ravel())

    def on_columns(product: Product) -> Callable[[Any], Vector]:
        return lambda matrix: product(np.asarray(matrix, np.float64).T).T

    return LinearOperator(
        shape,
        matvec=on_vector(forward),
        rmatvec=on_vector(transposed),
        matmat=on_columns(forward),
        rmatmat=on_columns(transposed),
        dtype=np.float64,
    )
