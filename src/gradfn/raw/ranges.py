"""Equally spaced numbers, rounded as PyTorch's kernels round them (those for AVX2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .random.floats import cast, fma32, multiply_add, quiet

Array = np.ndarray[Any, np.dtype[Any]]

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
    working = np.dtype(np.float32) if dtype.itemsize <= 4 and dtype.kind == "f" else np.dtype("f8")
    first, last = (float(np.array(x).astype(dtype)) for x in (start, end))
    step = float((working.type(last) - working.type(first)) / working.type(max(n - 1, 1)))
    index = np.arange(n).astype(working)
    from_end = np.arange(n - 1, -1, -1).astype(working)
    fused = fma32 if working == np.float32 else multiply_add
    half = n // 2
    values = np.concatenate([fused(index[:half], step, first), fused(from_end[half:], -step, last)])
    return cast(values, dtype) if dtype.kind == "f" else values.astype(dtype)


@quiet
def logspace(start: Any, end: Any, n: int, base: float, dtype: np.dtype[Any]) -> Array:
    """base to the powers `linspace(start, end, n)`."""
    if dtype.kind in "iu":
        return np.power(base, linspace(start, end, n, np.dtype(np.float64))).astype(dtype)
    powers: Array = np.power(np.array(base, dtype), linspace(start, end, n, dtype), out=...)
    return powers
