"""Rows of a table picked by number, and numbers as rows of an identity matrix."""

from __future__ import annotations

import numpy as np

from ..dtypes import from_numpy
from .numbers import Array

__all__ = [
    "embedding",
    "embedding_dense_backward",
    "embedding_dense_double_backward",
    "embedding_renorm",
    "one_hot",
]


def _check(weight: Array, indices: Array) -> None:
    if weight.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, but it has shape {list(weight.shape)}")
    dtype = from_numpy(indices.dtype)
    if dtype.name not in ("int64", "int32"):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got torch.{dtype.scalar_name}Tensor instead (while checking arguments "
            "for embedding)"
        )
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
