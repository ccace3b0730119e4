"""Functions of matrices; most are made of other operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes, raw
from ..creation import eye, ones, zeros
from ..raw.matrices import check_fraction, check_square
from ..shapes import wrap_dim
from .checking import checked
from .declare import op
from .decompositions import adjoint_of, columns_from, linalg_eigvalsh, linalg_svdvals
from .joining import cat
from .norms import matrix_norm
from .out import with_out
from .products import matmul, vdot
from .scan import cumprod
from .solvers import linalg_inv, linalg_inv_ex, linalg_solve
from .views import movedim
from .windows import narrow

__all__ = ["cross", "matrix_exp", "matrix_power", "vander"]


@with_out
def linalg_tensorsolve(input: Any, other: Any, dims: Sequence[int] | None = None) -> Any:
    """The X in ``tensordot(A, X, X.ndim) = B``, as `torch.linalg.tensorsolve`.

    The first dimensions of A are those of B, the last those of X; `dims` are moved to the end
    before that. RuntimeError where their sizes make no square matrix.

    >>> import gradfn
    >>> gradfn.linalg.tensorsolve(gradfn.eye(6).reshape(2, 3, 6), gradfn.ones(2, 3)).shape
    torch.Size([6])
    """
    if dims is not None:
        last = range(input.ndim - len(dims), input.ndim)
        input = movedim(input, [wrap_dim(d, input.ndim) for d in dims], list(last))
    shape = input.shape[other.ndim :]
    _check_square_tensor(input, other.ndim, math.prod(other.shape), "other.ndim")
    size = math.prod(shape)
    return linalg_solve(input.reshape(size, size), other.reshape(size)).reshape(shape)


@with_out
def linalg_tensorinv(input: Any, ind: int = 2) -> Any:
    """The inverse of ``tensordot(A, X, ind)``, as `torch.linalg.tensorinv`.

    The first `ind` dimensions of A are the last of the result.

    >>> import gradfn
    >>> gradfn.linalg.tensorinv(gradfn.eye(6).reshape(2, 3, 6)).shape
    torch.Size([6, 2, 3])
    """
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    size = math.prod(input.shape[:ind])
    _check_square_tensor(input, ind, size, "ind")
    return linalg_inv(input.reshape(size, size)).reshape(*input.shape[ind:], *input.shape[:ind])


def _check_square_tensor(input: Any, ind: int, rows: int, word: str) -> None:
    columns = math.prod(input.shape[ind:])
    if columns != rows:
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[{word}:]) == "
            f"prod(self.shape[:{word}]), but got {columns} != {rows}"
        )


@with_out
def matrix_power(input: Any, n: int) -> Any:
    """The n-th powers of matrices (..., m, m), by repeated squares; of the inverse for n < 0.

    As `torch.linalg.matrix_power`. LinAlgError where a singular matrix would be inverted.

    >>> import gradfn
    >>> gradfn.matrix_power(gradfn.tensor([[1.0, 1.0], [0.0, 1.0]]), 10)
    tensor([[ 1., 10.],
            [ 0.,  1.]])
    """
    check_square("linalg.matrix_power", input._array)
    if not hasattr(n, "__index__"):
        raise TypeError(
            f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}"
        )
    if n == 0:
        return input.clone().copy_(eye(input.shape[-1], dtype=input.dtype))
    if n == 1:
        return input.clone()
    if n < 0:
        inverse = linalg_inv(input)
        return inverse if n == -1 else matrix_power(inverse, -n)
    if n == 3:
        return matmul(matmul(input, input), input)
    square, result = input, None
    while n:
        if n % 2:
            result = square if result is None else matmul(result, square)
        n //= 2
        square = matmul(square, square) if n else square
    return result


cross_of = op(
    "linalg_cross(self, other, *, dim=-1)",
    kernel=raw.linalg_cross,
    tangent="bilinear",
    self=lambda F, g, other, dim: F.linalg_cross(other.conj(), g, dim=dim),
    other=lambda F, g, self, dim: F.linalg_cross(g, self.conj(), dim=dim),
    doc="""The cross products of vectors of size 3 along `dim`; other dimensions are broadcast.

    As `torch.linalg.cross`.

    >>> import gradfn
    >>> gradfn.linalg.cross(gradfn.tensor([1.0, 0.0, 0.0]), gradfn.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """,
)


@with_out
def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """`linalg.cross` along `dim`, by default the first dimension of size 3.

    >>> import gradfn
    >>> gradfn.cross(gradfn.tensor([1.0, 0.0, 0.0]), gradfn.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    if dim is None:
        if 3 not in input.shape:
            raise RuntimeError(f"no dimension of size 3 in input: its shape is {list(input.shape)}")
        dim = input.shape.index(3)
    return cross_of(input, other, dim=dim)


def linalg_vander(x: Any, *, N: int | None = None) -> Any:
    """The powers 0 to N - 1 of each number, along a new last dimension of size N.

    `N` is by default the size of the last dimension. As `torch.linalg.vander`.

    >>> import gradfn
    >>> gradfn.linalg.vander(gradfn.tensor([2, 3]), N=3)
    tensor([[1, 2, 4],
            [1, 3, 9]])
    """
    x = x if x.ndim else x.unsqueeze(0)
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError(f"N must be greater than 1. It is {count}.")
    if x._array.dtype.kind == "b":
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got Bool"
        )
    repeated = x.unsqueeze(-1).expand(*x.shape, count - 1)
    return cat([ones(*x.shape, 1, dtype=x.dtype), cumprod(repeated, -1)], -1)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The powers of the numbers in a vector, the highest first unless `increasing`.

    As `torch.vander`.

    >>> import gradfn
    >>> gradfn.vander(gradfn.tensor([2, 3]), 3)
    tensor([[4, 2, 1],
            [9, 3, 1]])
    """
    if x.ndim != 1:
        raise RuntimeError(f"x must be a one-dimensional tensor. It has {x.ndim} dimensions.")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError(f"N must be non-negative. It is {count}.")
    exact = x._array.dtype.kind in "biu"
    powers = ones(x.shape[0], count, dtype=dtypes.int64 if exact else x.dtype)
    if count > 1:
        narrow(powers, 1, 1, count - 1).copy_(x.unsqueeze(1))
        narrow(powers, 1, 1, count - 1).copy_(cumprod(narrow(powers, 1, 1, count - 1), 1))
    return powers if increasing else powers.flip(1)


@with_out
def linalg_vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """The sums of ``x.conj() * y`` over `dim`, as `torch.linalg.vecdot`.

    >>> import gradfn
    >>> gradfn.linalg.vecdot(gradfn.ones(2, 3), gradfn.ones(2, 3))
    tensor([3., 3.])
    """
    check_fraction("linalg.vecdot", x._array, half=True)
    if x.ndim == y.ndim == 1:
        return vdot(x, y)
    return (x.conj() * y).sum(dim)


def linalg_diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """`diagonal` of the last two dimensions, as `torch.linalg.diagonal`.

    >>> import gradfn
    >>> gradfn.linalg.diagonal(gradfn.eye(2))
    tensor([1., 1.])
    """
    return A.diagonal(offset, dim1, dim2)


@with_out
@checked
def linalg_cond(input: Any, p: float | str | None = None) -> Any:
    """The condition numbers of matrices: the norm of each times that of its inverse.

    `p` is an order of `linalg.matrix_norm`. By default, and for 2 and -2, the ratio of the
    extreme singular values, of any matrices (..., m, n). As `torch.linalg.cond`.

    >>> import gradfn
    >>> gradfn.linalg.cond(gradfn.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor(2.)
    """
    if input.dim() < 2:
        raise RuntimeError(
            "linalg.cond: The input tensor must have at least 2 dimensions. It has shape "
            f"{list(input.shape)}."
        )
    if not input.numel():
        check_fraction("linalg.cond", input._array, half=True)
        return zeros(input.shape[:-2], dtype=input.real.dtype)
    if p in (None, 2, -2):
        values = linalg_svdvals(input)
        largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, -1, 1)
        return (smallest / largest if p == -2 else largest / smallest).squeeze(-1)
    if p not in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if p == "nuc":
        values = linalg_svdvals(input)
        return values.sum(-1) * values.reciprocal().sum(-1)
    check_square(f"linalg.cond(ord={p:g})" if p != "fro" else "linalg.cond(ord=fro)", input._array)
    inverse, info = linalg_inv_ex(input)
    inverse = inverse.masked_fill((info > 0).unsqueeze(-1).unsqueeze(-1), math.inf)
    size: Any = matrix_norm(input, p)
    return (size * matrix_norm(inverse, p)).nan_to_num(math.inf, math.inf, -math.inf)


@with_out
@checked
def linalg_matrix_rank(
    A: Any,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Any:
    """How many singular values of each matrix are larger than ``max(atol, rtol * largest)``.

    `rtol` is by default ``max(m, n)`` times the spacing of the dtype, or 0 with `atol`, of which
    `tol` is an older name. As `torch.linalg.matrix_rank`.

    >>> import gradfn
    >>> gradfn.linalg.matrix_rank(gradfn.ones(3, 2))
    tensor(1)
    """
    if A.dim() < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions. It "
            f"has shape {list(A.shape)}."
        )
    if A._array.dtype.char not in "fdFD":
        raise RuntimeError(
            f"This function doesn't handle types other than float and double, not {A.dtype}"
        )
    plain = A.detach()
    if not A.numel():
        return zeros(A.shape[:-2], dtype=dtypes.int64)
    values = linalg_eigvalsh(plain).abs() if hermitian else linalg_svdvals(plain)
    atol = tol if atol is None else atol
    if rtol is None:
        rtol = 0 if atol is not None else max(A.shape[-2:]) * np.finfo(values._array.dtype).eps
    cutoff = values.amax(-1) * rtol
    if atol is not None:
        cutoff = cutoff.clamp_min(atol)
    return (values > cutoff.unsqueeze(-1)).sum(-1)


def _matrix_exp_gradient(F: Any, g: Any, self: Any) -> Any:
    """The upper right block of the exponential of ``[[A^H, g], [0, A^H]]``."""
    A = adjoint_of(self)
    size = A.shape[-1]
    top, bottom = F.cat([A, g], -1), F.cat([F.zeros_like(A), A], -1)
    both = F.linalg_matrix_exp(F.cat([top, bottom], -2))
    return columns_from(F, F.slice_dim(both, -2, 0, size), size, 2 * size)


linalg_matrix_exp = op(
    "linalg_matrix_exp(self)",
    kernel=raw.linalg_matrix_exp,
    self=_matrix_exp_gradient,
    tangent=lambda F, self, self_t: _matrix_exp_gradient(F, self_t, adjoint_of(self)),
    doc="""The matrix exponential ``sum of A^k / k!`` of matrices (..., n, n).

    As `torch.linalg.matrix_exp`.

    >>> import gradfn
    >>> gradfn.linalg.matrix_exp(gradfn.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """,
)
matrix_exp = linalg_matrix_exp

METHODS = "cross matrix_exp matrix_power"
