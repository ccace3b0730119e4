"""Convolutions of any number of dimensions, as matrix products over strided windows.

One trilinear form, ``sum(y * correlate(x, w))``, has three faces: each of the kernels is its
gradient in one of the factors, and so the three are one another's derivatives.

The windows are copied into a matrix, one column for each position of the kernel, a block of
samples (or, for large ones, of output rows) at a time: the copy is of at most `BLOCK` bytes, or one
output row's columns where these are more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .numbers import Array
from .products import in_wide

Sizes = tuple[int, ...]
Setup = tuple[Sizes, Sizes, Sizes, bool, Sizes, int]  # what follows the bias in `convolution`

__all__ = ["convolution", "convolution_input", "convolution_weight"]

BLOCK = 1 << 20


class Layout(NamedTuple):
    """How a kernel moves over its input."""

    stride: Sizes
    padding: Sizes
    dilation: Sizes
    groups: int

    def positions(self, sizes: Sizes, kernel: Sizes) -> Sizes:
        """How often the kernel fits into an input of `sizes`, along each dimension."""
        return tuple(
            (size + 2 * p - d * (k - 1) - 1) // s + 1
            for size, k, s, p, d in zip(
                sizes, kernel, self.stride, self.padding, self.dilation, strict=True
            )
        )

    def reach(self, positions: Sizes, kernel: Sizes) -> Sizes:
        """The size of the input that the kernel covers from so many positions."""
        return tuple(
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, k, s, p, d in zip(
                positions, kernel, self.stride, self.padding, self.dilation, strict=True
            )
        )


def convolution(
    self: Array,
    weight: Array,
    bias: Array | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Array:
    """The convolution of (N, C, ...) with (O, C / groups, ...) or, `transposed`, its adjoint."""
    layout = Layout(stride, padding, dilation, groups)
    kernel = weight.shape[2:]
    if transposed:
        reach = layout.reach(self.shape[2:], kernel)
        sizes = tuple(r + extra for r, extra in zip(reach, output_padding, strict=True))
        shape = (len(self), weight.shape[1] * groups, *sizes)
        result = in_wide(_spread, self, weight, shape, layout)
    else:
        positions = layout.positions(self.shape[2:], kernel)
        result = in_wide(_correlate, self, weight, positions, layout)
    if bias is not None:
        result += bias.reshape(-1, *[1] * len(kernel))
    return result


def convolution_input(grad: Array, weight: Array, shape: Sizes, setup: Setup) -> Array:
    """The gradient of a convolution in its input, which is of `shape`."""
    stride, padding, dilation, transposed, _, groups = setup
    layout = Layout(stride, padding, dilation, groups)
    if transposed:
        return in_wide(_correlate, grad, weight, shape[2:], layout)
    return in_wide(_spread, grad, weight, shape, layout)


def convolution_weight(grad: Array, self: Array, shape: Sizes, setup: Setup) -> Array:
    """The gradient of a convolution in its weight, which is of `shape`."""
    stride, padding, dilation, transposed, _, groups = setup
    layout = Layout(stride, padding, dilation, groups)
    narrow, wide = (self, grad) if transposed else (grad, self)
    return in_wide(_contract, narrow, wide, shape, layout)


def _correlate(x: Array, weight: Array, positions: Sizes, layout: Layout) -> Array:
    """``y[n, o, p] = sum of x[n, c, p * stride + k * dilation - padding] * weight[o, c, k]``."""
    groups = layout.groups
    windows = _windows(x, weight.shape[2:], positions, layout)
    matrix = weight.reshape(groups, len(weight) // groups, math.prod(weight.shape[1:]))
    result = np.empty((len(x), groups, matrix.shape[1], *positions), x.dtype)
    for block in _blocks(windows, len(positions)):
        columns = _columns(windows[block], len(positions))
        np.matmul(matrix, columns, out=_flat(result[block], len(positions)))
    return result.reshape(len(x), len(weight), *positions)


def _spread(y: Array, weight: Array, shape: Sizes, layout: Layout) -> Array:
    """The adjoint of `_correlate` in `x`, of `shape`."""
    groups, dims = layout.groups, len(shape) - 2
    sizes = tuple(size + 2 * p for size, p in zip(shape[2:], layout.padding, strict=True))
    padded = np.zeros((*shape[:2], *sizes), y.dtype)
    windows = _windows_of(padded, weight.shape[2:], y.shape[2:], layout)
    matrix = weight.reshape(groups, len(weight) // groups, math.prod(weight.shape[1:]))
    matrix = matrix.swapaxes(1, 2)
    split = y.reshape(len(y), groups, len(weight) // groups, *y.shape[2:])
    taps: list[Any] = [(slice(None),) * 3 + tap for tap in np.ndindex(*weight.shape[2:])]
    for block in _blocks(windows, dims):
        target = windows[block]
        columns = np.matmul(matrix, _flat(split[block], dims)).reshape(target.shape)
        for tap in taps:  # the windows of one tap do not overlap
            target[tap] += columns[tap]
    inner: Array = padded[_inner(shape, layout)]
    return inner


def _contract(y: Array, x: Array, shape: Sizes, layout: Layout) -> Array:
    """The adjoint of `_correlate` in `weight`, of `shape`."""
    groups, dims = layout.groups, len(shape) - 2
    windows = _windows(x, shape[2:], y.shape[2:], layout)
    split = y.reshape(len(y), groups, shape[0] // groups, *y.shape[2:])
    total = np.zeros((groups, shape[0] // groups, math.prod(shape[1:])), y.dtype)
    for block in _blocks(windows, dims):
        columns = _columns(windows[block], dims)
        total += np.matmul(_flat(split[block], dims), columns.swapaxes(2, 3)).sum(0)
    return total.reshape(shape)


def _windows(x: Array, kernel: Sizes, positions: Sizes, layout: Layout) -> Array:
    """What the kernel sees of `x` at each of its positions."""
    if any(layout.padding):
        sizes = tuple(size + 2 * p for size, p in zip(x.shape[2:], layout.padding, strict=True))
        padded = np.zeros((*x.shape[:2], *sizes), x.dtype)
        padded[_inner(x.shape, layout)] = x
        x = padded
    return _windows_of(x, kernel, positions, layout)


def _inner(shape: Sizes, layout: Layout) -> tuple[Any, ...]:
    """Where the input of `shape` is within the padded one."""
    pairs = zip(shape[2:], layout.padding, strict=True)
    return (..., *(slice(p, p + n) for n, p in pairs))


def _windows_of(x: Array, kernel: Sizes, positions: Sizes, layout: Layout) -> Array:
    """A view (N, groups, C / groups, *kernel, *positions) of the padded input."""
    steps = x.strides[2:]
    taps = [step * d for step, d in zip(steps, layout.dilation, strict=True)]
    moves = [step * s for step, s in zip(steps, layout.stride, strict=True)]
    width = x.shape[1] // layout.groups
    shape = (len(x), layout.groups, width, *kernel, *positions)
    strides = (x.strides[0], x.strides[1] * width, x.strides[1], *taps, *moves)
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def _blocks(windows: Array, dims: int) -> Iterator[tuple[Any, ...]]:
    """Indices of `windows` (or of what has its positions) whose columns are within `BLOCK`."""
    count, rows = len(windows), windows.shape[-dims]
    row = windows.nbytes // max(count * rows, 1)
    rest = (slice(None),) * (dims - 1)
    if row * rows > BLOCK:
        step = max(BLOCK // row, 1)
        for n in range(count):
            for first in range(0, rows, step):
                yield (slice(n, n + 1), ..., slice(first, first + step), *rest)
    else:
        step = max(BLOCK // max(row * rows, 1), 1)
        for n in range(0, count, step):
            yield (slice(n, n + step),)


def _columns(windows: Array, dims: int) -> Array:
    """The windows as a matrix with a column for each position."""
    rows, positions = math.prod(windows.shape[2:-dims]), math.prod(windows.shape[-dims:])
    return windows.reshape(*windows.shape[:2], rows, positions)


def _flat(array: Array, dims: int) -> Array:
    """The last `dims` dimensions as one."""
    return array.reshape(*array.shape[:-dims], math.prod(array.shape[-dims:]))
