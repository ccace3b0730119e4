"""Sums, products, quotients and remainders."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, raw
from ..autograd.variable import Variable
from .declare import op, variant
from .emit import inplace
from .formulas import constant, no_derivative
from .runtime import SCALARS, operand_category

__all__ = [
    "add",
    "addcdiv",
    "addcmul",
    "div",
    "divide",
    "floor_divide",
    "fmod",
    "gcd",
    "gcd_",
    "lcm",
    "lcm_",
    "lerp",
    "mul",
    "multiply",
    "neg",
    "neg_",
    "negative",
    "negative_",
    "positive",
    "remainder",
    "rsub",
    "sub",
    "subtract",
    "true_divide",
]

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
    """`alpha` must be a number of no higher a category than the result."""
    number = alpha
    if isinstance(alpha, Variable) and not alpha._array.ndim and alpha._edge is None:
        number = alpha._array.item()
    elif isinstance(alpha, np.generic):
        number = alpha.item()
    kind = SCALARS.get(number.__class__)
    if kind is None:
        raise TypeError(f"argument 'alpha' must be Number, not {type(alpha).__name__}")
    result = max(operand_category(operand) for operand in operands)
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


def add(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """``input + alpha * other``, elementwise, with broadcasting and type promotion.

    Raises RuntimeError for shapes that do not broadcast and for an `alpha` of a higher kind than
    the result.

    >>> import gradfn
    >>> gradfn.add(gradfn.tensor([1.0, 2.0]), gradfn.tensor([3.0, 4.0]), alpha=2)
    tensor([ 7., 10.])
    """
    if alpha.__class__ is int and alpha == 1:
        return plain_add(input, other, out=out)
    _check_alpha(alpha, input, other)
    return scaled_add(input, other, alpha, out=out)


def sub(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """``input - alpha * other``, elementwise. Raises RuntimeError for booleans.

    >>> import gradfn
    >>> gradfn.sub(gradfn.tensor([1.0, 2.0]), 3)
    tensor([-2., -1.])
    """
    if alpha.__class__ is int and alpha == 1:
        return plain_sub(input, other, out=out)
    _check_alpha(alpha, input, other)
    return scaled_sub(input, other, alpha, out=out)


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
divide_none = variant(true_divide, "div.none", node="DivBackward2")
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


def div(input: Any, other: Any, *, rounding_mode: Any = ..., out: Any = None) -> Any:
    """``input / other``, elementwise, rounded towards zero ("trunc") or down ("floor") if asked.

    Without a `rounding_mode` integers give the default floating-point dtype. Raises RuntimeError
    for another `rounding_mode`, and where an integer is divided by zero and rounded.

    >>> import gradfn
    >>> gradfn.div(gradfn.tensor([-7.0, 7.0]), 2, rounding_mode="floor")
    tensor([-4.,  3.])
    """
    if rounding_mode is ...:
        return true_divide(input, other, out=out)
    if rounding_mode is None:
        return divide_none(input, other, out=out)
    _check_mode(rounding_mode)
    return div_mode(input, other, rounding_mode, out=out)


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


def remainder(input: Any, other: Any, *, out: Any = None) -> Any:
    """``input % other``, elementwise, with the sign of `other`.

    >>> import gradfn
    >>> gradfn.remainder(gradfn.tensor([-5.5, 5.5]), 2)
    tensor([0.5000, 1.5000])
    """
    if other.__class__ in SCALARS and input.__class__ not in SCALARS:
        return remainder_scalar(input, other, out=out)
    return remainder_tensor(input, other, out=out)


def remainder_(self: Any, other: Any) -> Any:
    """`remainder` in place."""
    return inplace(remainder_scalar if other.__class__ in SCALARS else remainder_tensor)(
        self, other
    )


def fmod(input: Any, other: Any, *, out: Any = None) -> Any:
    """The remainder of ``input / other``, elementwise, with the sign of `input`.

    >>> import gradfn
    >>> gradfn.fmod(gradfn.tensor([-5.5, 5.5]), 2)
    tensor([-1.5000,  1.5000])
    """
    return (fmod_scalar if other.__class__ in SCALARS else fmod_tensor)(input, other, out=out)


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


def lerp(input: Any, end: Any, weight: Any, *, out: Any = None) -> Any:
    """``input + weight * (end - input)``, elementwise; `weight` is a number or a tensor.

    Raises RuntimeError where the dtypes differ.

    >>> import gradfn
    >>> gradfn.lerp(gradfn.tensor([0.0, 1.0]), gradfn.tensor([10.0, 3.0]), 0.5)
    tensor([5., 2.])
    """
    row = lerp_scalar if weight.__class__ in SCALARS else lerp_tensor
    return row(input, end, weight, out=out)


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
gcd = op(
    "gcd(self, other: Tensor)",
    kernel=raw.gcd,
    promote="number",
    numbers=False,
    refuses="bfc",
    doc="The greatest common divisor of integers, elementwise.",
)
lcm = op(
    "lcm(self, other: Tensor)",
    kernel=raw.lcm,
    promote="number",
    numbers=False,
    refuses="bfc",
    doc="The least common multiple of integers, elementwise.",
)

mul_, true_divide_, floor_divide_, neg_ = map(inplace, (mul, true_divide, floor_divide, neg))
addcmul_, addcdiv_, gcd_, lcm_ = map(inplace, (addcmul, addcdiv, gcd, lcm))

divide, divide_ = div, div_
multiply, multiply_ = mul, mul_
subtract, subtract_ = sub, sub_
negative, negative_ = neg, neg_

METHODS = """
    add add_ addcdiv addcdiv_ addcmul addcmul_ div div_ divide divide_ floor_divide floor_divide_
    fmod fmod_ gcd gcd_ lcm lcm_ lerp lerp_ mul mul_ multiply multiply_ neg neg_ negative negative_
    positive remainder remainder_ sub sub_ subtract subtract_ true_divide true_divide_
"""
