"""Views of a part of a tensor: slices, diagonals, windows; complex numbers as pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import raw
from ..autograd.variable import Variable
from ..raw.views import strided_window
from ..shapes import wrap_dim
from .checking import checked
from .declare import op

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "as_strided",
    "diagonal",
    "imag",
    "narrow",
    "real",
    "select",
    "view_as_complex",
    "view_as_real",
]

select = op(
    "select(self, dim, index)",
    kernel=raw.select,
    view=True,
    tangent="linear",
    self=lambda F, g, self_shape, dim, index: F.select_backward(g, self_shape, dim, index),
    doc="A view of the slice at `index` of dimension `dim`, which goes.",
)
select_backward = op(
    "select_backward(self, shape, dim, index)",
    kernel=raw.select_backward,
    tangent="linear",
    self=lambda F, g, dim, index: F.select(g, dim, index),
)
slice_dim = op(
    "slice(self, dim=0, start=None, end=None, step=1)",
    kernel=raw.slice_dim,
    view=True,
    tangent="linear",
    self=lambda F, g, self_shape, dim, start, end, step: F.slice_backward(
        g, self_shape, dim, start, end, step
    ),
)
slice_backward = op(
    "slice_backward(self, shape, dim, start, end, step)",
    kernel=raw.slice_backward,
    tangent="linear",
    self=lambda F, g, dim, start, end, step: F.slice_dim(g, dim, start, end, step),
)


def narrow_start(input: Tensor, dim: int, start: Any, length: int) -> int:
    """Where `narrow` starts, counted from the front."""
    if not input._array.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative. It is {length}.")
    if isinstance(start, Variable) and (start._array.ndim or start._array.dtype.kind not in "iu"):
        raise RuntimeError(
            "start must be an 0-dim integral Tensor, but it has shape "
            f"{list(start._array.shape)} and dtype {start.dtype}"
        )
    size = input._array.shape[wrap_dim(dim, input._array.ndim)]
    first = int(start.__index__())
    if not -size <= first <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {first})"
        )
    first += size if first < 0 else 0
    if first + length > size:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return first


@checked
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """A view of `length` positions of dimension `dim`, from `start` on.

    RuntimeError where they reach beyond the dimension.
    """
    first = narrow_start(input, dim, start, length)
    return slice_dim(input, dim, first, first + length)


diagonal = op(
    "diagonal(self, offset=0, dim1=0, dim2=1)",
    kernel=raw.diagonal,
    view=True,
    tangent="linear",
    self=lambda F, g, self_shape, offset, dim1, dim2: F.diagonal_backward(
        g, self_shape, offset, dim1, dim2
    ),
    doc="A view of the diagonals of the planes of `dim1` and `dim2`, as a new last dimension.",
)
diagonal_backward = op(
    "diagonal_backward(self, shape, offset=0, dim1=0, dim2=1)",
    kernel=raw.diagonal_backward,
    tangent="linear",
    self=lambda F, g, offset, dim1, dim2: F.diagonal(g, offset, dim1, dim2),
)
unfold = op(
    "unfold(self, dimension, size, step)",
    kernel=raw.unfold,
    view=True,
    tangent="linear",
    self=lambda F, g, self_shape, dimension, size, step: F.unfold_backward(
        g, self_shape, dimension, size, step
    ),
    doc="A view of windows of `size`, one every `step` of a dimension, as a new last dimension.",
)
unfold_backward = op(
    "unfold_backward(self, shape, dim, size, step)",
    kernel=raw.unfold_backward,
    tangent="linear",
    self=lambda F, g, dim, size, step: F.unfold(g, dim, size, step),
)
window = op(
    "as_strided(self, where)",
    kernel=raw.window,
    view=True,
    tangent="linear",
    self=lambda F, g, where: F.base_of(g, where),
)
Variable._window = window


@checked
def as_strided(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """A view of the memory under `input`: sizes, strides and offset in elements, as given.

    RuntimeError where they reach beyond the memory.
    """
    return window(input, strided_window(input._array, size, stride, storage_offset))


# Complex numbers as pairs.

view_as_real = op(
    "view_as_real(self)",
    kernel=raw.view_as_real,
    view=True,
    tangent="linear",
    self=lambda F, g: F.view_as_complex(F.contiguous(g)),
    doc="A view of complex numbers as pairs of real ones, in a new last dimension of size two.",
)
view_as_complex = op(
    "view_as_complex(self)",
    kernel=raw.view_as_complex,
    view=True,
    tangent="linear",
    self=lambda F, g: F.view_as_real(g),
    doc="A view of pairs of real numbers, the last dimension, as complex ones.",
)


def real(input: Tensor) -> Tensor:
    """The real parts, as a view; real tensors are their own."""
    if input._array.dtype.kind != "c":
        return input
    return select(view_as_real(input), -1, 0)


def imag(input: Tensor) -> Tensor:
    """The imaginary parts, as a view. RuntimeError for real tensors."""
    if input._array.dtype.kind != "c":
        raise RuntimeError(
            "imag is not implemented for tensors with non-complex dtypes; "
            f"this one is {input.dtype}"
        )
    return select(view_as_real(input), -1, 1)


def _set_part(part: Any) -> Any:
    def write(input: Tensor, value: Any) -> None:
        part(input)[...] = value

    return write


PROPERTIES = {
    "real": property(real, _set_part(real)),
    "imag": property(imag, _set_part(imag)),
}
METHODS = "as_strided diagonal narrow select unfold"
