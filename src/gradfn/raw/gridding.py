"""Sampling at the points of a grid, and grids of affine maps.

Coordinates run from -1 to 1 over the input: over the centres of its outermost elements with
`align_corners`, else over their outer edges. A grid holds x, y (and z) in its last dimension,
which belong to the last, the last but one (and the last but two) dimensions of the input.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from .numbers import Array

__all__ = ["affine_grid_adjoint", "affine_grid_generator", "grid_offsets"]

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2


def grid_offsets(
    grid: Array,
    sizes: Sequence[int],
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> tuple[Array, Array, Array, Array]:
    """Where the points of `grid` lie among the elements of an input of `sizes`.

    Returns how far each point is beyond the element before it, the derivative of that by the
    grid, and for each of the elements around the points their flat places and whether they exist.
    """
    offset, slope = np.empty_like(grid), np.empty_like(grid)
    around = []
    for axis, size in enumerate(reversed(sizes)):
        position, scale = _unnormalized(grid[..., axis], size, align_corners)
        if interpolation_mode != BICUBIC:
            position, sign = _padded(position, size, padding_mode, align_corners)
            scale = sign * scale
        if interpolation_mode == NEAREST:
            first, taps = np.rint(position), range(1)
            offset[..., axis] = slope[..., axis] = 0
        else:
            first, taps = np.floor(position), range(2)
            offset[..., axis], slope[..., axis] = position - first, scale
        if interpolation_mode == BICUBIC:
            taps = range(-1, 3)
        places = [first + tap for tap in taps]
        if interpolation_mode == BICUBIC:
            places = [_padded(p, size, padding_mode, align_corners)[0] for p in places]
        around.append([_within(p, size) for p in places])
    return offset, slope, *_combined(around[::-1], sizes)


def _unnormalized(coordinate: Array, size: int, align_corners: bool) -> tuple[Array, Array | float]:
    """`coordinate` in elements, and the derivative of that."""
    if align_corners:
        return (coordinate + 1) / 2 * (size - 1), (size - 1) / 2
    return ((coordinate + 1) * size - 1) / 2, size / 2


def _padded(
    position: Array, size: int, padding_mode: int, align_corners: bool
) -> tuple[Array, Array | float]:
    """`position` brought into the input, and the derivative of that."""
    if padding_mode == ZEROS:
        return position, 1.0
    sign: Array | float = 1.0
    if padding_mode == REFLECTION:
        edge = 0.0 if align_corners else 0.5
        position, sign = _reflected(position + edge, size - 1 + 2 * edge)
        position = position - edge
    inside = (position > 0) & (position < size - 1)
    return np.clip(position, 0, size - 1), sign * inside


def _reflected(distance: Array, span: float) -> tuple[Array, Array | float]:
    """A `distance` folded into 0 to `span`, and the derivative of that."""
    if span == 0:
        return np.zeros_like(distance), 0.0
    flips, rest = np.divmod(np.abs(distance), span)
    odd = flips % 2 == 1
    sign = np.where(odd, -1.0, 1.0) * np.where(distance < 0, -1.0, 1.0)
    return np.where(odd, span - rest, rest), sign


def _within(position: Array, size: int) -> tuple[Array, Array]:
    """A position as an index, 0 where there is no such element, and where there is one."""
    inside = (position >= 0) & (position < size)
    return np.where(inside, position, 0).astype(np.int64), inside


def _combined(around: list[list[tuple[Array, Array]]], sizes: Sequence[int]) -> tuple[Array, Array]:
    """The flat places of all combinations of the indices along each dimension."""
    steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    places, existing = [], []
    for corner in product(*around):
        scaled = [index * step for (index, _), step in zip(corner, steps, strict=True)]
        places.append(reduce(np.add, scaled))
        existing.append(reduce(np.logical_and, [inside for _, inside in corner]))
    return np.stack(places), np.stack(existing)


def affine_grid_generator(theta: Array, size: Sequence[int], align_corners: bool) -> Array:
    """The points to which the affine maps `theta` take those of a regular grid."""
    points = _regular(size[2:], align_corners, theta.dtype)
    grid = points @ np.swapaxes(theta, -1, -2)
    return grid.reshape(*theta.shape[:-2], *size[2:], len(size) - 2)


def affine_grid_adjoint(grad: Array, size: Sequence[int], align_corners: bool) -> Array:
    """The adjoint of `affine_grid_generator`."""
    points = _regular(size[2:], align_corners, grad.dtype)
    dims = len(size) - 2
    flat = grad.reshape(*grad.shape[: -dims - 1], len(points), dims)
    return np.ascontiguousarray(np.swapaxes(flat, -1, -2) @ points)


def _regular(sizes: Sequence[int], align_corners: bool, dtype: np.dtype[Any]) -> Array:
    """The points of a regular grid, one a row, as x, y(, z), 1."""
    axes = []
    for size in reversed(sizes):
        axis = np.linspace(-1, 1, size, dtype=dtype) if size > 1 else np.zeros(1, dtype)
        axes.append(axis if align_corners else axis * ((size - 1) / size))
    lattice = np.meshgrid(*reversed(axes), indexing="ij")[::-1]
    columns = [*(axis.reshape(-1) for axis in lattice), np.ones(math.prod(sizes), dtype)]
    return np.stack(columns, 1).astype(dtype)
