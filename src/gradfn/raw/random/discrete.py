"""Samplers of discrete distributions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from ...shapes import Shape
from ..numbers import Array, cast, not_implemented
from .continuous import exponential
from .floats import FLOATING, WIDE_UNSIGNED, quiet, require_floating
from .order import in_memory_order
from .twister import MersenneTwister


def bernoulli(
    generator: MersenneTwister, shape: Shape, dtype: DTypeLike, p: float | Array
) -> Array:
    """1 with probability p, else 0: `bernoulli`, `bernoulli_`, the mask of `dropout`.

    An array p is broadcast to shape. Probabilities are compared with float64 uniforms if p is a
    number or float64, else with float32 ones.
    """
    dtype = np.dtype(dtype)
    if dtype.kind == "c" or dtype.name in WIDE_UNSIGNED:
        raise not_implemented("bernoulli_scalar_cpu_", dtype)
    n = math.prod(shape)
    if not isinstance(p, np.ndarray):
        if not 0.0 <= p <= 1.0:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        return (generator.uniform64(n) < p).reshape(shape).astype(dtype)
    require_floating(p.dtype, "bernoulli_tensor_cpu_p_")
    if not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false: "
            "a probability is outside [0, 1]"
        )
    if p.dtype == np.float64:
        uniforms = generator.uniform64(n)
    else:
        uniforms, p = generator.uniform32(n), p.astype(np.float32)
    return (uniforms.reshape(shape) < p).astype(dtype)


@quiet
def geometric(generator: MersenneTwister, shape: Shape, dtype: DTypeLike, p: float) -> Array:
    """The number of trials up to the first success, each of probability p: `geometric_`."""
    dtype = np.dtype(dtype)
    if dtype.kind not in "iufV" or dtype.name in WIDE_UNSIGNED:
        raise not_implemented("geometric_cpu", dtype)
    if not 0.0 < p < 1.0:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    uniforms = generator.uniform64(math.prod(shape))
    trials = np.ceil(np.log(uniforms) / math.log1p(-p))
    return cast(trials.astype(np.int64) if dtype.kind in "iu" else trials, dtype).reshape(shape)


def poisson(generator: MersenneTwister, rates: Array) -> Array:
    """A Poisson number for each rate, in the rates' dtype: `poisson`.

    How many uniforms a number takes depends on their values, so this is a loop in Python: about a
    microsecond an element.
    """
    require_floating(rates.dtype, "poisson_cpu")
    if not (rates >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    with generator.one_at_a_time() as draw:
        counts = [_poisson(rate, draw) for rate in rates.astype(np.float64).ravel().tolist()]
    return cast(np.array(counts, np.float64), rates.dtype).reshape(rates.shape)


def _poisson(rate: float, draw: Callable[[], float]) -> float:
    """Knuth's product of uniforms for small rates, Hörmann's rejection PTRS for others."""
    if rate == 0.0:
        return 0.0
    if rate < 10.0:
        limit, product, count = math.exp(-rate), draw(), 0.0
        while product > limit:
            product *= draw()
            count += 1.0
        return count
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u, v = draw() - 0.5, draw()
        us = 0.5 - abs(u)
        count = float(np.floor((2.0 * a / us + b) * u + rate + 0.43))
        if us >= 0.07 and v <= v_r:
            return _to_int64(count)
        if count < 0.0 or (us < 0.013 and v > us):
            continue
        accept = -rate + count * log_rate - math.lgamma(count + 1.0)
        if v == 0.0:
            return _to_int64(count)
        if math.log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b) <= accept:
            return _to_int64(count)


@quiet
def multinomial(
    generator: MersenneTwister, weights: Array, n: int, replacement: bool = False
) -> Array:
    """n categories for each row of non-negative weights, as int64: `multinomial`.

    weights has shape (categories,) or (rows, categories); the result (n,) or (rows, n).
    Categories of equal weight and equal draw come in the order of their index.
    """
    _check_multinomial(weights, n, replacement)
    rows = np.atleast_2d(weights)
    if replacement and n > 1:
        chosen = _categories(generator, rows, n)
    else:
        # Exponential clocks whose rates are the weights: the first n to ring.
        clocks = in_memory_order(exponential, generator, rows)
        chosen = np.argsort(-(rows / clocks), axis=1, kind="stable")[:, :n]
    return chosen.reshape(*weights.shape[:-1], n)


def _check_multinomial(weights: Array, n: int, replacement: bool) -> None:
    if weights.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, but has {weights.ndim}")
    if weights.dtype.name not in FLOATING:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {weights.dtype}"
        )
    categories = weights.shape[-1]
    if n <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples, but n_sample is {n}")
    if not replacement and n > categories:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement: "
            f"{n} of {categories} categories"
        )
    if categories > 2**24:
        raise RuntimeError(f"number of categories cannot exceed 2^24, but is {categories}")
    if categories == 0:
        raise RuntimeError("multinomial needs at least one category")
    if not ((weights >= 0) & (weights < np.inf)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (weights == 0).all(axis=-1).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


def _categories(generator: MersenneTwister, weights: Array, n: int) -> Array:
    """Bisect the cumulative distribution of every row with n uniforms."""
    rows, categories = weights.shape
    wide = weights if weights.dtype == np.float64 else weights.astype(np.float32)
    cumulative = np.cumsum(wide, axis=1)
    cumulative /= cumulative[:, -1:]
    cumulative[:, -1] = 1
    uniforms = generator.uniform64(rows * n).reshape(rows, n)
    first, last = np.zeros((rows, n), np.int64), np.full((rows, n), categories)
    for _ in range(categories.bit_length()):
        middle = (first + last) // 2
        beyond = np.take_along_axis(cumulative, middle, axis=1) < uniforms
        first, last = np.where(beyond, middle + 1, first), np.where(beyond, last, middle)
    return first


def _to_int64(x: float) -> float:
    """x as the conversion to int64 has it on x86: what does not fit becomes the least integer."""
    return x if -(2.0**63) <= x < 2.0**63 else -(2.0**63)
