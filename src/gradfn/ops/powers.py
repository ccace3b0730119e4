"""Powers, roots and reciprocals."""

from __future__ import annotations

from typing import Any

from .. import dtypes, raw
from ..autograd.variable import Variable
from .declare import op
from .emit import inplace
from .runtime import SCALARS, operand_category

__all__ = [
    "float_power",
    "pow",
    "reciprocal",
    "reciprocal_",
    "rsqrt",
    "rsqrt_",
    "sqrt",
    "sqrt_",
    "square",
    "square_",
]

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
    base = self + 0j if exponent_dtype.kind == "c" else self  # a negative one has a logarithm then
    return F.where(flat, 0, g * (result * F.log(base)).conj())


def _exponent_of_number_gradient(
    F: Any,
    g: Any,
    base: Any,
    exponent: Any,
    exponent_dtype: Any,
    result: Any,
) -> Any:
    complex_ = exponent_dtype.kind == "c"  # a negative base has a logarithm then
    slope = result * raw.log(base + 0j if complex_ else base).item()
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


def pow(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """``input ** exponent``, elementwise; one of the two may be a number.

    Raises RuntimeError for integers to a negative integer number.

    >>> import gradfn
    >>> gradfn.pow(gradfn.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    """
    if exponent.__class__ in SCALARS:
        return pow_scalar(input, exponent, out=out)
    if input.__class__ in SCALARS:
        return pow_base(input, exponent, out=out)
    return pow_tensor(input, exponent, out=out)


def pow_(self: Any, exponent: Any) -> Any:
    """`pow` in place."""
    return inplace(pow_scalar if exponent.__class__ in SCALARS else pow_tensor)(self, exponent)


def square(input: Any, *, out: Any = None) -> Any:
    """``input ** 2``, elementwise."""
    return pow_scalar(input, 2, out=out)


def square_(self: Any) -> Any:
    """`square` in place."""
    return pow_(self, 2)


def float_power(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """`pow` computed in float64, or in complex128 where an operand is complex."""
    wide = _wide(input, exponent)
    return pow(_converted(input, wide), _converted(exponent, wide), out=out)


def float_power_(self: Any, exponent: Any) -> Any:
    """`float_power` in place. Raises RuntimeError unless `self` has the result's dtype."""
    wide = _wide(self, exponent)
    if self.dtype is not wide:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.scalar_name} but the "
            f"operation's result requires dtype {wide.scalar_name}"
        )
    return pow_(self, _converted(exponent, wide))


def _converted(operand: Any, dtype: dtypes.dtype) -> Any:
    """A tensor in `dtype`; numbers are left as they are."""
    return operand.to(dtype) if isinstance(operand, Variable) else operand  # type: ignore[attr-defined]


def _wide(*operands: Any) -> dtypes.dtype:
    kinds = [operand_category(operand) for operand in operands]
    return dtypes.complex128 if dtypes.COMPLEX in kinds else dtypes.float64


reciprocal_, sqrt_, rsqrt_ = map(inplace, (reciprocal, sqrt, rsqrt))

METHODS = """
    float_power float_power_ pow pow_ reciprocal reciprocal_ rsqrt rsqrt_ sqrt sqrt_ square square_
"""
