"""One array as a strided window into another's memory, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Geometry(NamedTuple):
    """Where a view lies in its base; strides and offset in bytes."""

    base_shape: tuple[int, ...]
    base_strides: tuple[int, ...]
    base_dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: np.dtype[Any]


def geometry(base: Array, view: Array) -> Geometry:
    """How `view` lies in the memory of `base`."""
    offset = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return Geometry(
        base.shape, base.strides, base.dtype, view.shape, view.strides, offset, view.dtype
    )


def strided_view(base: Array, where: Geometry) -> Array:
    """The elements of `base` (any layout) that `where` names, as a view of a copy."""
    memory, start = _memory(where)
    _window(memory, start, where.base_shape, where.base_dtype, where.base_strides)[...] = base
    return _window(memory, start + where.offset, where.shape, where.dtype, where.strides)


def strided_base(view: Array, where: Geometry) -> Array:
    """Zeros of the base's shape with `view` added where it lies: the adjoint of `strided_view`."""
    memory, start = _memory(where)
    target = _window(memory, start + where.offset, where.shape, where.dtype, where.strides)
    if 0 in where.strides and target.size:
        axes = tuple(axis for axis, step in enumerate(where.strides) if step == 0)
        view = np.add.reduce(view, axes, keepdims=True, out=...)
        target = target[tuple(slice(0, 1) if s == 0 else slice(None) for s in where.strides)]
    target[...] = view
    return _window(memory, start, where.base_shape, where.base_dtype, where.base_strides)


def _memory(where: Geometry) -> tuple[Array, int]:
    """Zeroed bytes that hold the base, and the byte at which its first element lies."""
    low = high = 0
    for size, step in zip(where.base_shape, where.base_strides, strict=True):
        low += min(0, (size - 1) * step)
        high += max(0, (size - 1) * step)
    return np.zeros(high - low + where.base_dtype.itemsize, np.uint8), -low


def _window(
    memory: Array, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any], strides: Any
) -> Array:
    if 0 in shape:
        return np.zeros(shape, dtype)
    return np.ndarray(shape, dtype, memory.data, offset, strides)
