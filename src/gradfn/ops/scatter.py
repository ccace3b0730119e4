"""Gathering and scattering: an index for every element, along one dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import raw
from ..autograd.variable import Variable
from ..shapes import broadcast_shapes, wrap_dim
from .declare import op
from .emit import inplace
from .view import expand_size, reshape

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "gather",
    "scatter",
    "scatter_add",
    "take_along_dim",
]

gather = op(
    "gather(self, dim, index: Tensor, *, sparse_grad=False)",
    kernel=raw.gather,
    tangent="linear",
    self=lambda F, g, self_shape, dim, index: F.gather_backward(g, self_shape, dim, index),
    doc="``out[i, j] = input[index[i, j], j]`` for `dim` 0, and so on; the shape is that of index.",
)
gather_backward = op(
    "gather_backward(self, shape, dim, index: Tensor)",
    kernel=raw.gather_backward,
    node="ScatterAddBackward0",
    tangent="linear",
    self=lambda F, g, dim, index: F.gather(g, dim, index),
)
scatter_src = op(
    "scatter(self, dim, index: Tensor, src)",
    kernel=raw.scatter,
    self=lambda F, g, dim, index: F.scatter(g, dim, index, 0),
    src=lambda F, g, dim, index: F.gather(g, dim, index),
)
scatter_value = op(
    "scatter.value(self, dim, index: Tensor, value)",
    kernel=raw.scatter,
    node="ScatterBackward1",
    self=lambda F, g, dim, index: F.scatter(g, dim, index, 0),
)
scatter_add = op(
    "scatter_add(self, dim, index: Tensor, src)",
    kernel=raw.scatter_add,
    tangent="linear",
    self=lambda g: g,
    src=lambda F, g, dim, index: F.gather(g, dim, index),
    doc="A copy with ``src[i, j]`` added to ``out[index[i, j], j]``, for `dim` 0, and so on.",
)
_scatter_src_, _scatter_value_, scatter_add_ = map(
    inplace, (scatter_src, scatter_value, scatter_add)
)


def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None
) -> Tensor:
    """A copy with ``out[index[i, j], j] = src[i, j]``, for `dim` 0, and so on: `gather` reversed.

    `src` is a tensor of the same dtype, or one number for all. Where a position comes twice, one
    value stays.
    """
    src = value if src is None else src
    row = scatter_src if isinstance(src, Variable) else scatter_value
    return row(input, dim, index, src)


def scatter_(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None
) -> Tensor:
    """`scatter` in place."""
    src = value if src is None else src
    row = _scatter_src_ if isinstance(src, Variable) else _scatter_value_
    return row(input, dim, index, src)  # type: ignore[no-any-return]


def _from_the_front(indices: Tensor, size: int) -> Tensor:
    """Index tensors with negative positions, which count from the end, made positive."""
    array = indices._array
    if not array.size or array.min() >= 0:
        return indices
    return Variable.wrap(np.where(array < 0, array + size, array))  # type: ignore[no-any-return]


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """`gather` with `input` and `indices` broadcast apart from `dim`; flattened without `dim`."""
    if dim is None:
        indices = _from_the_front(indices, input._array.size)
        return gather(reshape(input, (-1,)), 0, reshape(indices, (-1,)))
    shape, wanted = input._array.shape, indices._array.shape
    if len(shape) != len(wanted):
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {len(shape)} dimensions for input, and {len(wanted)} dimensions for indices"
        )
    if indices._array.dtype != np.int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got "
            f"{indices.dtype.scalar_name}"
        )
    dim = wrap_dim(dim, len(shape))
    indices = _from_the_front(indices, shape[dim])
    common = broadcast_shapes(*((*s[:dim], 1, *s[dim + 1 :]) for s in (shape, wanted)))
    both = (
        expand_size(tensor, (*common[:dim], tensor._array.shape[dim], *common[dim + 1 :]))
        for tensor in (input, indices)
    )
    return gather(next(both), dim, next(both))


METHODS = "gather scatter scatter_ scatter_add scatter_add_ take_along_dim"
