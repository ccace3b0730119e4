"""Sampling of images and volumes at the points of a grid, and grids of affine maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from itertools import product
from operator import mul
from typing import NamedTuple

import numpy as np

from .numbers import Array, refuse

__all__ = [
    "affine_grid_generator",
    "affine_grid_generator_backward",
    "grid_sampler",
    "grid_sampler_backward",
]

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2
SHARPNESS = -0.75  # of the cubic kernel


class Tap(NamedTuple):
    """One of the elements along a dimension that a point is interpolated from."""

    place: Array
    weight: Array
    slope: Array  # the derivative of the weight by the coordinate


def grid_sampler(
    input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Array:
    """(..., C, S1, ..., Sd) at the points (..., P1, ..., Pd, d): (..., C, P1, ..., Pd).

    The coordinates are in [-1, 1], that of the last dimension first.
    """
    refuse("grid_sampler", input, "biuc")
    dims = grid.shape[-1]
    planes, points = _flattened(input, grid)
    axes = _axes(input.shape[-dims:], points, interpolation_mode, padding_mode, align_corners)
    result = np.zeros((*planes.shape[:-1], points.shape[-2]), planes.dtype)
    for taps in product(*axes):
        place, inside = _place(taps, input.shape[-dims:])
        weight = np.where(inside, reduce(mul, (tap.weight for tap in taps)), 0)
        found = np.take_along_axis(planes, place[..., None, :], -1)
        result += np.where(inside[..., None, :], found, 0) * weight[..., None, :]
    return result.reshape(*result.shape[:-1], *grid.shape[-dims - 1 : -1]).astype(input.dtype)


def grid_sampler_backward(
    grad: Array,
    input: Array,
    grid: Array,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> tuple[Array, Array]:
    """The gradients of the input and of the grid."""
    dims = grid.shape[-1]
    sizes = input.shape[-dims:]
    planes, points = _flattened(input, grid)
    g = grad.reshape(*planes.shape[:-1], points.shape[-2]).astype(planes.dtype)
    axes = _axes(sizes, points, interpolation_mode, padding_mode, align_corners)
    of_planes = np.zeros_like(planes).reshape(-1, planes.shape[-1])
    of_points = np.zeros_like(points)
    rows = np.arange(len(of_planes))[:, None]
    for taps in product(*axes):
        place, inside = _place(taps, sizes)
        weight = np.where(inside, reduce(mul, (tap.weight for tap in taps)), 0)
        spread = np.broadcast_to(place[..., None, :], g.shape).reshape(len(of_planes), -1)
        np.add.at(of_planes, (rows, spread), (g * weight[..., None, :]).reshape(spread.shape))
        found = np.take_along_axis(planes, place[..., None, :], -1)
        moved = (g * np.where(inside[..., None, :], found, 0)).sum(-2)
        for d in range(dims):
            factors = [tap.slope if i == d else tap.weight for i, tap in enumerate(taps)]
            of_points[..., dims - 1 - d] += moved * reduce(mul, factors)
    return (
        of_planes.reshape(*planes.shape[:-1], *sizes).astype(input.dtype),
        of_points.reshape(*of_points.shape[:-2], *grid.shape[-dims - 1 :]).astype(grid.dtype),
    )


def _flattened(input: Array, grid: Array) -> tuple[Array, Array]:
    """(..., C, S) and (..., P, d), the leading dimensions alike, in single precision at least."""
    dims = grid.shape[-1]
    wide = np.result_type(input.dtype, np.float32) if input.dtype.kind == "f" else np.float32
    lead = np.broadcast_shapes(input.shape[: -dims - 1], grid.shape[: -dims - 1])
    channels, sizes = input.shape[-dims - 1], input.shape[-dims:]
    planes = np.broadcast_to(input, (*lead, channels, *sizes)).astype(wide)
    points = np.broadcast_to(grid, (*lead, *grid.shape[-dims - 1 :])).astype(wide)
    return (
        planes.reshape(*lead, channels, math.prod(sizes)),
        points.reshape(*lead, math.prod(grid.shape[-dims - 1 : -1]), dims),
    )


def _axes(
    sizes: Sequence[int], points: Array, mode: int, padding: int, align: bool
) -> list[list[Tap]]:
    """For each dimension the elements that the points are interpolated from."""
    made = []
    for d, size in enumerate(sizes):
        coordinate = points[..., len(sizes) - 1 - d]
        scale = (size - 1) / 2 if align else size / 2
        x = (coordinate + 1) * scale - (0 if align else 0.5)
        x = np.asarray(x, points.dtype)
        made.append(_taps(x, scale, size, mode, padding, align))
    return made


def _taps(x: Array, scale: float, size: int, mode: int, padding: int, align: bool) -> list[Tap]:
    if mode == BICUBIC:
        first = np.floor(x)
        part = x - first
        weights, slopes = _cubic(part)
        places = [_padded(first + i - 1, size, padding, align)[0] for i in range(4)]
        taps = zip(places, weights, slopes, strict=True)
        return [Tap(_integral(p), w, s * scale) for p, w, s in taps]
    x, sign = _padded(x, size, padding, align)
    if mode == NEAREST:
        return [Tap(_integral(np.rint(x)), np.ones_like(x), np.zeros_like(x))]
    first = np.floor(x)
    part, slope = x - first, sign * scale
    return [Tap(_integral(first), 1 - part, -slope), Tap(_integral(first + 1), part, slope)]


def _integral(x: Array) -> Array:
    """Whole numbers as integers; what is too large, or NaN, is outside of every image."""
    return np.where(np.abs(x) < 2**30, x, -100).astype(np.int64)


def _padded(x: Array, size: int, padding: int, align: bool) -> tuple[Array, Array]:
    """Coordinates brought inside, and their derivative by what they were."""
    sign = np.ones_like(x)
    if padding == ZEROS:
        return x, sign
    if padding == REFLECTION:
        low, high = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
        x, sign = _reflected(x, low, high)
    sign = np.where((x <= 0) | (x >= size - 1), 0, sign)
    return np.clip(x, 0, size - 1), sign


def _reflected(x: Array, low: float, high: float) -> tuple[Array, Array]:
    """Coordinates reflected at both ends until they are between them."""
    if low == high:
        return np.zeros_like(x), np.zeros_like(x)
    span = high - low
    distance = np.abs(x - low)
    sign = np.where(x < low, -1.0, 1.0)
    extra = np.fmod(distance, span)
    flipped = np.floor(distance / span) % 2 == 1
    made = np.where(flipped, span - extra + low, extra + low)
    return made.astype(x.dtype), np.where(flipped, -sign, sign).astype(x.dtype)


def _cubic(t: Array) -> tuple[list[Array], list[Array]]:
    """The weights of the four elements around a point, and their derivatives."""
    a = SHARPNESS

    def near(x: Array) -> tuple[Array, Array]:
        return ((a + 2) * x - (a + 3)) * x * x + 1, (3 * (a + 2) * x - 2 * (a + 3)) * x

    def far(x: Array) -> tuple[Array, Array]:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a, (3 * a * x - 10 * a) * x + 8 * a

    parts = [far(t + 1), near(t), near(1 - t), far(2 - t)]
    signs = (1, 1, -1, -1)
    return [w for w, _ in parts], [s * slope for s, (_, slope) in zip(signs, parts, strict=True)]


def _place(taps: Sequence[Tap], sizes: Sequence[int]) -> tuple[Array, Array]:
    """The flat places of elements, and whether they are inside."""
    inside = np.ones(taps[0].place.shape, bool)
    place = np.zeros(taps[0].place.shape, np.int64)
    for tap, size in zip(taps, sizes, strict=True):
        inside &= (tap.place >= 0) & (tap.place < size)
        place = place * size + np.clip(tap.place, 0, size - 1)
    return place, inside


def _base(size: Sequence[int], align_corners: bool, dtype: np.dtype[np.generic]) -> Array:
    """The points (P, d + 1) of a plain grid, that of the last dimension first, with a one."""
    lines = []
    for count in size[2:]:
        line = np.linspace(-1, 1, count) if count > 1 else np.zeros(1)
        lines.append(line if align_corners else line * (count - 1) / count)
    mesh = np.meshgrid(*lines, indexing="ij")
    columns = [*reversed(mesh), np.ones_like(mesh[0])]
    return np.stack([column.reshape(-1) for column in columns], -1).astype(dtype)


def affine_grid_generator(theta: Array, size: Sequence[int], align_corners: bool) -> Array:
    """The points of a plain grid moved by the affine maps (..., d, d + 1)."""
    points = _base(size, align_corners, theta.dtype) @ theta.swapaxes(-1, -2)
    return points.reshape(*theta.shape[:-2], *size[2:], theta.shape[-2])


def affine_grid_generator_backward(grad: Array, size: Sequence[int], align_corners: bool) -> Array:
    """The adjoint of `affine_grid_generator`."""
    dims = len(size) - 2
    points = grad.reshape(*grad.shape[: -dims - 1], -1, dims)
    return np.asarray(points.swapaxes(-1, -2) @ _base(size, align_corners, grad.dtype))
