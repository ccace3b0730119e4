"""Matrix products. Half precision accumulates in float32, as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import from_numpy
from ..shapes import broadcast_shapes, wrap_dim
from .numbers import HALF, Array, c_type, converted, not_implemented
from .views import expand

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "dot",
    "linalg_cross",
    "matmul",
    "mm",
    "mv",
    "outer",
    "trilinear",
    "vdot",
]

_MULTIPLIED = frozenset("bBhilq" + HALF + "fdFD")  # no bool, no wide unsigned integers


def _name(array: Array) -> str:
    return from_numpy(array.dtype).scalar_name


def _by(array: Array) -> str:
    return "x".join(map(str, array.shape))


def is_half(array: Array) -> bool:
    """Whether `array` is of float16 or bfloat16."""
    return array.dtype.char in HALF


def in_wide(kernel: Callable[..., Array], *arguments: Any) -> Array:
    """`kernel` of the arguments, with half precision computed in float32."""
    dtype = arguments[0].dtype
    if dtype.char not in HALF:
        return kernel(*arguments)
    wide = [a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in arguments]
    return kernel(*wide).astype(arguments[0].dtype)


def matmul(self: Array, other: Array) -> Array:
    """The product over the last dimension of one and the last but one of the other."""
    if self.dtype.char in HALF:
        wide: Array = np.matmul(self.astype(np.float32), other.astype(np.float32), out=...)
        return wide.astype(self.dtype)
    product: Array = np.matmul(self, other, out=...)
    return product


def _product(self: Array, other: Array, kernel: str) -> Array:
    """`matmul` for the dtypes that PyTorch's `kernel` has; empty products come in all of them."""
    if self.dtype.char in _MULTIPLIED:
        return matmul(self, other)
    product: Array = np.matmul(self, other, out=...)
    if product.size and self.size:
        raise not_implemented(kernel, self.dtype)
    return product


def mm(self: Array, mat2: Array) -> Array:
    if self.dtype is not mat2.dtype and self.dtype != mat2.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {c_type(self)} != {c_type(mat2)}"
        )
    if self.ndim != 2 or mat2.ndim != 2:
        which, array = ("self", self) if self.ndim != 2 else ("mat2", mat2)
        raise RuntimeError(f"{which} must be a matrix: it has {array.ndim} dimensions, not 2")
    if self.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({_by(self)} and {_by(mat2)})"
        )
    return _product(self, mat2, "addmm_impl_cpu_")


def mv(self: Array, vec: Array) -> Array:
    _check_mv(vec, self, vec)
    return _product(self, vec, "addmv_impl_cpu")


def _check_mv(self: Array, mat: Array, vec: Array) -> None:
    if mat.ndim != 2 or vec.ndim != 1 or self.ndim > 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim} dimensions"
        )
    rows = mat.shape[0] if self is vec else self.size
    if mat.shape[1] != vec.shape[0] or rows not in (1, mat.shape[0]):
        raise RuntimeError(f"size mismatch, got input ({rows}), mat ({_by(mat)}), vec ({vec.size})")
    if not self.dtype == mat.dtype == vec.dtype:
        names = f"{_name(self)}, {_name(mat)}, and {_name(vec)}"
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {names}")


def dot(self: Array, tensor: Array) -> Array:
    _check_dot(self, tensor)
    return _product(self, tensor, "dot")


def vdot(self: Array, other: Array) -> Array:
    _check_dot(self, other)
    return _product(self.conj(), other, "dot")


def _check_dot(self: Array, other: Array) -> None:
    if self.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {other.ndim}D tensors")
    if self.dtype != other.dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{_name(self)} and {_name(other)}"
        )
    if self.size != other.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{self.size}] and src [{other.size}] to "
            f"have the same number of elements, but got {self.size} and {other.size} elements "
            "respectively"
        )


def bmm(self: Array, mat2: Array) -> Array:
    _check_batches(self, mat2)
    if self.dtype != mat2.dtype:
        raise RuntimeError(f"expected scalar type {_name(self)} but found {_name(mat2)}")
    return _product(self, mat2, "bmm")


def _check_batches(batch1: Array, batch2: Array) -> None:
    for name, batch in (("batch1", batch1), ("batch2", batch2)):
        if batch.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor: it has {batch.ndim} dimensions")
    due = [batch1.shape[0], batch1.shape[2]]
    if list(batch2.shape[:2]) != due:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {due} but got: "
            f"{list(batch2.shape[:2])}."
        )


def outer(self: Array, vec2: Array) -> Array:
    return np.multiply.outer(self, vec2)


def addmm(self: Array, mat1: Array, mat2: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if matrix.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {matrix.ndim}-D tensor")
    if not self.dtype == mat2.dtype == mat1.dtype:
        pair = (self, mat2) if self.dtype != mat2.dtype else (mat1, mat2)
        which = "self" if self.dtype != mat2.dtype else "mat1"
        raise RuntimeError(
            f"{which} and mat2 must have the same dtype, but got {' and '.join(map(_name, pair))}"
        )
    return _add_scaled(self, mm(mat1, mat2), beta, alpha)


def addmv(self: Array, mat: Array, vec: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    _check_mv(self, mat, vec)
    return _add_scaled(self, mv(mat, vec), beta, alpha)


def addr(self: Array, vec1: Array, vec2: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if vector.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vector.ndim}-D")
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if self.dtype.kind in "biu" and not isinstance(factor, int):
            raise RuntimeError(
                f"For integral input tensors, argument {name} must not be a floating point "
                f"number, but it is {factor!r}."
            )
    return _add_scaled(self, outer(vec1, vec2), beta, alpha)


def baddbmm(self: Array, batch1: Array, batch2: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    _check_batches(batch1, batch2)
    if not self.dtype == batch1.dtype == batch2.dtype:
        names = (f"{n}: {c_type(a)}" for n, a in (("batch1", batch1), ("batch2", batch2)))
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {c_type(self)}, {', '.join(names)}"
        )
    return _add_scaled(self, _product(batch1, batch2, "baddbmm"), beta, alpha)


def addbmm(self: Array, batch1: Array, batch2: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    for name, batch in (("batch1", batch1), ("batch2", batch2)):
        if batch.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor: it has {batch.ndim} dimensions")
    if batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError(
            "batch1 and batch2 must have same number of batches, got "
            f"{batch1.shape[0]} and {batch2.shape[0]}"
        )
    if batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({_by(batch1[0])} and {_by(batch2[0])})"
        )
    count, rows, inner = batch1.shape
    left = batch1.transpose(1, 0, 2).reshape(rows, count * inner)
    return addmm(self, left, batch2.reshape(count * inner, -1), beta=beta, alpha=alpha)


def _add_scaled(self: Array, product: Array, beta: Any, alpha: Any) -> Array:
    """``beta * self + alpha * product``, in the memory of `product`; a factor 0 drops its term,
    NaN and infinities included."""
    dtype = product.dtype
    if self.shape != product.shape:
        self = expand(self, product.shape)
    if alpha == 0:
        product[...] = 0
    elif alpha != 1:
        np.multiply(product, converted(alpha, dtype), out=product)
    if beta == 1:
        np.add(product, self, out=product)
    elif beta != 0:
        np.add(product, self * converted(beta, dtype), out=product)
    return product


def trilinear(input1: Array, weight: Array, input2: Array) -> Array:
    """``result[n, k] = sum over i and j of input1[n, i] * weight[k, i, j] * input2[n, j]``."""
    dtype = input1.dtype
    if dtype.char in HALF:
        input1, weight, input2 = (a.astype(np.float32) for a in (input1, weight, input2))
    left = _product(input1, weight, "bmm")  # of shape (k, n, j)
    result: Array = np.einsum("knj,nj->nk", left, input2, order="C")
    return result.astype(dtype, copy=False)


def linalg_cross(self: Array, other: Array, *, dim: int = -1) -> Array:
    """The cross products of the vectors of size 3 along `dim`."""
    if self.ndim != other.ndim:
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions. They have shapes "
            f"{list(self.shape)} and {list(other.shape)}"
        )
    axis = wrap_dim(dim, self.ndim)
    sizes = [a.shape[axis] if a.ndim else 1 for a in (self, other)]
    if sizes != [3, 3]:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {sizes[0]} and "
            f"{sizes[1]}"
        )
    broadcast_shapes(self.shape, other.shape)
    if self.dtype != other.dtype:
        raise RuntimeError(f"expected scalar type {_name(self)} but found {_name(other)}")
    if self.dtype.kind == "b":
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    return np.ascontiguousarray(np.cross(self, other, axis=axis))
