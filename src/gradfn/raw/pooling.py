"""Pooling by strided windows, in loops over the positions within a window, never over pixels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .numbers import Array
from .padding import constant_pad_nd
from .products import in_wide

__all__ = [
    "adaptive_max_pool",
    "avg_pool",
    "avg_pool_backward",
    "from_planes",
    "max_pool",
    "to_planes",
]

Sizes = tuple[int, ...]


class Windows(NamedTuple):
    """Where windows lie along each of the last dimensions."""

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    counts: Sizes

    def starts(self) -> list[Array]:
        """Where each window starts, along each dimension; within the padding, below zero."""
        return [
            np.arange(n) * s - p
            for n, s, p in zip(self.counts, self.stride, self.padding, strict=True)
        ]

    def taps(self) -> Iterator[tuple[Any, ...]]:
        """For each position within a window, the index of all of those in the padded input."""
        for tap in product(*map(range, self.kernel)):
            starts = [t * d for t, d in zip(tap, self.dilation, strict=True)]
            yield (
                ...,
                *(
                    slice(start, start + (n - 1) * s + 1, s)
                    for start, n, s in zip(starts, self.counts, self.stride, strict=True)
                ),
            )

    def borders(self, sizes: Sequence[int]) -> list[int]:
        """The padding, from the last dimension, with which an input holds every window."""
        sides = []
        for size, kernel, stride, padding, dilation, count in zip(sizes, *self, strict=True):
            reach = (count - 1) * stride + (kernel - 1) * dilation + 1 - padding
            sides.append((padding, max(reach - size, 0)))
        return [side for pair in reversed(sides) for side in pair]


def windows_of(
    sizes: Sequence[int], kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil: bool
) -> Windows:
    """The windows that fit; with `ceil` also a last one that starts within, but reaches beyond."""
    count = []
    for size, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        room = size + 2 * p - d * (k - 1) - 1
        n = -(-room // s) + 1 if ceil else room // s + 1
        if ceil and (n - 1) * s >= size + p:
            n -= 1
        count.append(n)
    return Windows(kernel, stride, padding, dilation, tuple(count))


def max_pool(
    self: Array, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> tuple[Array, Array]:
    """The greatest element of each window, NaN above all, and its place in the flat plane."""
    sizes = self.shape[-len(kernel_size) :]
    windows = windows_of(sizes, kernel_size, stride, padding, dilation, ceil_mode)
    floating = self.dtype.kind not in "iu"
    x = constant_pad_nd(
        self, windows.borders(sizes), -np.inf if floating else np.iinfo(self.dtype).min
    )
    taps = math.prod(kernel_size)
    inside = [
        -(np.minimum(start, 0) // d) for start, d in zip(windows.starts(), dilation, strict=True)
    ]
    first = _combined(inside, _steps(kernel_size))
    best = which = None
    for tap, where in enumerate(windows.taps()):
        value = x[where]
        if best is None or which is None:
            which = np.empty(value.shape, np.min_scalar_type(taps))
            which[...] = first
            best = value.copy()
            continue
        better = value > best
        if floating:
            better |= value != value
        np.copyto(best, value, where=better)
        np.copyto(which, tap, where=better)
    assert best is not None and which is not None
    steps = _steps(sizes)
    within = [np.arange(k) * d for k, d in zip(kernel_size, dilation, strict=True)]
    index = _combined(within, steps).reshape(-1)[which]
    index += _combined(windows.starts(), steps)
    return best, index


def _steps(sizes: Sequence[int]) -> list[int]:
    """How far apart the elements of a dense array are along each dimension."""
    return [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]


def _combined(numbers: list[Array], steps: list[int]) -> Array:
    """The sum, over a grid, of each dimension's numbers times its step."""
    scaled = [n * step for n, step in zip(numbers, steps, strict=True)]
    grid: Array = reduce(np.add.outer, scaled)
    return grid


def adaptive_max_pool(self: Array, output_size: Sizes) -> tuple[Array, Array]:
    """The greatest element of each of `output_size` parts, and its place in the flat plane."""
    sizes = self.shape[-len(output_size) :]
    places = [_covering(size, parts) for size, parts in zip(sizes, output_size, strict=True)]
    best = index = None
    for columns in product(*(p.T for p in places)):
        value = self[(..., *np.ix_(*columns))]
        place = np.broadcast_to(_combined(list(columns), _steps(sizes)), value.shape)
        if best is None or index is None:
            best, index = value, place.copy()
            continue
        better = (value > best) | (value != value)
        np.copyto(best, value, where=better)
        np.copyto(index, place, where=better)
    if best is None or index is None:
        shape = (*self.shape[: -len(sizes)], *output_size)
        return np.empty(shape, self.dtype), np.empty(shape, np.int64)
    return best, index


def part_bounds(size: int, parts: int) -> tuple[Array, Array]:
    """Where each of `parts` overlapping parts that cover `size` starts and stops."""
    number = np.arange(parts)
    return number * size // parts, -(-(number + 1) * size // parts)


def _covering(size: int, parts: int) -> Array:
    """The positions of each part in a row, the last repeated in those that are shorter."""
    starts, stops = part_bounds(size, parts)
    longest = int((stops - starts).max(initial=0))
    covering: Array = np.minimum(starts[:, None] + np.arange(longest), stops[:, None] - 1)
    return covering


def to_planes(self: Array, index: Array, sizes: Sequence[int]) -> Array:
    """Zeros of `sizes` in the last dimensions, with `self` added at the flat places `index`."""
    dims = len(sizes)
    if self.shape != index.shape:  # one stands for a batch
        self, index = np.broadcast_arrays(self, index)
    kept, plane = self.shape[:-dims], math.prod(sizes)
    rows = math.prod(kept)
    flat = index.reshape(rows, -1) + np.arange(rows)[:, None] * plane
    sums = np.bincount(flat.reshape(-1), self.reshape(-1).astype(np.float64), rows * plane)
    return sums.astype(self.dtype).reshape(*kept, *sizes)


def from_planes(self: Array, index: Array, dims: int) -> Array:
    """What is at the flat places `index` of the last `dims` dimensions."""
    kept = np.broadcast_shapes(self.shape[:-dims], index.shape[:-dims])
    index = np.broadcast_to(index, (*kept, *index.shape[-dims:]))
    planes = np.broadcast_to(self, (*kept, *self.shape[-dims:]))
    planes = planes.reshape(*kept, math.prod(self.shape[-dims:]))
    picked = np.take_along_axis(planes, index.reshape(*kept, math.prod(index.shape[-dims:])), -1)
    return picked.reshape(index.shape)


def avg_pool(
    self: Array,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    """The mean of each window."""
    sizes = self.shape[-len(kernel_size) :]
    windows = _undilated(sizes, kernel_size, stride, padding, ceil_mode)
    divisors = _divisors(sizes, windows, count_include_pad, divisor_override)
    return in_wide(_window_means, self, windows, divisors)


def avg_pool_backward(
    grad: Array,
    sizes: Sizes,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    """The adjoint of `avg_pool`, of `sizes` in the last dimensions."""
    windows = _undilated(sizes, kernel_size, stride, padding, ceil_mode)
    divisors = _divisors(sizes, windows, count_include_pad, divisor_override)
    return in_wide(_spread_means, grad, sizes, windows, divisors)


def _undilated(
    sizes: Sequence[int], kernel: Sizes, stride: Sizes, padding: Sizes, ceil: bool
) -> Windows:
    return windows_of(sizes, kernel, stride, padding, (1,) * len(kernel), ceil)


def _window_means(x: Array, windows: Windows, divisors: Any) -> Array:
    padded = constant_pad_nd(x, windows.borders(x.shape[-len(windows.kernel) :]))
    total = None
    for where in windows.taps():
        if total is None:
            total = padded[where].copy()
        else:
            total += padded[where]
    assert total is not None
    return _divided(total, divisors)


def _spread_means(grad: Array, sizes: Sizes, windows: Windows, divisors: Any) -> Array:
    borders = windows.borders(sizes)
    share = _divided(grad, divisors)
    padded = constant_pad_nd(np.zeros((*grad.shape[: -len(sizes)], *sizes), grad.dtype), borders)
    for where in windows.taps():
        padded[where] += share
    return constant_pad_nd(padded, [-side for side in borders])


def _divided(total: Array, divisors: Any) -> Array:
    divide = np.floor_divide if total.dtype.kind in "iu" else np.true_divide
    quotient: Array = divide(total, np.asarray(divisors, total.dtype))
    return quotient


def _divisors(
    sizes: Sequence[int], windows: Windows, include_pad: bool, override: int | None
) -> Any:
    """How many elements each window counts: those of the padding too, if asked."""
    if override is not None:
        return override
    counts = []
    for size, start, k, p in zip(
        sizes, windows.starts(), windows.kernel, windows.padding, strict=True
    ):
        stop = np.minimum(start + k, size + p)
        counts.append(
            stop - start if include_pad else np.minimum(stop, size) - np.maximum(start, 0)
        )
    return reduce(np.multiply.outer, counts)
