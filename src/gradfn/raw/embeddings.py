"""Rows of a table picked by number, and numbers as rows of an identity matrix."""

from __future__ import annotations

import numpy as np

from ..dtypes import from_numpy
from .numbers import Array
from .products import is_half

__all__ = [
    "embedding",
    "embedding_bag",
    "embedding_dense_backward",
    "embedding_dense_double_backward",
    "embedding_renorm",
    "one_hot",
]


def _check_dtype(indices: Array, name: str) -> None:
    dtype = from_numpy(indices.dtype)
    if dtype.name not in ("int64", "int32"):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got torch.{dtype.scalar_name}Tensor instead (while checking arguments "
            f"for {name})"
        )


def _check(weight: Array, indices: Array) -> None:
    if weight.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, but it has shape {list(weight.shape)}")
    _check_dtype(indices, "embedding")
    if indices.size and (indices.min() < 0 or indices.max() >= len(weight)):
        worst = indices.min() if indices.min() < 0 else indices.max()
        raise IndexError(f"index out of range in self: {worst}, for a table of {len(weight)} rows")


def embedding(
    weight: Array,
    indices: Array,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    _check(weight, indices)
    return np.take(weight, indices, axis=0)


def embedding_dense_backward(
    grad_output: Array, indices: Array, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Array:
    """The rows of `grad_output` added up by their index, those of the padding left out."""
    flat = indices.reshape(-1)
    rows = grad_output.reshape(flat.size, grad_output.shape[-1])
    if scale_grad_by_freq:
        counts = np.bincount(flat, minlength=num_weights)
        rows = rows / np.expand_dims(counts[flat], 1).astype(rows.dtype)
    gradient = np.zeros((num_weights, rows.shape[1]), grad_output.dtype)
    np.add.at(gradient, flat, rows)
    if padding_idx >= 0:
        gradient[padding_idx] = 0
    return gradient


def embedding_dense_double_backward(grad: Array, indices: Array, padding_idx: int) -> Array:
    """The adjoint of `embedding_dense_backward`, which in PyTorch ignores the frequencies."""
    flat = indices.reshape(-1)
    rows = np.where(np.expand_dims(flat == padding_idx, 1), np.zeros((), grad.dtype), grad[flat])
    return rows.reshape(*indices.shape, grad.shape[1])


def embedding_renorm(weight: Array, indices: Array, max_norm: float, norm_type: float) -> Array:
    """`weight` with the rows in `indices` scaled down to a norm of at most `max_norm`."""
    _check(weight, indices)
    used = np.unique(indices)
    norms = np.linalg.norm(weight[used], norm_type, axis=1, keepdims=True)
    scale = np.where(norms > max_norm, max_norm / (norms + 1e-7), 1)
    result = weight.copy()
    result[used] *= scale.astype(weight.dtype)
    return result


SUM, MEAN, MAX = range(3)  # PyTorch's numbers of the modes of `embedding_bag`


def embedding_bag(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool = False,
    reduction: int = SUM,
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    padding_idx: int = -1,
) -> tuple[Array, Array, Array, Array]:
    """The result; the bag of each index, the size of each bag, and the rows of the maxima."""
    _check_bags(weight, indices, offsets)
    bag = np.repeat(np.arange(offsets.size), np.diff(offsets, append=indices.size))
    kept = indices != padding_idx
    rows, owner = weight[indices[kept]], bag[kept]
    rows = rows.astype(np.float32) if is_half(weight) else rows
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[kept, None].astype(rows.dtype)
    sizes = np.bincount(owner, minlength=offsets.size)
    shape = (offsets.size, weight.shape[1])
    if reduction == MAX:
        result, place = _maxima(rows, owner, shape)
        largest = np.append(indices[kept], 0)[place]
    else:
        result, largest = np.zeros(shape, rows.dtype), np.zeros(shape, np.int64)
        np.add.at(result, owner, rows)
        if reduction == MEAN:
            result /= np.maximum(sizes, 1).astype(rows.dtype)[:, None]
    return result.astype(weight.dtype, copy=False), bag, sizes, largest


def _maxima(rows: Array, owner: Array, shape: tuple[int, int]) -> tuple[Array, Array]:
    """The maxima of each column by bag, 0 for none, and the first row that has each."""
    result = np.full(shape, -np.inf, rows.dtype)
    np.maximum.at(result, owner, rows)
    place = np.full(shape, len(rows))
    candidates = np.where(rows == result[owner], np.arange(len(rows))[:, None], len(rows))
    np.minimum.at(place, owner, candidates)
    result[np.bincount(owner, minlength=shape[0]) == 0] = 0
    return result, place


def _check_bags(weight: Array, indices: Array, offsets: Array) -> None:
    _check_dtype(indices, "embedding_bag")
    if weight.dtype.kind in "biuc":
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: "
            f"Half, BFloat16, Float, Double; but got {from_numpy(weight.dtype)} instead (while "
            "checking arguments for embedding_bag)"
        )
    outside = np.flatnonzero((indices < 0) | (indices >= len(weight)))
    if outside.size:
        first = int(outside[0])
        raise RuntimeError(
            f"Index {first} of input takes value {indices[first]} which is not in the valid range "
            f"[0, {len(weight)})"
        )
    if offsets.size and offsets[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {offsets[0]}"
        )
    if offsets.size and offsets[-1] > indices.size:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {indices.size} but got "
            f"offsets[-1] of {offsets[-1]}"
        )
    if (np.diff(offsets) < 0).any():
        raise RuntimeError(f"Expected offsets that do not decrease, but got {offsets.tolist()}")


def one_hot(self: Array, num_classes: int = -1) -> Array:
    if self.dtype != np.int64:
        raise RuntimeError(
            "one_hot is only applicable to index tensor of type LongTensor, not to "
            f"{from_numpy(self.dtype)}."
        )
    if not self.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return np.zeros((*self.shape, num_classes), np.int64)
    if self.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(self.max()) + 1
    elif self.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    hot: Array = np.expand_dims(self, -1) == np.arange(num_classes)
    return hot.astype(np.int64)
