"""Gathering and scattering: an index for every element, along one dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import raw
from ..autograd.batching import all_values
from ..shapes import broadcast_shapes, wrap_dim
from .checking import checked, row_for
from .comparison import where
from .declare import op
from .emit import inplace
from .formulas import no_derivative
from .out import with_out
from .views import expand_size, reshape

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "gather",
    "index_reduce",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "take_along_dim",
]

gather = op(
    "gather(self, dim, index: Tensor, *, sparse_grad=False)",
    kernel=raw.gather,
    tangent="linear",
    self=lambda F, g, self_shape, dim, index: F.gather_backward(g, self_shape, dim, index),
    doc="""``out[i, j] = input[index[i, j], j]`` for `dim` 0, and so on; of the shape of `index`.

    Gradients add up at positions that come twice. RuntimeError for positions out of range.

    >>> import gradfn
    >>> gradfn.gather(gradfn.tensor([[1, 2], [3, 4]]), 1, gradfn.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """,
)
gather_backward = op(
    "gather_backward(self, shape, dim, index: Tensor)",
    kernel=raw.gather_backward,
    node="ScatterAddBackward0",
    tangent="linear",
    self=lambda F, g, dim, index: F.gather(g, dim, index),
)
scatter_src = op(
    "scatter(self, dim, index: Tensor, src)",
    shares="nothing",
    kernel=raw.scatter,
    tangent="linear",
    self=lambda F, g, dim, index: F.scatter(g, dim, index, 0),
    src=lambda F, g, dim, index: F.gather(g, dim, index),
)
scatter_value = op(
    "scatter.value(self, dim, index: Tensor, value)",
    shares="nothing",
    kernel=raw.scatter,
    node="ScatterBackward1",
    tangent=lambda F, self_t, dim, index: F.scatter(self_t, dim, index, 0),
    self=lambda F, g, dim, index: F.scatter(g, dim, index, 0),
)
scatter_add = op(
    "scatter_add(self, dim, index: Tensor, src)",
    shares="nothing",
    kernel=raw.scatter_add,
    tangent="linear",
    self=lambda g: g,
    src=lambda F, g, dim, index: F.gather(g, dim, index),
    doc="""A copy with ``src[i, j]`` added to ``out[index[i, j], j]``, for `dim` 0, and so on.

    >>> import gradfn
    >>> gradfn.scatter_add(gradfn.zeros(2), 0, gradfn.tensor([1, 1]), gradfn.ones(2))
    tensor([0., 2.])
    """,
)
_scatter_src_, _scatter_value_, scatter_add_ = map(
    inplace, (scatter_src, scatter_value, scatter_add)
)


scatter_src_by = op(
    "scatter.reduce(self, dim, index: Tensor, src, reduce)",
    shares="nothing",
    kernel=raw.scatter_by,
    node="NotImplemented",
    self=no_derivative("scatter"),
    src=no_derivative("scatter"),
)
scatter_value_by = op(
    "scatter.value_reduce(self, dim, index: Tensor, value, reduce)",
    shares="nothing",
    kernel=raw.scatter_by,
    node="NotImplemented",
    self=no_derivative("scatter"),
)
_scatter_src_by_, _scatter_value_by_ = map(inplace, (scatter_src_by, scatter_value_by))


@with_out
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """A copy with ``out[index[i, j], j] = src[i, j]``, for `dim` 0, and so on: `gather` reversed.

    `src` is a tensor of the same dtype, or one number for all. Where a position comes twice, one
    value stays; or `reduce` says how to join them: ``"add"`` or ``"multiply"``.
    """
    src = value if src is None else src
    if reduce is not None:
        row = row_for(src, scatter_src_by, scatter_value_by)
        return row(input, dim, index, src, reduce)  # type: ignore[no-any-return]
    return row_for(src, scatter_src, scatter_value)(input, dim, index, src)  # type: ignore[no-any-return]


def scatter_(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """`scatter` in place."""
    src = value if src is None else src
    if reduce is not None:
        row_for(src, _scatter_src_by_, _scatter_value_by_)(input, dim, index, src, reduce)
        return input
    return row_for(src, _scatter_src_, _scatter_value_)(input, dim, index, src)  # type: ignore[no-any-return]


def _from_the_front(indices: Tensor, size: int) -> Tensor:
    """Index tensors with negative positions, which count from the end, made positive."""
    values = all_values(indices._array)
    if not values.size or values.min() >= 0:
        return indices
    positions: Any = indices
    return where(positions < 0, positions + size, positions)  # type: ignore[no-any-return]


@with_out
@checked
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """`gather` with `input` and `indices` broadcast apart from `dim`; flattened without `dim`."""
    if dim is None:
        indices = _from_the_front(indices, input._array.size)
        return gather(reshape(input, (-1,)), 0, reshape(indices, (-1,)))
    shape, wanted = input._array.shape, indices._array.shape
    if len(shape) != len(wanted):
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {len(shape)} dimensions for input, and {len(wanted)} dimensions for indices"
        )
    if indices._array.dtype != np.int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got "
            f"{indices.dtype.scalar_name}"
        )
    dim = wrap_dim(dim, len(shape))
    indices = _from_the_front(indices, shape[dim])
    common = broadcast_shapes(*((*s[:dim], 1, *s[dim + 1 :]) for s in (shape, wanted)))
    both = (
        expand_size(tensor, (*common[:dim], tensor._array.shape[dim], *common[dim + 1 :]))
        for tensor in (input, indices)
    )
    return gather(next(both), dim, next(both))


# Reductions of all that goes to one position.


def _of_product(
    F: Any, g: Any, self: Any, dim: int, index: Any, src: Any, result: Any, inc: bool
) -> tuple[Any, Any]:
    """Each factor's gradient is the product of the others: by division, but for zeros."""
    whole = F.where(self == 0, F.zeros_like(self) + 1, self)
    of_self = g * F.scatter_reduce(whole, dim, index, src, "prod", include_self=inc) / whole
    zero = src == 0
    ones, none = F.zeros_like(src) + 1, F.zeros_like(src)
    zeros = F.scatter_add(F.zeros_like(self), dim, index, F.where(zero, ones, none))
    only = F.logical_and(zero, F.gather(zeros, dim, index) == 1)
    others = F.scatter_reduce(self, dim, index, F.where(only, ones, src), "prod", include_self=inc)
    divided = F.gather(g * result, dim, index) / F.where(zero, ones, src)
    of_src = F.where(only, F.gather(g * others, dim, index), divided)
    several = F.logical_and(zero, F.gather(zeros, dim, index) > 1)
    return of_self, F.once_where(of_src, several)


def _unless_several(g: Any, several: Any) -> Any:
    if all_values(getattr(several, "_array", several)).any():
        raise RuntimeError(
            "Double backward is unsupported for src when >1 zeros in src are scattered to the same "
            "position in self: the derivative of their product by them is not computed"
        )
    return g


once_where = op(
    "once_where(self, several: Tensor)",
    kernel=raw.once_where,
    node="Error",
    tangent="linear",
    self=_unless_several,
    doc="`input`, which has no derivative where `several` is true: RuntimeError then.",
)


def _of_extremum(
    F: Any, g: Any, self: Any, dim: int, index: Any, src: Any, result: Any
) -> tuple[Any, Any]:
    """Those that equal the extremum share its gradient."""
    ours = F.where(self == result, F.zeros_like(self) + 1, F.zeros_like(self))
    found = F.gather(result, dim, index)
    theirs = F.where(src == found, F.zeros_like(src) + 1, F.zeros_like(src))
    share = g / F.scatter_add(ours, dim, index, theirs)
    return ours * share, theirs * F.gather(share, dim, index)


def _of_mean(
    F: Any, g: Any, self: Any, dim: int, index: Any, src: Any, inc: bool
) -> tuple[Any, Any]:
    counts = F.scatter_add(F.zeros_like(self) + int(inc), dim, index, F.zeros_like(src) + 1)
    share = g / F.where(counts == 0, F.zeros_like(self) + 1, counts)
    return share, F.gather(share, dim, index)


def _reduced(
    F: Any, g: Any, self: Any, dim: int, index: Any, src: Any, reduce: str, inc: bool, result: Any
) -> tuple[Any, Any]:
    """The gradients of what was there, and of what came."""
    if reduce == "sum":
        of_self, of_src = g, F.gather(g, dim, index)
    elif reduce == "mean":
        of_self, of_src = _of_mean(F, g, self, dim, index, src, inc)
    elif reduce == "prod":
        of_self, of_src = _of_product(F, g, self, dim, index, src, result, inc)
    else:
        of_self, of_src = _of_extremum(F, g, self, dim, index, src, result)
    return of_self if inc else F.scatter(of_self, dim, index, 0), of_src


def _spread(F: Any, index: Any, dim: int, source: Any) -> Any:
    """The vector `index` as an index for every element of `source`."""
    shape = source.shape
    dim = wrap_dim(dim, len(shape))
    along = [-1 if axis == dim else 1 for axis in range(len(shape))]
    return F.expand(F.reshape(index, tuple(along)), tuple(shape))


scatter_reduce = op(
    "scatter_reduce(self, dim, index: Tensor, src, reduce, *, include_self=True)",
    shares="nothing",
    kernel=raw.scatter_reduce,
    self=lambda F, g, self, dim, index, src, reduce, include_self, result: _reduced(
        F, g, self, dim, index, src, reduce, include_self, result
    )[0],
    src=lambda F, g, self, dim, index, src, reduce, include_self, result: _reduced(
        F, g, self, dim, index, src, reduce, include_self, result
    )[1],
    doc="A copy with ``out[index[i, j], j]`` and all such ``src[i, j]`` reduced (for `dim` 0).",
)
index_reduce = op(
    "index_reduce(self, dim, index: Tensor, source, reduce, *, include_self=True)",
    shares="nothing",
    kernel=raw.index_reduce,
    self=lambda F, g, self, dim, index, source, reduce, include_self, result: _reduced(
        F, g, self, dim, _spread(F, index, dim, source), source, reduce, include_self, result
    )[0],
    source=lambda F, g, self, dim, index, source, reduce, include_self, result: _reduced(
        F, g, self, dim, _spread(F, index, dim, source), source, reduce, include_self, result
    )[1],
    doc="A copy with the slices ``index[i]`` of `dim` and all ``source[i]`` reduced.",
)
scatter_reduce_, index_reduce_ = map(inplace, (scatter_reduce, index_reduce))


METHODS = (
    "gather index_reduce index_reduce_ scatter scatter_ scatter_add scatter_add_ scatter_reduce "
    "scatter_reduce_ take_along_dim"
)
