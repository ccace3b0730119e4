"""Arrays from what users have: numbers, nested sequences, NumPy arrays, tensors, buffers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes
from .autograd.node import Array
from .autograd.variable import Variable
from .raw.numbers import converted

if TYPE_CHECKING:
    from .dtypes import dtype

_NUMBERS = (bool, int, float, complex)


def copied(data: Any, wanted: dtype | None) -> Array:
    """A new array of `data`, in the dtype `wanted` or the one that PyTorch infers."""
    kind = type(data)
    if kind is float and wanted is None:
        return np.array(data, dtypes.get_default_dtype().numpy)
    if isinstance(data, Variable):
        data = data._array
    if isinstance(data, np.ndarray):
        target = wanted or dtypes.from_numpy(data.dtype)
        return _real_part(data, target).astype(target.numpy)
    if isinstance(data, str | bytes):
        raise TypeError(f"new(): invalid data type '{kind.__name__}', expected numbers")
    leaves, shape = _flattened(data)
    target = wanted or _inferred(leaves)
    return _filled(leaves, target).reshape(shape)


def shared(array: Any) -> Array:
    """A view of a NumPy array that a tensor can live on; ValueError where none can."""
    if not isinstance(array, np.ndarray):
        kind = type(array)
        name = kind.__name__ if kind.__module__ == "builtins" else f"numpy.{kind.__name__}"
        raise TypeError(f"expected np.ndarray (got {name})")
    dtypes.from_numpy(array.dtype)
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion "
            f"between byte orders is currently not supported: its dtype is {array.dtype.str}"
        )
    if any(step < 0 for step in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative "
            f"strides are not currently supported: its strides are {array.strides} bytes. Make a "
            "copy of it with array.copy()."
        )
    return array.view(np.ndarray)


def number(value: Any, target: dtype) -> Any:
    """The Python or 0-d `value` as a scalar of `target`; RuntimeError where it does not fit."""
    if isinstance(value, Variable):
        value = value.item()  # type: ignore[attr-defined]
    return np.asarray(converted(value, target.numpy), target.numpy)[()]


def _real_part(array: Array, target: dtype) -> Array:
    complex_to_real = array.dtype.kind == "c" and target.category in (dtypes.INT, dtypes.FLOAT)
    return array.real if complex_to_real else array


def _is_sequence(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return True
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    if isinstance(value, str | bytes | dict | Variable | np.generic):
        return False
    return hasattr(value, "__getitem__") and hasattr(value, "__len__")


def _flattened(data: Any) -> tuple[list[Any], list[int]]:
    """The leaves of nested sequences in order, and their shape."""
    level: list[Any] = [data]
    shape: list[int] = []
    while level and _is_sequence(level[0]):
        length = len(level[0])
        if not set(map(type, level)) <= {list, tuple} or set(map(len, level)) != {length}:
            _check_rows(level, length, len(shape))
        shape.append(length)
        level = list(chain.from_iterable(level))
    for kind in set(map(type, level)) - set(_NUMBERS):
        if issubclass(kind, Variable | np.ndarray):
            level = [_number_of(leaf) for leaf in level]
        elif issubclass(kind, str | bytes):
            raise ValueError(f"too many dimensions '{kind.__name__}': expected numbers")
        elif issubclass(kind, list | tuple):
            raise TypeError(f"'{kind.__name__}' object cannot be interpreted as a number")
    return level, shape


def _check_rows(rows: list[Any], length: int, dim: int) -> None:
    for row in rows:
        if not _is_sequence(row):
            raise TypeError(f"not a sequence: {row!r}, where others at dim {dim} are")
        if len(row) != length:
            raise ValueError(f"expected sequence of length {length} at dim {dim} (got {len(row)})")


def _number_of(leaf: Any) -> Any:
    """A one-element tensor or array as a NumPy scalar; other leaves as they are."""
    array = leaf._array if isinstance(leaf, Variable) else leaf
    if not isinstance(array, np.ndarray):
        return leaf
    if array.size != 1:
        raise ValueError(
            "only one element tensors can be converted to Python scalars: a list holds one of "
            f"shape {list(array.shape)}; join tensors with stack() or cat()"
        )
    return array.reshape(())[()]


def _inferred(leaves: Sequence[Any]) -> dtype:
    kinds = set(map(type, leaves))
    if not kinds:
        return dtypes.get_default_dtype()
    return reduce(dtypes.promote_types, sorted(map(_dtype_of, kinds), key=lambda d: d.category))


def _dtype_of(kind: type[Any]) -> dtype:
    if issubclass(kind, np.generic):
        return dtypes.from_numpy(np.dtype(kind))
    for number in _NUMBERS:
        if issubclass(kind, number):
            return dtypes.of_scalar(number(0))
    raise RuntimeError(f"Could not infer dtype of {kind.__name__}: expected numbers")


def _filled(leaves: list[Any], target: dtype) -> Array:
    """A flat array of numbers, refusing what `target` cannot hold."""
    if target.category == dtypes.INT:
        return _integers(leaves, target)
    if target.category == dtypes.FLOAT:
        for kind in set(map(type, leaves)):
            if issubclass(kind, complex | np.complexfloating):
                raise TypeError(f"must be real number, not {kind.__name__}")
    with np.errstate(all="ignore"):
        if target.itemsize == 2:  # half precision is rounded twice, as in PyTorch
            return np.array(leaves, np.float32).astype(target.numpy)
        return np.array(leaves, target.numpy)


def _integers(leaves: list[Any], target: dtype) -> Array:
    natural = np.array(leaves) if leaves else np.array(leaves, target.numpy)
    if natural.dtype.kind == "c":
        raise TypeError("'complex' object cannot be interpreted as an integer")
    top = np.iinfo(target.numpy).max
    bottom = np.iinfo(target.numpy).min or -top  # negative numbers wrap around in unsigned dtypes
    if natural.size and not (natural.max() <= top and natural.min() >= bottom):
        if target is dtypes.int64 and natural.dtype.kind in "uO":
            raise ValueError(f"Overflow when unpacking long long: {natural.max()}")
        raise RuntimeError(
            f"value cannot be converted to type {target.name} without overflow: it holds "
            f"[{bottom}, {top}], but the data has {natural.min()} to {natural.max()}"
        )
    return natural.astype(target.numpy)
