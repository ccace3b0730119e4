"""Copies and casts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .numbers import Array, cast

__all__ = ["clone", "dense_axes", "empty_dense", "to_copy"]

CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


def dense_axes(array: Array) -> tuple[int, ...]:
    """The axes from the widest stride to the narrowest, in which a copy of `array` is dense.

    An expanded axis, of stride zero, keeps its place.
    """
    axes = list(range(array.ndim))
    if array.flags.c_contiguous:
        return tuple(axes)
    for start in range(array.ndim - 2, -1, -1):
        at = start
        for after in range(start + 1, array.ndim):
            order = _compare(array, axes[at], axes[after])
            if order > 0:
                break
            if order < 0:
                axes[at], axes[after] = axes[after], axes[at]
                at = after
    return tuple(axes)


def _compare(array: Array, axis: int, other: int) -> int:
    """Whether `axis` is wider in memory than `other` (1), narrower (-1), or neither (0)."""
    step, other_step = abs(array.strides[axis]), abs(array.strides[other])
    if step == 0 or other_step == 0:
        return 0
    if step == other_step:
        return -1 if array.shape[axis] < array.shape[other] else 0
    return 1 if step > other_step else -1


def empty_dense(shape: tuple[int, ...], dtype: np.dtype[Any], axes: tuple[int, ...]) -> Array:
    """An uninitialised array whose memory runs along `axes`, from the slowest to the fastest."""
    memory = np.empty([shape[axis] for axis in axes], dtype)
    return memory.transpose(np.argsort(axes))


def laid_out(array: Array, like: Array) -> Array:
    """`array` with its dimensions in the order in memory that those of `like` have."""
    out = empty_dense(array.shape, array.dtype, dense_axes(like))
    out[...] = array
    return out


def clone(self: Array, axes: tuple[int, ...] | None = None) -> Array:
    """A copy that keeps the order of the dimensions in memory, or lays them out along `axes`."""
    if axes is None and 0 not in self.strides:
        return self.copy("K")
    out = empty_dense(self.shape, self.dtype, axes or dense_axes(self))
    out[...] = self
    return out


def to_copy(self: Array, dtype: np.dtype[Any], axes: tuple[int, ...] | None = None) -> Array:
    """A copy in `dtype`; to a real one, complex numbers lose their imaginary part (a warning)."""
    if self.dtype.kind == "c" and dtype.kind not in "cb":
        warnings.warn(
            "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=2
        )
        self = self.real
    if axes is None and 0 not in self.strides:
        return cast(self, dtype)
    out = empty_dense(self.shape, dtype, axes or dense_axes(self))
    out[...] = cast(self, dtype, copy=False)
    return out
