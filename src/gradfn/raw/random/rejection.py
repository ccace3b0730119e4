"""Samplers that draw until a number is accepted: gamma and binomial.

How many uniforms a number takes depends on their values, so these are loops in Python: a few
microseconds an element.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..numbers import Array, cast
from .floats import require_floating
from .twister import MersenneTwister

Draw = Callable[[], Any]

# PyTorch's kernel has these in single precision.
_THIRD, _SQUEEZE = float(np.float32(1) / np.float32(3)), float(np.float32(0.0331))


def standard_gamma(generator: MersenneTwister, concentration: Array) -> Array:
    """A gamma number of rate 1 for each concentration, in its dtype: Marsaglia & Tsang (2000)."""
    require_floating(concentration.dtype, "gamma")
    smallest = float(np.finfo(concentration.dtype).tiny)
    with generator.one_at_a_time() as draw:
        normal = _Normals(generator, draw)
        drawn = [max(smallest, _gamma(alpha, draw, normal)) for alpha in concentration.flat]
    return cast(np.array(drawn, np.float64), concentration.dtype).reshape(concentration.shape)


class _Normals:
    """Standard normals drawn singly, of each pair the second kept for the next call."""

    def __init__(self, generator: MersenneTwister, draw: Draw) -> None:
        self.generator, self.draw = generator, draw

    def __call__(self) -> float:
        kept, self.generator.kept_normal = self.generator.kept_normal, None
        if kept is not None:
            return kept
        angle, radius = 2.0 * math.pi * self.draw(), math.sqrt(-2.0 * math.log1p(-self.draw()))
        self.generator.kept_normal = radius * math.sin(angle)
        return radius * math.cos(angle)


def _gamma(alpha: Any, draw: Draw, normal: Draw) -> Any:
    scale = 1.0
    if alpha < 1.0:
        if alpha == 0.0:
            return 0.0
        scale = (1.0 - draw()) ** float(1.0 / alpha)
        alpha += 1.0
    d = float(alpha - _THIRD)
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal()
        y = 1.0 + c * x
        while y <= 0:
            x = normal()
            y = 1.0 + c * x
        v, xx = y * y * y, x * x
        u = 1.0 - draw()
        if u < 1.0 - _SQUEEZE * xx * xx or math.log(u) < 0.5 * xx + d * (1.0 - v + math.log(v)):
            return scale * d * v


def dirichlet(generator: MersenneTwister, concentration: Array) -> Array:
    """Probabilities along the last dimension: gamma numbers, divided by their sum."""
    gammas = standard_gamma(generator, concentration.astype(np.float64))
    shares = gammas / gammas.sum(-1, keepdims=True)
    tiny = np.finfo(concentration.dtype).tiny
    return np.asarray(np.maximum(shares, tiny), concentration.dtype)


def binomial(generator: MersenneTwister, counts: Array, probabilities: Array) -> Array:
    """Successes among each count of trials, each of its probability, in the counts' dtype."""
    require_floating(counts.dtype, "binomial_cpu")
    counts, probabilities = np.broadcast_arrays(counts, probabilities.astype(counts.dtype))
    real = counts.dtype.type
    with generator.one_at_a_time() as draw, np.errstate(divide="ignore"):
        drawn = [
            _binomial(n, p, lambda: real(draw()))
            for n, p in zip(counts.flat, probabilities.flat, strict=True)
        ]
    return np.array(drawn, counts.dtype).reshape(counts.shape)


def _binomial(count: Any, p: Any, draw: Draw) -> Any:
    if count <= 0.0 or p <= 0.0:
        return 0.0
    if p >= 1.0:
        return count
    if np.isnan(p) or np.isnan(count):
        return math.nan
    few = p if p <= 0.5 else 1 - p
    sampler = _transformed_rejection if count * few >= 10.0 else _inversion
    successes = sampler(count, few, draw)
    return successes if p <= 0.5 else count - successes


def _inversion(count: Any, p: Any, draw: Draw) -> float:
    """How many geometric gaps fit in `count` trials."""
    log_failure, passed, successes = np.log1p(-p), 0 * p, 0.0
    while True:
        passed += np.ceil(np.log(draw()) / log_failure)
        if passed > count:
            return successes
        successes += 1.0


def _transformed_rejection(count: Any, p: Any, draw: Draw) -> Any:
    """Hörmann's BTRS (1993), for a mean of at least 10."""
    real = type(count)
    deviation = np.sqrt(count * p * (1 - p))
    b = real(1.15 + 2.53 * float(deviation))
    a = real(-0.0873 + 0.0248 * float(b) + 0.01 * float(p))
    c = real(float(count * p) + 0.5)
    v_r = real(0.92 - 4.2 / float(b))
    odds = p / (1 - p)
    alpha = real((2.83 + 5.1 / float(b)) * float(deviation))
    mode = np.floor((count + 1) * p)
    while True:
        u, v = draw() - real(0.5), draw()
        us = 0.5 - abs(u)
        k = np.floor((2 * a / us + b) * u + c)
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0 or k > count:
            continue
        v = np.log(v * alpha / (a / (us * us) + b))
        bound = (
            float(mode + 0.5) * float(np.log((mode + 1) / (odds * (count - mode + 1))))
            + float((count + 1) * np.log((count - mode + 1) / (count - k + 1)))
            + float(k + 0.5) * float(np.log(odds * (count - k + 1) / (k + 1)))
            + float(_stirling(mode) + _stirling(count - mode))
            - float(_stirling(k) + _stirling(count - k))
        )
        if v <= real(bound):
            return k


_STIRLING = (
    0.0810614667953272,
    0.0413406959554092,
    0.0276779256849983,
    0.02079067210376509,
    0.0166446911898211,
    0.0138761288230707,
    0.0118967099458917,
    0.0104112652619720,
    0.00925546218271273,
    0.00833056343336287,
)


def _stirling(k: Any) -> Any:
    """What Stirling's formula leaves of ``log k!``."""
    if k <= 9:
        return type(k)(_STIRLING[int(k)])
    square = (k + 1) ** 2
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
