"""Changes of shape in place: a tensor becomes another view of its own memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..autograd.grad_mode import get_mode
from ..autograd.inplace import check_target, rebase
from ..raw.views import strided_window
from . import views, windows
from .declare import variant

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["as_strided_"]


def _in_place(view: Any, overload: str, node: str) -> Any:
    """The row of `view` under the name of its in-place form: `_become` makes it one."""
    return variant(view, overload, node=node, view=False)


transposed_ = _in_place(views.transpose, "transpose_", "TransposeBackward1")
t_of = _in_place(views.t, "t_", "TBackward1")
unsqueezed_ = _in_place(views.unsqueeze, "unsqueeze_", "UnsqueezeBackward1")
squeezed_all_ = _in_place(views.squeeze_all, "squeeze_", "SqueezeBackward3")
squeezed_dim_ = _in_place(views.squeeze_dim, "squeeze_.dim", "SqueezeBackward4")
squeezed_dims_ = _in_place(views.squeeze_dims, "squeeze_.dims", "SqueezeBackward5")
window_ = _in_place(windows.window, "as_strided_", "AsStridedBackward1")


def _become(input: Tensor, row: Any, *arguments: Any) -> Tensor:
    """Give `input` the shape and the history that `row` makes of it; its memory stays."""
    name = row.operator.name
    check_target(input, name, get_mode(), input._edge is not None)
    changed = row(input, *arguments)
    input._array = changed._array
    dual = input._dual
    if dual is not None and dual.base is not None:
        input._dual = dual.without_tangent()  # to be taken from the base again
    elif changed._dual is not None:
        input._dual = changed._dual
    input.memory().write(name)
    edge = changed._edge
    if edge is not None and input._base is None:
        rebase(input, edge[0])
    elif edge is not None:
        input._edge = edge
    return input


def transpose_(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """`transpose` in place."""
    return _become(input, transposed_, dim0, dim1)


def swapaxes_(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """`swapaxes` in place."""
    return _become(input, transposed_, axis0, axis1)


swapdims_ = transpose_


def t_(input: Tensor) -> Tensor:
    """`t` in place."""
    return _become(input, t_of)


def unsqueeze_(input: Tensor, dim: int) -> Tensor:
    """`unsqueeze` in place."""
    return _become(input, unsqueezed_, dim)


def squeeze_(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """`squeeze` in place."""
    if dim is None:
        return _become(input, squeezed_all_)
    return _become(input, squeezed_dim_ if isinstance(dim, int) else squeezed_dims_, dim)


def as_strided_(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """`as_strided` in place."""
    return _become(input, window_, strided_window(input._array, size, stride, storage_offset))


METHODS = "as_strided_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_"
