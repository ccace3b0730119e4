"""The partial inverse of maximum pooling, and maximum pooling over windows placed at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from .numbers import Array

__all__ = ["fractional_max_pool", "max_unpool"]


def max_unpool(self: Array, indices: Array, output_size: Sequence[int]) -> Array:
    """Zeros of `output_size` in the last dimensions, with `self` at the flat places `indices`.

    Of several elements for one place the last stays.
    """
    dims = len(output_size)
    kept, size = self.shape[:-dims], math.prod(output_size)
    rows = math.prod(kept)
    planes = np.zeros((rows, size), self.dtype)
    each = math.prod(self.shape[-dims:])
    np.put_along_axis(planes, indices.reshape(rows, each), self.reshape(rows, each), 1)
    return planes.reshape(*kept, *output_size)


def fractional_max_pool(
    self: Array, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Array
) -> tuple[Array, Array]:
    """The greatest element of each window, NaN above all, and its place in the flat plane.

    The windows lie along each dimension as one of the `random_samples` (N, C, dims) says: of
    volumes in the order of the dimensions, of images the width's comes first, as in PyTorch.
    """
    dims = len(kernel_size)
    kept, sizes = self.shape[:-dims], self.shape[-dims:]
    samples = random_samples.reshape(-1, dims)[: math.prod(kept)].reshape(*kept, dims)
    if dims == 2:
        samples = samples[..., ::-1]
    places = []
    for axis, setup in enumerate(zip(sizes, kernel_size, output_size, strict=True)):
        starts = _starts(samples[..., axis], *setup)
        places.append(
            starts.reshape(*kept, *(starts.shape[-1] if i == axis else 1 for i in range(dims)))
        )
    planes = self.reshape(*kept, math.prod(sizes))
    best = index = None
    for tap in product(*map(range, kernel_size)):
        place = _flat([p + t for p, t in zip(places, tap, strict=True)], sizes)
        flat = place.reshape(*kept, math.prod(output_size))
        value = np.take_along_axis(planes, flat, -1).reshape(place.shape)
        if best is None or index is None:
            best, index = value, place
            continue
        better = (value > best) | (value != value)
        np.copyto(best, value, where=better)
        np.copyto(index, place, where=better)
    assert best is not None and index is not None
    return best, index


def _flat(places: Sequence[Array], sizes: Sequence[int]) -> Array:
    """Places along each dimension as places in the flat plane."""
    flat = places[0]
    for place, size in zip(places[1:], sizes[1:], strict=True):
        flat = flat * size + place
    return flat


def _starts(samples: Array, size: int, kernel: int, count: int) -> Array:
    """Where `count` windows start, in steps that differ by at most one; the last ends the input."""
    starts = np.full((*samples.shape, count), size - kernel, np.int64)
    if count > 1:
        step = samples.dtype.type((size - kernel) / (count - 1))
        number = np.arange(count - 1, dtype=samples.dtype)
        sample = samples[..., None]
        starts[..., :-1] = ((number + sample) * step).astype(np.int64)
        starts[..., :-1] -= (sample * step).astype(np.int64)
    return starts
