"""Putting pooled elements back, and pooling of windows at random places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from .numbers import Array

__all__ = ["fractional_max_pool", "max_unpool"]


def max_unpool(self: Array, indices: Array, output_size: Sequence[int]) -> Array:
    """Zeros of `output_size` in the last dimensions, with the elements at their flat places."""
    dims, size = len(output_size), math.prod(output_size)
    self, indices = np.broadcast_arrays(self, indices)  # one may stand for a batch
    outside = (indices < 0) | (indices >= size)
    if outside.any():
        raise RuntimeError(
            f"Found an invalid max index: {indices[outside][0]} (output volumes are of size "
            f"{'x'.join(map(str, output_size))}"
        )
    lead = self.shape[:-dims]
    flat = np.zeros((*lead, size), self.dtype)
    places, values = (array.reshape(*lead, -1) for array in (indices, self))
    np.put_along_axis(flat, places, values, -1)
    return flat.reshape(*lead, *output_size)


def fractional_max_pool(
    self: Array, kernel_size: Sequence[int], output_size: Sequence[int], samples: Array
) -> tuple[Array, Array]:
    """The greatest element of windows (..., D1, ..., Dd), NaN above all, and its flat place.

    `samples` (..., d) shift the windows of each plane along each dimension: Graham, "Fractional
    Max-Pooling" (2014).
    """
    dims = len(kernel_size)
    lead = np.broadcast_shapes(self.shape[:-dims], samples.shape[:-1])  # one may stand for a batch
    sizes = self.shape[-dims:]
    self = np.broadcast_to(self, (*lead, *sizes))
    samples = np.broadcast_to(samples, (*lead, dims))
    starts = [
        _starts(samples[..., d], size, kernel, count)
        for d, (size, kernel, count) in enumerate(zip(sizes, kernel_size, output_size, strict=True))
    ]
    corner = np.zeros((*lead, *[1] * dims), np.int64)
    for d, start in enumerate(starts):
        shape = [1] * dims
        shape[d] = output_size[d]
        corner = corner * sizes[d] + start.reshape(*lead, *shape)
    corner = corner.reshape(*lead, -1)
    plane = self.reshape(*lead, -1)
    best = which = None
    for tap in product(*map(range, kernel_size)):
        place = corner + np.ravel_multi_index(tap, sizes)
        value = np.take_along_axis(plane, place, -1)
        if best is None or which is None:
            best, which = value, place
            continue
        better = (value > best) | (value != value)
        best, which = np.where(better, value, best), np.where(better, place, which)
    assert best is not None and which is not None
    made = (*lead, *output_size)
    return best.reshape(made), which.reshape(made)


def _starts(samples: Array, size: int, kernel: int, count: int) -> Array:
    """Where the windows of each plane start along one dimension: (..., count)."""
    last = np.full((*samples.shape, 1), size - kernel)
    if count == 1:
        return last
    step = np.asarray((size - kernel) / (count - 1), samples.dtype)
    number = np.arange(count - 1, dtype=samples.dtype)
    shifted = ((number + samples[..., None]) * step).astype(np.int64)
    first = (samples[..., None] * step).astype(np.int64)
    return np.concatenate([shifted - first, last], -1)
