"""Activation kernels."""

from __future__ import annotations

import math

import numpy as np

from .elementwise import clamp, erf
from .numbers import Array, cast, in_single, not_implemented, row_major
from .random import MersenneTwister, bernoulli, in_memory_order
from .random.floats import multiply_add

__all__ = [
    "celu",
    "dropout_noise",
    "elu",
    "gelu",
    "hardshrink",
    "hardshrink_backward",
    "hardsigmoid",
    "hardswish",
    "hardtanh_backward",
    "leaky_relu",
    "leaky_relu_backward",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "rrelu_noise",
    "rrelu_with_noise",
    "silu",
    "softplus",
    "softshrink",
    "threshold",
    "threshold_backward",
]


def relu(self: Array) -> Array:
    if self.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    return np.maximum(self, 0, out=...)


@in_single
def leaky_relu(self: Array, negative_slope: float = 0.01) -> Array:
    return np.asarray(np.where(self > 0, self, self * negative_slope))


@in_single
def leaky_relu_backward(grad_output: Array, self: Array, negative_slope: float) -> Array:
    return np.asarray(np.where(self > 0, grad_output, grad_output * negative_slope))


@in_single
def prelu(self: Array, weight: Array) -> Array:
    return np.asarray(np.where(self > 0, self, self * weight))


@in_single
def elu(self: Array, alpha: float, scale: float, input_scale: float) -> Array:
    below = np.expm1(np.minimum(self, 0) * input_scale) * (alpha * scale)
    return np.asarray(np.where(self > 0, self * scale, below))


def celu(self: Array, alpha: float) -> Array:
    return elu(self, alpha, 1.0, 1.0 / alpha)


@in_single
def softplus(self: Array, beta: float, threshold: float) -> Array:
    scaled = self * beta
    return np.asarray(np.where(scaled > threshold, self, np.log1p(np.exp(scaled)) / beta))


@in_single
def silu(self: Array) -> Array:
    return np.divide(self, np.add(np.exp(np.negative(self)), 1), out=...)


@in_single
def gelu(self: Array, approximate: str = "none") -> Array:
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (self + 0.044715 * self * self * self)
        return np.asarray(0.5 * self * (1 + np.tanh(inner)))
    return np.asarray(0.5 * self * (1 + erf(self * math.sqrt(0.5))))


@in_single
def logsigmoid(self: Array) -> Array:
    self = row_major(self)
    return np.subtract(np.minimum(self, 0), np.log1p(np.exp(-np.absolute(self))), out=...)


@in_single
def mish(self: Array) -> Array:
    return np.multiply(self, np.tanh(np.log1p(np.exp(self))), out=...)


@in_single
def hardsigmoid(self: Array) -> Array:
    return np.divide(clamp(self + 3, 0, 6), 6, out=...)


@in_single
def hardswish(self: Array) -> Array:
    return np.asarray(self * clamp(self + 3, 0, 6) / 6)


def hardshrink(self: Array, lambd: float) -> Array:
    return np.asarray(np.where((self >= -lambd) & (self <= lambd), self.dtype.type(0), self))


def hardshrink_backward(grad_out: Array, self: Array, lambd: float) -> Array:
    return np.asarray(np.where((self >= -lambd) & (self <= lambd), 0, grad_out))


def softshrink(self: Array, lambd: float) -> Array:
    shrunk = np.where(self < -lambd, self + lambd, self * 0)
    return np.asarray(np.where(self > lambd, self - lambd, shrunk))


def threshold(self: Array, threshold: float, value: float) -> Array:
    return np.asarray(np.where(self <= threshold, self.dtype.type(value), self))


def threshold_backward(grad_output: Array, self: Array, threshold: float) -> Array:
    return np.asarray(np.where(self <= threshold, 0, grad_output))


def hardtanh_backward(grad_output: Array, self: Array, min_val: float, max_val: float) -> Array:
    return np.asarray(np.where((self <= min_val) | (self >= max_val), 0, grad_output))


def dropout_noise(generator: MersenneTwister, like: Array, p: float) -> Array:
    """What `like` is multiplied by: 0 with probability p, else 1 / (1 - p)."""
    return _scaled(in_memory_order(bernoulli, generator, like, 1 - p), 1 - p)


@in_single
def _scaled(kept: Array, share: float) -> Array:
    return np.divide(kept, share, out=...)


def rrelu_noise(generator: MersenneTwister, self: Array, lower: float, upper: float) -> Array:
    """A slope from [lower, upper) for each element that is not positive, 1 for the others."""
    if self.dtype == np.float16:
        raise not_implemented("rrelu_with_noise_out_cpu", self.dtype)
    _refuse("rrelu_with_noise_out_cpu", self)
    noise = np.ones(self.shape, self.dtype)
    below = self <= 0
    drawn = multiply_add(generator.uniform64(int(below.sum())), upper - lower, lower)
    noise[below] = cast(drawn, self.dtype)
    return noise


def rrelu_with_noise(
    self: Array, noise: Array, lower: float, upper: float, training: bool
) -> Array:
    if training:
        return np.asarray(self * noise)
    _refuse("leaky_relu_cpu", self)
    return np.asarray(leaky_relu(self, (lower + upper) / 2))


def _refuse(kernel: str, self: Array) -> None:
    if self.dtype.kind in "biuc":
        raise not_implemented(kernel, self.dtype)
