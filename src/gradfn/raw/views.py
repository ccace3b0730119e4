"""Views of arrays: other shapes, strides and dtypes over the same memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided as _as_strided

from .. import dtypes
from ..shapes import infer_size, wrap_dim, wrap_dims
from .numbers import Array
from .strided import Geometry, address, geometry, owner

EVERYTHING: tuple[Any, ...] = (slice(None),)


def restride(self: Array, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """A writable array over the memory of `self`, from its first element on."""
    if self.flags.c_contiguous and self.dtype.kind in "biufc":
        try:
            return np.ndarray(shape, self.dtype, self, 0, strides)
        except (TypeError, ValueError):  # the window is larger than `self`
            pass
    return _as_strided(self, shape, strides, writeable=self.flags.writeable)


def axis_at(dim: int, ndim: int) -> tuple[Any, ...]:
    """The index that leaves the dimensions before `dim` alone."""
    return EVERYTHING * wrap_dim(dim, ndim)


def alias(self: Array) -> Array:
    return self.view()


def contiguous(self: Array) -> Array:
    return self if self.flags.c_contiguous else self.copy()


def view(self: Array, shape: Sequence[int]) -> Array:
    try:
        dense = self.flags.c_contiguous
        out = self.reshape(shape) if dense else self.reshape(shape, copy=False)
    except ValueError:
        infer_size(shape, self.size)
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead, which "
            f"copies where it must: the tensor has shape {list(self.shape)} and strides "
            f"{[step // self.itemsize for step in self.strides]}, the view {list(shape)}."
        ) from None
    if out.shape != shape and min(shape) < -1:  # NumPy takes every negative size for -1
        infer_size(shape, self.size)
    return out


def reshape(self: Array, shape: Sequence[int]) -> Array:
    return self.reshape(infer_size(shape, self.size))


unsafe_view = reshape


def view_dtype(self: Array, dtype: np.dtype[Any]) -> Array:
    """The bytes of `self` read as another dtype."""
    own, other = self.itemsize, dtype.itemsize
    if own == other:
        return self.view(dtype)
    change = (
        f"to view {dtypes.from_numpy(self.dtype).scalar_name} as "
        f"{dtypes.from_numpy(dtype).scalar_name} (different element sizes)"
    )
    if not self.ndim:
        raise RuntimeError(f"self.dim() cannot be 0 {change}")
    if self.strides[-1] != own:
        raise RuntimeError(f"self.stride(-1) must be 1 {change}, but got {self.strides[-1] // own}")
    if self.shape[-1] * own % other:
        raise RuntimeError(
            f"self.size(-1) must be divisible by {other // own} {change}, but got {self.shape[-1]}"
        )
    return self.view(dtype)


def view_as_real(self: Array) -> Array:
    if self.dtype.kind != "c":
        raise RuntimeError(
            "view_as_real is only supported for complex tensors, not for "
            f"{dtypes.from_numpy(self.dtype)}"
        )
    part = self.real
    return restride(part, (*part.shape, 2), (*part.strides, part.itemsize))


def view_as_complex(self: Array) -> Array:
    if self.dtype not in (np.float32, np.float64):
        raise RuntimeError(
            "view_as_complex is only supported for float and double tensors, but got a tensor of "
            f"scalar type: {dtypes.from_numpy(self.dtype).scalar_name}"
        )
    if not self.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if self.shape[-1] != 2:
        raise RuntimeError(
            f"Tensor must have a last dimension of size 2, this one has size {self.shape[-1]}"
        )
    if self.size and self.strides[-1] != self.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if not self.size:
        return np.empty(self.shape[:-1], dtypes.from_numpy(self.dtype).to_complex().numpy)
    return self.view(dtypes.from_numpy(self.dtype).to_complex().numpy)[..., 0]


def transpose(self: Array, dim0: int, dim1: int) -> Array:
    if not self.ndim:
        wrap_dim(dim0, 0), wrap_dim(dim1, 0)
        return self.view()
    try:
        return self.swapaxes(dim0, dim1)
    except ValueError:
        wrap_dim(dim0, self.ndim), wrap_dim(dim1, self.ndim)
        raise


def t(self: Array) -> Array:
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


def permute(self: Array, dims: Sequence[int]) -> Array:
    try:
        return self.transpose(dims)
    except ValueError:
        if len(dims) != self.ndim:
            raise RuntimeError(
                "permute(sparse_coo): number of dimensions in the tensor input does not match the "
                "length of the desired ordering of dimensions i.e. input.dim() = "
                f"{self.ndim} is not equal to len(dims) = {len(dims)}"
            ) from None
        for dim in dims:
            wrap_dim(dim, self.ndim)
        raise RuntimeError(
            f"permute(): duplicate dims are not allowed. They are {list(dims)}."
        ) from None


def unsqueeze(self: Array, dim: int) -> Array:
    shape = self.shape
    dim = wrap_dim(dim, len(shape) + 1)
    return self.reshape((*shape[:dim], 1, *shape[dim:]))


def squeeze(self: Array, dim: int | Sequence[int] | None = None) -> Array:
    """`self` without its dimensions of size one, or those of them that `dim` names."""
    if dim is None:
        return self.squeeze()
    if dim.__class__ is int and -self.ndim <= dim < self.ndim:
        return self.squeeze(dim) if self.shape[dim] == 1 else self.view()
    dims = wrap_dims(dim, self.ndim) if isinstance(dim, int) or len(dim) else ()
    return self.squeeze(tuple(d for d in dims if self.ndim and self.shape[d] == 1))


def expand(self: Array, size: Sequence[int], *, implicit: bool = False) -> Array:
    extra = len(size) - self.ndim
    if extra < 0:
        raise RuntimeError(
            f"expand(torch.{dtypes.from_numpy(self.dtype).scalar_name}Tensor"
            f"{{{list(self.shape)}}}, size={list(size)}): the number of sizes provided "
            f"({len(size)}) must be greater or "
            f"equal to the number of dimensions in the tensor ({self.ndim})"
        )
    shape, strides = [], []
    for axis, wanted in enumerate(size, -extra):
        own, step = (self.shape[axis], self.strides[axis]) if axis >= 0 else (1, 0)
        if wanted == -1 and axis < 0:
            raise RuntimeError(
                f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "
                f"dimension {axis + extra}"
            )
        if wanted in (own, -1):
            shape.append(own)
            strides.append(step)
        elif own == 1 and wanted >= 0:
            shape.append(wanted)
            strides.append(0)
        else:
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted}) must match the existing size ({own}) "
                f"at non-singleton dimension {axis + extra}.  Target sizes: {list(size)}.  "
                f"Tensor sizes: {list(self.shape)}"
            )
    return restride(self, tuple(shape), tuple(strides))


def select(self: Array, dim: int, index: int) -> Array:
    if not self.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    try:
        if dim == 0:
            return self[index, ...]
        return self[(*axis_at(dim, self.ndim), index, ...)]
    except IndexError:
        size = self.shape[wrap_dim(dim, self.ndim)]
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at "
            f"dimension {dim}, which takes -{size} to {size - 1}"
        ) from None


def slice_dim(
    self: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Array:
    """``self[start:end:step]`` along `dim`."""
    if step <= 0:
        raise RuntimeError(f"slice step must be positive, but it is {step}")
    if not self.ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if dim == 0:
        return self[start:end:step]
    return self[(*axis_at(dim, self.ndim), slice(start, end, step))]


def narrow_copy(self: Array, dim: int, start: int, end: int) -> Array:
    return slice_dim(self, dim, start, end).copy()


def diagonal(self: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    axis1, axis2 = wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim)
    if axis1 == axis2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    step = self.strides[axis1] + self.strides[axis2]
    if offset >= 0:
        size = min(self.shape[axis1], self.shape[axis2] - offset)
        start = self[(*EVERYTHING * axis2, slice(offset, None))]
    else:
        size = min(self.shape[axis1] + offset, self.shape[axis2])
        start = self[(*EVERYTHING * axis1, slice(-offset, None))]
    rest = [axis for axis in range(self.ndim) if axis not in (axis1, axis2)]
    shape = (*(self.shape[axis] for axis in rest), max(size, 0))
    return restride(start, shape, (*(self.strides[axis] for axis in rest), step))


def split_with_sizes(self: Array, split_sizes: Sequence[int], dim: int = 0) -> list[Array]:
    dim = wrap_dim(dim, self.ndim)
    total = self.shape[dim]
    if min(split_sizes, default=0) < 0:
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(split_sizes)}"
        )
    if sum(split_sizes) != total:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {total} (input tensor's size "
            f"at dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    before = EVERYTHING * dim
    parts, start = [], 0
    for size in split_sizes:
        parts.append(self[(*before, slice(start, start + size))])
        start += size
    return parts


def split(self: Array, split_size: int, dim: int = 0) -> list[Array]:
    if not self.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise RuntimeError(
            f"split expects split_size be non-negative, but got split_size={split_size}"
        )
    total = self.shape[wrap_dim(dim, self.ndim)]
    if split_size == 0:
        if total:
            raise RuntimeError(
                "split_size can only be 0 if dimension size is 0, but got dimension size of "
                f"{total}"
            )
        return [self.view()]
    starts = range(0, total, split_size) or range(1)
    return split_with_sizes(self, [min(split_size, total - s) for s in starts], dim)


def unbind(self: Array, dim: int = 0) -> list[Array]:
    if not self.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    before = axis_at(dim, self.ndim)
    return [self[(*before, i, ...)] for i in range(self.shape[len(before)])]


def unfold(self: Array, dimension: int, size: int, step: int) -> Array:
    """Windows of `size` along `dimension`, one every `step`, as a new last dimension."""
    dim = wrap_dim(dimension, self.ndim)
    total, stride = (self.shape[dim], self.strides[dim]) if self.ndim else (1, self.itemsize)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > total:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dim} is {total} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not self.ndim:
        return restride(self, (size,), (stride,))
    shape, strides = [*self.shape, size], [*self.strides, stride]
    shape[dim], strides[dim] = (total - size) // step + 1, step * stride
    return restride(self, tuple(shape), tuple(strides))


def as_strided(
    self: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Array:
    """A window into the whole memory that `self` is part of; offset and strides in elements."""
    if len(size) != len(stride):
        raise RuntimeError(
            f"mismatch in length of strides and shape: {len(stride)} strides, {len(size)} sizes"
        )
    if min(stride, default=0) < 0:
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(stride)}"
        )
    memory = storage(self)
    offset = storage_offset_of(self, memory) if storage_offset is None else storage_offset
    reach = offset + 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if 0 not in size and (reach > memory.size or offset < 0):
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset} "
            f"reach element {reach} and are out of bounds for storage of {memory.size} elements"
        )
    steps = tuple(step * self.itemsize for step in stride)
    return restride(memory[offset:], tuple(size), steps)


def strided_window(
    self: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Geometry:
    """Where the window that `as_strided` shows lies in `self`."""
    return geometry(self, as_strided(self, size, stride, storage_offset))


def window(self: Array, where: Geometry) -> Array:
    """The window into the memory under `self` that `where` names, with `self` as its base; of the
    same elements if the dtype is another."""
    memory, item = storage(self), where.dtype.itemsize
    start = storage_offset_of(self, memory) + where.offset // item
    steps = where.strides
    if item != self.itemsize:
        steps = tuple(step // item * self.itemsize for step in steps)
    return restride(memory[start:], where.shape, steps)


def zeros_laid_as(self: Array, dtype: np.dtype[Any]) -> Array:
    """Zeros of `dtype`, laid out in a memory of their own as `self` is in its memory."""
    memory = storage(self)
    steps = tuple(step // self.itemsize * dtype.itemsize for step in self.strides)
    zeros = np.zeros(memory.size, dtype)
    return restride(zeros[storage_offset_of(self, memory) :], self.shape, steps)


def storage(self: Array) -> Array:
    """All the memory that `self` is a part of, as a vector of its dtype."""
    root = owner(self)
    flat = root if root.flags.c_contiguous else root.transpose(np.argsort(root.strides)[::-1])
    return flat.reshape(-1, copy=False).view(self.dtype)


def storage_offset_of(self: Array, memory: Array) -> int:
    """At which element of `memory` the first element of `self` lies."""
    return (address(self) - address(memory)) // self.itemsize


__all__ = [
    "alias",
    "as_strided",
    "contiguous",
    "diagonal",
    "expand",
    "narrow_copy",
    "permute",
    "reshape",
    "select",
    "slice_dim",
    "split",
    "split_with_sizes",
    "squeeze",
    "t",
    "transpose",
    "unbind",
    "unfold",
    "unsafe_view",
    "unsqueeze",
    "view",
    "view_as_complex",
    "view_as_real",
    "view_dtype",
    "window",
]
