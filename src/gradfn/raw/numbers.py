"""What kernels share: numbers beside arrays, half precision, and refusals of dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, TypeVar

import numpy as np

from .. import dtypes

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Kernel: TypeAlias = Callable[..., Array]
_K = TypeVar("_K", bound=Kernel)

HALF = "eE"  # float16 and bfloat16, as NumPy's type characters

# PyTorch's messages name dtypes by their C++ types, which for integers it spells in two ways.
C_NAMES = {
    "bool": "bool",
    "uint8": "uint8_t",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int",
    "int64": "int64_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}
_DEMANGLED = {
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int64": "long int",
}


def c_type(array: Array) -> str:
    """The C++ type of an array's elements, as PyTorch's messages about two of them have it."""
    return (C_NAMES | _DEMANGLED)[array.dtype.name]


def in_single(kernel: _K) -> _K:
    """`kernel` computing half precision in single and rounding once, as PyTorch does."""

    @wraps(kernel)
    def rounded(self: Array, *others: Any, **options: Any) -> Array:
        if self.dtype.char not in HALF:
            return kernel(self, *others, **options)
        single = [wide(a) if hasattr(a, "dtype") else a for a in (self, *others)]
        return np.asarray(kernel(*single, **options)).astype(self.dtype)

    return rounded  # type: ignore[return-value]


def wide(self: Array) -> Array:
    """`self` in the dtype that it is computed in: half precision in single."""
    return self.astype(np.float32) if self.dtype.char in HALF else self


def cast(values: Array, dtype: np.dtype[Any], copy: bool = True) -> Array:
    """`values` in `dtype`; rounded to half precision by way of single, as PyTorch does."""
    if dtype.char in HALF and values.dtype.char != "f" and values.dtype.itemsize > 2:
        values = values.astype(np.float32)
    return values.astype(dtype, copy=copy)


def row_major(self: Array) -> Array:
    """`self`, copied unless it is contiguous, where PyTorch's result is contiguous whatever the
    layout of the input."""
    return np.asarray(self, order="C")


def narrow_as(result: Array, self: Array) -> Array:
    """What was computed from `wide(self)`, in the precision of `self`."""
    return result.astype(self.dtype) if self.dtype.char in HALF else result


def not_implemented(kernel: str, dtype: np.dtype[Any]) -> NotImplementedError:
    """PyTorch's error for a dtype that its `kernel` does not have."""
    return NotImplementedError(
        f"\"{kernel}\" not implemented for '{dtypes.from_numpy(dtype).scalar_name}'"
    )


def refuse(kernel: str, self: Array, kinds: str) -> None:
    """Raise for a dtype of one of NumPy's `kinds`, as PyTorch's kernels do."""
    if self.dtype.kind in kinds:
        raise not_implemented(kernel, self.dtype)


def joined(self: Array, number: Any) -> tuple[Array, Any]:
    """`self` and a Python number in the dtype that PyTorch gives the two together."""
    kind = self.dtype.kind
    if kind == "c" or (kind == "f" and not isinstance(number, complex)):
        return self, number
    own, other = dtypes.from_numpy(self.dtype), dtypes.of_scalar(number)
    if own.category < other.category:
        if other.is_complex and own.is_floating_point:
            other = own.to_complex()
        self = np.asarray(self).astype(other.numpy)
    elif kind in "iu":
        number = np.array(number).astype(self.dtype)[()]  # wraps around
    return self, number


def with_number(kernel: Kernel) -> Kernel:
    """`kernel` with a Python number in the place of its second array."""

    def combined(self: Array, other: Any) -> Array:
        array, number = joined(self, other)
        return kernel(array, np.asarray(number, array.dtype))

    return combined


def converted(value: Any, dtype: np.dtype[Any]) -> Any:
    """The number `value` in `dtype`; RuntimeError where it does not fit."""
    if value.__class__ in (int, float) and -1 <= value <= 1 and dtype.kind in "fc":
        return value
    if not _fits(value, dtype):
        name = C_NAMES[dtype.name]
        raise RuntimeError(
            f"value cannot be converted to type {name} without overflow: it is {value}"
        )
    if dtype.kind not in "bc":
        value = np.real(value)
    if dtype.char in HALF:  # rounded twice, as in PyTorch
        value = np.asarray(value, np.float32)
    return np.asarray(value).astype(dtype)


def _fits(value: Any, dtype: np.dtype[Any]) -> bool:
    if dtype.kind == "b":
        return True
    real, imag = np.real(value), np.imag(value)
    if dtype.kind != "c" and imag:
        return False
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        lowest = limits.min or -limits.max  # negative numbers wrap around in unsigned dtypes
        return bool(lowest <= real <= limits.max)
    if dtype.kind not in "fc":
        return True
    largest = float(np.finfo(dtype).max)
    return not any(largest < abs(part) < math.inf for part in (real, imag))


def refuse_bool(*arrays: Any) -> None:
    """Refuse to subtract booleans, one or both."""
    bools = [a.dtype.kind == "b" for a in arrays]
    if len(bools) > 1 and all(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if any(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )
