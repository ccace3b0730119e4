"""Reductions: sums, moments, norms, extrema and counts over some or all dimensions.

float16 and bfloat16 are computed in float32, as PyTorch does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..shapes import wrap_dim, wrap_dims
from .copying import to_copy
from .numbers import Array, narrow_as, refuse, row_major, wide

__all__ = [
    "all",
    "amax",
    "amin",
    "aminmax",
    "any",
    "argmax",
    "argmin",
    "bincount",
    "count_nonzero",
    "dist",
    "histc",
    "max",
    "max_dim",
    "mean",
    "min",
    "min_dim",
    "nansum",
    "prod",
    "prod_dim",
    "renorm",
    "std",
    "std_mean",
    "sum",
    "trace",
    "unsum",
    "var",
    "var_mean",
    "vector_norm",
]

Dims = int | Sequence[int] | None

RENORM_EPSILON = 1e-7


def cast(self: Array, dtype: dtypes.dtype | None) -> Array:
    """`self` in the `dtype` that was asked for, if any."""
    return self if dtype is None or dtype.numpy == self.dtype else to_copy(self, dtype.numpy)


def one_dim(name: str, dim: Any, ndim: int) -> int:
    """The dimension `dim`, where exactly one is wanted."""
    if not hasattr(dim, "__index__") or isinstance(dim, bool):
        if dim is None:
            raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
        raise TypeError(f"{name}(): argument 'dim' must be int, not {type(dim).__name__}")
    return wrap_dim(dim.__index__(), ndim)


def nonempty(name: str, self: Array, dims: Sequence[int], error: type[Exception]) -> None:
    """Raise where there is nothing to choose a result from; `error` when `dims` is everything."""
    if self.size:
        return
    if not dims:
        raise error(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify "
            "the reduction dim with the 'dim' argument."
        )
    for dim in dims:
        if self.ndim and self.shape[dim] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")


def axes_of(dim: Dims, ndim: int) -> tuple[int, ...]:
    """The axes to reduce; a 0-d array has none."""
    if type(dim) is int and 0 <= dim < ndim:
        return (dim,)
    if not (dim is None or isinstance(dim, Sequence) or hasattr(dim, "__index__")):
        raise TypeError(f"argument 'dim' must be int or tuple of ints, not {type(dim).__name__}")
    return wrap_dims(dim, ndim)[:ndim]


def _accumulating(self: Array, dtype: dtypes.dtype | None) -> Array:
    """`self` in the dtype that sums and products of it have: integers go to int64."""
    if dtype is not None:
        return cast(self, dtype)
    return self.astype(np.int64, copy=False) if self.dtype.kind in "biu" else self


def sum(
    self: Array, dim: Dims = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Array:
    if dtype is None and self.dtype.kind in "fc" and self.dtype.itemsize > 2:
        axes = None if dim is None else axes_of(dim, np.ndim(self))
        return row_major(np.add.reduce(self, axes, keepdims=keepdim, out=...))
    self = _accumulating(self, dtype)
    values = wide(self)
    axes = axes_of(dim, self.ndim)
    total = np.add.reduce(values, axes, values.dtype, keepdims=keepdim, out=...)
    return narrow_as(row_major(total), self)


def nansum(
    self: Array, dim: Dims = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Array:
    if self.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    self = _accumulating(self, dtype)
    return sum(np.where(np.isnan(self), self.dtype.type(0), self), dim, keepdim)


def unsum(self: Array, shape: Sequence[int], dim: Dims = None, keepdim: bool = False) -> Array:
    """What a reduction of `shape` left, repeated over what it reduced: the adjoint of `sum`."""
    if dim is not None and not keepdim and shape:
        self = np.expand_dims(self, wrap_dims(dim, len(shape)))
    return np.broadcast_to(self, shape)


def count(shape: Sequence[int], dim: Dims = None) -> int:
    """How many elements of `shape` go into one result of a reduction."""
    return math.prod(shape[axis] for axis in axes_of(dim, len(shape)))


def trace(self: Array) -> Array:
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    refuse("trace", self, "b")
    return sum(np.diagonal(self))


def mean(
    self: Array, dim: Dims = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Array:
    kind = self.dtype if dtype is None else dtype.numpy
    if kind.kind in "biu":
        which = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {which} dtype must be either a floating point "
            f"or complex dtype. Got: {dtypes.from_numpy(kind).scalar_name}"
        )
    self = cast(self, dtype)
    total = sum(wide(self), dim, keepdim)
    total /= self.size if dim is None else count(self.shape, dim)
    return narrow_as(total, self)


def prod(self: Array, *, dtype: dtypes.dtype | None = None) -> Array:
    self = _accumulating(self, dtype)
    values = wide(self)
    return narrow_as(np.multiply.reduce(values, None, values.dtype, out=...), self)


def prod_dim(
    self: Array, dim: int, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Array:
    self = _accumulating(self, dtype)
    axes = (one_dim("prod", dim, self.ndim),)[: self.ndim]
    values = wide(self)
    product = np.multiply.reduce(values, axes, values.dtype, keepdims=keepdim, out=...)
    return narrow_as(row_major(product), self)


def _moments(
    self: Array, dim: Dims, correction: float | None, keepdim: bool
) -> tuple[Array, Array]:
    """Variance and mean of `wide` values, in two passes."""
    axes = axes_of(dim, self.ndim)
    size = count(self.shape, dim)
    centre = np.divide(sum(self, dim, keepdim=True), size, out=...)
    deviation = self - centre
    if self.dtype.kind == "c":
        squares = deviation.real**2 + deviation.imag**2
    else:
        squares = np.square(deviation, out=...)
    freedom = np.maximum(size - (1 if correction is None else correction), 0)
    total = np.add.reduce(squares, axes, keepdims=keepdim, out=...)
    variance = np.divide(row_major(total), freedom.astype(total.dtype), out=...)
    return variance, centre if keepdim else centre.squeeze(axes)


def _check_moments(self: Array, names: str, verb: str = "") -> None:
    if self.dtype.kind in "biu":
        raise RuntimeError(
            f"{names} only support{verb} floating point and complex dtypes, not "
            f"{dtypes.from_numpy(self.dtype).scalar_name}"
        )


def var(
    self: Array, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> Array:
    _check_moments(self, "std and var")
    return narrow_as(_moments(wide(self), dim, correction, keepdim)[0], self)


def std(
    self: Array, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> Array:
    _check_moments(self, "std and var")
    variance, _ = _moments(wide(self), dim, correction, keepdim)
    return narrow_as(np.sqrt(variance, out=...), self)


def var_mean(
    self: Array, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Array, Array]:
    _check_moments(self, "var_mean")
    variance, centre = _moments(wide(self), dim, correction, keepdim)
    return narrow_as(variance, self), narrow_as(centre, self)


def std_mean(
    self: Array, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Array, Array]:
    _check_moments(self, "std_mean")
    variance, centre = _moments(wide(self), dim, correction, keepdim)
    return narrow_as(np.sqrt(variance, out=...), self), narrow_as(centre, self)


def _check_norm(self: Array, dtype: dtypes.dtype | None) -> None:
    own = dtypes.from_numpy(self.dtype)
    name = "linalg.vector_norm"
    if own.category < dtypes.FLOAT:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {own.scalar_name}"
        )
    if dtype is None:
        return
    if dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {dtype.scalar_name}"
        )
    if dtype.is_complex != own.is_complex:
        kind = "complex" if own.is_complex else "real"
        raise RuntimeError(
            f"{name}: dtype should be {kind} for {kind} inputs, but got {dtype.scalar_name}"
        )


def vector_norm(
    self: Array,
    ord: float = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Array:
    if isinstance(ord, str):
        raise TypeError("linalg_vector_norm(): argument 'ord' (position 2) must be Number, not str")
    _check_norm(self, dtype)
    self = cast(self, dtype)
    axes = axes_of(dim, self.ndim)
    if (ord < 0 or ord == math.inf) and 0 in (self.shape[axis] for axis in axes):
        what = "an empty tensor" if dim is None else f"the dimension {axes[0]}, which is empty,"
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord:g} norm on {what} because the operation "
            "does not have an identity"
        )
    if ord == 0:
        size = np.add.reduce(self != 0, axes, keepdims=keepdim, out=...)
        return size.astype(self.real.dtype)
    size = np.abs(wide(self), out=...)
    if ord == math.inf:
        result = np.maximum.reduce(size, axes, keepdims=keepdim, out=...)
    elif ord == -math.inf:
        result = np.minimum.reduce(size, axes, keepdims=keepdim, out=...)
    elif ord == 1:
        result = np.add.reduce(size, axes, keepdims=keepdim, out=...)
    elif ord == 2:
        result = np.add.reduce(np.square(size, out=...), axes, keepdims=keepdim, out=...)
        result = np.sqrt(result, out=...)
    else:
        result = np.add.reduce(np.power(size, ord, out=...), axes, keepdims=keepdim, out=...)
        result = np.power(result, 1 / ord, out=...)
    return narrow_as(row_major(result), self)


def dist(self: Array, other: Array, p: float = 2) -> Array:
    if self.dtype.kind in "biu":
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{dtypes.from_numpy(self.dtype).scalar_name} instead."
        )
    return vector_norm(np.subtract(self, other, out=...), p)


def renorm(self: Array, p: float, dim: int, maxnorm: float) -> Array:
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, but p is {p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    norm = vector_norm(wide(self), p, others(dim, self.ndim), True)
    scaled = self * np.where(norm > maxnorm, maxnorm / (norm + RENORM_EPSILON), 1)
    return narrow_as(row_major(scaled), self)


def others(dim: int, ndim: int) -> tuple[int, ...]:
    """All dimensions but `dim`."""
    kept = wrap_dim(dim, ndim)
    return tuple(axis for axis in range(ndim) if axis != kept)


def amax(self: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    return _extreme("amax", "max_values_cpu", np.maximum, self, dim, keepdim)


def amin(self: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    return _extreme("amin", "min_values_cpu", np.minimum, self, dim, keepdim)


def _extreme(
    name: str, kernel: str, ufunc: np.ufunc, self: Array, dim: Dims, keepdim: bool
) -> Array:
    axes = axes_of(dim, self.ndim)
    nonempty(name, self, () if dim in (None, ()) else axes, RuntimeError)
    refuse(kernel, self, "c")
    return row_major(ufunc.reduce(self, axes, keepdims=keepdim, out=...))


def aminmax(self: Array, *, dim: int | None = None, keepdim: bool = False) -> tuple[Array, Array]:
    if dim is None and not self.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            f"identity: the tensor has shape {list(self.shape)}."
        )
    axes = axes_of(None if dim is None else one_dim("aminmax", dim, self.ndim), self.ndim)
    nonempty("aminmax", self, axes, IndexError)
    refuse("aminmax_cpu", self, "c")
    low = np.minimum.reduce(self, axes, keepdims=keepdim, out=...)
    return low, np.maximum.reduce(self, axes, keepdims=keepdim, out=...)


def max(self: Array) -> Array:
    return _extreme("max", "max_all", np.maximum, self, None, False)


def min(self: Array) -> Array:
    return _extreme("min", "min_all", np.minimum, self, None, False)


def max_dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return _chosen("max", np.argmax, self, dim, keepdim)


def min_dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return _chosen("min", np.argmin, self, dim, keepdim)


def _chosen(name: str, choose: Any, self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The elements along `dim` that `choose` points to, with their positions."""
    axis = one_dim(name, dim, self.ndim)
    nonempty(name, self, (axis,), IndexError)
    if self.dtype.kind == "c":
        raise RuntimeError(f"{name}(): does not support complex input")
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    indices = np.asarray(choose(self, axis, keepdims=True))
    return picked(self, indices, axis, keepdim)


def picked(self: Array, indices: Array, axis: int, keepdim: bool) -> tuple[Array, Array]:
    """The elements at `indices`, one along `axis`, and `indices`."""
    values = np.take_along_axis(self, indices, axis)
    if keepdim:
        return values, indices
    return values.squeeze(axis), indices.squeeze(axis)


def argmax(self: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    return _position("argmax", np.argmax, self, dim, keepdim)


def argmin(self: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    return _position("argmin", np.argmin, self, dim, keepdim)


def _position(name: str, choose: Any, self: Array, dim: int | None, keepdim: bool) -> Array:
    axes = () if dim is None else (one_dim(name, dim, self.ndim),)
    nonempty(name, self, axes, IndexError)
    if self.dtype.kind in "bc":
        kind = "complex" if self.dtype.kind == "c" else "bool"
        raise RuntimeError(f"{name}(): does not support {kind} input")
    return np.asarray(choose(self, *(axes if self.ndim else ()), keepdims=keepdim), np.int64)


def any(self: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    return _truth(np.logical_or, self, dim, keepdim)


def all(self: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    return _truth(np.logical_and, self, dim, keepdim)


def _truth(ufunc: np.ufunc, self: Array, dim: Dims, keepdim: bool) -> Array:
    """Unlike sums, these reduce nothing over ``dim=()``; uint8 stays uint8."""
    axes = () if isinstance(dim, Sequence) and not dim else axes_of(dim, self.ndim)
    result = row_major(ufunc.reduce(self != 0, axes, keepdims=keepdim, out=...))
    return result.astype(np.uint8) if self.dtype == np.uint8 else result


def count_nonzero(self: Array, dim: Dims = None) -> Array:
    return row_major(np.add.reduce(self != 0, axes_of(dim, self.ndim), dtype=np.int64, out=...))


def bincount(self: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    refuse("bincount_cpu", self, "bfc")
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0, not {minlength}")
    if self.ndim != 1 or (self.size and self.min() < 0):
        raise RuntimeError(
            "bincount only supports 1-d non-negative integral inputs; this one has shape "
            f"{list(self.shape)}" + (f" and holds {self.min()}" if self.size else "")
        )
    if weights is None:
        return np.bincount(self, minlength=minlength)
    if weights.shape != self.shape:
        raise RuntimeError(
            "weights should be 1-d and have the same length as input, not shapes "
            f"{list(weights.shape)} and {list(self.shape)}"
        )
    sums = np.bincount(self, weights, minlength)
    return sums.astype(np.float32) if weights.dtype == np.float32 else sums


def histc(self: Array, bins: int = 100, min: float = 0, max: float = 0) -> Array:
    if self.dtype.kind in "biuc":
        refuse("histogram_cpu", self, "biuc")
    if bins <= 0:
        raise RuntimeError(f"torch.histc(): bins must be > 0, but got {bins}")
    if min == max and self.size:
        min, max = self.min(), self.max()
    if not (math.isfinite(min) and math.isfinite(max)):
        raise RuntimeError(f"torch.histc: range of [{min:g}, {max:g}] is not finite")
    if min > max:
        raise RuntimeError(f"torch.histc: max must be larger than min, not {max:g} and {min:g}")
    if min == max:
        min, max = min - 1, max + 1
    values = self[~np.isnan(self)].astype(np.float64)
    return np.histogram(values, bins, (float(min), float(max)))[0].astype(self.dtype)
