"""Elementwise kernels: ufuncs, which need nothing more, and what is made of them."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from .. import dtypes
from .numbers import (
    C_NAMES,
    Array,
    Kernel,
    converted,
    in_single,
    joined,
    not_implemented,
    refuse_bool,
    row_major,
    with_number,
)

add = np.add
sub = np.subtract
mul = np.multiply
div = np.divide
neg = np.negative
reciprocal = np.reciprocal
sqrt = np.sqrt
abs = np.absolute
exp = np.exp
expm1 = np.expm1
log = np.log
log2 = np.log2
log10 = np.log10
log1p = np.log1p
sin = np.sin
cos = np.cos
tan = np.tan
asin = np.arcsin
acos = np.arccos
atan = np.arctan
atan2 = np.arctan2
sinh = np.sinh
cosh = np.cosh
tanh = np.tanh
asinh = np.arcsinh
acosh = np.arccosh
atanh = np.arctanh
ceil = np.ceil
floor = np.floor
trunc = np.trunc
deg2rad = np.deg2rad
rad2deg = np.rad2deg
hypot = np.hypot
copysign = np.copysign
logaddexp2 = np.logaddexp2
isnan = np.isnan
isinf = np.isinf
isfinite = np.isfinite
isposinf = np.isposinf
isneginf = np.isneginf
eq = np.equal
ne = np.not_equal
gt = np.greater
ge = np.greater_equal
lt = np.less
le = np.less_equal
maximum = np.maximum
minimum = np.minimum
fmax = np.fmax
fmin = np.fmin
logical_and = np.logical_and
logical_or = np.logical_or
logical_xor = np.logical_xor
logical_not = np.logical_not
bitwise_and = np.bitwise_and
bitwise_or = np.bitwise_or
bitwise_xor = np.bitwise_xor
bitwise_not = np.invert
bitwise_left_shift = np.left_shift
bitwise_right_shift = np.right_shift
gcd = np.gcd
lcm = np.lcm


@in_single
def add_alpha(self: Array, other: Array, alpha: Any) -> Array:
    result: Array = np.add(self, np.multiply(*joined(other, alpha)), out=...)
    return result


@in_single
def sub_alpha(self: Array, other: Array, alpha: Any) -> Array:
    refuse_bool(self, other)
    result: Array = np.subtract(self, np.multiply(*joined(other, alpha)), out=...)
    return result


def rsub(self: Array, other: Array, alpha: Any) -> Array:
    return sub_alpha(other, self, alpha)


def rsub_scalar(self: Array, other: Any, alpha: Any) -> Array:
    if self.dtype.kind == "b":
        refuse_bool(self)
    scaled = self if alpha == 1 else np.multiply(*joined(self, alpha))
    scaled, other = joined(scaled, other)
    result: Array = np.subtract(other, scaled, out=...)
    return result


def _nonzero_divisor(self: Array, other: Any) -> None:
    if self.dtype.kind in "iu" and self.size and not np.all(other):
        raise RuntimeError("ZeroDivisionError: an integer was divided by zero")


def floor_divide(self: Array, other: Array) -> Array:
    _nonzero_divisor(self, other)
    return np.floor_divide(self, other, out=...)


def divide_trunc(self: Array, other: Array) -> Array:
    if self.dtype.kind == "f":
        return np.trunc(np.divide(self, other), out=...)
    _nonzero_divisor(self, other)
    return np.floor_divide(np.subtract(self, np.fmod(self, other)), other, out=...)


def div_mode(self: Array, other: Array, rounding_mode: str) -> Array:
    return (floor_divide if rounding_mode == "floor" else divide_trunc)(self, other)


def remainder(self: Array, other: Any) -> Array:
    _nonzero_divisor(self, other)
    result: Array = np.remainder(self, other, out=...)
    return result


def fmod(self: Array, other: Any) -> Array:
    _nonzero_divisor(self, other)
    result: Array = np.fmod(self, other, out=...)
    return result


remainder_scalar = with_number(remainder)
fmod_scalar = with_number(fmod)


def copysign_scalar(self: Array, other: Any) -> Array:
    result: Array = np.copysign(self, other, out=...)
    return result


def pow(self: Any, exponent: Any) -> Array:
    result_kind = np.result_type(self, exponent).kind
    if result_kind == "b":
        raise not_implemented("pow", np.dtype(bool))
    if result_kind in "iu" and np.any(np.less(exponent, 0)):
        return _integer_pow(np.asarray(self), np.asarray(exponent))
    result: Array = np.power(self, exponent, out=...)
    return result


def _integer_pow(self: Array, exponent: Array) -> Array:
    """Powers of integers, 1 / n for a negative exponent being 0 but for n = 1 and -1."""
    negative = np.less(exponent, 0)
    powers = np.power(self, np.where(negative, 0, exponent))
    odd = np.where(np.bitwise_and(exponent, 1) == 1, self, 1)
    inverse = np.where(np.abs(self) == 1, odd, 0)
    return np.asarray(np.where(negative, inverse, powers).astype(powers.dtype))


def pow_scalar(self: Array, exponent: Any) -> Array:
    kind = self.dtype.kind
    if kind in "fc" and self.dtype.char != "e" and not isinstance(exponent, builtins.complex):
        special = _POWERS.get(exponent)
        if special is not None:
            return special(self)
    elif kind in "biu" and exponent.__class__ is int and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return pow(*joined(self, exponent))


def pow_base(self: Any, exponent: Array) -> Array:
    array, number = joined(exponent, self)
    return row_major(pow(np.asarray(number, array.dtype), array))


@in_single
def rsqrt(self: Array) -> Array:
    return np.reciprocal(np.sqrt(self), out=...)


def square(self: Array) -> Array:
    return np.multiply(self, self, out=...)


def cube(self: Array) -> Array:
    return np.multiply(np.multiply(self, self), self, out=...)


def inverse_square(self: Array) -> Array:
    return np.reciprocal(np.multiply(self, self), out=...)


_POWERS: dict[Any, Kernel] = {
    2: square,
    3: cube,
    -2: inverse_square,
    -1: lambda self: np.reciprocal(self, out=...),
    0.5: lambda self: np.sqrt(self, out=...),
    -0.5: rsqrt,
}


def sign(self: Array) -> Array:
    """NaN has none: 0, as in PyTorch."""
    if self.dtype.kind == "b":
        return np.array(self)
    positive, negative = np.greater(self, 0), np.less(self, 0)
    return np.asarray(positive.astype(self.dtype) - negative.astype(self.dtype))


def sgn(self: Array) -> Array:
    if self.dtype.kind != "c":
        return sign(self)
    size = np.absolute(self)
    return np.asarray(np.where(size == 0, 0, self / np.where(size == 0, 1, size)))


def signbit(self: Array) -> Array:
    if self.dtype.kind == "f":
        return np.signbit(self, out=...)
    return np.less(self, 0, out=...)


def exp2(self: Array) -> Array:
    if self.dtype.kind == "c":
        return np.exp(np.multiply(self, math.log(2)), out=...)
    return np.exp2(self, out=...)


@in_single
def ldexp(self: Array, other: Array) -> Array:
    return np.multiply(self, exp2(other), out=...)


@in_single
def sigmoid(self: Array) -> Array:
    result = np.negative(self, out=...)
    np.exp(result, out=result)
    np.add(result, 1, out=result)
    return np.reciprocal(result, out=result)


@in_single
def erf(self: Array) -> Array:
    from scipy.special import erf as kernel

    return kernel(self, out=...)  # type: ignore[no-any-return]


@in_single
def erfc(self: Array) -> Array:
    from scipy.special import erfc as kernel

    return kernel(self, out=...)  # type: ignore[no-any-return]


@in_single
def erfinv(self: Array) -> Array:
    from scipy.special import erfinv as kernel

    return kernel(self, out=...)  # type: ignore[no-any-return]


def round(self: Array) -> Array:
    return np.array(self) if self.dtype.kind in "iu" else np.rint(self, out=...)


@in_single
def round_decimals(self: Array, decimals: int) -> Array:
    scale = 10.0 ** (decimals if decimals >= 0 else -decimals)
    if decimals >= 0:
        return np.divide(np.rint(np.multiply(self, scale)), scale, out=...)
    return np.multiply(np.rint(np.divide(self, scale)), scale, out=...)


def frac(self: Array) -> Array:
    return np.subtract(self, np.trunc(self), out=...)


def frexp(self: Array) -> tuple[Array, Array]:
    if not dtypes.from_numpy(self.dtype).is_floating_point:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    wide = self if self.dtype.kind == "f" else self.astype(np.float32)
    mantissa, exponent = np.frexp(wide)
    exponent = np.where(np.isfinite(wide), exponent, 0)
    return np.asarray(mantissa, self.dtype), np.asarray(exponent, np.int32)


def lerp(self: Array, end: Array, weight: Any) -> Array:
    for name, array in (("end", end), ("weight", weight)):
        if isinstance(array, np.ndarray) and array.dtype != self.dtype:
            wanted, found = C_NAMES[self.dtype.name], C_NAMES[array.dtype.name]
            raise RuntimeError(f"expected dtype {wanted} for `{name}` but got dtype {found}")
    return _lerp(self, end, weight)


@in_single
def _lerp(self: Array, end: Array, weight: Any) -> Array:
    """Counted from the nearer end, so that weights 0 and 1 are exact."""
    span = np.subtract(end, self)
    from_end = np.subtract(end, np.multiply(span, 1 - weight))
    return np.asarray(
        np.where(np.absolute(weight) < 0.5, np.add(self, np.multiply(span, weight)), from_end)
    )


@in_single
def addcmul(self: Array, tensor1: Array, tensor2: Array, *, value: Any = 1) -> Array:
    product = np.multiply(tensor1, tensor2)
    return np.add(self, product if value == 1 else np.multiply(product, value), out=...)


@in_single
def addcdiv(self: Array, tensor1: Array, tensor2: Array, *, value: Any = 1) -> Array:
    quotient = np.divide(tensor1, tensor2)
    return np.add(self, quotient if value == 1 else np.multiply(quotient, value), out=...)


def logaddexp(self: Array, other: Array) -> Array:
    if self.dtype.kind != "c":
        return np.logaddexp(self, other, out=...)
    swap = np.less_equal(self.real, other.real)
    high, low = np.where(swap, other, self), np.where(swap, self, other)
    high_alone = (low.real == -np.inf) | (np.isinf(high.real) & (high == low))
    return np.asarray(np.where(high_alone, high, high + np.log1p(np.exp(low - high))))


@in_single
def xlogy(self: Any, other: Any) -> Array:
    result = np.multiply(self, np.log(other))
    return np.asarray(np.where(np.equal(self, 0) & ~np.isnan(other), result.dtype.type(0), result))


xlogy_scalar = with_number(xlogy)


def xlogy_base(base: Any, other: Array) -> Array:
    array, number = joined(other, base)
    return xlogy(np.asarray(number, array.dtype), array)


def heaviside(self: Array, values: Array) -> Array:
    if self.dtype != values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return np.asarray(np.where(self == 0, values, np.greater(self, 0).astype(values.dtype)))


def nan_to_num(self: Array, nan: float | None, posinf: float | None, neginf: float | None) -> Array:
    return np.asarray(np.nan_to_num(self, nan=nan or 0.0, posinf=posinf, neginf=neginf))


def angle(self: Array) -> Array:
    if self.dtype.kind == "c":
        result: Array = np.arctan2(self.imag, self.real, out=...)
        return result
    return np.asarray(np.where(np.isnan(self), self, np.where(self < 0, math.pi, 0)), self.dtype)


def conj(self: Array) -> Array:
    return np.conjugate(self, out=...) if self.dtype.kind == "c" else np.array(self)


def complex(real: Array, imag: Array) -> Array:
    _check_parts(real, imag)
    result = np.empty(
        np.broadcast_shapes(real.shape, imag.shape), np.result_type(real.dtype, np.complex64)
    )
    result.real, result.imag = real, imag
    return result


def polar(abs: Array, angle: Array) -> Array:
    _check_parts(abs, angle)
    return complex(np.multiply(abs, np.cos(angle)), np.multiply(abs, np.sin(angle)))


def _check_parts(first: Array, second: Array) -> None:
    names = [dtypes.from_numpy(a.dtype).scalar_name for a in (first, second)]
    if first.dtype.kind != "f" or second.dtype.kind != "f":
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{names[0]} and {names[1]}"
        )
    if first.dtype != second.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {names[0]} but got scalar type {names[1]} for "
            "second argument"
        )


def real(self: Array) -> Array:
    return np.asarray(np.real(self))


def imag(self: Array) -> Array:
    return np.asarray(np.imag(self))


def isreal(self: Array) -> Array:
    result: Array = np.equal(np.imag(self), 0, out=...)
    return result


def where(condition: Any, self: Any, other: Any) -> Array:
    if condition.dtype.char not in "?B":
        kind = dtypes.from_numpy(condition.dtype).scalar_name
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {kind}"
        )
    return np.asarray(np.where(condition, self, other))


def masked_fill(self: Array, mask: Array, value: Any) -> Array:
    if mask.dtype.kind != "b":
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{C_NAMES[mask.dtype.name]}"
        )
    if np.ndim(value):
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{np.ndim(value)} dimension(s)."
        )
    return row_major(np.where(mask, converted(value, self.dtype), self))


def clamp(self: Array, min: Any = None, max: Any = None) -> Array:
    """Between two numbers; the upper one wins where they cross, and NaN wins over all."""
    for bound in (min, max):
        if bound is not None:
            self, _ = joined(self, bound)
    if min is not None:
        self = np.maximum(self, converted(min, self.dtype), out=...)
    return self if max is None else np.minimum(self, converted(max, self.dtype), out=...)


def clamp_max(self: Array, max: Any) -> Array:
    return clamp(self, None, max)


def clamp_tensor(self: Array, min: Array | None, max: Array | None) -> Array:
    if self.dtype.kind == "b" and min is not None and max is not None:
        raise NotImplementedError("\"clamp\" between two tensors not implemented for 'Bool'")
    result = self if min is None else np.maximum(self, min, out=...)
    return result if max is None else np.minimum(result, max, out=...)


def isclose(self: Array, other: Array, rtol: float, atol: float, equal_nan: bool) -> Array:
    if self.dtype != other.dtype:
        names = (dtypes.from_numpy(a.dtype).scalar_name for a in (self, other))
        raise RuntimeError(" did not match ".join(names))
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(
                f"{name} must be greater than or equal to zero, but got {tolerance:g}"
            )
    close = np.equal(self, other, out=...)
    if equal_nan:
        close |= np.isnan(self) & np.isnan(other)
    if self.dtype.kind in "fc":
        near = np.absolute(self - other) <= atol + np.absolute(rtol * other)
        close |= np.isfinite(other) & np.isfinite(self) & near
    else:
        gap = np.absolute(self.astype(np.float64) - other.astype(np.float64))
        close |= gap <= atol + np.absolute(rtol * other.astype(np.float64))
    return np.asarray(close)
