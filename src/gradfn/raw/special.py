"""Special functions: SciPy's kernels under PyTorch's names."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .numbers import Array, in_single

Kernel = Callable[..., Array]


def _of_scipy(name: str) -> Kernel:
    """The function `name` of `scipy.special`, which is imported when it is first called."""

    @in_single
    def kernel(self: Array, *others: Any) -> Array:
        from scipy import special

        return getattr(special, name)(self, *others, out=...)  # type: ignore[no-any-return]

    return kernel


lgamma, digamma, igamma, igammac = map(_of_scipy, ("gammaln", "psi", "gammainc", "gammaincc"))
i0, special_i0e, special_i1, special_i1e = map(_of_scipy, ("i0", "i0e", "i1", "i1e"))
special_entr, special_erfcx = map(_of_scipy, ("entr", "erfcx"))
special_ndtri, special_log_ndtr = map(_of_scipy, ("ndtri", "log_ndtr"))
special_xlog1py = _of_scipy("xlog1py")
special_bessel_j0, special_bessel_j1 = map(_of_scipy, ("j0", "j1"))
special_bessel_y0, special_bessel_y1 = map(_of_scipy, ("y0", "y1"))
special_modified_bessel_i0, special_modified_bessel_i1 = i0, special_i1
special_modified_bessel_k0, special_modified_bessel_k1 = map(_of_scipy, ("k0", "k1"))
special_scaled_modified_bessel_k0, special_scaled_modified_bessel_k1 = map(
    _of_scipy, ("k0e", "k1e")
)


@in_single
def special_airy_ai(self: Array) -> Array:
    from scipy.special import airy

    return np.asarray(airy(self)[0])


@in_single
def _hurwitz(other: Array, self: Any) -> Array:
    from scipy.special import zeta

    return np.asarray(zeta(self, other), other.dtype)


def special_zeta(self: Any, other: Any) -> Array:
    return _hurwitz(other if isinstance(other, np.ndarray) else np.asarray(other, self.dtype), self)


@in_single
def special_spherical_bessel_j0(self: Array) -> Array:
    return np.asarray(np.sinc(self / np.pi), self.dtype)


@in_single
def sinc(self: Array) -> Array:
    return np.asarray(np.sinc(self), self.dtype)


@in_single
def _derivative_of_digamma(self: Array, n: int) -> Array:
    from scipy.special import polygamma as kernel

    return np.asarray(kernel(n, self), self.dtype)


def polygamma(n: int, self: Array) -> Array:
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n. Got {n}")
    return _derivative_of_digamma(self, n)


@in_single
def mvlgamma(self: Array, p: int) -> Array:
    from scipy.special import gammaln

    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, got {p}")
    steps = np.arange(0.0, -p, -1.0).astype(self.dtype) / 2
    pi = p * (p - 1) / 4 * math.log(math.pi)
    return np.asarray(gammaln(self[..., None] + steps).sum(-1) + pi, self.dtype)


@in_single
def logit(self: Array, eps: float | None = None) -> Array:
    inside = self if eps is None else np.clip(self, eps, 1 - eps)
    return np.asarray(np.log(inside / (1 - inside)))


nextafter = np.nextafter


def _polynomial(name: str) -> Kernel:
    """The orthogonal polynomials ``p_n(x)`` that SciPy names `name`; 0 for a negative degree."""

    @in_single
    def kernel(x: Array, n: Array) -> Array:
        from scipy import special

        degree = n.astype(np.int64)
        values = getattr(special, name)(np.maximum(degree, 0), x)
        return np.where(degree < 0, 0, values).astype(x.dtype)

    return kernel


special_chebyshev_polynomial_t = _polynomial("eval_chebyt")
special_chebyshev_polynomial_u = _polynomial("eval_chebyu")
special_hermite_polynomial_h = _polynomial("eval_hermite")
special_hermite_polynomial_he = _polynomial("eval_hermitenorm")
special_laguerre_polynomial_l = _polynomial("eval_laguerre")
special_legendre_polynomial_p = _polynomial("eval_legendre")


def special_chebyshev_polynomial_v(x: Array, n: Array) -> Array:
    return special_chebyshev_polynomial_u(x, n) - special_chebyshev_polynomial_u(x, n - 1)


def special_chebyshev_polynomial_w(x: Array, n: Array) -> Array:
    return special_chebyshev_polynomial_u(x, n) + special_chebyshev_polynomial_u(x, n - 1)


def _shifted(kernel: Kernel) -> Kernel:
    """On [0, 1] what `kernel` is on [-1, 1]."""
    return lambda x, n: kernel(2 * x - 1, n)


special_shifted_chebyshev_polynomial_t = _shifted(special_chebyshev_polynomial_t)
special_shifted_chebyshev_polynomial_u = _shifted(special_chebyshev_polynomial_u)
special_shifted_chebyshev_polynomial_v = _shifted(special_chebyshev_polynomial_v)
special_shifted_chebyshev_polynomial_w = _shifted(special_chebyshev_polynomial_w)


# ∂x/∂α of a number x drawn from a distribution of parameter α, with its quantile held: minus the
# derivative of the distribution function by α over the density (Figurnov et al. 2018). SciPy has
# no derivative by the parameters, so it is a central difference, right to about 1e-9.
_STEP = 1e-5


@in_single
def standard_gamma_grad(self: Array, result: Array) -> Array:
    from scipy.special import gammainc, gammaln

    alpha, x = self.astype(np.float64), result.astype(np.float64)
    step = _STEP * np.maximum(alpha, 1e-3)
    slope = (gammainc(alpha + step, x) - gammainc(alpha - step, x)) / (2 * step)
    log_density = (alpha - 1) * np.log(x) - x - gammaln(alpha)
    return np.asarray(-slope / np.exp(log_density), self.dtype)


@in_single
def dirichlet_grad(self: Array, alpha: Array, total: Array) -> Array:
    """Of `self`, a share of a Dirichlet distribution, by its own `alpha`; the others shrink."""
    from scipy.special import betainc, betaln

    x, a = self.astype(np.float64), alpha.astype(np.float64)
    b = total.astype(np.float64) - a
    step = _STEP * np.maximum(a, 1e-3)
    slope = (betainc(a + step, b, x) - betainc(a - step, b, x)) / (2 * step)
    log_density = (a - 1) * np.log(x) + b * np.log1p(-x) - betaln(a, b)
    return np.asarray(-slope / np.exp(log_density), self.dtype)
