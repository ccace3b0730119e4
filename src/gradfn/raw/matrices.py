"""What the kernels of linear algebra share: checks, errors, and loops of LAPACK over batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..dtypes import FLOAT, from_numpy
from ..errors import LinAlgError
from ..shapes import broadcast_shapes

Array = np.ndarray[Any, np.dtype[Any]]

_LAPACK = "fdFD"  # the dtypes of LAPACK, as NumPy's type characters


def check_matrices(name: str, A: Array, argument: str = "A") -> None:
    """Raise unless `A` is a matrix or a batch of matrices."""
    if A.ndim < 2:
        raise RuntimeError(
            f"{name}: The input tensor {argument} must have at least 2 dimensions. It has shape "
            f"{list(A.shape)}."
        )


def check_square(name: str, A: Array) -> None:
    """Raise unless `A` is a square matrix or a batch of them."""
    check_matrices(name, A)
    prefix = f"{name}: " if name else ""
    rows, columns = A.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{prefix}A must be batches of square matrices, but they are {rows} by {columns} "
            "matrices"
        )


def check_fraction(name: str, A: Array, half: bool = False) -> None:
    """Raise for integers and, unless `half`, for half precision."""
    own = from_numpy(A.dtype)
    if own.category < FLOAT:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {own.scalar_name}"
        )
    if not half and A.dtype.char not in _LAPACK:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {own.scalar_name}")


def check_lapack(kernel: str, A: Array) -> None:
    """Raise for the dtypes that LAPACK does not compute in, as PyTorch's `kernel` does."""
    if A.dtype.char not in _LAPACK:
        name = from_numpy(A.dtype).scalar_name
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{name}'")


def check_system(name: str, A: Array, B: Array, left: bool) -> None:
    """Raise unless the shapes fit ``A X = B``, or ``X A = B`` where not `left`."""
    check_square(name, A)
    check_matrices(name, B, "B")
    if A.shape[-1] != B.shape[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} "
            f"({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})"
        )


def check_info(name: str, info: Array, text: str, error: type[Exception] = LinAlgError) -> None:
    """Raise for the first matrix whose LAPACK `info` is not zero; `text` may hold ``{info}``."""
    if not info.any():
        return
    first = int(np.flatnonzero(info)[0])
    batch = f"(Batch element {first}): " if info.ndim else ""
    raise error(f"{name}: {batch}{text.format(info=abs(int(info.reshape(-1)[first])))}")


def column_major(A: Array) -> Array:
    """`A` with the columns of each matrix contiguous, as LAPACK leaves them."""
    return np.ascontiguousarray(A.mT).mT


def empty_columns(*shape: int, dtype: np.dtype[Any]) -> Array:
    """An uninitialised batch of matrices, laid out by columns."""
    *batch, rows, columns = shape
    return np.empty((*batch, columns, rows), dtype).mT


def lapack(name: str, *arrays: Array) -> Callable[..., Any]:
    """The LAPACK function for the dtype of `arrays`, with its underscored name in SciPy."""
    from scipy.linalg import get_lapack_funcs

    function: Callable[..., Any] = get_lapack_funcs(name, arrays)
    return function


def matrices(*arrays: Array, core: Sequence[int]) -> Iterator[tuple[Array, ...]]:
    """The items of batches of one shape; ``core[i]`` dimensions of each array are no batch."""
    pairs = list(zip(arrays, core, strict=True))
    for where in np.ndindex(arrays[0].shape[: arrays[0].ndim - core[0]]):
        yield tuple(a[where] if n else a[where][()] for a, n in pairs)


def broadcast_batches(*arrays: Array, core: Sequence[int]) -> list[Array]:
    """`arrays` with their batches broadcast; ``core[i]`` dimensions of each are no batch."""
    splits = [a.ndim - n for a, n in zip(arrays, core, strict=True)]
    batch = broadcast_shapes(*(a.shape[:k] for a, k in zip(arrays, splits, strict=True)))
    return [np.broadcast_to(a, (*batch, *a.shape[k:])) for a, k in zip(arrays, splits, strict=True)]
