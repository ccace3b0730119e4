"""Reading and writing by position: gathers, scatters, masks.

Gradients of gathers add up where a position comes twice. `np.add.at` is fast only on vectors of
one dtype, so everything here is brought to flat positions in a row-major array first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..shapes import Shape, wrap_dim
from .copying import clone, laid_out
from .numbers import Array, row_major
from .views import EVERYTHING, diagonal


def out_of_bounds(index: int, dim: int, size: int) -> str:
    return f"index {index} is out of bounds for dimension {dim} with size {size}"


# Positions in several dimensions: x[indices].


def index_at(self: Array, indices: Sequence[Array], dims: Sequence[int]) -> Array:
    """``self[..., i, ..., j, ...]``: `indices` say positions in the dimensions `dims`."""
    try:
        return np.asarray(self[_key(self.shape, indices, dims)])
    except IndexError:
        raise _index_error(self.shape, indices, dims) from None


def index_put_into(
    self: Array,
    indices: Sequence[Array],
    values: Array,
    dims: Sequence[int],
    accumulate: bool = False,
) -> None:
    """Write, or add, `values` to `self` at the positions of `indices`."""
    key = _key(self.shape, indices, dims)
    try:
        if not accumulate:
            self[key] = values
        elif self.flags.c_contiguous:
            positions = np.arange(self.size).reshape(self.shape)[key]
            add_at(self.reshape(-1), positions, np.broadcast_to(values, positions.shape))
        else:
            np.add.at(self, key, values)
    except IndexError:
        raise _index_error(self.shape, indices, dims) from None
    except ValueError:
        wanted = np.broadcast_to(np.False_, self.shape)[key].shape
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
            f"indexing result of shape {list(wanted)}"
        ) from None


def on_a_copy(into: Callable[..., None]) -> Callable[..., Array]:
    """The kernel that writes to a copy; in place, the operator runs `into` itself."""

    def kernel(self: Array, *arguments: Any) -> Array:
        out = clone(self)
        into(out, *arguments)
        return out

    kernel.into = into  # type: ignore[attr-defined]
    return kernel


index_put_at = on_a_copy(index_put_into)


def index_clear(self: Array, indices: Sequence[Array], dims: Sequence[int]) -> Array:
    """A copy of `self` with zeros at the positions of `indices`."""
    return index_put_at(self, indices, np.zeros((), self.dtype), dims)


def index_backward(g: Array, shape: Shape, indices: Sequence[Array], dims: Sequence[int]) -> Array:
    """Zeros of `shape` with `g` added at the positions of `indices`."""
    if list(dims) == list(range(dims[0], dims[0] + len(dims))):
        return _index_backward_by_rows(g, shape, indices, dims)
    return index_put_at(np.zeros(shape, g.dtype), indices, g, dims, True)


def _index_backward_by_rows(
    g: Array, shape: Shape, indices: Sequence[Array], dims: Sequence[int]
) -> Array:
    """The same where the indexed dimensions are neighbours: positions number rows of an array."""
    first, after = dims[0], dims[0] + len(dims)
    sizes = shape[first:after]
    positions = np.zeros((), np.int64)
    for i, size in zip(indices, sizes, strict=True):
        positions = positions * size + np.where(i < 0, i + size, i)
    rows = np.moveaxis(g, range(first, first + positions.ndim), range(positions.ndim))
    rest = (*shape[:first], *shape[after:])
    out = np.zeros((*sizes, *rest), g.dtype)
    if g.size:
        width = g.size // positions.size
        add_rows(out.reshape(-1, width), positions.reshape(-1), rows.reshape(-1, width))
    return np.moveaxis(out, range(len(sizes)), range(first, after))


def _key(shape: Shape, indices: Sequence[Array], dims: Sequence[int]) -> tuple[Any, ...]:
    key: list[Any] = list(EVERYTHING * len(shape))
    for dim, positions in zip(dims, indices, strict=True):
        key[dim] = positions
    return tuple(key)


def _index_error(shape: Shape, indices: Sequence[Array], dims: Sequence[int]) -> IndexError:
    for dim, positions in zip(dims, indices, strict=True):
        size = shape[dim]
        bad = positions[(positions < -size) | (positions >= size)]
        if bad.size:
            return IndexError(out_of_bounds(bad[0], dim, size))
    return IndexError(
        "shape mismatch: indexing tensors could not be broadcast together with shapes "
        + ", ".join(str(list(i.shape)) for i in indices)
    )


# Sums over repeated positions.


def add_at(out: Array, positions: Array, values: Array) -> None:
    """Add `values` to the vector `out` at `positions`, which may repeat."""
    np.add.at(out, positions.reshape(-1), values.reshape(-1).astype(out.dtype, copy=False))


def add_rows(out: Array, positions: Array, rows: Array) -> None:
    """Add each of `rows` to the row of `out` that `positions` names; it may come again."""
    if rows.shape[1] == 1:
        add_at(out[:, 0], positions, rows)
    elif positions.size and np.bincount(positions).max() == 1:
        out[positions] += rows
    elif positions.size:
        order = np.argsort(positions, kind="stable")
        ranked = positions[order]
        starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
        sums = rows[order]
        if starts.size < ranked.size:
            sums = np.add.reduceat(sums, starts, axis=0, dtype=out.dtype)
        out[ranked[starts]] += sums


# Positions along one dimension.


def index_select(self: Array, dim: int, index: Array) -> Array:
    dim = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(
            "index_select(): Index is supposed to be a vector, but it has shape "
            f"{list(index.shape)}"
        )
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError(
            "index_select(): Expected dtype int32 or int64 for index, but got "
            f"{dtypes.from_numpy(index.dtype)}"
        )
    size = self.shape[dim] if self.ndim else 1
    check_range(index, dim, size, prefix="index out of range in self: ")
    if not self.ndim:
        if index.size != 1:
            raise RuntimeError(
                f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
            )
        return self.copy()
    return np.take(self, index.reshape(-1), dim)


def index_select_backward(g: Array, shape: Shape, dim: int, index: Array) -> Array:
    return index_add(np.zeros(shape, g.dtype), dim, index, g)


def index_add(self: Array, dim: int, index: Array, source: Array, *, alpha: Any = 1) -> Array:
    dim = wrap_dim(dim, self.ndim)
    check_index_op("index_add", self, dim, index, source)
    if alpha != 1:
        source = source * np.asarray(alpha).astype(self.dtype)
    if not self.ndim:
        return np.add(self, source.reshape(()), out=...)
    out = np.array(self.swapaxes(0, dim), order="C")
    if source.size:
        rows = (source.swapaxes(0, dim) if source.ndim else source).reshape(index.size, -1)
        add_rows(out.reshape(out.shape[0], -1), index.reshape(-1), rows)
    return row_major(out.swapaxes(0, dim))


def index_copy(self: Array, dim: int, index: Array, source: Array) -> Array:
    dim = wrap_dim(dim, self.ndim)
    check_index_op("index_copy", self, dim, index, source)
    if not self.ndim:
        return source.reshape(()).copy()
    out = self.copy()
    out[(*EVERYTHING * dim, index.reshape(-1))] = source
    return out


def index_fill(self: Array, dim: int, index: Array, value: Any) -> Array:
    dim = wrap_dim(dim, self.ndim)
    if index.dtype not in (np.int64, np.int32):
        raise IndexError(
            f"index_fill_(): Expected dtype int64 for index, not {dtypes.from_numpy(index.dtype)}"
        )
    if np.ndim(value):
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{np.ndim(value)} dimension(s)."
        )
    value = np.asarray(value).astype(self.dtype)
    if not self.ndim:
        return value.copy() if index.size else self.copy()
    out = clone(self)
    check_range(index, dim, self.shape[dim], negative=True)
    out[(*EVERYTHING * dim, index.reshape(-1))] = value
    return out


def distinct(self: Array) -> Array:
    return np.unique(self)


index_fill_value = index_fill


def check_index_op(name: str, self: Array, dim: int, index: Array, source: Array) -> None:
    """The checks that index_add and index_copy share."""
    if index.ndim > 1:
        raise IndexError(f"{name}_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if index.dtype != np.int64 and (name == "index_copy" or index.dtype != np.int32):
        raise IndexError(
            f"{name}_(): Expected dtype int64 for index, not {dtypes.from_numpy(index.dtype)}"
        )
    if self.dtype != source.dtype:
        own, other = (dtypes.from_numpy(a.dtype).scalar_name for a in (self, source))
        raise RuntimeError(
            f"{name}_(): self ({own}) and source ({other}) must have the same scalar type"
        )
    if source.ndim and dim >= source.ndim:
        raise RuntimeError(
            f"{name}_(): Indexing dim {dim} is out of bounds of the source tensor with dim "
            f"{source.ndim}"
        )
    if self.ndim != source.ndim and (name != "index_copy" or (self.ndim and source.ndim)):
        raise (IndexError if name == "index_copy" else RuntimeError)(
            f"{name}_(): source tensor shape must match self tensor shape, excluding the specified "
            f"dimension: the shapes are {list(source.shape)} and {list(self.shape)}"
        )
    count = source.shape[dim] if source.ndim else 1
    if index.size != count:
        raise (IndexError if name == "index_copy" else RuntimeError)(
            f"{name}_(): Number of indices ({index.size}) should be equal to source.size(dim): "
            f"({count}), for dim: {dim}"
        )
    if self.ndim and source.ndim:
        slices = [a.shape[:dim] + a.shape[dim + 1 :] for a in (self, source)]
        if slices[0] != slices[1]:
            raise RuntimeError(
                f"{name}_(): Source/destination tensor must have same slice shapes. Destination "
                f"slice shape: {list(slices[0])} at dimension {dim} and source slice shape: "
                f"{list(slices[1])} at dimension {dim}."
            )
    size = self.shape[dim] if self.ndim else 1
    if name == "index_copy":
        check_range(index, dim, size, prefix="index_copy_(): ")
    else:
        check_range(index, dim, size, error=RuntimeError)


def check_range(
    index: Array,
    dim: int,
    size: int,
    *,
    negative: bool = False,
    error: type[Exception] = IndexError,
    prefix: str = "",
) -> None:
    low = -size if negative else 0
    if index.size and (index.min() < low or index.max() >= size):
        bad = index[(index < low) | (index >= size)].flat[0]
        raise error(prefix + out_of_bounds(bad, dim, size))


# Flat positions and masks.


def take(self: Array, index: Array) -> Array:
    if index.dtype != np.int64:
        raise RuntimeError(
            f"take(): Expected a long tensor for index, but got {dtypes.from_numpy(index.dtype)}"
        )
    if index.size and not self.size:
        raise IndexError("take(): tried to take from an empty tensor")
    _check_positions(index, self.size)
    return np.asarray(self.reshape(-1)[index])


def _check_positions(index: Array, size: int) -> None:
    """Refuse positions that an array of `size` elements, flattened, does not have."""
    if index.size and (index.min() < -size or index.max() >= size):
        bad = index[(index < -size) | (index >= size)].flat[0]
        raise IndexError(
            f"out of range: tried to access index {bad} on a tensor of {size} elements."
        )


def take_backward(g: Array, shape: Shape, index: Array) -> Array:
    out = np.zeros(shape, g.dtype)
    add_at(out.reshape(-1), index, g)
    return out


def put(self: Array, index: Array, source: Array, accumulate: bool = False) -> Array:
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{dtypes.from_numpy(self.dtype)} and source.dtype = {dtypes.from_numpy(source.dtype)}"
        )
    if index.dtype != np.int64:
        raise RuntimeError(
            f"put_(): Expected a long tensor for index, but got {dtypes.from_numpy(index.dtype)}"
        )
    if index.size != source.size:
        raise RuntimeError(
            f"put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    out = np.array(self, order="C")
    if index.size:
        if not self.size:
            raise IndexError("put_(): Expected self to be a non-empty tensor")
        _check_positions(index, self.size)
        if accumulate:
            add_at(out.reshape(-1), index, source)
        else:
            out.reshape(-1)[index.reshape(-1)] = source.reshape(-1)
    return laid_out(out, self)


def masked_select(self: Array, mask: Array) -> Array:
    if mask.dtype != np.bool_:
        raise RuntimeError(
            f"masked_select: expected BoolTensor for mask, not {dtypes.from_numpy(mask.dtype)}"
        )
    if self.shape == mask.shape:
        return np.asarray(self[mask]).reshape(-1)
    values, chosen = np.broadcast_arrays(self, mask)
    return np.asarray(values[chosen])


def masked_select_backward(g: Array, shape: Shape, mask: Array) -> Array:
    out = np.zeros(np.broadcast_shapes(shape, mask.shape), g.dtype)
    out[np.broadcast_to(mask, out.shape)] = g
    return out


def masked_scatter(self: Array, mask: Array, source: Array) -> Array:
    if mask.dtype != np.bool_:
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{dtypes.from_numpy(mask.dtype)}"
        )
    if self.dtype != source.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{dtypes.from_numpy(self.dtype)} and {dtypes.from_numpy(source.dtype)}"
        )
    out = np.array(np.broadcast_to(self, np.broadcast_shapes(self.shape, mask.shape)), order="C")
    chosen = np.broadcast_to(mask, out.shape)
    count = int(np.count_nonzero(chosen))
    if count > source.size:
        raise RuntimeError(
            f"Number of elements of source < number of ones in mask: {source.size} < {count}"
        )
    out[chosen] = source.reshape(-1)[:count]
    return out


def masked_scatter_backward(g: Array, mask: Array, shape: Shape) -> Array:
    """The gradient of masked_scatter's source: the gradients at the mask, padded with zeros."""
    chosen = g[np.broadcast_to(mask, g.shape)]
    out = np.zeros(int(np.prod(shape, dtype=np.int64)), g.dtype)
    out[: chosen.size] = chosen.reshape(-1)
    return out.reshape(shape)


def nonzero(self: Array) -> Array:
    return np.argwhere(self)


def select_scatter(self: Array, src: Array, dim: int, index: int) -> Array:
    out = clone(self)
    _write(out[(*EVERYTHING * wrap_dim(dim, self.ndim), index, ...)], src, "select_scatter")
    return out


def slice_scatter(
    self: Array,
    src: Array,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    out = clone(self)
    where = (*EVERYTHING * wrap_dim(dim, self.ndim), slice(start, end, step))
    _write(out[where], src, "slice_scatter")
    return out


def diagonal_scatter(
    self: Array, src: Array, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Array:
    out = clone(self)
    _write(diagonal(out, offset, dim1, dim2), src, "diagonal_scatter")
    return out


def zeros_of(self: Array, shape: Shape) -> Array:
    """Zeros of `shape` in the dtype of `self`."""
    return np.zeros(shape, self.dtype)


def _write(part: Array, src: Array, name: str) -> None:
    if part.shape != src.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src.shape)}, slice size = {list(part.shape)}, in {name}"
        )
    part[...] = src


def _check_rows(sorted_sequence: Array, self: Array) -> None:
    if not sorted_sequence.ndim:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension"
        )
    if not self.ndim:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but it has the shape {list(sorted_sequence.shape)}"
        )
    if sorted_sequence.shape[:-1] != self.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but the shapes are "
            f"{list(sorted_sequence.shape)} and {list(self.shape)}"
        )


def searchsorted(
    sorted_sequence: Array, self: Array, *, right: bool = False, int32: bool = False
) -> Array:
    if sorted_sequence.dtype.kind in "bc":
        name = dtypes.from_numpy(sorted_sequence.dtype).scalar_name
        raise NotImplementedError(f"searchsorted is not implemented for '{name}'")
    if sorted_sequence.ndim != 1:
        _check_rows(sorted_sequence, self)
    side = "right" if right else "left"
    kind = np.int32 if int32 else np.int64
    if sorted_sequence.ndim == 1:
        return np.asarray(np.searchsorted(sorted_sequence, self, side)).astype(kind)  # type: ignore[call-overload]
    if not self.size or not sorted_sequence.size:
        return np.zeros(self.shape, kind)
    rows = sorted_sequence.reshape(math.prod(self.shape[:-1]), -1)
    values = self.reshape(len(rows), -1)
    found = [np.searchsorted(row, value, side) for row, value in zip(rows, values, strict=True)]  # type: ignore[call-overload]
    return np.array(found, kind).reshape(self.shape)


__all__ = [
    "diagonal_scatter",
    "distinct",
    "index_add",
    "index_at",
    "index_backward",
    "index_clear",
    "index_copy",
    "index_fill",
    "index_fill_value",
    "index_put_at",
    "index_select",
    "index_select_backward",
    "masked_scatter",
    "masked_scatter_backward",
    "masked_select",
    "masked_select_backward",
    "nonzero",
    "out_of_bounds",
    "put",
    "searchsorted",
    "select_scatter",
    "slice_scatter",
    "take",
    "take_backward",
    "zeros_of",
]
