"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import raw
from ..raw.matrices import check_fraction
from ..raw.reduction import RENORM_EPSILON, Dims, others
from ..shapes import wrap_dim
from .checking import checked
from .declare import op
from .decompositions import linalg_svdvals
from .emit import inplace
from .extrema import amax, amin
from .out import with_out

if TYPE_CHECKING:
    from ..dtypes import dtype as DType
    from ..tensor import Tensor

__all__ = ["dist", "norm", "renorm"]


def _norm_gradient(
    F: Any, g: Any, self: Any, result: Any, self_shape: Any, ord: float, dim: Dims, keepdim: bool
) -> Any:
    """The gradient of a norm; zero where the norm is."""
    if ord == 0:
        return None
    g = F.unsum(g, self_shape, dim, keepdim)
    if ord == 1:
        return F.sgn(self) * g
    norm = F.unsum(result, self_shape, dim, keepdim)
    size = F.abs(self)
    if abs(ord) == math.inf:
        ties = size == norm
        count = F.unsum(F.sum(ties, dim, keepdim), self_shape, dim, keepdim)
        share = g / F.where(count == 0, 1, count)
        return F.sgn(F.where(ties, self, 0)) * share
    if ord == 2:
        return g * F.where(norm == 0, 0, self / norm)
    scale = F.where(norm == 0, 0, g / norm ** (ord - 1))
    if ord > 2:
        return self * size ** (ord - 2) * scale
    return F.sgn(self) * F.where(self == 0, 0, size ** (ord - 1)) * scale


vector_norm = op(
    "linalg_vector_norm(self, ord=2, dim=None, keepdim=False, *, dtype=None)",
    kernel=raw.vector_norm,
    tangent="contracted",
    self=_norm_gradient,
    doc="""The norm ``sum(abs(x) ** ord) ** (1 / ord)`` over `dim`, as of one vector.

    `ord` may be any number; inf and -inf take the largest and smallest size, 0 counts what is not
    zero. RuntimeError for integers, and where an empty vector has no such norm.

    >>> import gradfn
    >>> gradfn.linalg.vector_norm(gradfn.tensor([3.0, 4.0]))
    tensor(5.)
    """,
)
dist = op(
    "dist(self, other, p=2)",
    kernel=raw.dist,
    tangent="contracted",
    promote="number",
    numbers=False,
    self=lambda F, g, self, other, result, p: _dist_gradient(F, g, self - other, result, p),
    other=lambda F, g, self, other, result, p: _dist_gradient(F, g, other - self, result, p),
    doc="""The p-norm of ``input - other``.

    >>> import gradfn
    >>> gradfn.dist(gradfn.tensor([3.0, 0.0]), gradfn.tensor([0.0, 4.0]))
    tensor(5.)
    """,
)


def _dist_gradient(F: Any, g: Any, difference: Any, result: Any, p: float) -> Any:
    return _norm_gradient(F, g, difference, result, difference.shape, p, None, False)


def _renorm_gradient(
    F: Any, g: Any, self: Any, self_shape: Any, p: float, dim: int, maxnorm: float
) -> Any:
    """The gradient of ``self * maxnorm / (norm + RENORM_EPSILON)`` where the norm is larger."""
    dims = others(dim, len(self_shape))
    norm = F.vector_norm(self, p, dims, True)
    inverse = 1 / (norm + RENORM_EPSILON)
    radial = F.sum(F.real(self.conj() * g), dims, True)
    inward = _norm_gradient(F, radial * inverse, self, norm, self_shape, p, dims, True)
    return F.where(norm > maxnorm, (g - inward) * (maxnorm * inverse), g)


renorm = op(
    "renorm(self, p, dim, maxnorm)",
    kernel=raw.renorm,
    self=_renorm_gradient,
    doc="""Each slice along `dim` scaled down to p-norm `maxnorm` where its norm is larger.

    >>> import gradfn
    >>> gradfn.renorm(gradfn.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """,
)
renorm_ = inplace(renorm)


@with_out
def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: Dims = None,
    keepdim: bool = False,
    dtype: DType | None = None,
) -> Tensor:
    """The p-norm over `dim`, as of one vector; ``"fro"`` is 2.

    See `linalg.vector_norm`, which it calls, and `linalg.matrix_norm` for the nuclear norm.

    >>> import gradfn
    >>> gradfn.norm(gradfn.tensor([3.0, 4.0]))
    tensor(5.)
    """
    plain = p is None or (p == "fro" and (not isinstance(dim, Sequence) or len(dim) <= 2))
    if plain or not isinstance(p, str):
        return vector_norm(input, 2 if plain else p, dim, keepdim, dtype=dtype)
    return matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)


@with_out
@checked
def matrix_norm(
    input: Tensor,
    ord: float | str = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """A norm of the matrices in the two dimensions `dim`.

    1 is the largest, -1 the smallest sum of sizes in a column; inf and -inf are those of rows; 2
    is the largest, -2 the smallest singular value, ``"nuc"`` their sum; ``"fro"`` is that of the
    elements as one vector.

    >>> import gradfn
    >>> gradfn.linalg.matrix_norm(gradfn.tensor([[1.0, -2.0], [3.0, 4.0]]), 1)
    tensor(6.)
    """
    dims = _matrix_dims(input, dim)
    if ord == "fro":
        return vector_norm(input, 2, dims, keepdim, dtype=dtype)
    if ord in ("nuc", 2, -2):
        return _spectral_norm(input, ord, dims, keepdim, dtype)
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(
            f"linalg.matrix_norm: Order {ord} not supported: it may be 'fro', 'nuc', 2, -2, 1, "
            "-1, inf or -inf."
        )
    summed, compared = dims if abs(ord) == 1 else dims[::-1]
    if not keepdim and compared > summed:
        compared -= 1
    extreme = amax if ord > 0 else amin
    return extreme(vector_norm(input, 1, summed, keepdim, dtype=dtype), compared, keepdim)


def _spectral_norm(
    input: Tensor, ord: float | str, dims: tuple[int, int], keepdim: bool, dtype: DType | None
) -> Tensor:
    """The sum, the largest or the smallest of the singular values."""
    check_fraction("linalg.matrix_norm", input._array, half=True)
    others = [d for d in range(input.ndim) if d not in dims]
    order = [*others, *dims]
    matrices = input.permute(order) if dtype is None else input.to(dtype).permute(order)
    values = linalg_svdvals(matrices)
    if ord == "nuc":
        norm = values.sum(-1, keepdim)
    elif values.shape[-1]:
        norm = (amax if ord == 2 else amin)(values, -1, keepdim)
    else:
        norm = values.new_zeros(values.shape[:-1] + (1,) * keepdim)
    if not keepdim:
        return norm  # type: ignore[no-any-return]
    back = [order.index(d) for d in range(input.ndim)]
    return norm.unsqueeze(-1).permute(back)  # type: ignore[no-any-return]


def _matrix_dims(input: Tensor, dim: Any) -> tuple[int, int]:
    """The two dimensions of the matrices, counted from the front."""
    name = "linalg.matrix_norm"
    if input.dim() < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    given = tuple(dim) if isinstance(dim, Sequence) else (dim,)
    if len(given) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, given))}")
    rows, columns = (wrap_dim(d, input.dim()) for d in given)
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different. Got {given}")
    return rows, columns


@with_out
@checked
def linalg_norm(
    input: Tensor,
    ord: float | str | None = None,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """`vector_norm` over one dimension of `dim`, `matrix_norm` over two, by default over all.

    Without `ord`, the 2-norm as of one vector.

    >>> import gradfn
    >>> gradfn.linalg.norm(gradfn.tensor([[3.0, 4.0]]))
    tensor(5.)
    """
    if ord is None:
        return vector_norm(input, 2, dim, keepdim, dtype=dtype)
    if dim is None:
        if input.dim() > 2:
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                f"{input.dim()}D."
            )
        dim = tuple(range(input.dim()))
    if isinstance(ord, str) or (isinstance(dim, Sequence) and len(dim) == 2):
        return matrix_norm(input, ord, dim, keepdim, dtype=dtype)
    return vector_norm(input, ord, dim, keepdim, dtype=dtype)


METHODS = "dist norm renorm renorm_"
