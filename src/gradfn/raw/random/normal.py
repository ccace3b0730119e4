"""Normal numbers by Box and Muller's transform, one by one or in rows of 16."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ...shapes import Shape
from ..numbers import Array, cast
from .floats import as_complex, fma32, multiply_add, quiet, real_part, require_floating
from .twister import MersenneTwister

_BLOCK = 1 << 14  # elements whose temporaries stay in the cache


@quiet
def normal(
    generator: MersenneTwister,
    shape: Shape,
    dtype: DTypeLike,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    contiguous: bool = True,
) -> Array:
    """Normal numbers: `randn`, `normal_`.

    PyTorch samples fewer than 16 elements, and arrays that are not contiguous, one by one in
    float64; others in rows of 16 with the dtype's own precision. Of a complex number each part has
    that mean and half the variance.
    """
    dtype = np.dtype(dtype)
    if not std >= 0.0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if dtype.kind == "c":
        part, part_std = real_part(dtype), std / math.sqrt(2)
        parts = normal(generator, (*shape, 2), part, mean, part_std, contiguous=contiguous)
        return as_complex(parts, dtype)
    require_floating(dtype, "normal_kernel_cpu")
    n = math.prod(shape)
    if n < 16 or not contiguous:
        values = multiply_add(normals_in_pairs(generator, n), std, mean)
    else:
        values = _normals_in_rows(generator, n, dtype, mean, std)
    return cast(values, dtype).reshape(shape)


@quiet
def log_normal(
    generator: MersenneTwister,
    shape: Shape,
    dtype: DTypeLike,
    mean: float = 1.0,
    std: float = 2.0,
) -> Array:
    """exp of normal numbers of a mean and a standard deviation: `log_normal_`."""
    dtype = np.dtype(dtype)
    require_floating(dtype, "log_normal_cpu")
    if not std > 0.0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    normals = normals_in_pairs(generator, math.prod(shape))
    return cast(np.exp(multiply_add(normals, std, mean)), dtype).reshape(shape)


def normals_in_pairs(generator: MersenneTwister, n: int) -> Array:
    """n standard normals in float64; of an odd number the spare one is kept for the next call."""
    with generator.lock:
        kept = [] if generator.kept_normal is None else [generator.kept_normal]
        pairs = generator.uniform64((n - len(kept) + 1) // 2 * 2).reshape(-1, 2)
        radius, angle = np.sqrt(-2.0 * np.log1p(-pairs[:, 1])), 2.0 * np.pi * pairs[:, 0]
        drawn = np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1)
        values = np.concatenate((kept, drawn.ravel()))
        generator.kept_normal = float(values[n]) if len(values) > n else None
        return values[:n]


def _normals_in_rows(
    generator: MersenneTwister, n: int, dtype: np.dtype[Any], mean: float, std: float
) -> Array:
    """Rows of 16 uniforms turned into rows of 16 normals; the last 16, if the rows do not come out
    even, are drawn afresh. Half precision is sampled in float32."""
    whole = n - n % 16
    spare = 0 if n == whole else 16
    # Half precision draws by the row, the others all n before the spare row.
    drawn = (whole if dtype.itemsize == 2 else n) + spare
    if dtype == np.float64:
        uniforms, box_muller = generator.uniform64(drawn), _box_muller64
    else:
        uniforms, box_muller = generator.uniform32(drawn), _box_muller32
        mean, std = float(np.float32(mean)), float(np.float32(std))
    values = np.empty(n, uniforms.dtype)
    for start in range(0, whole, _BLOCK):
        block = slice(start, min(start + _BLOCK, whole))
        values[block] = multiply_add(box_muller(uniforms[block]), std, mean)
    if spare:
        values[-16:] = multiply_add(box_muller(uniforms[-16:]), std, mean)
    return values


def _box_muller64(uniforms: Array) -> Array:
    first, second = uniforms.reshape(-1, 2, 8).swapaxes(0, 1)
    radius, angle = np.sqrt(-2.0 * np.log(1.0 - first)), 2.0 * np.pi * second
    return np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1).ravel()


def _box_muller32(uniforms: Array) -> Array:
    first, second = uniforms.reshape(-1, 2, 8).swapaxes(0, 1)
    radius = np.sqrt(np.float32(-2) * _log32(np.float32(1) - first))
    sin, cos = _sincos32(np.float32(2 * np.pi) * second)
    return np.stack((radius * cos, radius * sin), axis=1).ravel()


def _polynomial32(x: Array, *coefficients: float) -> Array:
    """Horner's rule, from the highest power."""
    x64 = x.astype(np.float64)
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = fma32(value, x64, float(np.float32(coefficient)))
    return value


def _log32(x: Array) -> Array:
    """Cephes' logf for x in (0, 1], operation for operation with fused multiply-add."""
    mantissa, exponent = np.frexp(x)
    small = mantissa < np.float32(math.sqrt(0.5))
    exponent = (exponent - small).astype(np.float32)
    x = mantissa - np.float32(1) + np.where(small, mantissa, np.float32(0))
    square = x * x
    y = x * _polynomial32(
        x,
        7.0376836292e-2,
        -1.1514610310e-1,
        1.1676998740e-1,
        -1.2420140846e-1,
        1.4249322787e-1,
        -1.6668057665e-1,
        2.0000714765e-1,
        -2.4999993993e-1,
        3.3333331174e-1,
    )
    y = fma32(y, square, exponent * np.float32(-2.12194440e-4))
    y -= square * np.float32(0.5)
    return fma32(exponent, 0.693359375, x + y)


def _sincos32(x: Array) -> tuple[Array, Array]:
    """Cephes' sinf and cosf for x in [0, 2π], operation for operation with fused multiply-add."""
    octant = ((x * np.float32(4 / np.pi)).astype(np.int32) + 1) & ~1
    for quarter_pi in (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8):
        x = fma32(octant, -float(np.float32(quarter_pi)), x)
    square = x * x
    cos = _polynomial32(square, 2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
    cos = fma32(cos * square, square, square * np.float32(-0.5)) + np.float32(1)
    sin = _polynomial32(square, -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
    sin = fma32(sin * square, x, x)
    swap = (octant & 2).astype(bool)
    sin, cos = np.where(swap, cos, sin), np.where(swap, sin, cos)
    np.negative(sin, out=sin, where=(octant & 4).astype(bool))
    np.negative(cos, out=cos, where=((octant + 2) & 4).astype(bool))
    return sin, cos
