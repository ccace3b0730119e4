"""PyTorch's old tensor types: constructors named after a dtype, such as ``FloatTensor``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes, fromdata
from .autograd.variable import Variable
from .creation import made, shape_of
from .shapes import Size

if TYPE_CHECKING:
    from .dtypes import dtype as DType
    from .tensor import Tensor


def constructed(name: str, dtype: DType, arguments: tuple[Any, ...], options: Any) -> Tensor:
    """PyTorch's old constructor: sizes make an uninitialised tensor, a sequence is data."""
    if not arguments:
        return made(name, np.empty(0, dtype.numpy), options)
    data = arguments[0]
    if isinstance(data, Variable):
        alias: Tensor = data.detach()  # type: ignore[attr-defined]
        return alias
    if isinstance(data, Size | int | np.integer):
        return made(name, np.empty(shape_of(name, arguments), dtype.numpy), options)
    if not hasattr(data, "__len__"):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    return made(name, fromdata.copied(data, dtype), options)


def new(self: Tensor, *arguments: Any, **options: Any) -> Tensor:
    """PyTorch's old constructor in this tensor's dtype: prefer `new_empty` and `new_tensor`."""
    return constructed("new", self.dtype, arguments, options)


class TensorType(type):
    """The type of such types: calling one makes a tensor, and `isinstance` asks for the dtype."""

    dtype: DType

    def __new__(cls, name: str, kind: DType) -> TensorType:
        return super().__new__(cls, name, (), {"__module__": "gradfn", "dtype": kind})

    def __init__(cls, name: str, kind: DType) -> None:
        super().__init__(name, (), {})

    def __call__(cls, *arguments: Any, **options: Any) -> Tensor:
        data = arguments[0] if arguments else None
        if isinstance(data, Variable) and data.dtype is not cls.dtype:
            raise TypeError(f"expected a tensor of dtype {cls.dtype} (got one of {data.dtype})")
        return constructed("new", cls.dtype, arguments, options)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Variable) and instance.dtype is cls.dtype


BFloat16Tensor = TensorType("BFloat16Tensor", dtypes.bfloat16)
BoolTensor = TensorType("BoolTensor", dtypes.bool_)
ByteTensor = TensorType("ByteTensor", dtypes.uint8)
CharTensor = TensorType("CharTensor", dtypes.int8)
DoubleTensor = TensorType("DoubleTensor", dtypes.float64)
FloatTensor = TensorType("FloatTensor", dtypes.float32)
HalfTensor = TensorType("HalfTensor", dtypes.float16)
IntTensor = TensorType("IntTensor", dtypes.int32)
LongTensor = TensorType("LongTensor", dtypes.int64)
ShortTensor = TensorType("ShortTensor", dtypes.int16)

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "set_default_tensor_type",
]


def set_default_tensor_type(t: TensorType | str) -> None:
    """Make the dtype of a tensor type the default one: deprecated, use `set_default_dtype`."""
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    kind = globals().get(t.removeprefix("torch.")) if isinstance(t, str) else t
    if not isinstance(kind, TensorType):
        raise TypeError(f"invalid type object: only floating-point types are supported, got {t!r}")
    dtypes.set_default_dtype(kind.dtype)


METHODS = "new"
