"""Joining tensors: end to end, side by side, along a new dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import raw
from ..autograd.variable import Variable
from .declare import op
from .out import with_out
from .views import reshape, unsqueeze

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "cat",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "row_stack",
    "stack",
    "vstack",
]


def _cat_gradients(F: Any, g: Any, tensors_shape: Sequence[tuple[int, ...]], dim: int) -> list[Any]:
    """The parts of `g` that came from each tensor; empty vectors took no part."""
    parts, start = [], 0
    for shape in tensors_shape:
        if shape == (0,):
            parts.append(F.slice_dim(F.reshape(g, (-1,)), 0, 0, 0))
            continue
        size = shape[dim]
        parts.append(F.slice_dim(g, dim, start, start + size))
        start += size
    return parts


joined = op(
    "cat(tensors: Tensors, dim=0)",
    kernel=raw.cat,
    tangent="linear",
    tensors=_cat_gradients,
)
stack = op(
    "stack(tensors: Tensors, dim=0)",
    kernel=raw.stack,
    tangent="linear",
    tensors=lambda F, g, dim: F.unbind(g, dim),
    doc="""The tensors, all of one shape, along a new dimension `dim`.

    >>> import gradfn
    >>> gradfn.stack([gradfn.zeros(2), gradfn.ones(2)])
    tensor([[0., 0.],
            [1., 1.]])
    """,
)


def cat(
    tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None, out: Any = None
) -> Tensor:
    """The tensors one after another along dimension `dim`; the other sizes must agree.

    The dtype is the promoted one. Empty vectors are skipped. RuntimeError for 0-d tensors and for
    sizes that disagree.

    >>> import gradfn
    >>> gradfn.cat([gradfn.zeros(1), gradfn.ones(2)])
    tensor([0., 1., 1.])
    """
    if isinstance(tensors, Variable):
        raise TypeError(
            "cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor"
        )
    return joined(tensors, dim if axis is None else axis, out=out)


concat = concatenate = cat


def listed_tensors(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors in ``f(x, y)`` or ``f([x, y])``: PyTorch takes both."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        return tuple(tensors[0])
    return tensors


def _each(function: Any, tensors: tuple[Any, ...]) -> Any:
    """`function` of one tensor, or of each of several."""
    if len(tensors) == 1 and isinstance(tensors[0], Variable):
        return function(tensors[0])
    return tuple(map(function, listed_tensors(tensors)))


def _at_least_1d(input: Tensor) -> Tensor:
    return input if input._array.ndim else reshape(input, (1,))


def _at_least_2d(input: Tensor) -> Tensor:
    ndim = input._array.ndim
    if ndim == 0:
        return reshape(input, (1, 1))
    return unsqueeze(input, 0) if ndim == 1 else input


def _at_least_3d(input: Tensor) -> Tensor:
    ndim = input._array.ndim
    if ndim == 0:
        return reshape(input, (1, 1, 1))
    if ndim == 1:
        input = unsqueeze(input, 0)
    return unsqueeze(input, -1) if ndim < 3 else input


def atleast_1d(*tensors: Any) -> Any:
    """Each tensor with at least one dimension."""
    return _each(_at_least_1d, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Each tensor with at least two dimensions; new ones come first."""
    return _each(_at_least_2d, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Each tensor with at least three dimensions; vectors become ``(1, n, 1)``."""
    return _each(_at_least_3d, tensors)


def _nonempty(tensors: Sequence[Any], name: str) -> Sequence[Any]:
    if not len(tensors):
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tensors


@with_out
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors side by side: `cat` along dimension 1, or 0 for vectors."""
    parts = [_at_least_1d(t) for t in _nonempty(tensors, "hstack")]
    return cat(parts, int(parts[0]._array.ndim > 1))


@with_out
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors below one another: `cat` along dimension 0, vectors as rows."""
    return cat([_at_least_2d(t) for t in _nonempty(tensors, "vstack")], 0)


row_stack = vstack


@with_out
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors behind one another: `cat` along dimension 2."""
    return cat([_at_least_3d(t) for t in _nonempty(tensors, "dstack")], 2)


@with_out
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """`hstack` with vectors as columns."""
    columns = [
        reshape(t, (t._array.size, 1)) if t._array.ndim <= 1 else t
        for t in _nonempty(tensors, "column_stack")
    ]
    return hstack(columns)


METHODS = ""
