"""Normalisation: subtract a mean, divide by a deviation. Half precision is computed in float32."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .numbers import Array
from .products import is_half
from .reduction import others

__all__ = [
    "native_batch_norm",
    "native_group_norm",
    "native_layer_norm",
    "weight_norm_interface",
]

Normalized = tuple[Array, Array, Array]  # the result, the means, the reciprocal deviations


def native_batch_norm(
    self: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Normalized:
    """Each channel normalised over all else, or (not `training`) by the running statistics.

    In training, the running statistics move towards those of the batch, in place.
    """
    channels = self.shape[1] if self.ndim > 1 else 0
    x = _wide(self).reshape(len(self), channels, math.prod(self.shape[2:]))
    if training or running_mean is None or running_var is None:
        count = x.size // max(channels, 1)
        mean = np.add.reduce(x, (0, 2)) / x.dtype.type(count)
        centred = x - mean[:, None]
        squares = np.add.reduce(np.vecdot(centred, centred), 0)
        if running_mean is not None and running_var is not None:
            _follow(running_mean, mean, momentum)
            _follow(running_var, squares / max(count - 1, 1), momentum)
        rstd = 1 / np.sqrt(squares / x.dtype.type(count) + x.dtype.type(eps))
    else:
        mean = running_mean.astype(x.dtype)
        centred = x - mean[:, None]
        rstd = 1 / np.sqrt(running_var.astype(x.dtype) + x.dtype.type(eps))
    scale = rstd if weight is None else rstd * weight
    centred *= scale[:, None]
    if bias is not None:
        centred += bias[:, None]
    return centred.reshape(self.shape).astype(self.dtype, copy=False), mean, rstd


def _follow(running: Array, now: Array, momentum: float) -> None:
    if now.size and np.isfinite(now).all():
        running *= 1 - momentum
        running += momentum * now


def native_layer_norm(
    self: Array,
    normalized_shape: Sequence[int],
    weight: Array | None,
    bias: Array | None,
    eps: float,
) -> Normalized:
    """The last dimensions, of `normalized_shape`, normalised together."""
    kept = self.shape[: self.ndim - len(normalized_shape)]
    x, mean, rstd = _normalized(self.reshape(-1, math.prod(normalized_shape)), eps)
    x = x.reshape(self.shape)
    if weight is not None:
        x *= weight
    if bias is not None:
        x += bias
    aside = (*kept, *[1] * len(normalized_shape))
    return x.astype(self.dtype, copy=False), mean.reshape(aside), rstd.reshape(aside)


def native_group_norm(
    self: Array, weight: Array | None, bias: Array | None, group: int, eps: float
) -> Normalized:
    """The channels (dimension 1) of each of `group` groups normalised together."""
    rows = len(self) * group
    x, mean, rstd = _normalized(self.reshape(rows, self.size // rows if rows else 0), eps)
    x = x.reshape(self.shape)
    channels = (-1, *[1] * (self.ndim - 2))
    if weight is not None:
        x *= weight.reshape(channels)
    if bias is not None:
        x += bias.reshape(channels)
    aside = (len(self), group)
    return x.astype(self.dtype, copy=False), mean.reshape(aside), rstd.reshape(aside)


def weight_norm_interface(v: Array, length: Array, dim: int = 0) -> tuple[Array, Array]:
    """`v` with each slice along `dim` scaled to the norm in `length`, and the norms of `v`."""
    x = _wide(v)
    norm = np.sqrt(np.sum(x * x, others(dim, v.ndim), keepdims=True))
    return (x * (length / norm)).astype(v.dtype, copy=False), norm


def _normalized(rows: Array, eps: float) -> Normalized:
    """Rows to mean zero and variance one, from the squares of what is left without the mean."""
    x = _wide(rows)
    count = x.dtype.type(x.shape[1])
    mean = np.add.reduce(x, 1, keepdims=True) / count
    centred = x - mean
    variance = np.vecdot(centred, centred)[:, None] / count
    rstd = 1 / np.sqrt(variance + x.dtype.type(eps))
    centred *= rstd
    return centred, mean, rstd


def _wide(array: Array) -> Array:
    return array.astype(np.float32) if is_half(array) else array
