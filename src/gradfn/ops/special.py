"""The gamma family, error functions, Bessel functions and orthogonal polynomials.

Abramowitz & Stegun, Handbook of Mathematical Functions; the kernels are SciPy's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import raw
from .declare import Function, op, variant
from .emit import inplace
from .formulas import no_derivative, not_implemented
from .out import with_out
from .reducing import plus, times
from .runtime import SCALARS
from .transcendental import erf

__all__ = [
    "digamma",
    "digamma_",
    "i0",
    "i0_",
    "igamma",
    "igamma_",
    "igammac",
    "igammac_",
    "lgamma",
    "lgamma_",
    "logit",
    "logit_",
    "mvlgamma",
    "mvlgamma_",
    "nextafter",
    "nextafter_",
    "polygamma",
    "sinc",
    "sinc_",
]


def _special(signature: str, doc: str, **row: Any) -> Function:
    """An elementwise function of real numbers, with its kernel by its name."""
    kernel = getattr(raw, signature.partition("(")[0].partition(".")[0])
    fields: dict[str, Any] = {
        "kernel": kernel,
        "refuses": "c",
        "promote": "float",
        "tangent": "elementwise",
        "doc": doc,
    }
    made: Function = op(signature, **fields | row)
    return made


lgamma = _special(
    "lgamma(self)",
    """``log |Γ(input)|``, elementwise.

    >>> import gradfn
    >>> gradfn.lgamma(gradfn.tensor([1.0, 4.0]))
    tensor([0.0000, 1.7918])
    """,
    self=lambda F, g, self: g * F.digamma(self),
)
digamma = _special(
    "digamma(self)",
    "``Γ'(input) / Γ(input)``, elementwise.",
    self=lambda F, g, self: g * F.polygamma(1, self),
)
polygamma = _special(
    "polygamma(n, self)",
    "The derivative of order `n` of `digamma`, elementwise. RuntimeError for negative `n`.",
    self=lambda F, g, n, self: g * F.polygamma(n + 1, self),
)
_polygamma_inplace = inplace(variant(polygamma, "polygamma.method", node="PolygammaBackward1"))
mvlgamma = _special(
    "mvlgamma(self, p)",
    "``log Γ_p(input)``, the multivariate gamma function of order `p` >= 1, elementwise.",
    self=lambda F, g, self, p: (
        g * sum((F.digamma(self - j / 2) for j in range(1, p)), F.digamma(self))
    ),
)


def _density(F: Any, self: Any, other: Any) -> Any:
    """``x^(a-1) e^-x / Γ(a)``, at x = `other`, for a = `self`."""
    return F.exp((self - 1) * F.log(other) - other - F.lgamma(self))


igamma = _special(
    "igamma(self, other)",
    "The regularised lower incomplete gamma function ``P(input, other)``, elementwise.",
    numbers=False,
    refuses="biuc",
    promote="number",
    self=not_implemented("igamma: input"),
    other=lambda F, g, self, other: g * _density(F, self, other),
)
igammac = _special(
    "igammac(self, other)",
    "The regularised upper incomplete gamma function ``Q(input, other)``, elementwise.",
    numbers=False,
    refuses="biuc",
    promote="number",
    self=not_implemented("igammac: input"),
    other=lambda F, g, self, other: -g * _density(F, self, other),
)


def _logit_gradient(F: Any, g: Any, self: Any, eps: float | None) -> Any:
    slope = g / (self * (1 - self))
    low = 0.0 if eps is None else eps
    inside = F.logical_and(self >= low, self <= 1.0 - low)
    return F.where(inside, slope, math.nan if eps is None else 0.0)


logit = _special(
    "logit(self, eps=None)",
    """``log(x / (1 - x))``, elementwise, with x the input clamped to [eps, 1 - eps] if given.

    >>> import gradfn
    >>> gradfn.logit(gradfn.tensor([0.5, 1.0]), eps=0.25)
    tensor([0.0000, 1.0986])
    """,
    self=_logit_gradient,
)


def _sinc_gradient(F: Any, g: Any, self: Any) -> Any:
    angle = self * math.pi
    safe = F.where(self == 0, 1, self)
    slope = (angle * F.cos(angle) - F.sin(angle)) / (safe * safe * math.pi)
    return g * F.where(self == 0, 0, slope).conj()


sinc = _special(
    "sinc(self)",
    "``sin(πx) / (πx)``, and 1 at 0, elementwise.",
    refuses="",
    self=_sinc_gradient,
)
i0 = _special(
    "i0(self)",
    "The modified Bessel function of the first kind of order 0, elementwise.",
    self=lambda F, g, self: g * F.special_i1(self),
)
special_i0e = _special(
    "special_i0e(self)",
    "``exp(-|x|) i0(x)``, elementwise.",
    node="SpecialI0EBackward0",
    self=lambda F, g, self, result: g * (F.special_i1e(self) - F.sign(self) * result),
)


def _slope_at_zero(F: Any, self: Any, slope: Any) -> Any:
    """``slope(x)``, and its limit 1/2 where x is 0."""
    return F.where(self == 0, 0.5, slope(F.where(self == 0, 1, self)))


special_i1 = _special(
    "special_i1(self)",
    "The modified Bessel function of the first kind of order 1, elementwise.",
    self=lambda F, g, self, result: g * _slope_at_zero(F, self, lambda x: F.i0(x) - result / x),
)
special_i1e = _special(
    "special_i1e(self)",
    "``exp(-|x|) i1(x)``, elementwise.",
    node="SpecialI1EBackward0",
    self=lambda F, g, self, result: (
        g * _slope_at_zero(F, self, lambda x: F.special_i0e(x) - result * (F.sign(x) + 1 / x))
    ),
)
special_erfcx = _special(
    "special_erfcx(self)",
    "``exp(x²) erfc(x)``, elementwise, without overflow.",
    self=lambda g, self, result: g * (2 * self * result - 2 / math.sqrt(math.pi)),
)
special_entr = _special(
    "special_entr(self)",
    "``-x log(x)``, elementwise; 0 at 0 and -inf below.",
    self=lambda F, g, self: g * -(1 + F.log(self)),
)
special_ndtri = _special(
    "special_ndtri(self)",
    "The quantile function of the standard normal distribution, elementwise.",
    self=lambda F, g, result: g * math.sqrt(2 * math.pi) * F.exp(result * result / 2),
)
special_log_ndtr = _special(
    "special_log_ndtr(self)",
    "The logarithm of the standard normal distribution function, elementwise.",
    self=lambda F, g, self: g / F.special_erfcx(self * -math.sqrt(0.5)) * math.sqrt(2 / math.pi),
)


@with_out
def special_ndtr(input: Any) -> Any:
    """The standard normal distribution function ``(1 + erf(x / √2)) / 2``, elementwise.

    >>> import gradfn
    >>> gradfn.special.ndtr(gradfn.tensor(0.0))
    tensor(0.5000)
    """
    return times(plus(erf(times(input, math.sqrt(0.5))), 1), 0.5)


nextafter = _special(
    "nextafter(self, other)",
    "The next floating-point number from `input` in the direction of `other`, elementwise.",
    numbers=False,
    refuses="biuc",
    promote="number",
    tangent=None,
    self=no_derivative("nextafter"),
    other=no_derivative("nextafter"),
)


def _with_numbers(name: str, doc: str, **formulas: Any) -> Function:
    """A function of two tensors, either of which may be a number: a row for each case."""
    node = "Special" + {"xlog1py": "Xlog1Py"}.get(name, name.capitalize()) + "Backward"
    kernel = getattr(raw, "special_" + name)
    of_self, of_other = formulas["self"], formulas["other"]
    both = _special(f"special_{name}(self, other)", doc, node=node + "0", **formulas)
    first = _special(
        f"special_{name}.base(base, other)",
        doc,
        node=node + "1",
        kernel=lambda base, other: kernel(np.asarray(base, other.dtype), other),
        other=lambda F, g, base, other: of_other(F, g, base, other),
    )
    second = _special(
        f"special_{name}.scalar(self, other)",
        doc,
        node=node + "2",
        kernel=lambda self, other: kernel(self, np.asarray(other, self.dtype)),
        self=of_self,
    )

    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        if other.__class__ in SCALARS:
            return second(input, other, out=out)
        return (first if input.__class__ in SCALARS else both)(input, other, out=out)

    function.__name__, function.__doc__ = f"special_{name}", doc
    return function


special_zeta = _with_numbers(
    "zeta",
    "The Hurwitz zeta function ``Σ 1 / (k + other)^input`` over k >= 0, elementwise.",
    self=not_implemented("zeta"),
    other=lambda F, g, self, other: g * -self * F.special_zeta(self + 1, other),
)
special_xlog1py = _with_numbers(
    "xlog1py",
    "``input * log1p(other)``, elementwise, and 0 where `input` is 0 (unless `other` is NaN).",
    self=lambda F, g, self, other: F.where(
        (self == 0) * (other <= -1), 0, F.special_xlog1py(g, other)
    ),
    other=lambda F, g, self, other: g * self / (other + 1),
)

_BESSEL = {
    "airy_ai": "The Airy function Ai",
    "bessel_j0": "The Bessel function of the first kind of order 0",
    "bessel_j1": "The Bessel function of the first kind of order 1",
    "bessel_y0": "The Bessel function of the second kind of order 0",
    "bessel_y1": "The Bessel function of the second kind of order 1",
    "modified_bessel_i0": "The modified Bessel function of the first kind of order 0",
    "modified_bessel_i1": "The modified Bessel function of the first kind of order 1",
    "modified_bessel_k0": "The modified Bessel function of the second kind of order 0",
    "modified_bessel_k1": "The modified Bessel function of the second kind of order 1",
    "scaled_modified_bessel_k0": "``exp(x)`` times `modified_bessel_k0`",
    "scaled_modified_bessel_k1": "``exp(x)`` times `modified_bessel_k1`",
    "spherical_bessel_j0": "The spherical Bessel function of the first kind of order 0",
}
_POLYNOMIALS = {
    "chebyshev_polynomial_t": "Chebyshev polynomial of the first kind",
    "chebyshev_polynomial_u": "Chebyshev polynomial of the second kind",
    "chebyshev_polynomial_v": "Chebyshev polynomial of the third kind",
    "chebyshev_polynomial_w": "Chebyshev polynomial of the fourth kind",
    "hermite_polynomial_h": "physicists' Hermite polynomial",
    "hermite_polynomial_he": "probabilists' Hermite polynomial",
    "laguerre_polynomial_l": "Laguerre polynomial",
    "legendre_polynomial_p": "Legendre polynomial",
    "shifted_chebyshev_polynomial_t": "shifted Chebyshev polynomial of the first kind",
    "shifted_chebyshev_polynomial_u": "shifted Chebyshev polynomial of the second kind",
    "shifted_chebyshev_polynomial_v": "shifted Chebyshev polynomial of the third kind",
    "shifted_chebyshev_polynomial_w": "shifted Chebyshev polynomial of the fourth kind",
}
# PyTorch gives these no gradient: their results are constants.
WITHOUT_GRADIENT = {
    name: _special(f"special_{name}(self: Tensor)", f"{doc}, elementwise.")
    for name, doc in _BESSEL.items()
} | {
    name: _special(f"special_{name}(x: Tensor, n: Tensor)", f"The {doc} of degree `n` at `x`.")
    for name, doc in _POLYNOMIALS.items()
}

lgamma_, digamma_, mvlgamma_, logit_ = map(inplace, (lgamma, digamma, mvlgamma, logit))
igamma_, igammac_, sinc_, i0_ = map(inplace, (igamma, igammac, sinc, i0))
nextafter_ = inplace(nextafter)


def polygamma_method(self: Any, n: int) -> Any:
    """The derivative of order `n` of `digamma`."""
    return polygamma(n, self)


def polygamma_method_(self: Any, n: int) -> Any:
    """`polygamma` in place."""
    return _polygamma_inplace(n, self)


METHODS = """
    digamma digamma_ i0 i0_ igamma igamma_ igammac igammac_ lgamma lgamma_ logit logit_ mvlgamma
    mvlgamma_ nextafter nextafter_ sinc sinc_
"""
PROPERTIES = {"polygamma": polygamma_method, "polygamma_": polygamma_method_}
