"""Exponentials normalised along a dimension, without overflow."""

from __future__ import annotations

import numpy as np

from ..shapes import wrap_dim
from .numbers import Array, narrow_as, refuse, row_major, wide
from .reduction import Dims, axes_of, one_dim

__all__ = ["log_softmax", "log_softmax_backward", "logsumexp", "softmax", "softmax_backward"]


def softmax(self: Array, dim: int) -> Array:
    shifted, axes = _shifted("softmax", self, dim)
    exp = np.exp(shifted, out=...)
    np.divide(exp, np.add.reduce(exp, axes, keepdims=True, out=...), out=exp)
    return narrow_as(exp, self)


def log_softmax(self: Array, dim: int) -> Array:
    shifted, axes = _shifted("log_softmax", self, dim)
    total = np.add.reduce(np.exp(shifted, out=...), axes, keepdims=True, out=...)
    return narrow_as(np.subtract(shifted, np.log(total, out=...), out=...), self)


def softmax_backward(grad: Array, output: Array, dim: int) -> Array:
    """The gradient through a softmax whose result was `output`."""
    part = np.multiply(wide(grad), wide(output), out=...)
    total = np.add.reduce(part, _axes(dim, output), keepdims=True, out=...)
    return narrow_as(np.subtract(part, wide(output) * total, out=...), output)


def log_softmax_backward(grad: Array, output: Array, dim: int) -> Array:
    """The gradient through a log_softmax whose result was `output`."""
    total = np.add.reduce(wide(grad), _axes(dim, output), keepdims=True, out=...)
    return narrow_as(np.subtract(wide(grad), np.exp(wide(output)) * total, out=...), output)


def _axes(dim: int, self: Array) -> tuple[int, ...]:
    return (wrap_dim(dim, np.ndim(self)),)[: np.ndim(self)]


def _shifted(name: str, self: Array, dim: int) -> tuple[Array, tuple[int, ...]]:
    """`self` less its maximum along `dim`."""
    axes = (one_dim(name, dim, self.ndim),)[: self.ndim]
    refuse(f"{name}_kernel_impl", self, "biuc")
    values = row_major(wide(self))
    top = np.maximum.reduce(values, axes, keepdims=True, initial=-np.inf, out=...)
    return np.subtract(values, top, out=...), axes


def logsumexp(self: Array, dim: Dims, keepdim: bool = False) -> Array:
    if dim is None:
        raise TypeError('logsumexp() missing 1 required positional arguments: "dim"')
    axes = axes_of(dim, self.ndim)
    values = wide(self)
    top = np.maximum.reduce(values.real, axes, keepdims=True, initial=-np.inf, out=...)
    top = np.where(np.isfinite(top), top, 0).astype(values.real.dtype)
    total = np.add.reduce(np.exp(values - top), axes, keepdims=True, out=...)
    result = np.add(np.log(total), top, out=...)
    return narrow_as(row_major(result if keepdim else result.squeeze(axes)), self)
