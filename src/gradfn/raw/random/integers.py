"""Integers of a range, and permutations."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ...shapes import Shape
from ..numbers import Array, cast, not_implemented
from .floats import FLOATING, WIDE_UNSIGNED
from .twister import MersenneTwister


def randint(
    generator: MersenneTwister,
    shape: Shape,
    dtype: DTypeLike,
    low: int | None = None,
    high: int | None = None,
) -> Array:
    """Integers in [low, high): `randint`, `random_`.

    Without high, up to and with the dtype's largest integer; without both, from 0. The largest
    integer of a floating dtype is the last before the first that it cannot represent.
    """
    dtype = np.dtype(dtype)
    if low is None and high is None:
        if dtype.kind == "c" or dtype.name in WIDE_UNSIGNED:
            raise not_implemented("random_kernel_cpu", dtype)
        low, count = 0, integer_limits(dtype)[1] + 1
        wide = dtype.name in ("int64", "float64")
    elif low == -(2**63) and high is None:
        if dtype.name in ("uint8", "int8", "int16", "int32"):
            raise RuntimeError(
                "random_full_64_bits_range_kernel_cpu handles only int64, double, float and "
                f"bfloat16, not {dtype}"
            )
        if dtype.name not in ("int64", "float64", "float32", "bfloat16"):
            raise not_implemented("random_full_64_bits_range_kernel_cpu", dtype)
        count, wide = 2**64, True
    else:
        low, count = _integer_range(dtype, low or 0, high)
        wide = count >= 2**28
    n = math.prod(shape)
    bits = generator.bits64(n) if wide else generator.bits32(n)
    if count < 2**64:
        bits %= np.uint64(count)
        bits += np.uint64(low % 2**64)
    return cast(bits.view(np.int64), dtype).reshape(shape)


def integer_limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the greatest integer of a dtype; all between are representable."""
    if dtype.name in FLOATING:
        digits, _ = FLOATING[dtype.name]
        return -(2**digits), 2**digits
    if dtype.kind == "b":
        return 0, 1
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _integer_range(dtype: np.dtype[Any], low: int, high: int | None) -> tuple[int, int]:
    """The first integer of [low, high) and how many there are, as the dtype can represent them."""
    if dtype.kind == "c":
        raise RuntimeError(
            f"random_from_to_impl handles only integral, floating-point and boolean types: {dtype}"
        )
    least, greatest = integer_limits(dtype)
    last = greatest if high is None else high - 1
    if high is not None and low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    floating = dtype.name in FLOATING
    bound = min(FLOATING[dtype.name][1], 2.0**63) if floating else 0.0
    for name, value in (("from", low), ("to - 1", last)):
        inside = -bound <= value <= bound if floating else least <= value <= greatest
        if not inside or value >= 2**63:
            raise RuntimeError(f"{name} is out of bounds for {dtype}: {value}")
        if floating and not least <= value <= greatest:
            warnings.warn(
                f"{name} is out of bounds [{least}, {greatest}]: beyond, {dtype} cannot represent "
                f"all integers, so not all will be drawn; got {value}",
                stacklevel=2,
            )
    if floating:
        low, last = _fit_range(dtype, low, last, fit_last=high is not None)
    return low, last - low + 1


def _fit_range(dtype: np.dtype[Any], low: int, last: int, *, fit_last: bool) -> tuple[int, int]:
    """Move the ends of a range inwards where rounding to a floating dtype would lead out of it."""
    digits, _ = FLOATING[dtype.name]

    def rounded(value: int) -> int:
        number = int(float(cast(np.float64(value).reshape(1), dtype)[0]))
        return number if number < 2**63 else -(2**63)  # as processors convert what is too large

    def spacing(value: int) -> int:
        return 1 << max(abs(value).bit_length() - digits, 0)

    if rounded(low + 1) < low:
        low = rounded(low + 1) + spacing(low + 1)
    if fit_last and rounded(last) > last:
        last = rounded(last) - spacing(last) - 1
    if low > last or (not fit_last and low == last):
        raise RuntimeError(
            "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
            f"but got from={low} and a last value of {last} as {dtype}"
        )
    return low, last


def randperm(generator: MersenneTwister, n: int, dtype: DTypeLike = np.int64) -> Array:
    """A permutation of 0 ... n-1: `randperm`.

    Raises RuntimeError if n is negative or the dtype cannot represent n-1.
    """
    dtype = np.dtype(dtype)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if dtype.kind not in "iufV" or dtype.name in WIDE_UNSIGNED:
        raise not_implemented("randperm", dtype)
    _, greatest = integer_limits(dtype)
    if n > greatest + 1 and dtype.name != "bfloat16":  # which PyTorch lets round
        raise RuntimeError(f"n cannot be greater than {greatest + 1} for {dtype}, but is {n}")
    if n < 2:
        return np.zeros(n, dtype)
    steps = np.arange(n)
    wide = n >= (2**32 - 1) // 20
    bits = generator.bits64(n - 1) if wide else generator.bits32(n - 1)
    bits %= np.arange(n, 1, -1, dtype=np.uint64)
    partners = np.append(bits.view(np.int64), 0) + steps
    return cast(_swapped(steps, partners), dtype)


def _swapped(steps: Array, partners: Array) -> Array:
    """The result of Fisher and Yates' shuffle, swapping places i and partners[i] >= i at step i.

    Place p holds p until a step takes it as its partner and leaves there what it had in its own
    place. So the value at i before step i comes from the latest earlier step with partner i, the
    value there from a step earlier still, and so on down to a place that no step had touched:
    a forest, whose roots are found by doubling the pointers.
    """
    n = len(steps)
    shift = n.bit_length()
    ordered = np.sort((partners << shift) | steps)
    step, partner = ordered & ((1 << shift) - 1), ordered >> shift
    # The step before this one with the same partner, or -1.
    previous = np.full(n, -1)
    previous[step[1:]] = np.where(partner[1:] == partner[:-1], step[:-1], -1)
    # The latest step before p with partner p; if there is none, p itself.
    source = steps.copy()
    moving = step < partner
    source[partner[moving]] = step[moving]
    while not np.array_equal(further := source[source], source):
        source = further
    return np.where(previous < 0, partners, source[previous])
