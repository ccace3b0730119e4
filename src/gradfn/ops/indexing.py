"""Reading and writing by index tensors and masks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import raw
from ..autograd.variable import Variable
from ..raw.views import strided_window
from .arithmetic import floor_divide, remainder
from .checking import checked, row_for
from .declare import op
from .emit import inplace
from .out import with_out
from .runtime import is_number
from .scattering import gather

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "argwhere",
    "as_strided_scatter",
    "bucketize",
    "diagonal_scatter",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_put_",
    "index_select",
    "masked_scatter",
    "masked_select",
    "nonzero",
    "nonzero_static",
    "put",
    "searchsorted",
    "select_scatter",
    "slice_scatter",
    "take",
    "unravel_index",
]

# Positions in several dimensions.

index_at = op(
    "index(self, indices: Tensors, dims)",
    kernel=raw.index_at,
    tangent="linear",
    self=lambda F, g, self_shape, indices, dims: F.index_backward(g, self_shape, indices, dims),
)
index_backward = op(
    "index_backward(self, shape, indices: Tensors, dims)",
    kernel=raw.index_backward,
    node="IndexPutBackward0",
    tangent="linear",
    self=lambda F, g, indices, dims: F.index_at(g, indices, dims),
)
index_put_at = op(
    "index_put(self, indices: Tensors, values, dims, accumulate=False)",
    shares="nothing",
    kernel=raw.index_put_at,
    tangent="linear",
    self=lambda F, g, indices, dims, accumulate: (
        g if accumulate else F.index_clear(g, indices, dims)
    ),
    values=lambda F, g, indices, dims: F.index_at(g, indices, dims),
)
index_clear = op(
    "index_put_backward(self, indices: Tensors, dims)",
    kernel=raw.index_clear,
    node="IndexPutBackward0",
    tangent="linear",
    self=lambda F, g, indices, dims: F.index_clear(g, indices, dims),
)
_index_put_at_ = inplace(index_put_at)


def positions(input: Any, indices: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Index tensors of integers, with the dimension each is for; None leaves a dimension whole.

    A mask stands for as many dimensions as it has. IndexError where it does not fit.
    """
    shape = input._array.shape
    tensors: list[Any] = []
    dims: list[int] = []
    dim = 0
    for nr, index in enumerate(indices):
        if index is None:
            dim += 1
            continue
        kind = index._array.dtype.kind
        if kind == "b" or index._array.dtype == np.uint8:
            mask = index._array
            for axis, size in enumerate(mask.shape):
                if dim + axis >= len(shape) or shape[dim + axis] != size:
                    raise IndexError(
                        f"The shape of the mask {list(mask.shape)} at index {axis} does not match "
                        f"the shape of the indexed tensor {list(shape)} at index {dim + axis}"
                    )
            found = mask.nonzero() if mask.ndim else ()
            tensors += [Variable.wrap(places) for places in found]
            dims += range(dim, dim + mask.ndim)
            dim += mask.ndim
            continue
        if index._array.dtype not in (np.int64, np.int32):
            raise IndexError(
                "tensors used as indices must be long, int, byte or bool tensors; index "
                f"{nr} is {index.dtype}"
            )
        tensors.append(index)
        dims.append(dim)
        dim += 1
    if dim > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {dim})")
    return tensors, dims


@checked
def index_put(
    input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Tensor:
    """A copy with ``values`` written, or added, at the positions of the index tensors `indices`.

    `values` broadcasts to the shape of ``input[indices]``. Where a position comes twice, one value
    stays, unless `accumulate` adds them.
    """
    found, dims = positions(input, indices)
    _check_put(input, values)
    return index_put_at(input, found, values, dims, accumulate)


@checked
def index_put_(
    input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Tensor:
    """`index_put` in place."""
    found, dims = positions(input, indices)
    _check_put(input, values)
    return _index_put_at_(input, found, values, dims, accumulate)  # type: ignore[no-any-return]


def _check_put(input: Tensor, values: Tensor) -> None:
    if input._array.dtype != values._array.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{input.dtype.scalar_name} for the destination and {values.dtype.scalar_name} for the "
            "source."
        )


# Positions along one dimension.

index_select = op(
    "index_select(self, dim, index: Tensor)",
    kernel=raw.index_select,
    tangent="linear",
    self=lambda F, g, self_shape, dim, index: F.index_select_backward(g, self_shape, dim, index),
    doc="""The slices of dimension `dim` that the vector `index` lists, in a new tensor.

    Gradients add up where a slice is listed twice. IndexError for positions out of range.

    >>> import gradfn
    >>> gradfn.index_select(gradfn.arange(4), 0, gradfn.tensor([3, 1]))
    tensor([3, 1])
    """,
)
index_select_backward = op(
    "index_select_backward(self, shape, dim, index: Tensor)",
    kernel=raw.index_select_backward,
    node="IndexAddBackward0",
    tangent="linear",
    self=lambda F, g, dim, index: F.index_select(g, dim, index),
)
index_add = op(
    "index_add(self, dim, index: Tensor, source, *, alpha=1)",
    shares="nothing",
    kernel=raw.index_add,
    tangent="linear",
    self=lambda g: g,
    source=lambda F, g, source_shape, dim, index, alpha: (
        F.reshape(F.index_select(g, dim, index), source_shape) * alpha
    ),
    doc="A copy with ``alpha * source[i]`` added to the slice ``index[i]`` of dimension `dim`.",
)
index_copy = op(
    "index_copy(self, dim, index: Tensor, source)",
    shares="nothing",
    kernel=raw.index_copy,
    tangent="linear",
    self=lambda F, g, dim, index: F.index_fill_value(g, dim, index, 0),
    source=lambda F, g, source_shape, dim, index: F.reshape(
        F.index_select(g, dim, index), source_shape
    ),
    doc="A copy with ``source[i]`` as the slice ``index[i]`` of dimension `dim`.",
)
distinct = op("distinct(self: Tensor)", kernel=raw.distinct)
index_fill_value = op(
    "index_fill(self, dim, index: Tensor, value)",
    shares="nothing",
    kernel=raw.index_fill,
    tangent=lambda F, self_t, dim, index: F.index_fill_value(self_t, dim, index, 0),
    self=lambda F, g, dim, index: F.index_fill_value(g, dim, index, 0),
)
index_fill_tensor = op(
    "index_fill.tensor(self, dim, index: Tensor, value)",
    shares="anything",
    kernel=raw.index_fill,
    node="IndexFillBackward1",
    tangent="linear",
    self=lambda F, g, dim, index: F.index_fill_value(g, dim, index, 0),
    value=lambda F, g, dim, index: F.sum(F.index_select(g, dim, F.distinct(index))),
)
index_add_, index_copy_ = map(inplace, (index_add, index_copy))
_index_fill_value_, _index_fill_tensor_ = map(inplace, (index_fill_value, index_fill_tensor))


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy with `value`, a number or a 0-d tensor, in the slices that `index` lists."""
    row = row_for(value, index_fill_tensor, index_fill_value)
    return row(input, dim, index, value)  # type: ignore[no-any-return]


def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """`index_fill` in place."""
    row = row_for(value, _index_fill_tensor_, _index_fill_value_)
    return row(input, dim, index, value)  # type: ignore[no-any-return]


# Positions among all elements, and masks.

take = op(
    "take(self, index: Tensor)",
    kernel=raw.take,
    tangent="linear",
    self=lambda F, g, self_shape, index: F.take_backward(g, self_shape, index),
    doc="The elements at the positions `index` of the flattened tensor, in the shape of `index`.",
)
take_backward = op(
    "take_backward(self, shape, index: Tensor)",
    kernel=raw.take_backward,
    node="PutBackward0",
    tangent="linear",
    self=lambda F, g, index: F.take(g, index),
)
put = op(
    "put(self, index: Tensor, source, accumulate=False)",
    shares="nothing",
    kernel=raw.put,
    tangent="linear",
    self=lambda F, g, index, accumulate: (
        g if accumulate else F.put(g, index, F.zeros_like(F.take(g, index)))
    ),
    source=lambda F, g, source_shape, index: F.reshape(F.take(g, index), source_shape),
    doc="A copy with `source` written, or added, at positions of the flattened tensor.",
)
masked_select = op(
    "masked_select(self, mask: Tensor)",
    kernel=raw.masked_select,
    tangent="linear",
    self=lambda F, g, self_shape, mask: F.masked_select_backward(g, self_shape, mask),
    doc="""The elements where the boolean `mask`, broadcast with the tensor, is true: a vector.

    >>> import gradfn
    >>> x = gradfn.arange(4)
    >>> gradfn.masked_select(x, x > 1)
    tensor([2, 3])
    """,
)
masked_select_backward = op(
    "masked_select_backward(self, shape, mask: Tensor)",
    kernel=raw.masked_select_backward,
    node="MaskedScatterBackward0",
    tangent="linear",
    self=lambda F, g, mask: F.masked_select(g, mask),
)
masked_scatter = op(
    "masked_scatter(self, mask: Tensor, source)",
    shares="anything",
    kernel=raw.masked_scatter,
    tangent="linear",
    self=lambda F, g, mask: F.masked_scatter(g, mask, F.zeros_like(g)),
    source=lambda F, g, source_shape, mask: F.masked_scatter_backward(g, mask, source_shape),
    doc="A copy with the elements of `source`, in order, where the boolean `mask` is true.",
)
masked_scatter_backward = op(
    "masked_scatter_backward(self, mask: Tensor, shape)",
    kernel=raw.masked_scatter_backward,
    node="MaskedScatterBackwardBackward0",
    tangent="linear",
    self=lambda F, g, self_shape, mask: F.masked_scatter(F.zeros_of(g, self_shape), mask, g),
)
put_, masked_scatter_ = map(inplace, (put, masked_scatter))

nonzero_at = op("nonzero(self: Tensor)", kernel=raw.nonzero)


@with_out
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The positions of the elements that are not zero: one row each, or a tuple of vectors.

    >>> import gradfn
    >>> gradfn.nonzero(gradfn.tensor([0, 5, 7]))
    tensor([[1],
            [2]])
    """
    found = nonzero_at(input)
    if not as_tuple:
        return found
    columns = found._array if input._array.ndim else np.zeros((len(found._array), 1), np.int64)
    return tuple(Variable.wrap(column.copy()) for column in columns.T)


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """`nonzero` with exactly `size` rows: cut off, or filled up with `fill_value`."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, not {size}")
    found = nonzero_at(input)._array[:size]
    padded = np.full((size, input._array.ndim), fill_value, np.int64)
    padded[: len(found)] = found
    rows: Tensor = Variable.wrap(padded)
    return rows


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """The coordinates, in an array of `shape`, of positions in the flattened array."""
    if indices._array.dtype.kind not in "iu":
        raise ValueError(f"unravel_index(): expected integer indices, but they are {indices.dtype}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if min(sizes, default=0) < 0:
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    strides = [math.prod(sizes[dim + 1 :]) for dim in range(len(sizes))]
    pairs = zip(strides, sizes, strict=True)
    return tuple(
        remainder(floor_divide(indices, max(step, 1)), max(size, 1)) for step, size in pairs
    )


def argwhere(input: Tensor) -> Tensor:
    """The positions of the elements that are not zero, one row each."""
    return nonzero_at(input)


# One part of a tensor replaced, in a copy.

select_scatter = op(
    "select_scatter(self, src, dim, index)",
    kernel=raw.select_scatter,
    tangent="linear",
    self=lambda F, g, src_shape, dim, index: F.select_scatter(
        g, F.zeros_of(g, src_shape), dim, index
    ),
    src=lambda F, g, dim, index: F.select(g, dim, index),
    doc="A copy with `src` as the slice `index` of dimension `dim`.",
)
slice_scatter = op(
    "slice_scatter(self, src, dim=0, start=None, end=None, step=1)",
    kernel=raw.slice_scatter,
    tangent="linear",
    self=lambda F, g, src_shape, dim, start, end, step: F.slice_scatter(
        g, F.zeros_of(g, src_shape), dim, start, end, step
    ),
    src=lambda F, g, dim, start, end, step: F.slice_dim(g, dim, start, end, step),
    doc="A copy with `src` as ``out[start:end:step]`` along dimension `dim`.",
)
strided_scatter = op(
    "as_strided_scatter(self, src, where)",
    kernel=raw.strided_scatter,
    tangent="linear",
    self=lambda F, g, src_shape, where: F.strided_scatter(g, F.zeros_of(g, src_shape), where),
    src=lambda F, g, where: F.view_of(g, where),
)
Variable._scatter_at = strided_scatter


@checked
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """A copy with `src` in the window that `as_strided` shows."""
    where = strided_window(input._array, size, stride, storage_offset)
    if src._array.shape != where.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src._array.shape)}, slice size = {list(where.shape)}"
        )
    return strided_scatter(input, src, where)


diagonal_scatter = op(
    "diagonal_scatter(self, src, offset=0, dim1=0, dim2=1)",
    kernel=raw.diagonal_scatter,
    tangent="linear",
    self=lambda F, g, src_shape, offset, dim1, dim2: F.diagonal_scatter(
        g, F.zeros_of(g, src_shape), offset, dim1, dim2
    ),
    src=lambda F, g, offset, dim1, dim2: F.diagonal(g, offset, dim1, dim2),
    doc="A copy with `src` as the diagonal that `diagonal` shows.",
)

zeros_like = op("zeros_like(self: Tensor)", kernel=raw.zeros_like)
zeros_of = op("new_zeros(self: Tensor, shape)", kernel=raw.zeros_of)
# Sorted sequences.

sorted_positions = op(
    "searchsorted(sorted_sequence: Tensor, self: Tensor, *, right=False, int32=False)",
    kernel=raw.searchsorted,
)


@with_out
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Where to insert `input` (a tensor or a number) into sorted rows to keep them sorted.

    The first place, or the last where `right` (or ``side="right"``). `sorter` is the order that
    sorts an unsorted sequence.
    """
    if side is not None and right and side == "left":
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left "
            "while right was True"
        )
    if side not in (None, "left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if sorter is not None:
        sorted_sequence = gather(sorted_sequence, -1, sorter)
    values = Variable.wrap(np.asarray(input)) if is_number(input) else input
    after = right or side == "right"
    return sorted_positions(sorted_sequence, values, right=after, int32=out_int32)


@with_out
def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """The number of the bucket between sorted `boundaries` that each value falls in."""
    if boundaries._array.ndim != 1:
        raise RuntimeError(
            f"bucketize(): boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})"
        )
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


METHODS = (
    "argwhere as_strided_scatter diagonal_scatter index_add index_add_ index_copy index_copy_ "
    "index_fill index_fill_ index_put index_put_ index_select masked_scatter masked_scatter_ "
    "masked_select nonzero nonzero_static put put_ select_scatter slice_scatter take"
)
