"""Gathering and scattering along one dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..shapes import wrap_dim
from .indexing import add_at, check_range

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]


def gather(self: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:
    dim = wrap_dim(dim, self.ndim)
    _check_gather("gather", self, dim, index)
    if not index.size:
        return np.empty(index.shape, self.dtype)
    if not self.ndim or not index.ndim:
        return np.broadcast_to(self.reshape(-1)[:1], index.size).reshape(index.shape).copy()
    return np.take_along_axis(_corner(self, index.shape, dim), index, dim)


def _check_gather(name: str, self: Array, dim: int, index: Array, src: Any = None) -> None:
    """The checks that the gathers and scatters share."""
    if not index.size:
        return
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index, not {dtypes.from_numpy(index.dtype)}"
        )
    if max(index.ndim, 1) != max(self.ndim, 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as "
            f"{'input' if name == 'gather' else 'self'} tensor: {index.ndim} and {self.ndim}"
        )
    if isinstance(src, np.ndarray) and max(src.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as src tensor: "
            f"{index.ndim} and {src.ndim}"
        )
    for axis, size in enumerate(index.shape):
        if self.ndim and axis != dim and size > self.shape[axis]:
            raise RuntimeError(
                f"Size does not match at dimension {axis} expected index {list(index.shape)} to be "
                f"{'no larger' if name == 'gather' else 'smaller'} than self {list(self.shape)} "
                f"apart from dimension {dim}"
            )
        if isinstance(src, np.ndarray) and src.ndim and size > src.shape[axis]:
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than src {list(src.shape)} "
                f"in every dimension; dimension {axis} is"
            )
    check_range(index, dim, self.shape[dim] if self.ndim else 1, error=RuntimeError)


def _corner(self: Array, shape: Shape, dim: int | None = None) -> Array:
    """The first elements of `self` as far as `shape` reaches, all of them along `dim`."""
    return self[tuple(slice(None if axis == dim else n) for axis, n in enumerate(shape))]


def gather_backward(g: Array, shape: Shape, dim: int, index: Array) -> Array:
    return scatter_add(np.zeros(shape, g.dtype), dim, index, g)


def _scattered(self: Array, dim: int, index: Array) -> tuple[Array, Array]:
    """A row-major copy of `self`, and the flat positions that `index` along `dim` names."""
    out = np.array(self, order="C", ndmin=1)
    index = index.reshape(index.shape or (1,))
    step = int(np.prod(out.shape[dim + 1 :], dtype=np.int64))
    corner = _corner(np.arange(out.size).reshape(out.shape).take([0], dim), index.shape, dim)
    return out, corner + index * step


def scatter(self: Array, dim: int, index: Array, src: Any) -> Array:
    """A copy of `self` with ``out[index[i, j], j] = src[i, j]`` (for `dim` 0)."""
    dim = wrap_dim(dim, self.ndim)
    _check_gather("scatter", self, dim, index, src)
    if isinstance(src, np.ndarray):
        _check_same_dtype("scatter", self, src)
    if not index.size:
        return self.copy()
    out, positions = _scattered(self, dim, index)
    values = _corner(np.atleast_1d(src), positions.shape) if np.ndim(src) else src
    out.reshape(-1)[positions] = np.asarray(values).astype(self.dtype, copy=False)
    return out.reshape(self.shape)


def _check_same_dtype(name: str, self: Array, src: Array) -> None:
    if self.dtype != src.dtype:
        raise RuntimeError(
            f"{name}(): Expected self.dtype to be equal to src.dtype, but they are "
            f"{dtypes.from_numpy(self.dtype)} and {dtypes.from_numpy(src.dtype)}"
        )


def scatter_add(self: Array, dim: int, index: Array, src: Array) -> Array:
    dim = wrap_dim(dim, self.ndim)
    _check_gather("scatter_add", self, dim, index, src)
    _check_same_dtype("scatter", self, src)
    if not index.size:
        return self.copy()
    out, positions = _scattered(self, dim, index)
    add_at(out.reshape(-1), positions, _corner(np.atleast_1d(src), positions.shape))
    return out.reshape(self.shape)


__all__ = [
    "gather",
    "gather_backward",
    "scatter",
    "scatter_add",
]
