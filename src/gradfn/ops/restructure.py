"""Changes of shape in place: a tensor becomes another view of its own memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import raw
from ..autograd.grad_mode import get_mode
from ..autograd.inplace import check_target, rebase
from ..raw.views import strided_window
from .declare import op
from .views import unsqueeze_to

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["as_strided_"]

transposed_ = op(
    "transpose_(self, dim0, dim1)",
    kernel=raw.transpose,
    node="TransposeBackward1",
    self=lambda F, g, dim0, dim1: F.transpose(g, dim0, dim1),
)
t_of = op("t_(self)", kernel=raw.t, node="TBackward1", self=lambda F, g: F.t(g))
unsqueezed_ = op(
    "unsqueeze_(self, dim)",
    kernel=raw.unsqueeze,
    node="UnsqueezeBackward1",
    self=lambda F, g, dim: F.squeeze(g, dim),
)
squeezed_all_ = op(
    "squeeze_(self)",
    kernel=raw.squeeze,
    node="SqueezeBackward3",
    self=lambda F, g, self_shape: unsqueeze_to(F, g, self_shape),
)
squeezed_dim_ = op(
    "squeeze_.dim(self, dim)",
    kernel=raw.squeeze,
    node="SqueezeBackward4",
    self=lambda F, g, self_shape, dim: unsqueeze_to(F, g, self_shape, dim),
)
squeezed_dims_ = op(
    "squeeze_.dims(self, dim)",
    kernel=raw.squeeze,
    node="SqueezeBackward5",
    self=lambda F, g, self_shape, dim: unsqueeze_to(F, g, self_shape, dim),
)
window_ = op(
    "as_strided_(self, where)",
    kernel=raw.window,
    node="AsStridedBackward1",
    self=lambda F, g, where: F.base_of(g, where),
)


def _become(input: Tensor, row: Any, *arguments: Any) -> Tensor:
    """Give `input` the shape and the history that `row` makes of it; its memory stays."""
    name = row.operator.name
    check_target(input, name, get_mode(), input._edge is not None)
    changed = row(input, *arguments)
    input._array = changed._array
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
