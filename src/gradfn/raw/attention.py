"""Attention: softmax(q kᵀ scale + mask) v, by blocks of rows."""

from __future__ import annotations

import numpy as np

from .copying import dense_axes, empty_dense
from .numbers import HALF, Array

__all__ = ["attention", "safe_softmax"]

BLOCK = 1 << 22  # scores at a time


def safe_softmax(self: Array, dim: int) -> Array:
    """softmax, and zeros where everything is masked, that is, -inf."""
    if not self.size:
        return np.zeros_like(self)
    highest = self.max(dim, keepdims=True)
    weights = np.exp(self - np.where(np.isneginf(highest), 0, highest))
    total = weights.sum(dim, keepdims=True)
    return np.asarray(weights / np.where(total == 0, 1, total), self.dtype)


def attention(query: Array, key: Array, value: Array, mask: Array | None, scale: float) -> Array:
    """(..., L, E), (..., S, E) and (..., S, V) to (..., L, V); scores for `BLOCK` at a time.

    The heads lie in the result's memory as in the query's, as PyTorch has them.
    """
    half = query.dtype.char in HALF
    q, k, v = (x.astype(np.float32) if half else x for x in (query, key, value))
    rows, columns = q.shape[-2], k.shape[-2]
    axes = (*dense_axes(q[..., 0]), q.ndim - 1)
    result = empty_dense((*q.shape[:-1], v.shape[-1]), q.dtype, axes)
    lead = max(int(np.prod(q.shape[:-2])), 1)
    step = max(BLOCK // max(lead * columns, 1), 1)
    for start in range(0, rows, step):
        part = slice(start, min(start + step, rows))
        scores = (q[..., part, :] * np.asarray(scale, q.dtype)) @ k.swapaxes(-1, -2)
        if mask is not None:
            scores = scores + (mask if mask.shape[-2] == 1 else mask[..., part, :])
        np.matmul(safe_softmax(scores, -1), v, out=result[..., part, :])
    return result.astype(query.dtype, copy=False)
