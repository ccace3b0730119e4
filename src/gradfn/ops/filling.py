"""Writing to a whole tensor: copies, constants, zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import raw
from .checking import row_for
from .declare import op, variant
from .emit import inplace
from .formulas import constant
from .windows import as_strided

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "fill",
    "fill_",
    "zero_",
]

copied_into = op(
    "copy(self, src, non_blocking=False)",
    kernel=raw.copied_into,
    node="torch::autograd::CopyBackwards",
    tangent=lambda F, src_t, self_shape: F.expand(src_t, self_shape),
    self=constant,
    src=lambda g: g,
)
filled = op(
    "fill(self, value)",
    kernel=raw.filled,
    self=constant,
)
filled_by_tensor = op(
    "fill.Tensor(self, value)",
    shares="anything",
    kernel=raw.filled,
    node="FillBackward1",
    tangent=lambda F, value_t, self_shape: F.expand(value_t, self_shape),
    self=constant,
    value=lambda F, g: F.sum(g),
)
filled_in_place = variant(filled, "fill.in_place", kernel=raw.fill, node="FillBackward2")
filled_in_place_by_tensor = variant(
    filled_by_tensor, "fill.in_place_Tensor", kernel=raw.fill, node="FillBackward3"
)
zeroed = op("zero.in_place(self)", kernel=raw.zeroed, self=constant)
copy_ = inplace(copied_into)
_fill_, fill_tensor_ = map(inplace, (filled_in_place, filled_in_place_by_tensor))
zero_ = inplace(zeroed)


def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like `input` with `value`, a number or a 0-d tensor, everywhere."""
    return row_for(value, filled_by_tensor, filled)(input, value)  # type: ignore[no-any-return]


def fill_(input: Tensor, value: Any) -> Tensor:
    """Write `value`, a number or a 0-d tensor, everywhere."""
    return row_for(value, fill_tensor_, _fill_)(input, value)  # type: ignore[no-any-return]


def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal; `wrap` goes on below it in tall matrices."""
    array = input._array
    if array.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if array.ndim > 2 and len(set(array.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    height, width = array.shape[0], array.shape[1]
    size, step = min(array.shape), sum(array.strides) // array.itemsize
    if wrap and array.ndim == 2 and height > width + 1:
        size = (array.size + step - 1) // step
    fill_(as_strided(input, (size,), (step,)), fill_value)
    return input


METHODS = "copy_ fill_ fill_diagonal_ zero_"
