"""Borders around arrays, and picking positions along the last dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .numbers import Array
from .products import in_wide

__all__ = ["constant_pad_nd", "pad_by_index", "pick", "unpick"]


def constant_pad_nd(self: Array, pad: Sequence[int], value: Any = 0) -> Array:
    """`self` with borders of `value`: (before, after) for the last dimension, the last but one...

    Negative borders cut off.
    """
    shape, source, target = list(self.shape), [slice(None)] * self.ndim, [slice(None)] * self.ndim
    for i, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        axis = self.ndim - 1 - i
        size = self.shape[axis]
        shape[axis] += before + after
        source[axis] = slice(max(-before, 0), max(size - max(-after, 0), 0))
        target[axis] = slice(max(before, 0), max(shape[axis] - max(after, 0), 0))
    result = np.full(shape, value, self.dtype) if value else np.zeros(shape, self.dtype)
    result[tuple(target)] = self[tuple(source)]
    return result


def pad_by_index(self: Array, padding: Sequence[int], mode: str) -> Array:
    """`self` with borders that mirror it (``"reflect"``) or go on with its edge."""
    return pick(self, border_places(self.shape, padding, mode))


def border_places(shape: Sequence[int], padding: Sequence[int], mode: str) -> list[Array]:
    """Where each position of the padded dimensions, the last ones, is taken from."""
    places = []
    for i, (before, after) in enumerate(zip(padding[::2], padding[1::2], strict=True)):
        last = shape[len(shape) - 1 - i] - 1
        place = np.arange(-before, last + after + 1)
        if mode == "reflect":
            place = last - np.abs(last - np.abs(place))
        places.append(np.clip(place, 0, last))
    return places[::-1]


def pick(self: Array, places: Sequence[Array]) -> Array:
    """The `places` of each of the last dimensions."""
    for axis, place in enumerate(places, self.ndim - len(places)):
        self = self.take(place, axis)
    return self


def unpick(grad: Array, sizes: Sequence[int], places: Sequence[Array]) -> Array:
    """The adjoint of `pick` from dimensions of `sizes`: what was taken twice is added up."""
    return in_wide(_unpick, grad, sizes, places)


def _unpick(grad: Array, sizes: Sequence[int], places: Sequence[Array]) -> Array:
    for axis, (size, place) in enumerate(zip(sizes, places, strict=True), grad.ndim - len(places)):
        order = np.argsort(place, kind="stable")
        taken, starts = np.unique(place[order], return_index=True)
        sums = np.add.reduceat(grad.take(order, axis), starts, axis)
        if len(taken) < size:
            whole = np.zeros((*grad.shape[:axis], size, *grad.shape[axis + 1 :]), grad.dtype)
            whole[(slice(None),) * axis + (taken,)] = sums
            sums = whole
        grad = sums
    return grad
