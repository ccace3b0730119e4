"""Gathering and scattering along one dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..shapes import Shape, wrap_dim
from .indexing import add_at, check_index_op, check_range
from .numbers import Array, row_major


def gather(self: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:
    dim = wrap_dim(dim, self.ndim)
    _check_gather("gather", self, dim, index)
    if not index.size:
        return np.empty(index.shape, self.dtype)
    if not self.ndim or not index.ndim:
        return np.broadcast_to(self.reshape(-1)[:1], index.size).reshape(index.shape).copy()
    return row_major(np.take_along_axis(_corner(self, index.shape, dim), index, dim))


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


_REDUCTIONS = {
    "sum": np.add,
    "mean": np.add,
    "prod": np.multiply,
    "amax": np.maximum,
    "amin": np.minimum,
}


def _neutral(reduce: str, dtype: np.dtype[Any]) -> Any:
    """What `reduce` of any value and this leaves as it is."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max
    return -np.inf if reduce == "amax" else np.inf


def scatter_reduce(
    self: Array, dim: int, index: Array, src: Array, reduce: str, *, include_self: bool = True
) -> Array:
    """A copy of `self` with ``out[index[i, j], j]`` reduced with ``src[i, j]`` (for `dim` 0)."""
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if self.dtype.kind == ("b" if reduce == "mean" else "c" if reduce[0] == "a" else None):
        name = dtypes.from_numpy(self.dtype).scalar_name
        raise NotImplementedError(f"the reduction {reduce} is not implemented for '{name}'")
    dim = wrap_dim(dim, self.ndim)
    _check_gather("scatter", self, dim, index, src)
    _check_same_dtype("scatter", self, src)
    if not index.size:
        return self.copy()
    out, positions = _scattered(self, dim, index)
    flat, places = out.reshape(-1), positions.reshape(-1)
    if not include_self:
        flat[places] = _neutral(reduce, flat.dtype)
    values = _corner(np.atleast_1d(src), positions.shape).reshape(-1)
    _REDUCTIONS[reduce].at(flat, places, values)
    if reduce == "mean":
        counts = np.maximum(np.bincount(places, minlength=flat.size) + include_self, 1)
        divide = np.floor_divide if flat.dtype.kind in "iub" else np.divide
        divide(flat, counts.astype(flat.dtype), out=flat)
    return out.reshape(self.shape)


def index_reduce(
    self: Array, dim: int, index: Array, source: Array, reduce: str, *, include_self: bool = True
) -> Array:
    """`scatter_reduce` with the slice ``source[i]`` going to ``index[i]``."""
    if reduce not in _REDUCTIONS or reduce == "sum":
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    dim = wrap_dim(dim, self.ndim)
    check_index_op("index_reduce", self, dim, index, source)
    along = along_dim(index, dim, source.ndim)
    spread = np.broadcast_to(along, source.shape)
    return scatter_reduce(self, dim, spread, source, reduce, include_self=include_self)


def along_dim(index: Array, dim: int, ndim: int) -> Array:
    """The vector `index` along dimension `dim` of `ndim`."""
    return index.reshape([-1 if axis == dim else 1 for axis in range(ndim)])


def scatter_by(self: Array, dim: int, index: Array, src: Any, reduce: str) -> Array:
    """`scatter` that adds or multiplies."""
    if reduce not in ("add", "multiply"):
        raise RuntimeError(f"reduce argument must be either add or multiply. It is {reduce}.")
    if not isinstance(src, np.ndarray):
        src = np.full(index.shape, src).astype(self.dtype)
    name = "sum" if reduce == "add" else "prod"
    return scatter_reduce(self, dim, index, src, name)


__all__ = [
    "gather",
    "gather_backward",
    "index_reduce",
    "once_where",
    "scatter",
    "scatter_add",
    "scatter_by",
    "scatter_reduce",
]


def once_where(self: Array, several: Array) -> Array:
    """`self`; its derivative is what `several` is for."""
    return self.copy()
