"""What a file names: PyTorch's classes and functions, and what stands for them here."""

from __future__ import annotations

import codecs
import importlib
import pickle
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import dtypes
from ..autograd.variable import Variable
from ..device import device, strided
from ..nn.parameter import Parameter
from ..shapes import Size
from ..tensor import Tensor

# The classes of storages that name the dtype of their elements.
STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64",
}
STORAGE_OF = {dtype: name for name, dtype in STORAGES.items()}


class StorageType:
    """What a file calls the class of a storage: the dtype of its elements, bytes where untyped."""

    def __init__(self, name: str) -> None:
        self.dtype = dtypes.named(STORAGES.get(name, "uint8"))


def rebuild_tensor(
    storage: np.ndarray[Any, Any],
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool = False,
    backward_hooks: Any = None,
    metadata: Any = None,
) -> Any:
    """The tensor that is a window into `storage`; RuntimeError where it would reach out of it."""
    item = storage.itemsize
    reach = storage_offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) + 1
    if 0 not in size and (reach > storage.size or storage_offset < 0 or min(stride, default=0) < 0):
        raise RuntimeError(
            f"a tensor of size {list(size)}, strides {list(stride)} and offset {storage_offset} is "
            f"out of bounds for storage of {storage.size} elements: the file is corrupted"
        )
    if 0 in size:
        array = np.empty(tuple(size), storage.dtype)
    else:
        window = storage[storage_offset:]
        array = np.lib.stride_tricks.as_strided(
            window, tuple(size), tuple(step * item for step in stride)
        )
    about = metadata or {}
    if about.get("conj"):
        array = array.conj()
    if about.get("neg"):
        array = -array
    return Variable.wrap(array).requires_grad_(bool(requires_grad))


def rebuild_typed_tensor(
    storage: np.ndarray[Any, Any],
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Any:
    """The same of a storage of bytes, and the dtype besides."""
    return rebuild_tensor(
        storage.view(dtype.numpy),
        storage_offset,
        size,
        stride,
        requires_grad,
        backward_hooks,
        metadata,
    )


def rebuild_subclass(rebuild: Callable[..., Any], kind: type[Any], args: Any, state: Any) -> Any:
    """What ``rebuild(*args)`` gives, as a `kind` of tensor with the attributes `state`."""
    made = rebuild(*args)
    if kind is not Tensor:
        made = kind._make_subclass(kind, made.detach(), made.requires_grad)
    _set_attributes(made, state)
    return made


def rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any, *state: Any) -> Any:
    """A parameter over the memory of `data`."""
    made = Parameter(data, requires_grad)
    for attributes in state:
        _set_attributes(made, attributes)
    return made


def _set_attributes(tensor: Any, state: Any) -> None:
    """Give a tensor the attributes that a user had set: the engine's own begin with underscores."""
    if isinstance(state, dict):
        vars(tensor).update({n: v for n, v in state.items() if not str(n).startswith("_")})


def layout_named(name: str) -> Any:
    """The layout of a name such as ``torch.strided``."""
    if name != "torch.strided":
        raise pickle.UnpicklingError(f"the layout {name} is not in gradfn")
    return strided


def _allowed() -> dict[tuple[str, str], Any]:
    """What a file of weights may name."""
    table: dict[tuple[str, str], Any] = {
        ("collections", "OrderedDict"): OrderedDict,
        ("collections", "Counter"): Counter,
        ("_codecs", "encode"): codecs.encode,
        ("builtins", "bytearray"): bytearray,
        ("__builtin__", "bytearray"): bytearray,
        ("builtins", "set"): set,
        ("__builtin__", "set"): set,
        ("builtins", "complex"): complex,
        ("__builtin__", "complex"): complex,
        ("torch", "Size"): Size,
        ("torch", "device"): device,
        ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor,
        ("torch._utils", "_rebuild_tensor"): rebuild_tensor,
        ("torch._utils", "_rebuild_tensor_v3"): rebuild_typed_tensor,
        ("torch._tensor", "_rebuild_from_type_v2"): rebuild_subclass,
        ("torch", "Tensor"): Tensor,
        ("torch.nn.parameter", "Parameter"): Parameter,
        ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
        ("torch._utils", "_rebuild_parameter_with_state"): rebuild_parameter,
        ("torch.serialization", "_get_layout"): layout_named,
    }
    table |= {("torch", str(d).removeprefix("torch.")): d for d in dtypes.every()}
    for name in (*STORAGES, "UntypedStorage"):
        table["torch", name] = StorageType(name)
    table["torch.storage", "UntypedStorage"] = StorageType("UntypedStorage")
    return table


ALLOWED = _allowed()
_safe: dict[str, Any] = {}


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Let files of weights name these classes and functions too, or ``(object, "module.name")``."""
    for entry in safe_globals:
        value, name = entry if isinstance(entry, tuple) else (entry, None)
        _safe[name or f"{value.__module__}.{value.__qualname__}"] = value


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` was given."""
    return list(_safe.values())


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` was given."""
    _safe.clear()


@contextmanager
def safe_globals(safe_globals: Iterable[Any]) -> Any:
    """`add_safe_globals` for a block."""
    before = dict(_safe)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _safe.clear()
        _safe.update(before)


def is_trusted(kind: type[Any]) -> bool:
    """Whether `add_safe_globals` was given the class `kind`."""
    return any(kind is value for value in _safe.values())


def safe_name(module: str, name: str) -> Any:
    """What a file of weights names; UnpicklingError where that is not allowed."""
    found = ALLOWED.get((module, name))
    if found is None:
        found = _safe.get(f"{module}.{name}")
    if found is None and module.startswith("torch"):
        found = _safe.get(f"gradfn{module.removeprefix('torch')}.{name}")
    if found is None:
        raise pickle.UnpicklingError(
            "Weights only load failed. This file can still be loaded, to do so you have two "
            f"options: the file asks for {module}.{name} (Unsupported global: GLOBAL "
            f"{module}.{name} was not an allowed global by default). Nothing was executed. Please "
            f"use `torch.serialization.add_safe_globals([{name}])` to allowlist this global if you "
            "trust it, or load with weights_only=False if you trust the whole file."
        )
    return found


def any_name(module: str, name: str, fallback: Callable[[str, str], Any]) -> Any:
    """What any file names, PyTorch's own as gradfn's."""
    found = ALLOWED.get((module, name))
    if found is not None:
        return found
    if module == "torch" or module.startswith("torch."):
        value: Any = importlib.import_module("gradfn" + module.removeprefix("torch"))
        if module.startswith("torch.nn.modules.") and not hasattr(value, name):
            value = importlib.import_module("gradfn.nn.modules")  # it is in another file here
        for part in name.split("."):
            value = getattr(value, part)
        return value
    return fallback(module, name)
