"""Sorting, order statistics and distinct values. NaN is larger than every number."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from .copying import laid_out
from .numbers import Array, refuse
from .reduction import nonempty, one_dim, picked

__all__ = [
    "argsort",
    "isin",
    "kthvalue",
    "median",
    "median_dim",
    "mode",
    "nanmedian",
    "nanmedian_dim",
    "sort",
    "topk",
    "unique_consecutive",
    "unique_dim",
    "unselect",
]

Pair = tuple[Array, Array]


def order(self: Array, axis: int, descending: bool = False) -> Array:
    """The stable order of the elements along `axis`."""
    if not descending:
        return np.argsort(self, axis, kind="stable")
    backwards = np.argsort(np.flip(self, axis), axis, kind="stable")
    return np.flip(self.shape[axis] - 1 - backwards, axis)


def sort(self: Array, dim: int = -1, descending: bool = False) -> Pair:
    axis = one_dim("sort", dim, self.ndim)
    if self.dtype.kind == "c":
        raise RuntimeError("Sort does not support complex dtypes on CPU")
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    indices = order(self, axis, descending)
    return laid_out(np.take_along_axis(self, indices, axis), self), laid_out(indices, self)


def argsort(self: Array, dim: int = -1, descending: bool = False) -> Array:
    return sort(self, dim, descending)[1]


def topk(self: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Pair:
    axis = one_dim("topk", dim, self.ndim)
    size = self.shape[axis] if self.ndim else 1
    if not 0 <= k <= size:
        raise RuntimeError(f"selected index k out of range: k is {k}, of {size} elements")
    if self.dtype.kind in "bc":
        kind = "complex" if self.dtype.kind == "c" else "bool"
        raise RuntimeError(f"topk does not support {kind} dtypes on CPU")
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    indices = np.ascontiguousarray(_first(self, k, axis, largest))
    return np.take_along_axis(self, indices, axis), indices


def _first(self: Array, k: int, axis: int, descending: bool) -> Array:
    """Where the first `k` elements in order are; of many elements the others stay unsorted."""
    size = self.shape[axis]
    before = (slice(None),) * axis
    if size < 4 * k or size < 64:
        return order(self, axis, descending)[(*before, slice(k))]
    among = slice(size - k, None) if descending else slice(k)
    parted = np.argpartition(self, size - max(k, 1) if descending else k, axis)
    places = np.sort(parted[(*before, among)], axis)
    within = order(np.take_along_axis(self, places, axis), axis, descending)
    return np.take_along_axis(places, within, axis)


def kthvalue(self: Array, k: int, dim: int = -1, keepdim: bool = False) -> Pair:
    axis = one_dim("kthvalue", dim, self.ndim)
    nonempty("kthvalue", self, (axis,), IndexError)
    refuse("kthvalue_cpu", self, "bc")
    if not 1 <= k <= (self.shape[axis] if self.ndim else 1):
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {axis}: k is {k}, the "
            f"shape {list(self.shape)}"
        )
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    return picked(self, np.take(order(self, axis), [k - 1], axis), axis, keepdim)


def median(self: Array) -> Array:
    return _median_of_all(self, False)


def nanmedian(self: Array) -> Array:
    return _median_of_all(self, True)


def _median_of_all(self: Array, ignore_nan: bool) -> Array:
    refuse("median_cpu", self, "bc")
    if not self.size:
        return np.array(np.nan).astype(self.dtype)
    values = self.reshape(-1)
    known = int(np.count_nonzero(values == values))
    if known < values.size and not ignore_nan:
        return np.array(np.nan, self.dtype)
    place = max(known - 1, 0) // 2
    return np.asarray(np.partition(values, place)[place])


def median_dim(self: Array, dim: int, keepdim: bool = False) -> Pair:
    return _median(self, dim, keepdim, False)


def nanmedian_dim(self: Array, dim: int, keepdim: bool = False) -> Pair:
    return _median(self, dim, keepdim, True)


def _median(self: Array, dim: int, keepdim: bool, ignore_nan: bool) -> Pair:
    """The lower median; NaN, where there is one and it is not ignored."""
    axis = one_dim("median", dim, self.ndim)
    nonempty("median", self, (axis,), IndexError)
    refuse("median_cpu", self, "bc")
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    is_nan = self != self
    known = self.shape[axis] - np.add.reduce(is_nan, axis, keepdims=True, out=...)
    place = np.maximum(known - 1, 0) // 2
    if not ignore_nan:
        place = np.where(known < self.shape[axis], known, place)
    return picked(self, np.take_along_axis(order(self, axis), place, axis), axis, keepdim)


def mode(self: Array, dim: int = -1, keepdim: bool = False) -> Pair:
    """The smallest of the most frequent values, at its last position."""
    axis = one_dim("mode", dim, self.ndim)
    nonempty("mode", self, (axis,), IndexError)
    refuse("mode_cpu", self, "c")
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    indices = np.moveaxis(order(self, axis), axis, -1)
    ordered = np.take_along_axis(np.moveaxis(self, axis, -1), indices, -1)
    along = np.arange(self.shape[axis])
    starts = np.ones(ordered.shape, bool)
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    run = along - np.maximum.accumulate(np.where(starts, along, 0), -1)
    last = np.argmax(run, -1, keepdims=True)  # the first of the longest runs ends here
    chosen = np.moveaxis(np.take_along_axis(indices, last, -1), -1, axis)
    return picked(self, chosen, axis, keepdim)


def unselect(
    self: Array, dim: int, index: Array, shape: tuple[int, ...], accumulate: bool = False
) -> Array:
    """Zeros of `shape` with `self` at `index` along `dim`, added up if `accumulate`."""
    if not shape:
        return self.reshape(())
    out = np.zeros(shape, self.dtype)
    if accumulate:
        places = list(np.ix_(*map(np.arange, index.shape)))
        places[dim] = index
        np.add.at(out, tuple(places), self)
    else:
        np.put_along_axis(out, index, self, dim)
    return out


def isin(
    elements: Array, test_elements: Array, assume_unique: bool = False, invert: bool = False
) -> Array:
    for array in (elements, test_elements):
        if array.dtype.kind in "bc":
            kind = dtypes.from_numpy(array.dtype).scalar_name
            raise RuntimeError(f"Unsupported input type encountered for isin(): {kind}")
    return np.asarray(np.isin(elements, test_elements, invert=invert))


def unique_dim(self: Array, dim: int | None = None) -> tuple[Array, Array, Array]:
    """The distinct values (or slices along `dim`) in order, where each went, and their counts."""
    _check_unique(self, dim)
    values, inverse, counts = np.unique(
        self, return_inverse=True, return_counts=True, axis=dim, equal_nan=False
    )
    return values, inverse.reshape(self.shape if dim is None else -1), counts


def unique_consecutive(self: Array, dim: int | None = None) -> tuple[Array, Array, Array]:
    """`self` with each run of equal values (or slices along `dim`) made one."""
    _check_unique(self, dim)
    rows: Array = self.reshape(-1) if dim is None else np.moveaxis(self, dim, 0)
    starts = np.ones(len(rows), bool)
    differs = rows[1:] != rows[:-1]
    starts[1:] = differs.reshape(len(differs), -1).any(1) if len(differs) else True
    places = np.flatnonzero(starts)
    counts = np.diff(places, append=len(rows))
    inverse = np.cumsum(starts) - 1
    values: Any = rows[places] if dim is None else np.moveaxis(rows[places], 0, dim)
    return values, inverse.reshape(self.shape) if dim is None else inverse, counts


def _check_unique(self: Array, dim: int | None) -> None:
    refuse("unique", self, "c")
    if dim is None:
        return
    axis = one_dim("unique", dim, self.ndim)
    if not self.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not self.size and self.shape[axis]:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied: "
            f"the shape is {list(self.shape)}, the dimension {dim}"
        )
