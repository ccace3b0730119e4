"""One array as a strided window into another's memory, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .copying import dense_axes
from .numbers import Array


class Geometry(NamedTuple):
    """Where a view lies in its base; strides and offset in bytes."""

    base_shape: tuple[int, ...]
    base_strides: tuple[int, ...]
    base_dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: np.dtype[Any]


def address(array: Array) -> int:
    """Where the first element lies in memory."""
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


def overlap(one: Array, other: Array) -> str:
    """Whether two arrays lie in memory alike ("full"), apart ("none") or in part. Of arrays with
    gaps that is not asked: they count as apart, as in PyTorch."""
    if not (one.size and other.size and _is_dense(one) and _is_dense(other)):
        return "none"
    start, other_start = address(one), address(other)
    if start == other_start and one.nbytes == other.nbytes:
        return "full" if one.strides == other.strides else "partial"
    apart = start >= other_start + other.nbytes or other_start >= start + one.nbytes
    return "none" if apart else "partial"


def _is_dense(array: Array) -> bool:
    return array.transpose(dense_axes(array)).flags.c_contiguous


def owner(array: Array) -> Array:
    """The array whose memory `array` shows: itself, or the one it is a view of."""
    while (below := array.base) is not None:
        if not isinstance(below, np.ndarray):  # NumPy's holder of a strided array
            below = getattr(below, "base", None)
        if not isinstance(below, np.ndarray):
            break
        array = below
    return array


def geometry(base: Array, view: Array) -> Geometry:
    """How `view` lies in the memory of `base`."""
    offset = address(view) - address(base)
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
    if _overlaps(target):
        _add_overlapping(memory, start + where.offset, target, view)
    else:
        target[...] = view
    return _window(memory, start, where.base_shape, where.base_dtype, where.base_strides)


def strided_scatter(self: Array, src: Array, where: Geometry) -> Array:
    """A copy of `self` with `src` where `where` names."""
    memory, start = _memory(where)
    base = _window(memory, start, where.base_shape, where.base_dtype, where.base_strides)
    base[...] = self
    _window(memory, start + where.offset, where.shape, where.dtype, where.strides)[...] = src
    return base


def _overlaps(window: Array) -> bool:
    """Whether two elements of `window` may share memory."""
    reach = window.itemsize
    for step, size in sorted(zip(map(abs, window.strides), window.shape, strict=True)):
        if size > 1 and step < reach:
            return True
        reach += step * (size - 1) if size > 1 else 0
    return False


def _add_overlapping(memory: Array, start: int, window: Array, values: Array) -> None:
    """Add `values` where the elements of `window`, at byte `start` of `memory`, lie."""
    item = window.itemsize
    cells = memory[: memory.size // item * item].view(window.dtype)
    steps = [step // item * np.intp(0).itemsize for step in window.strides]
    numbers = np.arange(cells.size)
    places = np.ndarray(
        window.shape, np.intp, numbers.data, start // item * numbers.itemsize, steps
    )
    np.add.at(cells, places.reshape(-1), np.asarray(values).reshape(-1))


def _memory(where: Geometry) -> tuple[Array, int]:
    """Zeroed bytes that hold base and view, and the byte at which the base's first element lies."""
    low = high = 0
    for start, shape, strides in (
        (0, where.base_shape, where.base_strides),
        (where.offset, where.shape, where.strides),
    ):
        if 0 not in shape:
            steps = [(size - 1) * step for size, step in zip(shape, strides, strict=True)]
            low = min(low, start + sum(step for step in steps if step < 0))
            high = max(high, start + sum(step for step in steps if step > 0))
    size = max(where.base_dtype.itemsize, where.dtype.itemsize)
    return np.zeros(high - low + size, np.uint8), -low


def _window(
    memory: Array, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any], strides: Any
) -> Array:
    if 0 in shape:
        return np.zeros(shape, dtype)
    return np.ndarray(shape, dtype, memory.data, offset, strides)
