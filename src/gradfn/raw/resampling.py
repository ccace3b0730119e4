"""Resampling: every new element a weighted sum of old ones, dimension by dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .numbers import Array
from .pooling import part_bounds
from .products import in_wide

__all__ = ["resample"]


def resample(self: Array, matrices: Sequence[Any]) -> Array:
    """The last dimensions multiplied by sparse `matrices`, (new size, old size) each.

    The adjoint is the same with the transposed ones. Sparse also in that what has no weight does
    not count, even where it is infinite.
    """
    return in_wide(_resample, self, matrices)


def _resample(x: Array, matrices: Sequence[Any]) -> Array:
    for axis, matrix in enumerate(matrices, x.ndim - len(matrices)):
        first = np.moveaxis(x, axis, 0)
        columns = np.ascontiguousarray(first).reshape(len(first), -1)
        made = matrix.astype(x.dtype) @ columns
        x = np.moveaxis(made.reshape(matrix.shape[0], *first.shape[1:]), 0, axis)
    return np.ascontiguousarray(x)


def interpolation(mode: str, size: int, new: int, align_corners: bool, scale: float | None) -> Any:
    """The matrix that interpolates `size` elements at `new` positions.

    `scale` is how much larger the result is meant to be, by default as much as it is.
    """
    step = size / new if scale is None else 1 / scale
    if align_corners:
        step = (size - 1) / (new - 1) if new > 1 else 0.0
    number = np.arange(new)
    if mode.endswith("-antialias"):
        return _antialiased(mode.removesuffix("-antialias"), size, step, number)
    centre = number * step if align_corners else (number + 0.5) * step - 0.5
    if mode == "linear":
        centre = np.maximum(centre, 0)
    first = np.floor(centre)
    part = centre - first
    if mode == "linear":
        offsets, weights = np.arange(2), np.stack([1 - part, part], 1)
    else:
        offsets = np.arange(-1, 3)
        weights = _cubic(np.abs(part[:, None] - offsets), -0.75)
    places = np.clip(first.astype(np.int64)[:, None] + offsets, 0, size - 1)
    return _sparse(np.repeat(number, len(offsets)), places, weights, (new, size))


def _cubic(distance: Array, a: float) -> Array:
    """Keys' convolution kernel."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


def _antialiased(mode: str, size: int, step: float, number: Array) -> Any:
    """The kernel widened to cover `step` old elements where the result is smaller."""
    stretch = max(step, 1.0)
    support = (1 if mode == "linear" else 2) * stretch
    centre = (number + 0.5) * step
    start = np.maximum((centre - support + 0.5).astype(np.int64), 0)
    stop = np.minimum((centre + support + 0.5).astype(np.int64), size)
    places = start[:, None] + np.arange(int((stop - start).max(initial=0)))
    distance = np.abs(places - centre[:, None] + 0.5) / stretch
    weights = np.maximum(1 - distance, 0) if mode == "linear" else _cubic(distance, -0.5)
    weights = np.where(places < stop[:, None], weights, 0)
    weights /= weights.sum(1, keepdims=True)
    rows = np.repeat(number, places.shape[1])
    return _sparse(rows, np.minimum(places, size - 1), weights, (len(number), size))


def averaging(size: int, parts: int) -> Any:
    """The matrix that averages each of `parts` overlapping parts that cover `size` elements."""
    starts, stops = part_bounds(size, parts)
    lengths = stops - starts
    rows = np.repeat(np.arange(parts), lengths)
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return _sparse(rows, starts[rows] + within, 1 / lengths[rows], (parts, size))


def _sparse(rows: Array, places: Array, weights: Array, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_array

    entries = weights.reshape(-1), (rows.reshape(-1), places.reshape(-1))
    matrix = csr_array(entries, shape)
    matrix.eliminate_zeros()
    return matrix


def nearest_places(size: int, new: int, exact: bool, scale: float | None) -> Array:
    """The position that each of `new` is nearest to, in single precision as in PyTorch."""
    step = np.float32(size) / np.float32(new) if scale is None else np.float32(1 / scale)
    number = np.arange(new, dtype=np.float32)
    places: Array = np.floor((number + np.float32(0.5)) * step if exact else number * step)
    nearest: Array = np.minimum(places.astype(np.int64), size - 1)
    return nearest
