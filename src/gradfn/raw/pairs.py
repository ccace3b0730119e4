"""Distances between all pairs of vectors, by blocks of them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .numbers import Array, not_implemented

__all__ = ["cdist", "euclidean_dist", "pdist"]

BLOCK = 1 << 22  # differences at a time


def cdist(x1: Array, x2: Array, p: float) -> Array:
    """(..., P, M) and (..., R, M) to (..., P, R)."""
    if x1.dtype.itemsize < 4:
        raise not_implemented("cdist", x1.dtype)
    lead = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    rows, columns = x1.shape[-2], x2.shape[-2]
    result = np.empty((*lead, rows, columns), x1.dtype)
    for part in _blocks(rows, math.prod(lead) * columns * x1.shape[-1]):
        differences = x1[..., part, None, :] - x2[..., None, :, :]
        result[..., part, :] = _norms(differences, p)
    return result


def euclidean_dist(x1: Array, x2: Array) -> Array:
    """``sqrt(|x|² - 2 x·y + |y|²)``: faster for many long vectors, and less exact for near ones."""
    squares, others = (np.square(x).sum(-1) for x in (x1, x2))
    products = x1 @ x2.swapaxes(-1, -2)
    total = squares[..., :, None] - 2 * products + others[..., None, :]
    return np.asarray(np.sqrt(np.maximum(total, 0)))


def pdist(self: Array, first: Array, second: Array, p: float) -> Array:
    """The distances of the rows `first` of (N, M) from the rows `second`."""
    if self.dtype.itemsize < 4:
        raise not_implemented("pdist", self.dtype)
    result = np.empty(len(first), self.dtype)
    for part in _blocks(len(first), self.shape[1]):
        result[part] = _norms(self[first[part]] - self[second[part]], p)
    return result


def _blocks(count: int, each: int) -> Iterator[slice]:
    step = max(BLOCK // max(each, 1), 1)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def _norms(differences: Array, p: float) -> Array:
    sizes = np.abs(differences)
    if p == 0:
        return np.asarray(np.count_nonzero(sizes, axis=-1), sizes.dtype)
    if p == 1:
        return np.asarray(sizes.sum(-1))
    if p == 2:
        return np.asarray(np.sqrt(np.square(sizes).sum(-1)))
    if p == math.inf:
        return np.asarray(sizes.max(-1, initial=0))
    return np.asarray((sizes**p).sum(-1) ** (1 / p), sizes.dtype)
