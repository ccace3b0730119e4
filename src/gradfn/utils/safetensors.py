"""Weights in the safetensors format, by its own library: ``pip install safetensors``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..autograd.variable import Variable
from ..device import check_device
from ..dtypes import named

_KINDS = {"BF": "bfloat", "BOOL": "bool", "C": "complex", "F": "float", "I": "int", "U": "uint"}

__all__ = ["load", "load_file", "save", "save_file"]


def save_file(
    tensors: Mapping[str, Any],
    filename: str | os.PathLike[str],
    metadata: dict[str, str] | None = None,
) -> None:
    """Write tensors by name to a file. ValueError where one is none; they are stored contiguous."""
    from safetensors.numpy import save_file as write

    write(_arrays(tensors), filename, metadata)


def save(tensors: Mapping[str, Any], metadata: dict[str, str] | None = None) -> bytes:
    """The bytes of such a file."""
    from safetensors.numpy import save as pack

    packed: bytes = pack(_arrays(tensors), metadata)
    return packed


def load_file(filename: str | os.PathLike[str], device: Any = "cpu") -> dict[str, Any]:
    """The tensors of a file, by name."""
    from safetensors.numpy import load_file as read

    check_device(device)
    return {name: Variable.wrap(np.array(array)) for name, array in read(filename).items()}


def load(data: bytes) -> dict[str, Any]:
    """The tensors of the bytes of a file, by name."""
    from safetensors import deserialize

    unpack: Any = deserialize
    return {name: _tensor(**entry) for name, entry in unpack(data)}


def _tensor(dtype: str, shape: list[int], data: bytes) -> Any:
    """A tensor of its bytes; NotImplementedError for a dtype that gradfn has not."""
    parts = re.fullmatch(r"([A-Z]+)(\d*)", dtype)
    if parts is None or parts[1] not in _KINDS:
        raise NotImplementedError(f"the dtype {dtype} of safetensors is not in gradfn")
    name = _KINDS[parts[1]] + parts[2]
    array = np.frombuffer(bytearray(data), np.uint8).view(named(name).numpy)
    return Variable.wrap(array.reshape(shape))


def _arrays(tensors: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(tensors, Mapping):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    for name, tensor in tensors.items():
        if not isinstance(tensor, Variable):
            raise ValueError(
                f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}"
            )
    return {name: np.asarray(t._array, order="C") for name, t in tensors.items()}
