"""Weights as a direction and a length: weight normalisation."""

from __future__ import annotations

from typing import Any

from .. import raw
from ..raw.reduction import others
from ..shapes import wrap_dim
from .checking import checked
from .declare import op, variant
from .distance import norm_of_rows
from .norms import vector_norm

__all__ = ["_weight_norm", "norm_except_dim"]

norm_of_all = variant(vector_norm, "norm.all", node="NormBackward0")


def _norm_of(F: Any, v: Any, dim: int) -> Any:
    return F.vector_norm(v, 2, others(dim, len(v.shape)), True)


def _through_direction(F: Any, g_result0: Any, v: Any, length: Any, dim: int) -> Any:
    """What of the gradient is across `v`: the length of the result is `length` whatever `v` is."""
    norm = _norm_of(F, v, dim)
    along = F.sum(g_result0 * v, others(dim, len(v.shape)), True)
    return (length / norm) * (g_result0 - v * (along / (norm * norm)))


def _through_length(F: Any, g_result0: Any, v: Any, dim: int) -> Any:
    return F.sum(g_result0 * v, others(dim, len(v.shape)), True) / _norm_of(F, v, dim)


weight_norm_interface = op(
    "weight_norm_interface(v, length, dim=0)",
    kernel=raw.weight_norm_interface,
    results=("result0", "result1"),
    constants=("result1",),
    v=_through_direction,
    length=_through_length,
)


@checked
def _weight_norm(v: Any, g: Any, dim: int = 0) -> Any:
    """``g * v / norm_except_dim(v, 2, dim)``, as `torch._weight_norm`."""
    if v.dtype is not g.dtype:
        raise RuntimeError(
            f"expected scalar type {v.dtype.scalar_name} but found {g.dtype.scalar_name}"
        )
    if dim != -1 and wrap_dim(dim, v.ndim) in (0, v.ndim - 1):
        return weight_norm_interface(v, g, dim)[0]
    return v * (g / norm_except_dim(v, 2, dim))


def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """The `pow`-norm of each slice along `dim`, which stays a dimension; of all of `v` for -1.

    >>> import gradfn
    >>> gradfn.norm_except_dim(gradfn.tensor([[3.0, 4.0], [6.0, 8.0]]), 2, 0)
    tensor([[ 5.],
            [10.]])
    """
    if dim == -1:
        return norm_of_all(v, pow)
    last = v.ndim - 1
    axis = wrap_dim(dim, v.ndim)
    size = v.shape[axis] if v.ndim else 1
    if axis == 0:
        rows = v.contiguous().view(size, -1)
        return norm_of_rows(rows, pow, 1).view(size, *[1] * last)
    if axis == last:
        columns = v.contiguous().view(-1, size)
        return norm_of_rows(columns, pow, 0).view(*[1] * last, size)
    return norm_except_dim(v.transpose(0, axis), pow, 0).transpose(0, axis)


METHODS = ""
