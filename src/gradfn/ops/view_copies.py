"""The views' counterparts that copy: ``select_copy`` for ``select``, and so on.

Each is the row of its view with a kernel that copies: same formulas, a node named after the view's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import raw
from ..raw.views import strided_window
from ..shapes import sizes_of
from . import splitting, views, windows
from .checking import checked
from .declare import op, variant
from .out import with_out

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "alias_copy",
    "as_strided_copy",
    "diagonal_copy",
    "expand_copy",
    "narrow_copy",
    "permute_copy",
    "select_copy",
    "slice_copy",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unfold_copy",
    "unsqueeze_copy",
    "view_as_complex_copy",
    "view_as_real_copy",
    "view_copy",
]


def copying(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """The operator that copies what the view `function` shows."""
    row = function.operator  # type: ignore[attr-defined]
    name, dot, overload = row.overload.partition(".")

    def kernel(*arguments: Any, **options: Any) -> Any:
        found = row.kernel(*arguments, **options)
        return [part.copy() for part in found] if row.listed else found.copy()

    return variant(
        function,
        f"{name}_copy{dot}{overload}",
        kernel=kernel,
        node=f"{row.node_name}_copy",
        view=False,
        doc=f"`{name}`, but a copy.",
    )


alias_copy = copying(views.alias)
diagonal_copy = copying(windows.diagonal)
expand_size = copying(views.expand_size)
permute_dims = copying(views.permute_dims)
select_copy = copying(windows.select)
slice_copy = copying(windows.slice_dim)
split_by_size = copying(splitting.split_by_size)
split_by_sizes = copying(splitting.split_by_sizes)
squeeze_all, squeeze_dim, squeeze_dims = map(
    copying, (views.squeeze_all, views.squeeze_dim, views.squeeze_dims)
)
t_copy = copying(views.t)
transpose_copy = copying(views.transpose)
unbound = copying(splitting.unbound)
unfold_copy = copying(windows.unfold)
unsqueeze_copy = copying(views.unsqueeze)
view_as_complex_copy = copying(windows.view_as_complex)
view_as_real_copy = copying(windows.view_as_real)
view_shape, view_dtype = copying(views.view_shape), copying(views.view_dtype)
window = copying(windows.window)
narrow_slice = op(
    "narrow_copy(self, dim, start, end)",
    kernel=raw.narrow_copy,
    tangent="linear",
    self=lambda F, g, self_shape, dim, start, end: F.slice_backward(
        g, self_shape, dim, start, end, 1
    ),
)


@checked
def as_strided_copy(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """`as_strided`, but a copy."""
    return window(input, strided_window(input._array, size, stride, storage_offset))


def expand_copy(input: Tensor, size: Sequence[int], *, implicit: bool = False) -> Tensor:
    """`expand`, but a copy."""
    return expand_size(input, sizes_of((size,)))


@with_out
@checked
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`narrow`, but a copy."""
    first = windows.narrow_start(input, dim, start, length)
    return narrow_slice(input, dim, first, first + length)


def permute_copy(input: Tensor, dims: Sequence[int]) -> Tensor:
    """`permute`, but a copy."""
    return permute_dims(input, sizes_of((dims,)))


def split_copy(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`split`, but copies."""
    return tuple(split_by_size(input, split_size, dim))


def split_with_sizes_copy(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """`split_with_sizes`, but copies."""
    return tuple(split_by_sizes(input, tuple(split_sizes), dim))


def squeeze_copy(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """`squeeze`, but a copy."""
    if dim is None:
        return squeeze_all(input)
    return (squeeze_dim if isinstance(dim, int) else squeeze_dims)(input, dim)


def unbind_copy(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """`unbind`, but copies."""
    return tuple(unbound(input, dim))


def view_copy(input: Tensor, size: Any = None, *, dtype: Any = None) -> Tensor:
    """`view`, but a copy."""
    wanted = size if dtype is None else dtype
    if hasattr(wanted, "itemsize"):
        return view_dtype(input, wanted.numpy)
    return view_shape(input, sizes_of((wanted,)))


METHODS = "narrow_copy"
