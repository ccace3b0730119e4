"""Extrema and other order statistics, with their positions.

Where equal elements are to choose from, an index is that of the first largest or smallest one,
or, for medians and the like, that in a stable sort.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import raw
from ..autograd.variable import Variable
from ..raw.reduction import Dims
from . import return_types
from .comparison import maximum, minimum
from .declare import op
from .reduction import UNSET

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "amax",
    "amin",
    "aminmax",
    "argmax",
    "argmin",
    "kthvalue",
    "max",
    "median",
    "min",
    "mode",
    "nanmedian",
]


unselect = op(
    "unselect(self, dim, index: Tensor, shape, accumulate=False)",
    kernel=raw.unselect,
    tangent="linear",
    self=lambda F, g, dim, index: F.gather(g, dim, index),
    doc="Zeros of `shape` with `input` at `index` along `dim`, added up if `accumulate`.",
)


def _to_chosen(
    F: Any, g_values: Any, indices: Any, self_shape: Any, dim: int, keepdim: bool
) -> Any:
    """The gradient goes to the elements at the returned indices."""
    if self_shape and not keepdim:
        g_values, indices = F.unsqueeze(g_values, dim), F.unsqueeze(indices, dim)
    return F.unselect(g_values, dim, indices, self_shape)


def _from_chosen(
    F: Any, self_t: Any, indices: Any, self_shape: Any, dim: int, keepdim: bool
) -> Any:
    """The tangents at the returned indices."""
    if not self_shape or keepdim:
        return F.gather(self_t, dim, indices), None
    return F.squeeze(F.gather(self_t, dim, F.unsqueeze(indices, dim)), dim), None


def _to_equals(
    F: Any, g: Any, self: Any, result: Any, self_shape: Any, dim: Dims, keepdim: bool
) -> Any:
    """The gradient is shared evenly among the elements equal to the result."""
    ties = self == F.unsum(result, self_shape, dim, keepdim)
    share = g / F.sum(ties, dim, keepdim)
    return F.unsum(share, self_shape, dim, keepdim) * ties


def _to_all_equals(F: Any, g: Any, self: Any, result: Any) -> Any:
    """As `_to_equals`, over everything; here NaN equals NaN."""
    ties = F.where(result == result, self == result, self != self)
    return g / F.sum(ties) * ties


def _from_all_equals(F: Any, self: Any, self_t: Any, result: Any) -> Any:
    """The mean of the tangents of all elements equal to the result."""
    ties = self == result
    return F.sum(F.where(ties, self_t, 0)) / F.sum(ties)


amax = op(
    "amax(self, dim=(), keepdim=False)",
    kernel=raw.amax,
    tangent="contracted",
    self=_to_equals,
    doc="""The largest elements over `dim` (an int, a tuple; all by default).

    The gradient is shared evenly among equal elements; `max` over one dimension gives it to one.
    RuntimeError or IndexError where there is nothing to choose from.

    >>> import gradfn
    >>> gradfn.amax(gradfn.tensor([[1.0, 3.0], [2.0, 0.0]]), 0)
    tensor([2., 3.])
    """,
)
amin = op(
    "amin(self, dim=(), keepdim=False)",
    kernel=raw.amin,
    tangent="contracted",
    self=_to_equals,
    doc="""The smallest elements over `dim`: see `amax`.

    >>> import gradfn
    >>> gradfn.amin(gradfn.tensor([[1.0, 3.0], [2.0, 0.0]]), 0)
    tensor([1., 0.])
    """,
)
aminmax = op(
    "aminmax(self, *, dim=None, keepdim=False)",
    kernel=raw.aminmax,
    results=return_types.aminmax,
    self=lambda F, g_min, g_max, self, min, max, self_shape, dim, keepdim: (
        _to_equals(F, g_min, self, min, self_shape, dim, keepdim)
        + _to_equals(F, g_max, self, max, self_shape, dim, keepdim)
    ),
    doc="""The smallest and the largest elements over `dim` (an int; all by default).

    >>> import gradfn
    >>> gradfn.aminmax(gradfn.tensor([3, 1, 2])).max
    tensor(3)
    """,
)
max_all = op(
    "max(self)",
    kernel=raw.max,
    node="MaxBackward1",
    tangent=_from_all_equals,
    self=_to_all_equals,
)
min_all = op(
    "min(self)",
    kernel=raw.min,
    node="MinBackward1",
    tangent=_from_all_equals,
    self=_to_all_equals,
)
max_dim = op(
    "max.dim(self, dim, keepdim=False)",
    kernel=raw.max_dim,
    results=return_types.max,
    tangent=_from_chosen,
    self=_to_chosen,
)
min_dim = op(
    "min.dim(self, dim, keepdim=False)",
    kernel=raw.min_dim,
    results=return_types.min,
    tangent=_from_chosen,
    self=_to_chosen,
)
argmax = op(
    "argmax(self, dim=None, keepdim=False)",
    kernel=raw.argmax,
    doc="""The position of the first largest element, along `dim` or in the flattened tensor.

    >>> import gradfn
    >>> gradfn.argmax(gradfn.tensor([1.0, 3.0, 3.0]))
    tensor(1)
    """,
)
argmin = op(
    "argmin(self, dim=None, keepdim=False)",
    kernel=raw.argmin,
    doc="""The position of the first smallest element, along `dim` or in the flattened tensor.

    >>> import gradfn
    >>> gradfn.argmin(gradfn.tensor([1.0, 3.0, 3.0]))
    tensor(0)
    """,
)
median_all = op(
    "median(self)",
    kernel=raw.median,
    tangent=_from_all_equals,
    self=_to_all_equals,
)
nanmedian_all = op(
    "nanmedian(self)",
    kernel=raw.nanmedian,
    tangent=_from_all_equals,
    self=_to_all_equals,
)
median_dim = op(
    "median.dim(self, dim, keepdim=False)",
    kernel=raw.median_dim,
    node="MedianBackward1",
    results=return_types.median,
    tangent=_from_chosen,
    self=_to_chosen,
)
nanmedian_dim = op(
    "nanmedian.dim(self, dim, keepdim=False)",
    kernel=raw.nanmedian_dim,
    node="NanmedianBackward1",
    results=return_types.nanmedian,
    tangent=_from_chosen,
    self=_to_chosen,
)
mode = op(
    "mode(self, dim=-1, keepdim=False)",
    kernel=raw.mode,
    results=return_types.mode,
    tangent=_from_chosen,
    self=_to_chosen,
    doc="""The smallest of the most frequent values along `dim`, and where each comes last.

    >>> import gradfn
    >>> gradfn.mode(gradfn.tensor([2, 1, 2, 1])).values
    tensor(1)
    """,
)
kthvalue = op(
    "kthvalue(self, k, dim=-1, keepdim=False)",
    kernel=raw.kthvalue,
    results=return_types.kthvalue,
    tangent=_from_chosen,
    self=_to_chosen,
    doc="""The `k`-th smallest elements along `dim` (`k` counts from 1), and where they are.

    >>> import gradfn
    >>> gradfn.kthvalue(gradfn.tensor([3.0, 1.0, 2.0]), 2).values
    tensor(2.)
    """,
)


def max(input: Tensor, dim: Any = UNSET, keepdim: bool = False, **names: Any) -> Any:
    """The largest element; over one dimension, values and indices; or `maximum` of two tensors.

    ``max(input)`` shares its gradient evenly among equal elements, ``max(input, dim)`` gives it to
    the element at the returned index. NaN wins.

    >>> import gradfn
    >>> gradfn.max(gradfn.tensor([1.0, 3.0]), 0).indices
    tensor(1)
    """
    if dim is UNSET and not keepdim and names.keys() <= {"out"}:
        return max_all(input, **names)
    return _along_or_pairwise(max_dim, maximum, input, dim, keepdim, names)


def min(input: Tensor, dim: Any = UNSET, keepdim: bool = False, **names: Any) -> Any:
    """The smallest element; over one dimension, values and indices; or `minimum` of two tensors.

    See `max`.

    >>> import gradfn
    >>> gradfn.min(gradfn.tensor([1.0, 3.0]), 0).indices
    tensor(0)
    """
    if dim is UNSET and not keepdim and names.keys() <= {"out"}:
        return min_all(input, **names)
    return _along_or_pairwise(min_dim, minimum, input, dim, keepdim, names)


def _along_or_pairwise(
    along: Any, pairwise: Any, input: Any, dim: Any, keepdim: bool, names: dict[str, Any]
) -> Any:
    other = names.pop("other", dim)
    if not isinstance(other, Variable):
        return along(input, dim, keepdim, **names)
    if keepdim or names.keys() - {"out"}:
        name = along.operator.name
        raise TypeError(f"{name}(): argument 'dim' (position 2) must be int, not Tensor")
    return pairwise(input, other, **names)


def median(input: Tensor, dim: int = UNSET, keepdim: bool = False, **names: Any) -> Any:
    """The lower median of all elements; or, over one dimension, values and indices.

    NaN where there is one; `nanmedian` leaves them out.

    >>> import gradfn
    >>> gradfn.median(gradfn.tensor([4.0, 1.0, 3.0, 2.0]))
    tensor(2.)
    """
    if dim is UNSET and not (keepdim or names):
        return median_all(input)
    return median_dim(input, dim, keepdim, **names)


def nanmedian(input: Tensor, dim: int = UNSET, keepdim: bool = False, **names: Any) -> Any:
    """The lower median of the elements that are not NaN: see `median`.

    >>> import gradfn
    >>> gradfn.nanmedian(gradfn.tensor([1.0, gradfn.nan, 3.0]))
    tensor(1.)
    """
    if dim is UNSET and not (keepdim or names):
        return nanmedian_all(input)
    return nanmedian_dim(input, dim, keepdim, **names)


METHODS = "amax amin aminmax argmax argmin kthvalue max median min mode nanmedian"
