"""Copies and casts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

__all__ = ["clone", "dense_axes", "empty_dense", "to_copy"]

CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


def dense_axes(array: Array, axes: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """The axes from the widest stride to the narrowest, in which a copy of `array` is dense.

    A memory format may prescribe them: `axes`. Expanded arrays become row-major.
    """
    if axes is not None:
        return axes
    if 0 in array.strides or array.flags.c_contiguous:
        return tuple(range(array.ndim))
    return tuple(sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis])))


def empty_dense(shape: tuple[int, ...], dtype: np.dtype[Any], axes: tuple[int, ...]) -> Array:
    """An uninitialised array whose memory runs along `axes`, from the slowest to the fastest."""
    memory = np.empty([shape[axis] for axis in axes], dtype)
    return memory.transpose(np.argsort(axes))


def clone(self: Array, axes: tuple[int, ...] | None = None) -> Array:
    """A copy that keeps the order of the dimensions in memory, or lays them out along `axes`."""
    if axes is None and 0 not in self.strides:
        return self.copy("K")
    out = empty_dense(self.shape, self.dtype, dense_axes(self, axes))
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
        return self.astype(dtype, "K")
    out = empty_dense(self.shape, dtype, dense_axes(self, axes))
    out[...] = self
    return out
