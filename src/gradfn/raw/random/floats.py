"""Rounding as PyTorch's compiled kernels round, and what the samplers ask of a dtype."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ..numbers import Array, not_implemented

# Bits of the significand and largest number of each floating dtype; bfloat16 is no NumPy finfo.
FLOATING = {
    "float16": (11, 65504.0),
    "bfloat16": (8, (2 - 2.0**-7) * 2.0**127),
    "float32": (24, (2 - 2.0**-23) * 2.0**127),
    "float64": (53, sys.float_info.max),
}
WIDE_UNSIGNED = ("uint16", "uint32", "uint64")  # dtypes that few of PyTorch's samplers know

# Infinities, NaN and the rounding of large numbers to them come silently, as in PyTorch.
quiet = np.errstate(all="ignore")


def fma32(x: Array, y: Array | float, z: Array | float) -> Array:
    """x * y + z of float32 numbers, rounded once: the product is exact in float64."""
    return (np.multiply(x, y, dtype=np.float64) + z).astype(np.float32)


def multiply_add(x: Any, factor: float, addend: Array | float) -> Array:
    """x * factor + addend rounded once, as compiled code has it; x is moderate, the others any."""
    if x.dtype == np.float32:
        return x if factor == 1.0 and np.all(addend == 0.0) else fma32(x, factor, addend)
    if factor == 1.0 or not math.isfinite(factor):
        return np.asarray(x * factor + addend)
    # Dekker's product and Knuth's sum give the rounding errors that the last line adds in.
    mantissa, exponent = math.frexp(factor)
    factor_high = math.ldexp(math.trunc(mantissa * 2**26), exponent - 26)
    factor_low = factor - factor_high
    high = x * 134217729.0
    high -= high - x
    low = x - high
    product = x * factor
    error = ((high * factor_high - product) + high * factor_low + low * factor_high) + (
        low * factor_low
    )
    total = product + addend
    back = total - product
    exact = total + (((product - (total - back)) + (addend - back)) + error)
    return np.asarray(np.where(np.isfinite(exact), exact, total))


def require_floating(dtype: np.dtype[Any], kernel: str) -> None:
    if dtype.name not in FLOATING:
        raise not_implemented(kernel, dtype)


def require_continuous(distribution: str, dtype: np.dtype[Any]) -> None:
    if dtype.name not in FLOATING:
        raise RuntimeError(
            f"{distribution} distribution is a continuous probability distribution. "
            f"dtype must be a floating point but you specified {dtype}"
        )


def real_part(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a complex dtype's parts."""
    return np.dtype(f"f{dtype.itemsize // 2}")


def as_complex(parts: Array, dtype: np.dtype[Any]) -> Array:
    """Complex numbers from real and imaginary parts along the last axis."""
    return parts.view(dtype)[..., 0]
