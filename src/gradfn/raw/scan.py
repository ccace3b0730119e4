"""Scans: what accumulates along a dimension."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from .. import dtypes
from .elementwise import logaddexp
from .numbers import Array, narrow_as, refuse, row_major, wide
from .reduction import cast, one_dim

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "logcumsumexp", "recurrence", "shift"]


def cumsum(self: Array, dim: int, *, dtype: dtypes.dtype | None = None) -> Array:
    return _accumulated("cumsum", np.add, self, dim, dtype)


def cumprod(self: Array, dim: int, *, dtype: dtypes.dtype | None = None) -> Array:
    return _accumulated("cumprod", np.multiply, self, dim, dtype)


def _accumulated(
    name: str, ufunc: np.ufunc, self: Array, dim: int, dtype: dtypes.dtype | None
) -> Array:
    axis = one_dim(name, dim, self.ndim)
    if dtype is not None:
        self = cast(self, dtype)
        refuse(f"{name}_out_cpu", self, "b" if self.ndim and self.size else "")
    elif self.dtype.kind in "biu":
        self = self.astype(np.int64, copy=False)
    if not self.ndim:
        return self.copy()
    values = row_major(wide(self))
    return narrow_as(ufunc.accumulate(values, axis, values.dtype), self)


def cummax(self: Array, dim: int) -> tuple[Array, Array]:
    return _running("cummax", np.maximum, self, dim)


def cummin(self: Array, dim: int) -> tuple[Array, Array]:
    return _running("cummin", np.minimum, self, dim)


def _running(name: str, ufunc: np.ufunc, self: Array, dim: int) -> tuple[Array, Array]:
    """Running extrema, and where each was seen last."""
    axis = one_dim(name, dim, self.ndim)
    refuse(f"{name}_cpu", self, "c")
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    self = row_major(self)
    values = ufunc.accumulate(self, axis)
    along = np.arange(self.shape[axis]).reshape([-1] + [1] * (self.ndim - 1 - axis))
    seen = np.where((self == values) | (self != self), along, 0)
    return values, np.maximum.accumulate(seen, axis)


def logcumsumexp(self: Array, dim: int) -> Array:
    axis = one_dim("logcumsumexp", dim, self.ndim)
    refuse("logcumsumexp_out_cpu", self, "biu")
    if not self.ndim:
        return self.copy()
    if self.dtype.kind == "f":
        return narrow_as(np.logaddexp.accumulate(row_major(wide(self)), axis), self)
    out = np.empty(self.shape, self.dtype)
    rows = np.moveaxis(out, axis, 0)
    for i, total in enumerate(accumulate(np.moveaxis(self, axis, 0), logaddexp)):
        rows[i] = total
    return out


def recurrence(self: Array, factor: Array, dim: int, reverse: bool = False) -> Array:
    """The linear recurrence ``y[i] = self[i] + factor[i] * y[i-1]`` along `dim`.

    In reverse it is ``y[i] = self[i] + factor[i+1] * y[i+1]``: each is the other's adjoint.
    """
    if not self.ndim:
        return self.copy()
    factor = np.broadcast_to(factor, self.shape)
    terms, factors = np.moveaxis(self, dim, 0), np.moveaxis(factor, dim, 0)
    out = np.empty(terms.shape, np.result_type(self, factor))
    if reverse:
        terms, factors = terms[::-1], np.roll(factors[::-1], 1, 0)
        _recur(terms, factors, out[::-1])
    else:
        _recur(terms, factors, out)
    return np.moveaxis(out, 0, dim)


def _recur(terms: Array, factors: Array, out: Array) -> None:
    if terms.ndim == 1:  # Python's floats are faster than arrays of one
        steps = zip(terms.tolist(), factors.tolist(), strict=True)
        pairs = accumulate(steps, lambda y, step: (step[0] + step[1] * y[0], 0))
        out[:] = [y for y, _ in pairs]
        return
    for i in range(len(terms)):
        out[i] = terms[i] if i == 0 else terms[i] + factors[i] * out[i - 1]


def shift(self: Array, dim: int, by: int, fill: Any = 0) -> Array:
    """The elements moved on by `by` along `dim`, `fill` where none came from."""
    if not self.ndim:
        return np.full_like(self, fill)
    out = np.full_like(self, fill)
    rows, moved = np.moveaxis(self, dim, 0), np.moveaxis(out, dim, 0)
    if by >= 0:
        moved[by:] = rows[: max(len(rows) - by, 0)]
    else:
        moved[:by] = rows[-by:]
    return out
