"""Sizes given once for all spatial dimensions, or for each."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any


def per_dim(value: Any, dims: int, complaint: str) -> tuple[int, ...]:
    """`value` as `dims` integers; RuntimeError with `complaint` for another number of them."""
    if not isinstance(value, Sequence):
        return (index(value),) * dims
    sizes = tuple(map(index, value))
    if len(sizes) not in (1, dims):
        raise RuntimeError(complaint)
    return sizes * dims if len(sizes) == 1 else sizes
