"""Weights in the safetensors format, by its own library: ``pip install safetensors``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..autograd.variable import Variable
from ..device import check_device

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
    from safetensors.numpy import load as unpack

    return {name: Variable.wrap(np.array(array)) for name, array in unpack(data).items()}


def _arrays(tensors: Mapping[str, Any]) -> dict[str, Any]:
    for name, tensor in tensors.items():
        if not isinstance(tensor, Variable):
            raise ValueError(
                f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}"
            )
    return {name: np.ascontiguousarray(t._array) for name, t in tensors.items()}
