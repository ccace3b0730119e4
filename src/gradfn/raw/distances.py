"""Distances between the rows of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .loss import refuse_half
from .numbers import Array
from .products import in_wide

__all__ = ["cdist", "euclidean_dist", "pdist"]


def _metric(p: float) -> dict[str, Any]:
    """SciPy's name for the norm of order `p` > 0."""
    named = {1: "cityblock", 2: "euclidean", math.inf: "chebyshev"}.get(p)
    return {"metric": named} if named else {"metric": "minkowski", "p": p}


def cdist(x1: Array, x2: Array, p: float) -> Array:
    """The `p`-norms of the differences of every row of `x1` and every row of `x2`."""
    refuse_half("cdist", x1)
    return _distances(x1, x2, p)


def euclidean_dist(self: Array, other: Array) -> Array:
    """`cdist` for p = 2 in half precision too."""
    return in_wide(_distances, self, other, 2)


def _distances(x1: Array, x2: Array, p: float) -> Array:
    from scipy.spatial import distance

    kept = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    distances = np.zeros((*kept, x1.shape[-2], x2.shape[-2]), x1.dtype)
    if 0 in (*distances.shape, x1.shape[-1]):
        return distances
    x1, x2 = (np.broadcast_to(x, (*kept, *x.shape[-2:])) for x in (x1, x2))
    for at in np.ndindex(kept):
        if p == 0:
            distances[at] = (x1[at][:, None] != x2[at]).sum(-1)
        else:
            distances[at] = distance.cdist(x1[at], x2[at], **_metric(p))
    return distances


def pdist(self: Array, p: float) -> Array:
    """The distances of all pairs of rows: those above the diagonal of `cdist`, in a row."""
    refuse_half("pdist", self)
    distances: Array = cdist(self, self, p)[np.triu_indices(len(self), 1)]
    return distances
