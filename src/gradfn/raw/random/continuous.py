"""Samplers that turn one uniform number into one of another continuous distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ...shapes import Shape
from ..numbers import Array, cast
from .floats import (
    FLOATING,
    as_complex,
    multiply_add,
    quiet,
    real_part,
    require_continuous,
    require_floating,
)
from .twister import MersenneTwister


@quiet
def uniform(
    generator: MersenneTwister, shape: Shape, dtype: DTypeLike, low: float = 0.0, high: float = 1.0
) -> Array:
    """Uniform numbers in [low, high): `rand`, `uniform_`."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return as_complex(uniform(generator, (*shape, 2), real_part(dtype), low, high), dtype)
    _check_uniform_bounds(dtype, low, high)
    n = math.prod(shape)
    if dtype == np.float64:
        values = multiply_add(generator.uniform64(n), high - low, low)
    else:
        values = generator.uniform32(n)
        if (low, high) != (0.0, 1.0):
            width = np.float32(high) - np.float32(low)
            values = multiply_add(values, float(width), float(np.float32(low)))
        values = cast(values, dtype)
    if (low, high) != (0.0, 1.0) or dtype.itemsize == 2:
        bottom, top = np.array([low, high], np.float64).astype(dtype)
        values[values == top] = bottom  # what rounds up to the excluded end
    return values.reshape(shape)


def _check_uniform_bounds(dtype: np.dtype[Any], low: float, high: float) -> None:
    require_floating(dtype, "check_uniform_bounds")
    _, largest = FLOATING[dtype.name]
    for name, bound in (("from", low), ("to", high)):
        if not -largest <= bound <= largest:
            raise RuntimeError(f"{name} is out of bounds for {dtype}: {bound:g}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    if high - low > largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= {largest:g}, the largest {dtype}, "
            f"but found to={high:g} and from={low:g}"
        )


@quiet
def exponential(
    generator: MersenneTwister, shape: Shape, dtype: DTypeLike, rate: float = 1.0
) -> Array:
    """Exponential numbers of a rate, the λ of PyTorch's `exponential_`."""
    dtype = np.dtype(dtype)
    require_continuous("Exponential", dtype)
    if not rate > 0.0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    uniforms = generator.uniform64(math.prod(shape))
    return cast(-1.0 / rate * np.log1p(-uniforms), dtype).reshape(shape)


@quiet
def cauchy(
    generator: MersenneTwister,
    shape: Shape,
    dtype: DTypeLike,
    median: float = 0.0,
    sigma: float = 1.0,
) -> Array:
    """Cauchy (Lorentz) numbers: `cauchy_`."""
    dtype = np.dtype(dtype)
    require_continuous("Cauchy", dtype)
    if not sigma > 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    tangents = np.tan(np.pi * (generator.uniform64(math.prod(shape)) - 0.5))
    return cast(multiply_add(tangents, sigma, median), dtype).reshape(shape)
