"""Channels as pixels, windows as columns, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .numbers import Array

__all__ = ["channel_shuffle", "col2im", "im2col", "pixel_shuffle", "pixel_unshuffle"]

Sizes = Sequence[int]


def pixel_shuffle(self: Array, upscale_factor: int) -> Array:
    """(..., C r², H, W) as (..., C, H r, W r)."""
    r = upscale_factor
    *batch, channels, height, width = self.shape
    n = len(batch)
    parts = self.reshape(*batch, channels // (r * r), r, r, height, width)
    axes = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return parts.transpose(axes).reshape(*batch, channels // (r * r), height * r, width * r)


def pixel_unshuffle(self: Array, downscale_factor: int) -> Array:
    """(..., C, H r, W r) as (..., C r², H, W)."""
    r = downscale_factor
    *batch, channels, height, width = self.shape
    n = len(batch)
    parts = self.reshape(*batch, channels, height // r, r, width // r, r)
    axes = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return parts.transpose(axes).reshape(*batch, channels * r * r, height // r, width // r)


def channel_shuffle(self: Array, groups: int) -> Array:
    """Channels (N, groups * C, ...) in the order of their number within the group."""
    n, channels, *rest = self.shape
    parts = self.reshape(n, groups, channels // groups, *rest)
    return parts.swapaxes(1, 2).reshape(self.shape)


def _positions(
    sizes: Sizes, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> Sizes:
    """How often the kernel fits along each dimension."""
    return tuple(
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, d, p, s in zip(sizes, kernel, dilation, padding, stride, strict=True)
    )


def im2col(
    self: Array, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> Array:
    """(..., C, H, W) as columns (..., C * kernel elements, windows)."""
    *batch, channels, _, _ = self.shape
    counts = _positions(self.shape[-2:], kernel_size, dilation, padding, stride)
    (p, q), (s, t), (d, e) = padding, stride, dilation
    padded = np.pad(self, (*[(0, 0)] * (self.ndim - 2), (p, p), (q, q)))
    *outer, down, right = padded.strides
    windows = np.lib.stride_tricks.as_strided(
        padded,
        (*batch, channels, *kernel_size, *counts),
        (*outer, down * d, right * e, down * s, right * t),
        writeable=False,
    )
    return windows.reshape(*batch, channels * math.prod(kernel_size), math.prod(counts))


def col2im(
    self: Array,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes,
    padding: Sizes,
    stride: Sizes,
) -> Array:
    """Columns added where `im2col` has taken them from: its adjoint."""
    *batch, rows, _ = self.shape
    channels = rows // math.prod(kernel_size)
    counts = _positions(output_size, kernel_size, dilation, padding, stride)
    (h, w), (p, q), (s, t), (d, e) = output_size, padding, stride, dilation
    padded = np.zeros((*batch, channels, h + 2 * p, w + 2 * q), self.dtype)
    parts = self.reshape(*batch, channels, *kernel_size, *counts)
    for i in range(kernel_size[0]):
        for j in range(kernel_size[1]):
            bottom, end = i * d + s * counts[0], j * e + t * counts[1]
            padded[..., i * d : bottom : s, j * e : end : t] += parts[..., i, j, :, :]
    return np.ascontiguousarray(padded[..., p : p + h, q : q + w])
