"""Sums, products, quotients, powers, remainders and rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes, raw
from .declare import op
from .emit import inplace
from .runtime import SCALARS, category

__all__ = [
    "abs",
    "abs_",
    "absolute",
    "add",
    "addcdiv",
    "addcmul",
    "ceil",
    "ceil_",
    "div",
    "divide",
    "fix",
    "fix_",
    "float_power",
    "floor",
    "floor_",
    "floor_divide",
    "fmod",
    "frac",
    "frac_",
    "lerp",
    "mul",
    "multiply",
    "neg",
    "neg_",
    "negative",
    "negative_",
    "positive",
    "pow",
    "reciprocal",
    "reciprocal_",
    "remainder",
    "round",
    "round_",
    "rsqrt",
    "rsqrt_",
    "rsub",
    "sgn",
    "sign",
    "signbit",
    "sqrt",
    "sqrt_",
    "square",
    "square_",
    "sub",
    "subtract",
    "true_divide",
    "trunc",
    "trunc_",
]

Function = Callable[..., Any]


def no_derivative(name: str) -> Function:
    """The formula of an operator that is recorded, but cannot be differentiated."""

    def formula(g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return formula


def constant(F: Any, g: Any) -> Any:
    """The formula of an operator that is constant piece by piece."""
    return F.zeros_like(g)


plain_add = op(
    "add(self, other)",
    kernel=raw.add,
    promote="number",
    tangent="linear",
    self=lambda g: g,
    other=lambda g: g,
)
scaled_add = op(
    "add.alpha(self, other, alpha)",
    kernel=raw.add_alpha,
    promote="number",
    node="AddBackward0",
    tangent="linear",
    self=lambda g: g,
    other=lambda g, alpha: g * alpha.conjugate(),
)
plain_sub = op(
    "sub(self, other)",
    kernel=raw.sub,
    promote="no bool",
    tangent="linear",
    self=lambda g: g,
    other=lambda g: -g,
)
scaled_sub = op(
    "sub.alpha(self, other, alpha)",
    kernel=raw.sub_alpha,
    promote="no bool",
    node="SubBackward0",
    tangent="linear",
    self=lambda g: g,
    other=lambda g, alpha: -g * alpha.conjugate(),
)
rsub_tensor = op(
    "rsub(self, other, alpha=1)",
    kernel=raw.rsub,
    promote="no bool",
    numbers=False,
    tangent="linear",
    self=lambda g, alpha: -g * alpha.conjugate(),
    other=lambda g: g,
)
rsub_scalar = op(
    "rsub.scalar(self, other, alpha=1)",
    kernel=raw.rsub_scalar,
    promote="number",
    node="RsubBackward1",
    tangent="elementwise",
    self=lambda g, alpha: -g if alpha == 1 else -g * alpha.conjugate(),
)


def _check_alpha(alpha: Any, *operands: Any) -> None:
    """`alpha` must be of no higher a category than the result."""
    kind = SCALARS.get(alpha.__class__)
    if kind is None:
        raise TypeError(f"argument 'alpha' must be Number, not {type(alpha).__name__}")
    kinds = [SCALARS.get(o.__class__, dtypes.BOOL) for o in operands if not hasattr(o, "_array")]
    result = max([*kinds, *(category(o._array) for o in operands if hasattr(o, "_array"))])
    if kind == dtypes.BOOL and result != dtypes.BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if kind == dtypes.FLOAT and result < dtypes.FLOAT:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if kind == dtypes.COMPLEX and result < dtypes.COMPLEX:
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )


def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input + alpha * other``, elementwise, with broadcasting and type promotion.

    Raises RuntimeError for shapes that do not broadcast and for an `alpha` of a higher kind than
    the result.

    >>> import gradfn
    >>> gradfn.add(gradfn.tensor([1.0, 2.0]), gradfn.tensor([3.0, 4.0]), alpha=2)
    tensor([ 7., 10.])
    """
    if alpha.__class__ is int and alpha == 1:
        return plain_add(input, other)
    _check_alpha(alpha, input, other)
    return scaled_add(input, other, alpha)


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input - alpha * other``, elementwise. Raises RuntimeError for booleans.

    >>> import gradfn
    >>> gradfn.sub(gradfn.tensor([1.0, 2.0]), 3)
    tensor([-2., -1.])
    """
    if alpha.__class__ is int and alpha == 1:
        return plain_sub(input, other)
    _check_alpha(alpha, input, other)
    return scaled_sub(input, other, alpha)


def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``other - alpha * input``, elementwise: `sub` with its operands exchanged."""
    _check_alpha(alpha, input, other)
    if other.__class__ in SCALARS:
        return rsub_scalar(input, other, alpha)
    return rsub_tensor(input, other, alpha)


plain_add_, plain_sub_ = inplace(plain_add), inplace(plain_sub)


def add_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`add` in place."""
    if alpha.__class__ is int and alpha == 1:
        return plain_add_(self, other)
    _check_alpha(alpha, self, other)
    return inplace(scaled_add)(self, other, alpha)


def sub_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`sub` in place."""
    if alpha.__class__ is int and alpha == 1:
        return plain_sub_(self, other)
    _check_alpha(alpha, self, other)
    return inplace(scaled_sub)(self, other, alpha)


mul = op(
    "mul(self, other)",
    kernel=raw.mul,
    promote="number",
    exact_numbers=True,
    tangent="bilinear",
    self=lambda g, other: g * other.conj(),
    other=lambda g, self: g * self.conj(),
    doc="""``input * other``, elementwise, with broadcasting and type promotion.

    >>> import gradfn
    >>> gradfn.mul(gradfn.tensor([1.0, 2.0]), 3)
    tensor([3., 6.])
    """,
)


def _denominator_gradient(g: Any, self: Any, other: Any) -> Any:
    return -g * ((self / other) / other).conj()


true_divide = op(
    "div(self, other)",
    kernel=raw.div,
    promote="float",
    exact_numbers=True,
    tangent="elementwise",
    self=lambda g, other: g / other.conj(),
    other=_denominator_gradient,
    doc="``input / other``, elementwise; integers give the default floating-point dtype.",
)
divide_none = op(
    "div.none(self, other)",
    kernel=raw.div,
    promote="float",
    exact_numbers=True,
    node="DivBackward2",
    tangent="elementwise",
    self=lambda g, other: g / other.conj(),
    other=_denominator_gradient,
)
div_mode = op(
    "div.mode(self, other, rounding_mode)",
    kernel=raw.div_mode,
    refuses="bc",
    promote="number",
    node="DivBackward2",
    tangent="elementwise",
    self=constant,
    other=constant,
)


def div(input: Any, other: Any, *, rounding_mode: Any = ...) -> Any:
    """``input / other``, elementwise, rounded towards zero ("trunc") or down ("floor") if asked.

    Without a `rounding_mode` integers give the default floating-point dtype. Raises RuntimeError
    for another `rounding_mode`, and where an integer is divided by zero and rounded.

    >>> import gradfn
    >>> gradfn.div(gradfn.tensor([-7.0, 7.0]), 2, rounding_mode="floor")
    tensor([-4.,  3.])
    """
    if rounding_mode is ...:
        return true_divide(input, other)
    if rounding_mode is None:
        return divide_none(input, other)
    _check_mode(rounding_mode)
    return div_mode(input, other, rounding_mode)


def div_(self: Any, other: Any, *, rounding_mode: Any = ...) -> Any:
    """`div` in place."""
    if rounding_mode is ...:
        return true_divide_(self, other)
    if rounding_mode is None:
        return inplace(divide_none)(self, other)
    _check_mode(rounding_mode)
    return inplace(div_mode)(self, other, rounding_mode)


def _check_mode(rounding_mode: Any) -> None:
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"{rounding_mode!r}"
        )


floor_divide = op(
    "floor_divide(self, other)",
    kernel=raw.floor_divide,
    refuses="bc",
    promote="number",
    node="NotImplemented",
    self=no_derivative("floor_divide"),
    other=no_derivative("floor_divide"),
    doc="``input // other``, elementwise, rounded down. It has no derivative.",
)
remainder_tensor = op(
    "remainder(self, other)",
    kernel=raw.remainder,
    refuses="bc",
    promote="number",
    node="RemainderBackward1",
    tangent="elementwise",
    self=lambda g: g,
    other=lambda F, g, self, other: -g * F.div_mode(self, other, "floor"),
)
remainder_scalar = op(
    "remainder.scalar(self, other)",
    kernel=raw.remainder_scalar,
    refuses="bc",
    promote="number",
    node="RemainderBackward0",
    tangent="elementwise",
    self=lambda g: g,
)
fmod_tensor = op(
    "fmod(self, other)",
    kernel=raw.fmod,
    refuses="bc",
    promote="number",
    numbers="later",
    node="FmodBackward1",
    tangent="elementwise",
    self=lambda g: g,
    other=lambda F, g, self, other: -g * F.div_mode(self, other, "trunc"),
)
fmod_scalar = op(
    "fmod.scalar(self, other)",
    kernel=raw.fmod_scalar,
    refuses="bc",
    promote="number",
    tangent="elementwise",
    self=lambda g: g,
)


def remainder(input: Any, other: Any) -> Any:
    """``input % other``, elementwise, with the sign of `other`.

    >>> import gradfn
    >>> gradfn.remainder(gradfn.tensor([-5.5, 5.5]), 2)
    tensor([0.5000, 1.5000])
    """
    if other.__class__ in SCALARS and input.__class__ not in SCALARS:
        return remainder_scalar(input, other)
    return remainder_tensor(input, other)


def remainder_(self: Any, other: Any) -> Any:
    """`remainder` in place."""
    return inplace(remainder_scalar if other.__class__ in SCALARS else remainder_tensor)(
        self, other
    )


def fmod(input: Any, other: Any) -> Any:
    """The remainder of ``input / other``, elementwise, with the sign of `input`.

    >>> import gradfn
    >>> gradfn.fmod(gradfn.tensor([-5.5, 5.5]), 2)
    tensor([-1.5000,  1.5000])
    """
    return (fmod_scalar if other.__class__ in SCALARS else fmod_tensor)(input, other)


def fmod_(self: Any, other: Any) -> Any:
    """`fmod` in place."""
    return inplace(fmod_scalar if other.__class__ in SCALARS else fmod_tensor)(self, other)


neg = op(
    "neg(self)",
    kernel=raw.neg,
    promote="number",
    tangent="linear",
    self=lambda g: -g,
    doc="``-input``, elementwise. Raises RuntimeError for booleans.",
)


def positive(input: Any) -> Any:
    """`input` itself. Raises RuntimeError for booleans."""
    if input._array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


reciprocal = op(
    "reciprocal(self)",
    kernel=raw.reciprocal,
    promote="float",
    tangent="elementwise",
    self=lambda g, result: -g * (result * result).conj(),
    doc="``1 / input``, elementwise.",
)
sqrt = op(
    "sqrt(self)",
    kernel=raw.sqrt,
    promote="float",
    tangent="elementwise",
    self=lambda g, result: g / (2 * result.conj()),
    doc="The square root, elementwise; NaN for negative real numbers.",
)
rsqrt = op(
    "rsqrt(self)",
    kernel=raw.rsqrt,
    promote="float",
    tangent="elementwise",
    self=lambda g, result: -0.5 * g * (result**3).conj(),
    doc="``1 / sqrt(input)``, elementwise.",
)


def _power_gradient(F: Any, g: Any, self: Any, exponent: Any) -> Any:
    if exponent == 0:
        return F.zeros_like(g)
    return g * (exponent * self ** (exponent - 1)).conj()


def _base_gradient(F: Any, g: Any, self: Any, exponent: Any) -> Any:
    slope = exponent * F.pow(self, exponent - 1)
    return F.where(exponent == 0, 0, g * slope.conj())


def _not_negative(F: Any, exponent: Any, dtype: Any) -> Any:
    """Where a power of 0 is constant."""
    if dtype.kind == "c":
        return F.logical_and(F.imag(exponent) == 0, F.real(exponent) >= 0)
    return exponent >= 0


def _exponent_gradient(
    F: Any, g: Any, self: Any, exponent: Any, exponent_dtype: Any, result: Any
) -> Any:
    flat = F.logical_and(self == 0, _not_negative(F, exponent, exponent_dtype))
    return F.where(flat, 0, g * (result * F.log(self)).conj())


def _exponent_of_number_gradient(
    F: Any,
    g: Any,
    base: Any,
    exponent: Any,
    exponent_dtype: Any,
    result: Any,
) -> Any:
    slope = result * raw.log(base).item()
    if base == 0:
        slope = F.where(_not_negative(F, exponent, exponent_dtype), 0, slope)
    return g * slope.conj()


pow_tensor = op(
    "pow(self, exponent)",
    kernel=raw.pow,
    refuses="b",
    promote="number",
    node="PowBackward1",
    tangent="elementwise",
    self=_base_gradient,
    exponent=_exponent_gradient,
)
pow_scalar = op(
    "pow.scalar(self, exponent)",
    kernel=raw.pow_scalar,
    promote="number",
    tangent="elementwise",
    self=_power_gradient,
)
pow_base = op(
    "pow.base(base, exponent)",
    kernel=raw.pow_base,
    promote="number",
    node="PowBackward2",
    tangent="elementwise",
    exponent=_exponent_of_number_gradient,
)


def pow(input: Any, exponent: Any) -> Any:
    """``input ** exponent``, elementwise; one of the two may be a number.

    Raises RuntimeError for integers to a negative integer number.

    >>> import gradfn
    >>> gradfn.pow(gradfn.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    """
    if exponent.__class__ in SCALARS:
        return pow_scalar(input, exponent)
    if input.__class__ in SCALARS:
        return pow_base(input, exponent)
    return pow_tensor(input, exponent)


def pow_(self: Any, exponent: Any) -> Any:
    """`pow` in place."""
    return inplace(pow_scalar if exponent.__class__ in SCALARS else pow_tensor)(self, exponent)


def square(input: Any) -> Any:
    """``input ** 2``, elementwise."""
    return pow_scalar(input, 2)


def square_(self: Any) -> Any:
    """`square` in place."""
    return pow_(self, 2)


def float_power(input: Any, exponent: Any) -> Any:
    """`pow` computed in float64, or in complex128 where an operand is complex."""
    wide = _wide(input, exponent)
    return pow(*(v.to(wide) if hasattr(v, "_array") else v for v in (input, exponent)))


def float_power_(self: Any, exponent: Any) -> Any:
    """`float_power` in place. Raises RuntimeError unless `self` has the result's dtype."""
    wide = _wide(self, exponent)
    if self.dtype is not wide:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.scalar_name} but the "
            f"operation's result requires dtype {wide.scalar_name}"
        )
    return pow_(self, exponent.to(wide) if hasattr(exponent, "_array") else exponent)


def _wide(*operands: Any) -> dtypes.dtype:
    kinds = [category(o._array) if hasattr(o, "_array") else SCALARS[type(o)] for o in operands]
    return dtypes.complex128 if dtypes.COMPLEX in kinds else dtypes.float64


abs = op(
    "abs(self)",
    kernel=raw.abs,
    refuses="b",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self: g * F.sgn(self),
    doc="""The absolute value, elementwise: real for complex numbers; its gradient at 0 is 0.

    >>> import gradfn
    >>> gradfn.abs(gradfn.tensor([-1.5, 2.0]))
    tensor([1.5000, 2.0000])
    """,
)
sign = op(
    "sign(self)",
    kernel=raw.sign,
    refuses="c",
    promote="number",
    tangent="elementwise",
    self=constant,
    doc="-1, 0 or 1 by the sign of each element. Raises NotImplementedError for complex numbers.",
)


def _sgn_gradient(F: Any, g: Any, self: Any, self_dtype: Any, result: Any) -> Any:
    if self_dtype.kind != "c":
        return F.zeros_like(g)
    size = F.abs(self)
    turned = (g - F.real(g * result.conj()) * result) / F.where(size == 0, 1, size)
    return F.where(size == 0, 0, turned)


sgn = op(
    "sgn(self)",
    kernel=raw.sgn,
    promote="number",
    tangent="elementwise",
    self=_sgn_gradient,
    doc="``input / abs(input)``, elementwise, and 0 at 0: `sign` for complex numbers too.",
)
signbit = op(
    "signbit(self)",
    kernel=raw.signbit,
    refuses="c",
    doc="Whether the sign bit of each element is set, as it is for -0.0.",
)
ceil = op(
    "ceil(self)",
    kernel=raw.ceil,
    refuses="bc",
    promote="number",
    tangent="elementwise",
    self=constant,
    doc="The least integer not below each element.",
)
floor = op(
    "floor(self)",
    kernel=raw.floor,
    refuses="bc",
    promote="number",
    tangent="elementwise",
    self=constant,
    doc="The greatest integer not above each element.",
)
trunc = op(
    "trunc(self)",
    kernel=raw.trunc,
    refuses="bc",
    promote="number",
    tangent="elementwise",
    self=constant,
    doc="Each element without its fraction.",
)
frac = op(
    "frac(self)",
    kernel=raw.frac,
    refuses="biuc",
    promote="number",
    tangent="elementwise",
    self=lambda g: g,
    doc="The fraction of each element, with its sign. Floating-point only.",
)
round_nearest = op(
    "round(self)",
    kernel=raw.round,
    refuses="bc",
    promote="number",
    tangent="elementwise",
    self=constant,
)
round_decimals = op(
    "round.decimals(self, decimals)",
    kernel=raw.round_decimals,
    refuses="biuc",
    promote="number",
    node="RoundBackward1",
    tangent="elementwise",
    self=constant,
)


def round(input: Any, *, decimals: Any = ...) -> Any:
    """Each element rounded to the nearest integer, halves to even, or to `decimals` digits.

    >>> import gradfn
    >>> gradfn.round(gradfn.tensor([0.5, 1.5, 2.7]))
    tensor([0., 2., 3.])
    """
    return round_nearest(input) if decimals is ... else round_decimals(input, decimals)


def round_(self: Any, *, decimals: Any = ...) -> Any:
    """`round` in place."""
    if decimals is ...:
        return inplace(round_nearest)(self)
    return inplace(round_decimals)(self, decimals)


lerp_scalar = op(
    "lerp(self, end, weight)",
    kernel=raw.lerp,
    refuses="biu",
    tangent="elementwise",
    self=lambda g, weight: g * (1 - weight).conjugate(),
    end=lambda g, weight: g * weight.conjugate(),
)
lerp_tensor = op(
    "lerp.tensor(self, end, weight)",
    kernel=raw.lerp,
    refuses="biu",
    node="LerpBackward1",
    tangent="elementwise",
    self=lambda g, weight: g * (1 - weight).conj(),
    end=lambda g, weight: g * weight.conj(),
    weight=lambda g, self, end: g * (end - self).conj(),
)


def lerp(input: Any, end: Any, weight: Any) -> Any:
    """``input + weight * (end - input)``, elementwise; `weight` is a number or a tensor.

    Raises RuntimeError where the dtypes differ.

    >>> import gradfn
    >>> gradfn.lerp(gradfn.tensor([0.0, 1.0]), gradfn.tensor([10.0, 3.0]), 0.5)
    tensor([5., 2.])
    """
    return (lerp_scalar if weight.__class__ in SCALARS else lerp_tensor)(input, end, weight)


def lerp_(self: Any, end: Any, weight: Any) -> Any:
    """`lerp` in place."""
    return inplace(lerp_scalar if weight.__class__ in SCALARS else lerp_tensor)(self, end, weight)


addcmul = op(
    "addcmul(self, tensor1, tensor2, *, value=1)",
    kernel=raw.addcmul,
    refuses="b",
    promote="number",
    numbers=False,
    tangent="elementwise",
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (tensor2 * value).conj(),
    tensor2=lambda g, tensor1, value: g * (tensor1 * value).conj(),
    doc="``input + value * tensor1 * tensor2``, elementwise.",
)
addcdiv = op(
    "addcdiv(self, tensor1, tensor2, *, value=1)",
    kernel=raw.addcdiv,
    refuses="biu",
    promote="number",
    numbers=False,
    tangent="elementwise",
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (value / tensor2).conj(),
    tensor2=lambda g, tensor1, tensor2, value: -g * (value * tensor1 / (tensor2 * tensor2)).conj(),
    doc="``input + value * tensor1 / tensor2``, elementwise. Raises RuntimeError for integers.",
)


def abs_(self: Any) -> Any:
    """`abs` in place. Raises RuntimeError for complex numbers."""
    if self._array.dtype.kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return inplace(abs)(self)


mul_, true_divide_, floor_divide_, neg_ = map(inplace, (mul, true_divide, floor_divide, neg))
reciprocal_, sqrt_, rsqrt_ = map(inplace, (reciprocal, sqrt, rsqrt))
sign_, sgn_, ceil_, floor_, trunc_ = map(inplace, (sign, sgn, ceil, floor, trunc))
frac_, addcmul_, addcdiv_ = map(inplace, (frac, addcmul, addcdiv))

divide, divide_ = div, div_
multiply, multiply_ = mul, mul_
subtract, subtract_ = sub, sub_
negative, negative_ = neg, neg_
absolute, absolute_ = abs, abs_
fix, fix_ = trunc, trunc_

METHODS = """
    abs abs_ absolute absolute_ add add_ addcdiv addcdiv_ addcmul addcmul_ ceil ceil_ div div_
    divide divide_ fix fix_ float_power float_power_ floor floor_ floor_divide floor_divide_ fmod
    fmod_ frac frac_ lerp lerp_ mul mul_ multiply multiply_ neg neg_ negative negative_ positive
    pow pow_ reciprocal reciprocal_ remainder remainder_ round round_ rsqrt rsqrt_ sgn sgn_ sign
    sign_ signbit sqrt sqrt_ square square_ sub sub_ subtract subtract_ true_divide true_divide_
    trunc trunc_
"""
