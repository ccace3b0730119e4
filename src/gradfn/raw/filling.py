"""What is written to a whole array: copies, constants, zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..shapes import broadcast_shapes
from .copying import to_copy
from .indexing import on_a_copy
from .numbers import Array, cast, converted
from .views import expand

__all__ = ["copied_into", "fill", "filled", "zeroed"]


def copied_into(self: Array, src: Array, non_blocking: bool = False) -> Array:
    """`src` in the shape and dtype of `self`."""
    if src.dtype.kind == "c" and self.dtype.kind not in "cb":
        src = to_copy(src, self.dtype)
    src = cast(src, self.dtype, copy=False)
    if src.shape == self.shape:
        return src
    common = broadcast_shapes(self.shape, src.shape)
    if common != self.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(common)}"
        )
    return expand(src, self.shape)


def fill(self: Array, value: Any) -> Array:
    """`value`, which has no dimensions, in the shape and dtype of `self`."""
    if np.ndim(value):
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {np.ndim(value)} "
            "dimensions."
        )
    if not isinstance(value, np.ndarray):
        value = np.asarray(converted(value, self.dtype))
    return copied_into(self, value)


def filled(self: Array, value: Any) -> Array:
    """As `fill`, in memory of its own."""
    out = np.empty_like(self)
    out[...] = fill(self, value)
    return out


def zero_into(self: Array) -> None:
    self[...] = 0


zeroed = on_a_copy(zero_into)
