"""Samples into batches: tensors stacked, containers one by one."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ....creation import as_tensor, tensor
from ....dtypes import float64
from ....ops.joining import stack
from ....tensor import Tensor

__all__ = ["default_collate", "default_convert"]

_TEXT = re.compile("[SaUO]")


def default_convert(data: Any) -> Any:
    """NumPy arrays within `data` as tensors; everything else as it is."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, np.ndarray | np.generic):
        return data if _TEXT.search(data.dtype.str) else as_tensor(data)
    if isinstance(data, Mapping):
        return _alike(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(item) for item in data))
    if isinstance(data, tuple):
        return [default_convert(item) for item in data]
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _alike(data, [default_convert(item) for item in data])
    return data


def default_collate(batch: Any) -> Any:
    """A batch of a list of samples, all alike.

    Tensors and arrays are stacked along a new first dimension, numbers become a tensor, strings a
    list; of dicts, tuples and lists each entry is a batch. TypeError for anything else.

    >>> default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ('a', 'b')]
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch))
    if isinstance(first, np.ndarray | np.generic) and not isinstance(first, np.str_ | np.bytes_):
        if _TEXT.search(first.dtype.str):
            raise TypeError(_complaint(first.dtype))
        if isinstance(first, np.ndarray) and first.ndim:
            return stack([as_tensor(item) for item in batch])
        return as_tensor(np.asarray(batch))
    if isinstance(first, float):
        return tensor(batch, dtype=float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return _alike(first, {key: default_collate([d[key] for d in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(row) for row in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(row) for row in zip(*batch, strict=True)]
        return columns if isinstance(first, tuple) else _alike(first, columns)
    raise TypeError(_complaint(type(first)))


def _complaint(found: Any) -> str:
    return (
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{found}"
    )


def _alike(original: Any, made: Any) -> Any:
    """`made` as a container of the type of `original`, with its attributes, where that works."""
    try:
        if not isinstance(original, MutableMapping | MutableSequence):
            return type(original)(made)
        result: Any = copy.copy(original)
        if isinstance(original, MutableMapping):
            result.update(made)
        else:
            result[:] = made
        return result
    except TypeError:
        return made
