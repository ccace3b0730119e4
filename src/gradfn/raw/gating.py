"""Kernels of gated units."""

from __future__ import annotations

from .elementwise import mul, sigmoid
from .numbers import Array
from .views import slice_dim

__all__ = ["glu"]


def glu(self: Array, dim: int = -1) -> Array:
    half = self.shape[dim] // 2
    return mul(slice_dim(self, dim, 0, half), sigmoid(slice_dim(self, dim, half, 2 * half)))
