"""Joining, repeating and rearranging: new arrays out of the elements of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..shapes import wrap_dim, wrap_dims
from .copying import clone
from .numbers import Array, row_major
from .views import EVERYTHING, diagonal, slice_dim, split, split_with_sizes


def _common_dtype(tensors: Sequence[Array]) -> np.dtype[Any]:
    """PyTorch's promotion over a list: 0-d tensors count only by their category."""
    common: list[dtypes.dtype | None] = [None, None]
    for array in tensors:
        own, rank = dtypes.from_numpy(array.dtype), int(array.ndim == 0)
        known = common[rank]
        common[rank] = own if known is None else dtypes.promote_types(known, own)
    high, low = common
    if high is None or (low is not None and low.category > high.category):
        assert low is not None
        return (low if high is None else dtypes.promote_types(high, low)).numpy
    return high.numpy


def cat(tensors: Sequence[Array], dim: int = 0) -> Array:
    if not len(tensors):
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    dtype = tensors[0].dtype
    if any(array.dtype is not dtype for array in tensors):
        dtype = _common_dtype(tensors)
    kept = [array for array in tensors if array.shape != (0,)]  # PyTorch skips these
    try:
        return row_major(np.concatenate(kept, dim, dtype=dtype, casting="unsafe"))
    except (ValueError, IndexError) as error:
        return _unjoined(tensors, kept, dim, dtype, error)


def _unjoined(
    tensors: Sequence[Array], kept: list[Array], dim: int, dtype: np.dtype[Any], error: Exception
) -> Array:
    """The result where all tensors are empty; PyTorch's error for what NumPy cannot join."""
    for i, array in enumerate(tensors):
        if not array.ndim:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {i}) cannot be concatenated; use stack()"
            )
    if not kept:
        wrap_dim(dim, 1)
        return np.empty(0, dtype)
    first = kept[0]
    dim = wrap_dim(dim, first.ndim)
    for i, array in enumerate(kept):
        if array.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {array.ndim}"
            )
        if array.shape[:dim] + array.shape[dim + 1 :] != first.shape[:dim] + first.shape[dim + 1 :]:
            pairs = enumerate(zip(first.shape, array.shape, strict=True))
            at = next(d for d, (a, b) in pairs if a != b and d != dim)
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {dim}. Expected size "
                f"{first.shape[at]} but got size {array.shape[at]} in dimension {at} for tensor "
                f"number {i} in the list."
            )
    raise error


def stack(tensors: Sequence[Array], dim: int = 0) -> Array:
    if not len(tensors):
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]
    for i, array in enumerate(tensors):
        if array.shape != first.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first.shape)} at entry "
                f"0 and {list(array.shape)} at entry {i}"
            )
    dim = wrap_dim(dim, first.ndim + 1)
    dtype = first.dtype
    if any(array.dtype is not dtype for array in tensors):
        dtype = _common_dtype(tensors)
    out = np.empty((*first.shape[:dim], len(tensors), *first.shape[dim:]), dtype)
    before = EVERYTHING * dim
    for i, array in enumerate(tensors):
        out[(*before, i)] = array
    return out


def repeat(self: Array, repeats: Sequence[int]) -> Array:
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            f"tensor: {list(repeats)} for a tensor of shape {list(self.shape)}"
        )
    if min(repeats, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension: repeats {repeats}")
    shape = (1,) * (len(repeats) - self.ndim) + self.shape
    out = np.empty([n * size for n, size in zip(repeats, shape, strict=True)], self.dtype)
    tiles = [pair for pair in zip(repeats, shape, strict=True)]
    interleaved = out.reshape([size for pair in tiles for size in pair])
    interleaved[...] = self.reshape([size for s in shape for size in (1, s)])
    return out


def unrepeat(g: Array, shape: Sequence[int], repeats: Sequence[int]) -> Array:
    """The sum over the copies that `repeat` made of an array of `shape`."""
    padded = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    tiles = g.reshape([size for pair in zip(repeats, padded, strict=True) for size in pair])
    return np.add.reduce(tiles, tuple(range(0, tiles.ndim, 2)), out=...).reshape(shape)


def flip(self: Array, dims: Sequence[int]) -> Array:
    axes = wrap_dims(tuple(dims), self.ndim) if len(dims) else ()
    return clone(np.flip(self, axes)) if self.ndim else self.copy()


def roll(self: Array, shifts: Sequence[int], dims: Sequence[int] = ()) -> Array:
    if not dims:
        if len(shifts) != 1:
            raise RuntimeError(
                f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
            )
        return np.roll(row_major(self), shifts[0])
    if len(shifts) != len(dims):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    if not self.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return np.roll(row_major(self), tuple(shifts), tuple(wrap_dim(d, self.ndim) for d in dims))


def rot90(self: Array, k: int = 1, dims: Sequence[int] = (0, 1)) -> Array:
    if len(dims) != 2:
        raise RuntimeError(
            f"expected total rotation dims == 2, but got dims = {len(dims)}: {list(dims)}"
        )
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    axes = wrap_dim(dims[0], self.ndim), wrap_dim(dims[1], self.ndim)
    if axes[0] == axes[1]:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return np.array(np.rot90(self, k, axes))


def _check_matrix(self: Array, name: str) -> None:
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions, not {self.ndim}")


def tril(self: Array, diagonal: int = 0) -> Array:
    _check_matrix(self, "tril")
    return np.tril(row_major(self), diagonal)


def triu(self: Array, diagonal: int = 0) -> Array:
    _check_matrix(self, "triu")
    return np.triu(row_major(self), diagonal)


def diagonal_backward(
    g: Array, shape: Sequence[int], offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Array:
    """Zeros of `shape` with `g` on a diagonal."""
    out = np.zeros(shape, g.dtype)
    diagonal(out, offset, dim1, dim2)[...] = g
    return out


def diag_embed(self: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    ndim = self.ndim + 1
    axes = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if axes[0] == axes[1]:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = self.shape[-1] + abs(offset)
    shape = list(self.shape[:-1])
    for axis in sorted(axes):
        shape.insert(axis, size)
    return diagonal_backward(self, shape, offset, *axes)


def blocks(tensors: Sequence[Array]) -> Array:
    for i, array in enumerate(tensors):
        if array.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{i} has {array.ndim} dimensions"
            )
    if not len(tensors):
        return np.empty((1, 0), np.float32)
    blocks = [array.reshape((1,) * (2 - array.ndim) + array.shape) for array in tensors]
    shape = (sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks))
    out = np.zeros(shape, _common_dtype(tensors))
    row = column = 0
    for block in blocks:
        height, width = block.shape
        out[row : row + height, column : column + width] = block
        row, column = row + height, column + width
    return out


def unblock(g: Array, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """The blocks of `g` that `blocks` made of arrays of `shapes`."""
    parts, row, column = [], 0, 0
    for shape in shapes:
        height, width = (1,) * (2 - len(shape)) + tuple(shape)
        parts.append(g[row : row + height, column : column + width].reshape(shape))
        row, column = row + height, column + width
    return parts


def unsafe_split(self: Array, split_size: int, dim: int = 0) -> list[Array]:
    return [part.copy() for part in split(self, split_size, dim)]


def unsafe_split_with_sizes(self: Array, split_sizes: Sequence[int], dim: int = 0) -> list[Array]:
    return [part.copy() for part in split_with_sizes(self, split_sizes, dim)]


def zeros_like(self: Array) -> Array:
    return np.zeros_like(self)


def select_backward(g: Array, shape: Sequence[int], dim: int, index: int) -> Array:
    """Zeros of `shape` with `g` at `index` of `dim`."""
    out = np.zeros(shape, g.dtype)
    out[(*EVERYTHING * wrap_dim(dim, len(shape)), index)] = g
    return out


def slice_backward(
    g: Array, shape: Sequence[int], dim: int, start: int | None, end: int | None, step: int
) -> Array:
    """Zeros of `shape` with `g` in a slice of `dim`."""
    out = np.zeros(shape, g.dtype)
    slice_dim(out, dim, start, end, step)[...] = g
    return out


def unfold_backward(g: Array, shape: Sequence[int], dim: int, size: int, step: int) -> Array:
    """The sum over the windows that each element of an array of `shape` is in."""
    if not len(shape):
        return np.add.reduce(g, -1, out=...)
    out = np.zeros(shape, g.dtype)
    windows = g.shape[wrap_dim(dim, len(shape))]
    for i in range(size):
        slice_dim(out, dim, i, i + (windows - 1) * step + 1, step)[...] += g[..., i]
    return out


def _is_below(row: int, col: int, offset: int) -> Array:
    return np.tri(row, col, offset, dtype=bool)


def tril_indices(row: int, col: int, offset: int = 0) -> Array:
    return np.stack(np.nonzero(_is_below(row, col, offset)))


def triu_indices(row: int, col: int, offset: int = 0) -> Array:
    return np.stack(np.nonzero(~_is_below(row, col, offset - 1)))


__all__ = [
    "blocks",
    "cat",
    "diag_embed",
    "diagonal_backward",
    "flip",
    "repeat",
    "roll",
    "rot90",
    "select_backward",
    "slice_backward",
    "stack",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "unblock",
    "unfold_backward",
    "unrepeat",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "zeros_like",
]
