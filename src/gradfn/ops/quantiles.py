"""Quantiles, composed of sorts and gathers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from ..autograd.batching import all_values
from ..autograd.variable import Variable
from ..creation import full_like
from ..shapes import broadcast_shapes, wrap_dim
from .checking import checked
from .comparison import isnan, logical_not
from .out import with_out
from .reducing import times
from .sorting import sort

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["nanquantile", "quantile"]

_ROUNDINGS = {"lower": "floor", "higher": "ceil", "nearest": "round"}
_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@with_out
@checked
def quantile(
    input: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    axis: int | None = None,
) -> Any:
    """The `q`-quantiles along `dim`, by default of all elements; NaN where there is a NaN.

    `q` lies between 0 and 1; a 1-d tensor of them gives the first dimension of the result.
    Between two elements, `interpolation` is "linear", "lower", "higher", "midpoint" or "nearest".
    RuntimeError for an empty `input` and for dtypes other than float32 and float64.

    >>> import gradfn
    >>> gradfn.quantile(gradfn.tensor([1.0, 2.0, 3.0, 4.0]), 0.5)
    tensor(2.5000)
    """
    dim = dim if axis is None else axis
    return _quantile(input, q, dim, keepdim, interpolation)


@with_out
@checked
def nanquantile(
    input: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    axis: int | None = None,
) -> Any:
    """The quantiles of the elements that are not NaN: see `quantile`.

    >>> import gradfn
    >>> gradfn.nanquantile(gradfn.tensor([1.0, gradfn.nan, 3.0]), 0.5)
    tensor(2.)
    """
    dim = dim if axis is None else axis
    return _quantile(input, q, dim, keepdim, interpolation, ignore_nan=True)


def _quantile(
    input: Any, q: Any, dim: int | None, keepdim: bool, between: str, ignore_nan: bool = False
) -> Any:
    q = _checked(input, q, between)
    ordered = _ordered(input, dim, keepdim)
    ranks = _ranks(q, ordered, ignore_nan)
    if between in _ROUNDINGS:
        places = getattr(ranks, _ROUNDINGS[between])().to(dtypes.int64)
        values = ordered.gather(-1, places)
    else:
        below, above = ranks.to(dtypes.int64), ranks.ceil().to(dtypes.int64)
        weights = ranks - below
        if between == "midpoint":
            weights = full_like(weights, 0.5)
        values = ordered.gather(-1, below).lerp_(ordered.gather(-1, above), weights)
    if q.dim() == 0:
        return values.squeeze_(-1)
    return values.unsqueeze_(0).transpose_(0, -1).squeeze_(-1)


def _checked(input: Any, q: Any, interpolation: str) -> Any:
    """`q` as a tensor, where everything fits."""
    if input.numel() == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(
            f"quantile() input tensor must be either float or double dtype, not {input.dtype}"
        )
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if isinstance(q, int | float):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        return Variable.wrap(np.array(q, input.dtype.numpy))
    if not isinstance(q, Variable):
        raise TypeError(
            f"quantile() received an invalid combination of arguments: q must be a float or a "
            f"Tensor, not {type(q).__name__}"
        )
    if q._array.ndim > 1:
        raise RuntimeError(f"quantile() q must be a scalar or 1D tensor, not {q._array.ndim}-d")
    if q.dtype is not input.dtype:
        raise RuntimeError(
            f"quantile() q tensor must be same dtype as the input tensor: {q.dtype} is not "
            f"{input.dtype}"
        )
    values = all_values(q._array)
    if not ((values >= 0) & (values <= 1)).all():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    return q


def _ordered(input: Any, dim: int | None, keepdim: bool) -> Any:
    """The sorted elements in the last dimension of what else is of the result's shape."""
    shape = list(input.shape)
    if dim is None:
        rows, shape = input.flatten(), [1] * len(shape) if keepdim else []
    else:
        dim = wrap_dim(dim, len(shape))
        rows = input if dim == input.dim() - 1 else input.unsqueeze(-1).transpose(dim, -1)
        if shape:
            shape[dim : dim + 1] = [1] if keepdim else []
    values, _ = sort(rows)
    return values.view(*shape, values.shape[-1])


def _ranks(q: Any, ordered: Any, ignore_nan: bool) -> Any:
    """Where among the ordered elements the quantiles lie: NaN, which comes last, is the quantile
    where it is not ignored."""
    last = ordered.shape[-1] - 1
    if not ignore_nan:
        has_nan = isnan(ordered.detach()).any(-1, keepdim=True)
        ranks = times(q, last)
        shape = broadcast_shapes(ranks.shape, has_nan.shape)
        ranks = ranks if shape == ranks.shape else ranks.expand(shape)
        return ranks.masked_fill(has_nan, last)
    known = logical_not(isnan(ordered.detach())).sum(-1, keepdim=True)
    ranks = q * (known - 1)
    return ranks.masked_fill(ranks < 0, 0)


METHODS = "nanquantile quantile"
