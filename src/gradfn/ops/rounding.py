"""Absolute values, signs and rounding."""

from __future__ import annotations

from typing import Any

from .. import raw
from . import return_types
from .declare import op
from .emit import inplace
from .formulas import constant

__all__ = [
    "abs",
    "abs_",
    "absolute",
    "ceil",
    "ceil_",
    "fix",
    "fix_",
    "floor",
    "floor_",
    "frac",
    "frac_",
    "frexp",
    "round",
    "round_",
    "sgn",
    "sign",
    "signbit",
    "trunc",
    "trunc_",
]

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
    tangent=lambda F, self, self_t, self_dtype, result: (  # its Jacobian is symmetric
        _sgn_gradient(F, self_t, self, self_dtype, result)
    ),
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


def round(input: Any, *, decimals: Any = ..., out: Any = None) -> Any:
    """Each element rounded to the nearest integer, halves to even, or to `decimals` digits.

    >>> import gradfn
    >>> gradfn.round(gradfn.tensor([0.5, 1.5, 2.7]))
    tensor([0., 2., 3.])
    """
    if decimals is ...:
        return round_nearest(input, out=out)
    return round_decimals(input, decimals, out=out)


def round_(self: Any, *, decimals: Any = ...) -> Any:
    """`round` in place."""
    if decimals is ...:
        return inplace(round_nearest)(self)
    return inplace(round_decimals)(self, decimals)


def abs_(self: Any) -> Any:
    """`abs` in place. Raises RuntimeError for complex numbers."""
    if self._array.dtype.kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return inplace(abs)(self)


frexp = op(
    "frexp(self)",
    kernel=raw.frexp,
    results=return_types.frexp,
    self=lambda F, g_mantissa, exponent: g_mantissa / F.exp2(exponent),
    doc="""The mantissa in [0.5, 1) and the exponent in ``input = mantissa * 2**exponent``.

    Elementwise; the exponents are int32. RuntimeError unless the elements are floating-point.

    >>> import gradfn
    >>> gradfn.frexp(gradfn.tensor([3.0])).exponent
    tensor([2], dtype=torch.int32)
    """,
)

sign_, sgn_, ceil_, floor_, trunc_ = map(inplace, (sign, sgn, ceil, floor, trunc))
frac_ = inplace(frac)

absolute, absolute_ = abs, abs_
fix, fix_ = trunc, trunc_

METHODS = """
    abs abs_ absolute absolute_ ceil ceil_ fix fix_ floor floor_ frac frac_ frexp round round_ sgn
    sgn_ sign sign_ signbit trunc trunc_
"""
