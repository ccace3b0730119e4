"""Copies, casts, and leaving the graph."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, cast

from .. import dtypes, raw
from ..autograd.batching import is_batched
from ..autograd.variable import Variable
from ..device import (
    channels_last,
    channels_last_3d,
    check_device,
    contiguous_format,
    device,
    memory_format,
    preserve_format,
)
from ..raw.copying import CHANNELS_LAST
from .checking import checked
from .declare import op
from .runtime import note_cut

if TYPE_CHECKING:
    from ..dtypes import dtype
    from ..tensor import Tensor

__all__ = ["clone", "detach", "detach_"]

copied = op("clone(self, axes=None)", kernel=raw.clone, tangent="linear", self=lambda g: g)
to_copy = op(
    "_to_copy(self, dtype, axes=None)",
    kernel=raw.to_copy,
    tangent="linear",
    self=lambda g: g,
)


@checked
def clone(input: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
    """A copy, through which gradients flow: ``torch.clone``.

    >>> import gradfn
    >>> gradfn.clone(gradfn.ones(2, requires_grad=True))
    tensor([1., 1.], grad_fn=<CloneBackward0>)
    """
    return copied(input, _axes(input, memory_format))


def _axes(input: Tensor, wanted: memory_format | None) -> tuple[builtins.int, ...] | None:
    """The axes from slowest to fastest that a memory format prescribes; None keeps the order."""
    ndim = input._array.ndim
    if wanted is None or wanted is preserve_format:
        return None
    if wanted is contiguous_format:
        return tuple(range(ndim))
    if is_batched(input._array):
        raise RuntimeError(
            "NYI: querying is_contiguous inside of vmap for memory_format other than "
            "torch.contiguous_format: clone() is only supported with memory_format "
            f"torch.preserve_format or torch.contiguous_format (got {wanted})"
        )
    rank = {channels_last: 4, channels_last_3d: 5}[wanted]
    if ndim != rank:
        raise RuntimeError(
            f"required rank {rank} tensor to use {wanted.name} format, but it has {ndim} dimensions"
        )
    return CHANNELS_LAST[rank]


def is_contiguous(input: Tensor, *, memory_format: memory_format | None = None) -> builtins.bool:
    """Whether the elements lie in memory without gaps, row-major or as the format has it."""
    axes = _axes(input, memory_format)
    return (input._array if axes is None else input._array.transpose(axes)).flags.c_contiguous


def contiguous(input: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
    """The tensor itself where it is contiguous, else a contiguous copy."""
    wanted = memory_format or contiguous_format
    if is_contiguous(input, memory_format=wanted):
        return input
    return clone(input, memory_format=wanted)


def detach(input: Tensor) -> Tensor:
    """The same memory, outside the graph: ``requires_grad`` is False.

    In-place writes to either tensor are seen by both, and by the backward pass, which refuses
    saved values that have changed.
    """
    out = cast("Tensor", Variable.wrap(input._array, None, input.memory()))
    if input._edge is not None:
        note_cut(out, "detach() cut it off")
    if input._inference:
        out._inference = True
    return out


def detach_(input: Tensor) -> Tensor:
    """Take this tensor out of the graph, in place; RuntimeError for views."""
    if input._base is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead: this tensor is a view of another "
            f"one, of shape {list(input._base._array.shape)}, and shares its history"
        )
    input._dual = None
    if input._edge is not None:
        input._edge = None
        input._retains = False
        note_cut(input, "detach_() cut it off")
    return input


def to(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Convert: ``to(dtype)``, ``to(device)``, ``to(device, dtype)`` or ``to(other)``.

    Further arguments: `non_blocking`, `copy` (also where nothing changes), `memory_format`.
    Returns the tensor itself where nothing is to be done. Gradients flow through, in the input's
    dtype. Raises RuntimeError for devices other than the CPU.

    >>> import gradfn
    >>> gradfn.ones(2, requires_grad=True).to(gradfn.float64)
    tensor([1., 1.], dtype=torch.float64, grad_fn=<ToCopyBackward0>)
    """
    first = args[0] if args else None
    if isinstance(first, Variable):
        target, rest = first.dtype, args[1:]
    elif isinstance(first, dtypes.dtype | builtins.type):
        target, rest = dtypes.of(first), args[1:]
    else:
        return _to_device(input, *args, **kwargs)
    return _converted(input, target, *rest, **kwargs)


def _to_device(
    input: Tensor,
    device: device | str | None = None,
    dtype: dtype | None = None,
    non_blocking: builtins.bool = False,
    copy: builtins.bool = False,
    *,
    memory_format: memory_format | None = None,
) -> Tensor:
    check_device(device)
    target = input.dtype if dtype is None else dtypes.of(dtype)
    return _converted(input, target, non_blocking, copy, memory_format=memory_format)


def _converted(
    input: Tensor,
    target: dtype,
    non_blocking: builtins.bool = False,
    copy: builtins.bool = False,
    *,
    memory_format: memory_format | None = None,
) -> Tensor:
    array = input._array
    axes = _axes(input, memory_format)
    same = array.dtype == target.numpy and (
        axes is None or array.transpose(axes).flags.c_contiguous
    )
    if same and not copy:
        return input
    return to_copy(input, target.numpy, axes)


def _conversion(name: str, target: str) -> Any:
    """The method that converts to one dtype: ``x.double()``."""

    def convert(input: Tensor, memory_format: memory_format | None = None) -> Tensor:
        return _converted(input, dtypes.named(target), memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"Convert to `{target}`: ``to(gradfn.{target})``."
    return convert


half = _conversion("half", "float16")
bfloat16 = _conversion("bfloat16", "bfloat16")
float = _conversion("float", "float32")
double = _conversion("double", "float64")
cfloat = _conversion("cfloat", "complex64")
cdouble = _conversion("cdouble", "complex128")
byte = _conversion("byte", "uint8")
char = _conversion("char", "int8")
short = _conversion("short", "int16")
int = _conversion("int", "int32")
long = _conversion("long", "int64")
bool = _conversion("bool", "bool")


def type(
    input: Tensor,
    dtype: dtype | str | builtins.type[Any] | None = None,
    non_blocking: builtins.bool = False,
) -> Tensor | str:
    """The tensor's type as a string such as ``'torch.FloatTensor'``, or a conversion to a type."""
    if dtype is None:
        return type_name(input.dtype)
    return _converted(input, _of_type(dtype), non_blocking)


def type_name(dtype: dtype) -> str:
    """The name of the type of tensors of `dtype`: ``torch.FloatTensor`` for float32."""
    return f"torch.{dtype.scalar_name}Tensor"


def _of_type(wanted: Any) -> dtype:
    """The dtype that ``type()`` means by a dtype, ``torch.FloatTensor`` or its name."""
    if isinstance(wanted, dtypes.dtype):
        return wanted
    if isinstance(wanted, str):
        for known in dtypes.every():
            if type_name(known) == wanted:
                return known
    elif isinstance(found := getattr(wanted, "dtype", None), dtypes.dtype):
        return found
    raise ValueError(
        f"invalid type: '{wanted if isinstance(wanted, str) else wanted.__name__}', expected a "
        "dtype or a name such as 'torch.FloatTensor'"
    )


@checked
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Convert to the dtype of `other`."""
    return _converted(input, other.dtype)


def cpu(input: Tensor, memory_format: memory_format | None = None) -> Tensor:
    """The tensor itself: it is on the CPU."""
    return _converted(input, input.dtype, memory_format=memory_format)


def cuda(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Raise AssertionError, as PyTorch's build for the CPU does: gradfn has no CUDA."""
    check_device("cuda")
    return input


METHODS = (
    "bfloat16 bool byte cdouble cfloat char clone contiguous cpu cuda detach detach_ double float "
    "half int is_contiguous long short to type type_as"
)
