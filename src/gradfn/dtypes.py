"""Data types: PyTorch's names and promotion rules over NumPy's storage types."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np

__all__ = [
    "bfloat16",
    "can_cast",
    "complex64",
    "complex128",
    "dtype",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "int8",
    "int16",
    "int32",
    "int64",
    "promote_types",
    "set_default_dtype",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

Number: TypeAlias = bool | int | float | complex

BOOL, INT, FLOAT, COMPLEX = range(4)
_CATEGORY = {"b": BOOL, "u": INT, "i": INT, "f": FLOAT, "c": COMPLEX}


class dtype:  # noqa: N801 - PyTorch's name
    """A tensor element type, such as ``gradfn.float32``.

    >>> float32, float32.itemsize, float32.is_floating_point
    (torch.float32, 4, True)
    """

    __module__ = "gradfn"
    __slots__ = ("category", "itemsize", "name", "numpy")

    def __init__(self, name: str, numpy: np.dtype[Any]) -> None:
        self.name = name
        self.numpy = numpy
        self.itemsize = numpy.itemsize
        self.category = _CATEGORY.get(numpy.kind, FLOAT)  # ml_dtypes' kinds are opaque
        _BY_NAME[name] = self
        _BY_NUMPY[numpy] = self

    @property
    def is_floating_point(self) -> bool:
        return self.category == FLOAT

    @property
    def is_complex(self) -> bool:
        return self.category == COMPLEX

    @property
    def is_signed(self) -> bool:
        return self.numpy.kind not in "bu"

    @property
    def scalar_name(self) -> str:
        """PyTorch's internal name, which its error messages use: ``Float`` for float32."""
        return _SCALAR_NAMES.get(self.name, self.name.capitalize())

    def to_real(self) -> dtype:
        """The dtype of the real part: ``complex64 -> float32``; a real dtype is itself."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def to_complex(self) -> dtype:
        """The complex dtype of the same precision: ``float32 -> complex64``."""
        if self.category < FLOAT:
            raise RuntimeError(f"Unknown Complex ScalarType for {self}: it is not floating point")
        return complex128 if self.name in ("float64", "complex128") else complex64

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return named, (self.name,)


_SCALAR_NAMES = {
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "bfloat16": "BFloat16",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
}
_BY_NAME: dict[str, dtype] = {}
_BY_NUMPY: dict[np.dtype[Any], dtype] = {}

bool_ = dtype("bool", np.dtype(np.bool_))
uint8 = dtype("uint8", np.dtype(np.uint8))
int8 = dtype("int8", np.dtype(np.int8))
int16 = dtype("int16", np.dtype(np.int16))
int32 = dtype("int32", np.dtype(np.int32))
int64 = dtype("int64", np.dtype(np.int64))
uint16 = dtype("uint16", np.dtype(np.uint16))
uint32 = dtype("uint32", np.dtype(np.uint32))
uint64 = dtype("uint64", np.dtype(np.uint64))
float16 = dtype("float16", np.dtype(np.float16))
float32 = dtype("float32", np.dtype(np.float32))
float64 = dtype("float64", np.dtype(np.float64))
complex64 = dtype("complex64", np.dtype(np.complex64))
complex128 = dtype("complex128", np.dtype(np.complex128))


class _BFloat16(dtype):
    """bfloat16 can be named always, and used where the package ml_dtypes is installed."""

    __slots__ = ()

    def __init__(self) -> None:
        self.name = "bfloat16"
        self.itemsize = 2
        self.category = FLOAT
        _BY_NAME[self.name] = self

    @property
    def numpy(self) -> np.dtype[Any]:  # type: ignore[override]
        if find_spec("ml_dtypes") is None:
            raise NotImplementedError("bfloat16 needs the package ml_dtypes: pip install ml_dtypes")
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return found

    @property
    def is_signed(self) -> bool:
        return True


bfloat16 = _BFloat16()


def every() -> list[dtype]:
    """All dtypes there are."""
    return list(_BY_NAME.values())


def named(name: str) -> dtype:
    """The dtype with PyTorch's `name`."""
    try:
        return _BY_NAME[name]
    except KeyError:
        raise NotImplementedError(f"dtype torch.{name} is not in gradfn") from None


_PYTHON_TYPES = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def of(value: Any) -> dtype:
    """The dtype that an argument `dtype=` names: a dtype, or one of Python's number types."""
    if isinstance(value, dtype):
        return value
    if isinstance(value, type) and value in _PYTHON_TYPES:
        return named(_PYTHON_TYPES[value])
    raise TypeError(f"argument 'dtype' must be torch.dtype, not {type(value).__name__}: {value!r}")


def from_numpy(numpy: np.dtype[Any]) -> dtype:
    """The dtype that stores `numpy`'s elements; TypeError where PyTorch has none."""
    found = _BY_NUMPY.get(numpy) or _BY_NUMPY.get(numpy.newbyteorder("="))
    if found is not None:
        return found
    if numpy.name == "bfloat16":
        return bfloat16
    raise TypeError(
        f"can't convert np.ndarray of type {numpy}. The supported types are: float64, float32, "
        "float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, "
        "uint8, and bool."
    )


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that PyTorch lets both convert to.

    >>> promote_types(int64, float16), promote_types(uint8, int8)
    (torch.float16, torch.int16)
    """
    for position, kind in enumerate((type1, type2), 1):
        if not isinstance(kind, dtype):
            raise TypeError(
                f"promote_types(): argument 'type{position}' (position {position}) must be "
                f"torch.dtype, not {type(kind).__name__}"
            )
    if type1 is type2:
        return type1
    low, high = sorted((type1, type2), key=lambda t: (t.category, t.itemsize))
    if low.category < high.category:
        if high.category == COMPLEX and low is float64:
            return complex128
        if {low.name, high.name} & {"uint16", "uint32", "uint64"} and high.category != FLOAT:
            raise RuntimeError(
                f"Promotion for uint16, uint32, uint64 types is not supported, "
                f"attempted to promote {type1} and {type2}"
            )
        return high
    if high.category == FLOAT and low.itemsize == high.itemsize == 2:
        return float32  # float16 with bfloat16
    if high.category == INT:
        return _promote_integers(low, high)
    return high


def _promote_integers(low: dtype, high: dtype) -> dtype:
    if {low.name, high.name} & {"uint16", "uint32", "uint64"}:
        raise RuntimeError(
            f"Promotion for uint16, uint32, uint64 types is not supported, "
            f"attempted to promote {low} and {high}"
        )
    return int16 if low.itemsize == high.itemsize else high  # uint8 with int8


_default = float32


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats (float32 unless set)."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Make `d`, a floating-point dtype, the dtype of tensors made from Python floats."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, got {d}")
    _default = d


def of_scalar(value: Number) -> dtype:
    """The dtype a Python number takes: bool, int64, the default dtype, or its complex form."""
    if isinstance(value, bool | np.bool_):
        return bool_
    if isinstance(value, int | np.integer):
        return int64
    if isinstance(value, float | np.floating):
        return _default
    return _default.to_complex()


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether PyTorch lets a result of `from_` be written into `to` (no lower category).

    >>> can_cast(float64, float32), can_cast(float32, int64)
    (True, False)
    """
    return from_.category <= to.category
