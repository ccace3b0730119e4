"""Equally spaced numbers, rounded as PyTorch's kernels round them (those for AVX2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .numbers import Array, cast
from .random.floats import fma32, multiply_add, quiet

__all__ = ["arange", "linspace", "logspace"]

_VECTOR_BYTES = 32


@quiet
def arange(start: Any, step: Any, n: int, dtype: np.dtype[Any]) -> Array:
    """start, start + step, ...: n numbers of `dtype`.

    Whole pairs of vectors are counted from the first number of their vector, which has been
    rounded to `dtype`; the rest is counted from the start.
    """
    if dtype.kind in "iu":
        first, stride = dtype.type(start), dtype.type(step)
        return np.asarray(first + stride * np.arange(n, dtype=dtype), dtype)
    index = np.arange(n, dtype=np.float64)
    start, step = float(start), float(step)
    lanes = _VECTOR_BYTES // dtype.itemsize
    whole = n - n % (2 * lanes)
    values = cast(multiply_add(index, step, start), dtype)
    bases = values[:whole:lanes].astype(np.float64)
    for lane in range(1, lanes if whole else 0):
        values[lane:whole:lanes] = cast(multiply_add(np.float64(lane), step, bases), dtype)
    return values


@quiet
def linspace(start: Any, end: Any, n: int, dtype: np.dtype[Any]) -> Array:
    """n numbers from start to end, each half counted from its own end."""
    if n == 1:
        return np.array([start]).astype(dtype)
    if dtype.kind == "c":
        real = np.dtype(f"f{dtype.itemsize // 2}")
        out = np.empty(n, dtype)
        out.real = linspace(complex(start).real, complex(end).real, n, real)
        out.imag = linspace(complex(start).imag, complex(end).imag, n, real)
        return out
    whole = dtype.kind in "biu"
    first, last = (np.array(x).astype(dtype) for x in (start, end))
    exact = np.float64 if whole else dtype.type
    step = float((exact(last) - exact(first)) / exact(max(n - 1, 1)))
    working = np.float32 if not whole and dtype.itemsize <= 4 else np.float64
    index = np.arange(n).astype(working)
    half = n // 2
    from_start = _steps(index[:half], step, float(first), dtype)
    from_end = _steps(index[: n - half][::-1], -step, float(last), dtype)
    return np.concatenate([from_start, from_end])


def _steps(index: Array, step: float, start: float, dtype: np.dtype[Any]) -> Array:
    """start + step * index, rounded once, or in half precision after each operation."""
    if dtype.kind in "biu":
        return multiply_add(index, step, start).astype(dtype)
    if dtype.itemsize == 2:
        products = cast(index * np.float32(step), dtype).astype(np.float32)
        return cast(products + np.float32(start), dtype)
    return (fma32 if dtype.itemsize == 4 else multiply_add)(index, step, start)


@quiet
def logspace(start: Any, end: Any, n: int, base: float, dtype: np.dtype[Any]) -> Array:
    """base to the powers `linspace(start, end, n)`, computed in double precision."""
    if dtype.kind == "c":
        exponents = linspace(start, end, n, dtype)
    else:
        first, last = np.array([start, end]).astype(dtype).astype(np.float64)
        exponents = linspace(first, last, n, np.dtype(np.float64))
    return np.asarray(np.power(base, exponents)).astype(dtype)
