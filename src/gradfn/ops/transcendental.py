"""Exponentials, logarithms, trigonometric and hyperbolic functions, error functions."""

from __future__ import annotations

import math
from typing import Any

from .. import raw
from .declare import op
from .emit import inplace
from .formulas import constant, no_derivative
from .runtime import SCALARS

__all__ = [
    "acos",
    "acos_",
    "acosh",
    "acosh_",
    "arccos",
    "arccos_",
    "arccosh",
    "arccosh_",
    "arcsin",
    "arcsin_",
    "arcsinh",
    "arcsinh_",
    "arctan",
    "arctan2",
    "arctan_",
    "arctanh",
    "arctanh_",
    "asin",
    "asin_",
    "asinh",
    "asinh_",
    "atan",
    "atan2",
    "atan_",
    "atanh",
    "atanh_",
    "copysign",
    "cos",
    "cos_",
    "cosh",
    "cosh_",
    "deg2rad",
    "deg2rad_",
    "erf",
    "erf_",
    "erfc",
    "erfc_",
    "erfinv",
    "exp",
    "exp2",
    "exp2_",
    "exp_",
    "expm1",
    "expm1_",
    "heaviside",
    "hypot",
    "ldexp",
    "ldexp_",
    "log",
    "log1p",
    "log1p_",
    "log2",
    "log2_",
    "log10",
    "log10_",
    "log_",
    "logaddexp",
    "logaddexp2",
    "nan_to_num",
    "nan_to_num_",
    "rad2deg",
    "rad2deg_",
    "sigmoid",
    "sigmoid_",
    "sin",
    "sin_",
    "sinh",
    "sinh_",
    "tan",
    "tan_",
    "tanh",
    "tanh_",
    "xlogy",
    "xlogy_",
]

LOG_2 = math.log(2)

exp = op(
    "exp(self)",
    kernel=raw.exp,
    promote="float",
    tangent="elementwise",
    self=lambda g, result: g * result.conj(),
    doc="""e to the power of each element.

    >>> import gradfn
    >>> gradfn.exp(gradfn.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """,
)
exp2 = op(
    "exp2(self)",
    kernel=raw.exp2,
    promote="float",
    tangent="elementwise",
    self=lambda g, result: g * result.conj() * LOG_2,
    doc="2 to the power of each element.",
)
expm1 = op(
    "expm1(self)",
    kernel=raw.expm1,
    promote="float",
    tangent="elementwise",
    self=lambda g, result: g * (result.conj() + 1),
    doc="``exp(input) - 1``, elementwise, accurate near 0.",
)
log = op(
    "log(self)",
    kernel=raw.log,
    promote="float",
    tangent="elementwise",
    self=lambda g, self: g / self.conj(),
    doc="The natural logarithm, elementwise; NaN for negative real numbers.",
)
log2 = op(
    "log2(self)",
    kernel=raw.log2,
    promote="float",
    tangent="elementwise",
    self=lambda g, self: g / (self.conj() * LOG_2),
    doc="The logarithm to base 2, elementwise.",
)
log10 = op(
    "log10(self)",
    kernel=raw.log10,
    promote="float",
    tangent="elementwise",
    self=lambda g, self: g / (self.conj() * math.log(10)),
    doc="The logarithm to base 10, elementwise.",
)
log1p = op(
    "log1p(self)",
    kernel=raw.log1p,
    promote="float",
    node="Log1PBackward0",
    tangent="elementwise",
    self=lambda g, self: g / (self + 1).conj(),
    doc="``log(1 + input)``, elementwise, accurate near 0.",
)
sin = op(
    "sin(self)",
    kernel=raw.sin,
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self: g * F.cos(self).conj(),
    doc="The sine, elementwise.",
)
cos = op(
    "cos(self)",
    kernel=raw.cos,
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self: g * -F.sin(self).conj(),
    doc="The cosine, elementwise.",
)
tan = op(
    "tan(self)",
    kernel=raw.tan,
    promote="float",
    tangent="elementwise",
    self=lambda g, result: g * (1 + result * result).conj(),
    doc="The tangent, elementwise.",
)
asin = op(
    "asin(self)",
    kernel=raw.asin,
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self: g * F.rsqrt(1 - self * self).conj(),
    doc="The inverse of the sine, elementwise; NaN outside [-1, 1].",
)
acos = op(
    "acos(self)",
    kernel=raw.acos,
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self: g * -F.rsqrt(1 - self * self).conj(),
    doc="The inverse of the cosine, elementwise; NaN outside [-1, 1].",
)
atan = op(
    "atan(self)",
    kernel=raw.atan,
    promote="float",
    tangent="elementwise",
    self=lambda g, self: g / (self * self + 1).conj(),
    doc="The inverse of the tangent, elementwise.",
)
atan2 = op(
    "atan2(self, other)",
    kernel=raw.atan2,
    refuses="c",
    promote="float",
    numbers=False,
    tangent="elementwise",
    self=lambda F, g, self, other: g * (other * _inverse_or_zero(F, self, other)),
    other=lambda F, g, self, other: g * (-self * _inverse_or_zero(F, self, other)),
    doc="The angle of the point (other, input), elementwise, in [-pi, pi].",
)


def _inverse_or_zero(F: Any, self: Any, other: Any) -> Any:
    """1 / (self^2 + other^2), or 0 at the origin."""
    square = self * self + other * other
    return F.where(square == 0, 0, 1 / F.where(square == 0, 1, square))


sinh = op(
    "sinh(self)",
    kernel=raw.sinh,
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self: g * F.cosh(self).conj(),
    doc="The hyperbolic sine, elementwise.",
)
cosh = op(
    "cosh(self)",
    kernel=raw.cosh,
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self: g * F.sinh(self).conj(),
    doc="The hyperbolic cosine, elementwise.",
)
tanh = op(
    "tanh(self)",
    kernel=raw.tanh,
    promote="float",
    tangent="elementwise",
    self=lambda g, result: g * (1 - result * result).conj(),
    doc="The hyperbolic tangent, elementwise.",
)
asinh = op(
    "asinh(self)",
    kernel=raw.asinh,
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self: g * F.rsqrt(self * self + 1).conj(),
    doc="The inverse of the hyperbolic sine, elementwise.",
)


def _acosh_slope(F: Any, self: Any, self_dtype: Any) -> Any:
    """A root for each factor: that of their product leaves the branch where Re z < 0."""
    if self_dtype.kind == "c":
        return F.rsqrt(self - 1) * F.rsqrt(self + 1)
    return F.rsqrt(self * self - 1)


acosh = op(
    "acosh(self)",
    kernel=raw.acosh,
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self, self_dtype: g * _acosh_slope(F, self, self_dtype).conj(),
    doc="The inverse of the hyperbolic cosine, elementwise; NaN below 1.",
)
atanh = op(
    "atanh(self)",
    kernel=raw.atanh,
    promote="float",
    tangent="elementwise",
    self=lambda g, self: g / (1 - self * self).conj(),
    doc="The inverse of the hyperbolic tangent, elementwise; NaN outside [-1, 1].",
)
sigmoid = op(
    "sigmoid(self)",
    kernel=raw.sigmoid,
    promote="float",
    tangent="elementwise",
    self=lambda g, result: g * ((1 - result) * result).conj(),
    doc="""``1 / (1 + exp(-input))``, elementwise.

    >>> import gradfn
    >>> gradfn.sigmoid(gradfn.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """,
)
erf = op(
    "erf(self)",
    kernel=raw.erf,
    refuses="c",
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self: g * (2 / math.sqrt(math.pi)) * F.exp(-(self * self)),
    doc="The error function, elementwise.",
)
erfc = op(
    "erfc(self)",
    kernel=raw.erfc,
    refuses="c",
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self: g * (-2 / math.sqrt(math.pi)) * F.exp(-(self * self)),
    doc="``1 - erf(input)``, elementwise, accurate for large elements.",
)
erfinv = op(
    "erfinv(self)",
    kernel=raw.erfinv,
    refuses="c",
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self: g * (math.sqrt(math.pi) / 2) * F.exp(F.square(F.erfinv(self))),
    doc="The inverse of `erf`, elementwise; NaN outside [-1, 1].",
)
deg2rad = op(
    "deg2rad(self)",
    kernel=raw.deg2rad,
    refuses="c",
    promote="float",
    node="Deg2RadBackward0",
    tangent="linear",
    self=lambda g: g * (math.pi / 180),
    doc="Degrees as radians, elementwise.",
)
rad2deg = op(
    "rad2deg(self)",
    kernel=raw.rad2deg,
    refuses="c",
    promote="float",
    node="Rad2DegBackward0",
    tangent="linear",
    self=lambda g: g * (180 / math.pi),
    doc="Radians as degrees, elementwise.",
)
hypot = op(
    "hypot(self, other)",
    kernel=raw.hypot,
    refuses="biuc",
    promote="number",
    numbers=False,
    tangent="elementwise",
    self=lambda g, self, result: g * (self / result),
    other=lambda g, other, result: g * (other / result),
    doc="``sqrt(input**2 + other**2)``, elementwise, without overflow.",
)


def _copysign_gradient(F: Any, g: Any, self: Any, result: Any) -> Any:
    return F.where(self == 0, 0, g * (result / F.where(self == 0, 1, self)))


copysign_tensor = op(
    "copysign(self, other)",
    kernel=raw.copysign,
    refuses="c",
    promote="float",
    numbers=False,
    tangent="elementwise",
    self=_copysign_gradient,
    other=constant,
)
copysign_scalar = op(
    "copysign.scalar(self, other)",
    kernel=raw.copysign_scalar,
    refuses="c",
    promote="float",
    node="CopysignBackward1",
    tangent="elementwise",
    self=_copysign_gradient,
)


def copysign(input: Any, other: Any, *, out: Any = None) -> Any:
    """`input` with the signs of `other`, a tensor or a number, elementwise."""
    row = copysign_scalar if other.__class__ in SCALARS else copysign_tensor
    return row(input, other, out=out)


def copysign_(self: Any, other: Any) -> Any:
    """`copysign` in place."""
    return inplace(copysign_scalar if other.__class__ in SCALARS else copysign_tensor)(self, other)


ldexp = op(
    "ldexp(self, other)",
    shares="anything",
    kernel=raw.ldexp,
    promote="float",
    numbers=False,
    tangent="elementwise",
    self=lambda F, g, other: g * F.exp2(other).conj(),
    other=lambda g, result: g * result.conj() * LOG_2,
    doc="``input * 2**other``, elementwise.",
)
logaddexp = op(
    "logaddexp(self, other)",
    kernel=raw.logaddexp,
    refuses="biu",
    promote="number",
    numbers=False,
    tangent="elementwise",
    self=lambda F, g, self, other: g / (1 + F.exp(other - self)).conj(),
    other=lambda F, g, self, other: g / (1 + F.exp(self - other)).conj(),
    doc="``log(exp(input) + exp(other))``, elementwise, without overflow.",
)
logaddexp2 = op(
    "logaddexp2(self, other)",
    kernel=raw.logaddexp2,
    refuses="biuc",
    promote="number",
    numbers=False,
    tangent="elementwise",
    self=lambda F, g, self, other: g / (1 + F.exp2(other - self)),
    other=lambda F, g, self, other: g / (1 + F.exp2(self - other)),
    doc="``log2(2**input + 2**other)``, elementwise, without overflow.",
)


def _xlogy_gradient(F: Any, g: Any, self: Any, other: Any) -> Any:
    return F.where(F.logical_and(self == 0, other <= 0), 0, F.xlogy(g, other))


xlogy_tensor = op(
    "xlogy(self, other)",
    kernel=raw.xlogy,
    refuses="c",
    promote="float",
    tangent="elementwise",
    self=_xlogy_gradient,
    other=lambda g, self, other: g * self / other,
)
xlogy_base = op(
    "xlogy.base(base, other)",
    kernel=raw.xlogy_base,
    refuses="c",
    promote="float",
    node="XlogyBackward1",
    tangent="elementwise",
    other=lambda g, base, other: g * base / other,
)
xlogy_scalar = op(
    "xlogy.scalar(self, other)",
    kernel=raw.xlogy_scalar,
    refuses="c",
    promote="float",
    node="XlogyBackward2",
    tangent="elementwise",
    self=lambda F, g, self, other: (
        F.where(self == 0, 0, g * raw.log(other).item()) if other <= 0 else g * math.log(other)
    ),
)


def xlogy(input: Any, other: Any, *, out: Any = None) -> Any:
    """``input * log(other)``, elementwise, and 0 where `input` is 0 (unless `other` is NaN).

    >>> import gradfn
    >>> gradfn.xlogy(gradfn.tensor([0.0, 1.0]), gradfn.tensor([0.0, 1.0]))
    tensor([0., 0.])
    """
    if other.__class__ in SCALARS:
        return xlogy_scalar(input, other, out=out)
    if input.__class__ in SCALARS:
        return xlogy_base(input, other, out=out)
    return xlogy_tensor(input, other, out=out)


def xlogy_(self: Any, other: Any) -> Any:
    """`xlogy` in place."""
    return inplace(xlogy_scalar if other.__class__ in SCALARS else xlogy_tensor)(self, other)


heaviside = op(
    "heaviside(self, values)",
    kernel=raw.heaviside,
    refuses="c",
    node="NotImplemented",
    self=no_derivative("heaviside"),
    values=no_derivative("heaviside"),
    doc="0 below 0, 1 above, and `values` at 0, elementwise. It has no derivative.",
)
nan_to_num = op(
    "nan_to_num(self, nan=None, posinf=None, neginf=None)",
    kernel=raw.nan_to_num,
    promote="number",
    numbers=False,
    tangent="elementwise",
    self=lambda F, g, self: g * F.isfinite(self),
    doc="NaN replaced by `nan` (0), infinities by `posinf`, `neginf` (the largest finite numbers).",
)

exp_, exp2_, expm1_, log_, log2_ = map(inplace, (exp, exp2, expm1, log, log2))
log10_, log1p_, sin_, cos_, tan_ = map(inplace, (log10, log1p, sin, cos, tan))
asin_, acos_, atan_, atan2_ = map(inplace, (asin, acos, atan, atan2))
sinh_, cosh_, tanh_, sigmoid_ = map(inplace, (sinh, cosh, tanh, sigmoid))
asinh_, acosh_, atanh_ = map(inplace, (asinh, acosh, atanh))
erf_, erfc_, erfinv_ = map(inplace, (erf, erfc, erfinv))
deg2rad_, rad2deg_, hypot_, ldexp_ = map(inplace, (deg2rad, rad2deg, hypot, ldexp))
heaviside_, nan_to_num_ = map(inplace, (heaviside, nan_to_num))

arcsin, arcsin_, arccos, arccos_, arctan, arctan_ = asin, asin_, acos, acos_, atan, atan_
arcsinh, arcsinh_, arccosh, arccosh_ = asinh, asinh_, acosh, acosh_
arctanh, arctanh_, arctan2, arctan2_ = atanh, atanh_, atan2, atan2_

METHODS = """
    acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan
    arctan2 arctan2_ arctan_ arctanh arctanh_ asin asin_ asinh asinh_ atan atan2 atan2_ atan_ atanh
    atanh_ copysign copysign_ cos cos_ cosh cosh_ deg2rad deg2rad_ erf erf_ erfc erfc_ erfinv
    erfinv_ exp exp2 exp2_ exp_ expm1 expm1_ heaviside heaviside_ hypot hypot_ ldexp ldexp_ log
    log10 log10_ log1p log1p_ log2 log2_ log_ logaddexp logaddexp2 nan_to_num nan_to_num_ rad2deg
    rad2deg_ sigmoid sigmoid_ sin sin_ sinh sinh_ tan tan_ tanh tanh_ xlogy xlogy_
"""
