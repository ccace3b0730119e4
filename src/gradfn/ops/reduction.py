"""Reductions: sums, products, moments and counts over some or all dimensions."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any

from .. import raw
from ..raw.reduction import Dims, count
from .checking import checked
from .declare import op
from .out import with_out

if TYPE_CHECKING:
    from ..dtypes import dtype as DType
    from ..tensor import Tensor

__all__ = [
    "all",
    "any",
    "count_nonzero",
    "mean",
    "nanmean",
    "nansum",
    "prod",
    "std",
    "std_mean",
    "sum",
    "trace",
    "var",
    "var_mean",
]

UNSET: Any = ...  # the default of arguments for which None is a choice

unsum = op(
    "unsum(self, shape, dim=None, keepdim=False)",
    kernel=raw.unsum,
    node="ExpandBackward0",
    tangent="linear",
    self=lambda F, g, dim, keepdim: F.sum(g, dim, keepdim),
    doc="""What a reduction of `shape` left, repeated over what it reduced: the adjoint of sum.""",
)
sum_all = op(
    "sum(self, *, dtype=None)",
    kernel=raw.sum,
    tangent="linear",
    self=lambda F, g, self_shape: F.unsum(g, self_shape),
)
sum_dim = op(
    "sum.dim(self, dim, keepdim=False, *, dtype=None)",
    kernel=raw.sum,
    node="SumBackward1",
    tangent="linear",
    self=lambda F, g, self_shape, dim, keepdim: F.unsum(g, self_shape, dim, keepdim),
)
nansum = op(
    "nansum(self, dim=None, keepdim=False, *, dtype=None)",
    kernel=raw.nansum,
    tangent="contracted",
    self=lambda F, g, self, self_shape, dim, keepdim: (
        F.unsum(g, self_shape, dim, keepdim) * (self == self)
    ),
    doc="""The sum of the elements that are not NaN. As `sum` otherwise.

    >>> import gradfn
    >>> gradfn.nansum(gradfn.tensor([1.0, gradfn.nan]))
    tensor(1.)
    """,
)
trace = op(
    "trace(self)",
    kernel=raw.trace,
    tangent="linear",
    self=lambda F, g, self_shape: F.diagonal_backward(
        F.unsum(g, (builtins.min(self_shape),)), self_shape
    ),
    doc="""The sum of the diagonal of a matrix.

    >>> import gradfn
    >>> gradfn.trace(gradfn.tensor([[1, 2], [3, 4]]))
    tensor(5)
    """,
)
mean_all = op(
    "mean(self, *, dtype=None)",
    kernel=raw.mean,
    tangent="linear",
    self=lambda F, g, self_shape: F.unsum(g / (math.prod(self_shape) or 1), self_shape),
)


def _mean_gradient(F: Any, g: Any, self_shape: Any, dim: Dims, keepdim: bool) -> Any:
    return F.unsum(g / (count(self_shape, dim) or 1), self_shape, dim, keepdim)


mean_dim = op(
    "mean.dim(self, dim, keepdim=False, *, dtype=None)",
    kernel=raw.mean,
    node="MeanBackward1",
    tangent="linear",
    self=_mean_gradient,
)


def _others(F: Any, self: Any, dim: int) -> Any:
    """The product of all the other elements along `dim`, exact where there are zeros."""
    before = F.shift(F.cumprod(self, dim), dim, 1, 1)
    after = F.flip(F.shift(F.cumprod(F.flip(self, (dim,)), dim), dim, 1, 1), (dim,))
    return before * after


prod_all = op(
    "prod(self, *, dtype=None)",
    kernel=raw.prod,
    tangent="contracted",
    self=lambda F, g, self, self_shape: (
        g * F.reshape(_others(F, F.reshape(self, (-1,)), 0), self_shape).conj() if self_shape else g
    ),
)
prod_dim = op(
    "prod.dim_int(self, dim, keepdim=False, *, dtype=None)",
    kernel=raw.prod_dim,
    tangent="contracted",
    node="ProdBackward1",
    self=lambda F, g, self, self_shape, dim, keepdim: (
        F.unsum(g, self_shape, dim, keepdim) * _others(F, self, dim).conj() if self_shape else g
    ),
)


def _var_gradient(
    F: Any, g: Any, self: Any, self_shape: Any, dim: Dims, correction: Any, keepdim: bool
) -> Any:
    freedom = count(self_shape, dim) - (1 if correction is None else correction)
    slope, mean = F.unsum(g, self_shape, dim, keepdim), F.mean(self, dim, True)
    if freedom <= 0 and (dim is None or not self_shape):
        return slope * F.where(self == mean, math.nan, math.inf)
    return slope * (2 / freedom if freedom else math.inf) * (self - mean)


def _std_gradient(
    F: Any,
    g: Any,
    self: Any,
    result: Any,
    self_shape: Any,
    dim: Dims,
    correction: Any,
    keepdim: bool,
) -> Any:
    """The gradient of a constant's standard deviation is zero."""
    slope = F.where(result == 0, 0, g / (2 * result))
    return _var_gradient(F, slope, self, self_shape, dim, correction, keepdim)


def _var_mean_gradient(
    F: Any,
    g_variance: Any,
    g_mean: Any,
    self: Any,
    self_shape: Any,
    dim: Dims,
    correction: Any,
    keepdim: bool,
) -> Any:
    spread = _var_gradient(F, g_variance, self, self_shape, dim, correction, keepdim)
    return spread + _mean_gradient(F, g_mean, self_shape, dim, keepdim)


def _std_mean_gradient(
    F: Any,
    g_deviation: Any,
    g_mean: Any,
    self: Any,
    deviation: Any,
    self_shape: Any,
    dim: Dims,
    correction: Any,
    keepdim: bool,
) -> Any:
    spread = _std_gradient(F, g_deviation, self, deviation, self_shape, dim, correction, keepdim)
    return spread + _mean_gradient(F, g_mean, self_shape, dim, keepdim)


_MOMENT = "(self, dim=None, *, correction=None, keepdim=False)"

var_of = op("var" + _MOMENT, kernel=raw.var, tangent="contracted", self=_var_gradient)
std_of = op("std" + _MOMENT, kernel=raw.std, tangent="contracted", self=_std_gradient)
var_mean_of = op(
    "var_mean" + _MOMENT,
    kernel=raw.var_mean,
    results=("variance", "mean"),
    self=_var_mean_gradient,
)
std_mean_of = op(
    "std_mean" + _MOMENT,
    kernel=raw.std_mean,
    results=("deviation", "mean"),
    self=_std_mean_gradient,
)
any = op(
    "any(self, dim=None, keepdim=False)",
    kernel=raw.any,
    doc="""Whether some element over `dim` is not zero: bool (uint8 for uint8).

    >>> import gradfn
    >>> gradfn.any(gradfn.tensor([[0, 1], [0, 0]]), 1)
    tensor([ True, False])
    """,
)
all = op(
    "all(self, dim=None, keepdim=False)",
    kernel=raw.all,
    doc="""Whether no element over `dim` is zero: bool (uint8 for uint8).

    >>> import gradfn
    >>> gradfn.all(gradfn.tensor([[0, 1], [1, 1]]), 1)
    tensor([False,  True])
    """,
)
count_nonzero = op(
    "count_nonzero(self, dim=None)",
    kernel=raw.count_nonzero,
    doc="""How many elements over `dim` are not zero: int64.

    >>> import gradfn
    >>> gradfn.count_nonzero(gradfn.tensor([0, 2, 3]))
    tensor(2)
    """,
)


def sum(
    input: Tensor,
    dim: Dims = UNSET,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    **names: Any,
) -> Tensor:
    """The sum over `dim` (an int, a tuple; None, () and the default mean all dimensions).

    Integers and bools are summed in int64; `dtype` converts before summing. IndexError where a
    dimension is out of range, RuntimeError where one comes twice.

    >>> import gradfn
    >>> gradfn.sum(gradfn.tensor([[1, 2], [3, 4]]), 0)
    tensor([4, 6])
    """
    if dim is UNSET and not (keepdim or names):
        return sum_all(input, dtype=dtype)
    return sum_dim(input, dim, keepdim, dtype=dtype, **names)


def mean(
    input: Tensor,
    dim: Dims = UNSET,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    **names: Any,
) -> Tensor:
    """The mean over `dim` (an int, a tuple; None, () and the default mean all dimensions).

    RuntimeError for integers, unless `dtype` says in which dtype to compute.

    >>> import gradfn
    >>> gradfn.mean(gradfn.tensor([[1.0, 2.0], [3.0, 4.0]]), 1)
    tensor([1.5000, 3.5000])
    """
    if dim is UNSET and not keepdim and names.keys() <= {"out"}:
        return mean_all(input, dtype=dtype, **names)
    return mean_dim(input, dim, keepdim, dtype=dtype, **names)


@with_out
@checked
def nanmean(
    input: Any, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Any:
    """The mean of the elements that are not NaN. As `mean` otherwise.

    >>> import gradfn
    >>> gradfn.nanmean(gradfn.tensor([1.0, gradfn.nan, 3.0]))
    tensor(2.)
    """
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{input.dtype.scalar_name}"
        )
    total: Any = nansum(input, dim, keepdim, dtype=dtype)
    return total / sum(input == input, dim, keepdim)


def prod(
    input: Tensor,
    dim: int = UNSET,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    **names: Any,
) -> Tensor:
    """The product of all elements, or over the dimension `dim`. Integers give int64.

    >>> import gradfn
    >>> gradfn.prod(gradfn.tensor([2, 3, 4]))
    tensor(24)
    """
    if dim is UNSET and not (keepdim or names):
        return prod_all(input, dtype=dtype)
    return prod_dim(input, dim, keepdim, dtype=dtype, **names)


def _moment(row: Any, name: str, what: str, example: str) -> Any:
    """The front of `row`, which takes `unbiased` for `correction` in PyTorch's older forms."""

    def front(
        input: Tensor,
        dim: Dims | bool = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
        **names: Any,
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None:
            if correction is not None:
                raise TypeError(
                    f"{name}() received an invalid combination of arguments - got both unbiased="
                    f"{unbiased} and correction={correction}, which say the same"
                )
            correction = int(unbiased)
        return row(input, dim, correction=correction, keepdim=keepdim, **names)

    front.__name__ = front.__qualname__ = name
    front.__doc__ = f"""{what} over `dim` (an int, a tuple; all dimensions by default).

    Squared deviations are summed and divided by ``max(0, N - correction)``; `correction` is 1, or
    0 for ``unbiased=False``. RuntimeError for integers.

    >>> import gradfn
    >>> gradfn.{name}(gradfn.tensor([1.0, 2.0, 3.0]))
    {example}
    """
    return front


var = _moment(var_of, "var", "The variance", "tensor(1.)")
std = _moment(std_of, "std", "The standard deviation", "tensor(1.)")
var_mean = _moment(var_mean_of, "var_mean", "The variance and the mean", "(tensor(1.), tensor(2.))")
std_mean = _moment(
    std_mean_of, "std_mean", "The standard deviation and the mean", "(tensor(1.), tensor(2.))"
)


METHODS = "all any count_nonzero mean nanmean nansum prod std sum trace var"
