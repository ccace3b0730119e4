"""Scans: sums, products and extrema of all the elements before, and including, each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import raw
from . import return_types
from .declare import op
from .emit import inplace

if TYPE_CHECKING:
    from ..dtypes import dtype as DType
    from ..tensor import Tensor

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "logcumsumexp"]

# The two linear maps that the derivatives below are made of.
shift = op(
    "shift(self, dim, by, fill=0)",
    kernel=raw.shift,
    tangent=lambda F, self_t, dim, by: F.shift(self_t, dim, by),
    self=lambda F, g, dim, by: F.shift(g, dim, -by),
    doc="The elements moved on by `by` along `dim`, `fill` where none came from.",
)


def _recurrence_tangent(
    F: Any, self_t: Any, factor: Any, factor_t: Any, result: Any, dim: int, reverse: bool
) -> Any:
    fed = F.shift(factor_t * result, dim, -1) if reverse else factor_t * F.shift(result, dim, 1)
    return F.recurrence(self_t + fed, factor, dim, reverse)


recurrence = op(
    "recurrence(self, factor, dim, reverse=False)",
    kernel=raw.recurrence,
    tangent=_recurrence_tangent,
    self=lambda F, g, factor, dim, reverse: F.recurrence(g, factor.conj(), dim, not reverse),
    factor=lambda F, g, factor, result, dim, reverse: (
        F.shift(F.recurrence(g, factor.conj(), dim), dim, 1) * result.conj()
        if reverse
        else F.recurrence(g, factor.conj(), dim, True) * F.shift(result, dim, 1).conj()
    ),
    doc="""The linear recurrence ``y[i] = input[i] + factor[i] * y[i-1]`` along `dim`.

    In reverse it is ``y[i] = input[i] + factor[i+1] * y[i+1]``: each is the other's adjoint.
    """,
)

cumsum = op(
    "cumsum(self, dim, *, dtype=None)",
    kernel=raw.cumsum,
    tangent="linear",
    self=lambda F, g, dim: F.flip(F.cumsum(F.flip(g, (dim,)), dim), (dim,)),
    doc="""The sums of the elements up to each one along `dim`. Integers give int64.

    >>> import gradfn
    >>> gradfn.cumsum(gradfn.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """,
)


def _cumprod_gradient(F: Any, g: Any, self: Any, result: Any, self_shape: Any, dim: int) -> Any:
    """Products without element i: of those before it, times sums over those after it."""
    if not self_shape or 0 in self_shape:
        return g
    return F.shift(result, dim, 1, 1).conj() * F.recurrence(g, self.conj(), dim, True)


def _cumprod_tangent(F: Any, self: Any, self_t: Any, self_shape: Any, result: Any, dim: int) -> Any:
    if not self_shape or 0 in self_shape:
        return self_t
    return F.recurrence(F.shift(result, dim, 1, 1) * self_t, self, dim)


cumprod = op(
    "cumprod(self, dim, *, dtype=None)",
    kernel=raw.cumprod,
    tangent=_cumprod_tangent,
    self=_cumprod_gradient,
    doc="""The products of the elements up to each one along `dim`. Integers give int64.

    >>> import gradfn
    >>> gradfn.cumprod(gradfn.tensor([1, 2, 3]), 0)
    tensor([1, 2, 6])
    """,
)
cummax = op(
    "cummax(self, dim)",
    kernel=raw.cummax,
    results=return_types.cummax,
    tangent=lambda F, self_t, indices, dim: (F.gather(self_t, dim, indices), None),
    self=lambda F, g_values, indices, self_shape, dim: F.unselect(
        g_values, dim, indices, self_shape, True
    ),
    doc="""The largest elements so far along `dim`, and where each was seen last.

    >>> import gradfn
    >>> gradfn.cummax(gradfn.tensor([1, 3, 2]), 0).values
    tensor([1, 3, 3])
    """,
)
cummin = op(
    "cummin(self, dim)",
    kernel=raw.cummin,
    results=return_types.cummin,
    tangent=lambda F, self_t, indices, dim: (F.gather(self_t, dim, indices), None),
    self=lambda F, g_values, indices, self_shape, dim: F.unselect(
        g_values, dim, indices, self_shape, True
    ),
    doc="""The smallest elements so far along `dim`, and where each was seen last.

    >>> import gradfn
    >>> gradfn.cummin(gradfn.tensor([3, 1, 2]), 0).values
    tensor([3, 1, 1])
    """,
)


def _logcumsumexp_gradient(
    F: Any, g: Any, self: Any, result: Any, self_shape: Any, dim: int
) -> Any:
    """Sums of ``g[k] * exp(self[i] - result[k])`` over k >= i, by steps that cannot overflow."""
    if not self_shape or 0 in self_shape:
        return g
    step = _logcumsumexp_step(F, result, dim)
    return F.exp(self - result).conj() * F.recurrence(g, step.conj(), dim, True)


def _logcumsumexp_step(F: Any, result: Any, dim: int) -> Any:
    """The share of the sum so far that the elements before have."""
    before = F.shift(result, dim, 1)
    return F.exp(F.where(before == result, 0, before - result))  # also where both are infinite


def _logcumsumexp_tangent(
    F: Any, self: Any, self_t: Any, self_shape: Any, result: Any, dim: int
) -> Any:
    if not self_shape or 0 in self_shape:
        return self_t
    share = F.where(self == -math.inf, 0, F.exp(self - result))
    return F.recurrence(share * self_t, _logcumsumexp_step(F, result, dim), dim)


logcumsumexp = op(
    "logcumsumexp(self, dim)",
    kernel=raw.logcumsumexp,
    tangent=_logcumsumexp_tangent,
    self=_logcumsumexp_gradient,
    doc="""The logarithms of the sums of exponentials of the elements up to each one.

    >>> import gradfn
    >>> gradfn.logcumsumexp(gradfn.tensor([0.0, 0.0]), 0)
    tensor([0.0000, 0.6931])
    """,
)

_cumsum_, _cumprod_ = map(inplace, (cumsum, cumprod))


def cumsum_(
    input: Tensor, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None
) -> Any:
    """`cumsum` in place, in the dtype of `input`."""
    return _cumsum_(input, dim, dtype=_own_dtype("cumsum", input, dtype), axis=axis)


def cumprod_(
    input: Tensor, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None
) -> Any:
    """`cumprod` in place, in the dtype of `input`."""
    return _cumprod_(input, dim, dtype=_own_dtype("cumprod", input, dtype), axis=axis)


def _own_dtype(name: str, input: Tensor, dtype: DType | None) -> DType:
    if dtype not in (None, input.dtype):
        raise RuntimeError(
            f"Bad in-place call: input tensor dtype {input.dtype} and output tensor dtype {dtype} "
            f"should match in {name}_"
        )
    return input.dtype


METHODS = "cummax cummin cumprod cumprod_ cumsum cumsum_ logcumsumexp"
