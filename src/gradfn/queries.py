"""Questions about dtypes and tensors: `finfo`, `iinfo`, `result_type`, `is_tensor` and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes
from . import shapes as shape_arithmetic
from .autograd.variable import Variable
from .ops import runtime
from .shapes import Size
from .storage import UntypedStorage

if TYPE_CHECKING:
    from .dtypes import dtype
    from .tensor import Tensor

__all__ = [
    "broadcast_shapes",
    "finfo",
    "get_device",
    "iinfo",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_inference",
    "is_neg",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_storage",
    "is_tensor",
    "numel",
    "result_type",
    "typename",
]


class _Limits:
    """Limits of a dtype, shown and compared by the attributes that `_shown` names."""

    _shown: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        values = (f"{name}={getattr(self, name):g}" for name in self._shown)
        return f"{type(self).__name__}({', '.join(values)}, dtype={vars(self)['dtype']})"


class finfo(_Limits):  # noqa: N801 - PyTorch's name
    """The limits of a floating-point dtype (or of the parts of a complex one).

    >>> finfo(dtypes.float32).eps
    1.1920928955078125e-07
    """

    _shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, type: dtype | None = None) -> None:
        kind = _dtype("finfo", type or dtypes.get_default_dtype()).to_real()
        if not kind.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                f"integers: got {kind}"
            )
        limits = _float_limits(kind)
        self.bits = int(limits.bits)
        self.eps, self.max, self.min = float(limits.eps), float(limits.max), float(limits.min)
        self.resolution = float(f"1e-{limits.precision}")
        self.smallest_normal = self.tiny = float(limits.smallest_normal)
        self.dtype = kind.name


def _float_limits(kind: dtype) -> Any:
    if kind is not dtypes.bfloat16:
        return np.finfo(kind.numpy)
    numpy = kind.numpy  # names the missing package
    import ml_dtypes

    return ml_dtypes.finfo(numpy)


class iinfo(_Limits):  # noqa: N801 - PyTorch's name
    """The limits of an integer dtype.

    >>> iinfo(dtypes.int8).max
    127
    """

    _shown = ("min", "max")

    def __init__(self, type: dtype) -> None:
        kind = _dtype("iinfo", type)
        if kind is dtypes.bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if kind.category != dtypes.INT:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                f"floating-point numbers: got {kind}"
            )
        limits = np.iinfo(kind.numpy)
        self.bits, self.min, self.max = limits.bits, int(limits.min), int(limits.max)
        self.dtype = kind.name


def _dtype(name: str, value: Any) -> dtype:
    if value in (float, complex, int, bool) or isinstance(value, dtypes.dtype):
        return dtypes.of(value)
    raise TypeError(
        f"{name}(): argument 'type' (position 1) must be torch.dtype, not {type(value).__name__}"
    )


def result_type(tensor: Any, other: Any) -> dtype:
    """The dtype of an arithmetic operation on two tensors or numbers.

    >>> import gradfn
    >>> result_type(gradfn.ones(2, dtype=gradfn.int64), 1.5)
    torch.float32
    """
    arrays = [x._array if isinstance(x, Variable) else np.array(x) for x in (tensor, other)]
    return runtime.result_type((tensor, other), arrays)


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor."""
    return isinstance(obj, Variable)


def is_storage(obj: Any) -> bool:
    """Whether `obj` is the storage of a tensor."""
    return isinstance(obj, UntypedStorage)


def _tensor(name: str, value: Any) -> Any:
    if not isinstance(value, Variable):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(value).__name__}"
        )
    return value


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype of `input` is a floating-point one."""
    return bool(_tensor("is_floating_point", input).is_floating_point())


def is_complex(input: Tensor) -> bool:
    """Whether the dtype of `input` is a complex one."""
    return bool(_tensor("is_complex", input).is_complex())


def is_signed(input: Tensor) -> bool:
    """Whether the dtype of `input` has negative numbers."""
    return bool(_tensor("is_signed", input).is_signed())


def is_conj(input: Tensor) -> bool:
    """False: conjugates are computed at once."""
    return bool(_tensor("is_conj", input).is_conj())


def is_neg(input: Tensor) -> bool:
    """False: negatives are computed at once."""
    return bool(_tensor("is_neg", input).is_neg())


def is_inference(input: Tensor) -> bool:
    """Whether `input` was made in `inference_mode`."""
    return bool(_tensor("is_inference", input).is_inference())


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element of `input` is not zero."""
    return bool(_tensor("is_nonzero", input))


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return bool(_tensor("is_same_size", input).is_same_size(other))


def numel(input: Tensor) -> int:
    """The number of elements of `input`."""
    return int(_tensor("numel", input).numel())


def get_device(input: Tensor) -> int:
    """-1: tensors are on the CPU."""
    return int(_tensor("get_device", input).get_device())


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The shape that all `shapes` broadcast to.

    Raises RuntimeError where sizes disagree, ValueError for negative ones.

    >>> broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    listed = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    if any(size < 0 for shape in listed for size in shape):
        raise ValueError(f"Attempting to broadcast a dimension with negative length: {listed}")
    try:
        return Size(shape_arithmetic.broadcast_shapes(*listed))
    except RuntimeError as error:
        raise RuntimeError(
            f"Attempting to broadcast a dimension of shapes that disagree: {error}"
        ) from None


def typename(obj: Any) -> str:
    """The name of the type of `obj`: ``torch.FloatTensor`` for a float32 tensor.

    >>> typename(1)
    'int'
    """
    if isinstance(obj, Variable):
        return str(obj.type())  # type: ignore[attr-defined]
    kind = type(obj)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
