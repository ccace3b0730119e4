"""New tensors: from data, sharing the memory of others, and filled by a rule."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from . import dtypes, fromdata
from .autograd.batching import for_each
from .autograd.grad_mode import get_mode
from .autograd.inplace import check_writable
from .autograd.node import Array
from .autograd.variable import Variable
from .device import (
    channels_last,
    channels_last_3d,
    check_device,
    check_layout,
    preserve_format,
)
from .raw.copying import CHANNELS_LAST, dense_axes, empty_dense
from .shapes import Shape

if TYPE_CHECKING:
    from .device import device as Device
    from .device import layout as Layout
    from .device import memory_format as MemoryFormat
    from .dtypes import dtype as DType
    from .tensor import Tensor

__all__ = [
    "as_tensor",
    "asarray",
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "eye",
    "from_numpy",
    "frombuffer",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "scalar_tensor",
    "tensor",
    "zeros",
    "zeros_like",
]


class Options(TypedDict, total=False):
    """What every creation function takes: how its result is to be made."""

    dtype: DType | None
    layout: Layout | None
    device: Device | str | None
    requires_grad: bool
    pin_memory: bool
    memory_format: MemoryFormat | None
    out: Tensor | None


def made(name: str, array: Array, options: Options) -> Tensor:
    """The tensor over a new `array`, as `options` want it; `name` is the function's, for errors."""
    return as_wanted(name, Variable.wrap(array), options)


def as_wanted(name: str, tensor: Any, options: Options) -> Tensor:
    """The new `tensor` as `options` want it."""
    if options:
        for word in options:
            if word not in Options.__annotations__:
                raise TypeError(f"{name}() got an unexpected keyword argument '{word}'")
        check_device(options.get("device"))
        check_layout(options.get("layout"))
        if (out := options.get("out")) is not None:
            refuse_gradients(name, [out])
            _check_out(out, options.get("dtype"))
            return written(name, out, tensor._array)
    if get_mode().inference:
        tensor._inference = True
    if options.get("requires_grad"):
        check_differentiable(tensor._array.dtype)
        tensor.requires_grad_()
    return tensor  # type: ignore[no-any-return]


def check_differentiable(dtype: np.dtype[Any]) -> None:
    """Refuse to let a new tensor of integers or booleans require a gradient."""
    if dtype.kind in "biu":
        raise RuntimeError(
            "Only Tensors of floating point and complex dtype can require gradients, and this one "
            f"would have dtype {dtypes.from_numpy(dtype)}"
        )


def refuse_gradients(name: str, outs: Iterable[Tensor], recorded: bool = False) -> None:
    """Refuse to write to `outs` what would be recorded, or what requires a gradient."""
    if get_mode().grad and (recorded or any(out.requires_grad for out in outs)):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )


def written(name: str, out: Tensor, array: Array) -> Tensor:
    """`out` with the elements of `array` in it, resized if need be: what ``out=`` means."""
    check_writable(out, get_mode())
    if out._array.shape != array.shape:
        out._array = np.empty(array.shape, out._array.dtype)
    np.copyto(out._array, array, casting="unsafe")
    out.memory().write(f"{name}(out=...)")
    return out


def _check_out(out: Tensor, dtype: DType | None) -> None:
    if dtype is not None and dtypes.of(dtype) is not out.dtype:
        raise RuntimeError(
            f"dtype {dtypes.of(dtype).scalar_name} does not match dtype of out parameter "
            f"({out.dtype.scalar_name})"
        )


def numpy_dtype(options: Options, otherwise: DType | None = None) -> np.dtype[Any]:
    """The NumPy dtype of a new tensor: the one asked for, `otherwise`, or the default."""
    wanted = options.get("dtype")
    if wanted is not None:
        return dtypes.of(wanted).numpy
    if (out := options.get("out")) is not None:
        return out._array.dtype
    return (otherwise or dtypes.get_default_dtype()).numpy


def shape_of(name: str, size: tuple[Any, ...], keywords: Any = None) -> Shape:
    """The shape in ``f(2, 3)``, ``f((2, 3))`` or ``f(size=(2, 3))``."""
    if not size:
        if not keywords or "size" not in keywords:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        size = (keywords.pop("size"),)
    if len(size) == 1 and isinstance(size[0], list | tuple):
        size = tuple(size[0])
    try:
        shape = tuple(int(s.__index__()) for s in size)
    except (AttributeError, TypeError):
        wrong = next(s for s in size if not hasattr(s, "__index__"))
        raise TypeError(
            f"{name}(): argument 'size' (position 1) must be tuple of ints, not "
            f"{type(wrong).__name__}"
        ) from None
    if any(s < 0 for s in shape):
        raise RuntimeError(f"{name}: Dimension size must be non-negative, but got {list(shape)}")
    return shape


def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new leaf with a copy of `data`: numbers, nested sequences of them, an array or a tensor.

    Without `dtype`, it is inferred: bool, int64, the default dtype for floats, its complex form,
    or that of the array. Raises ValueError for ragged sequences, TypeError for what is no number.

    >>> tensor([[1, 2], [3, 4.5]])
    tensor([[1.0000, 2.0000],
            [3.0000, 4.5000]])
    """
    if isinstance(data, Variable):
        _warn_copy("torch.tensor(sourceTensor)")
    array = fromdata.copied(data, None if dtype is None else dtypes.of(dtype))
    if device is None and not requires_grad:
        return made("tensor", array, {})
    return made("tensor", array, {"device": device, "requires_grad": requires_grad})


def _warn_copy(instead_of: str) -> None:
    warnings.warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() "
        f"or sourceTensor.detach().clone().requires_grad_(True), rather than {instead_of}.",
        UserWarning,
        stacklevel=3,
    )


def as_tensor(
    data: Any, *, dtype: DType | None = None, device: Device | str | None = None
) -> Tensor:
    """`data` as a tensor: itself if it is one, over its own memory if it is an array, else a copy.

    >>> as_tensor([1, 2])
    tensor([1, 2])
    """
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    if isinstance(data, Variable):
        same: Tensor = data.to(device, dtype)  # type: ignore[attr-defined]
        return same
    return tensor(data, dtype=dtype, device=device)


def asarray(
    obj: Any,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """`obj` as a tensor, sharing its memory where `copy` (None: if needed; False: must) allows.

    Takes tensors, NumPy arrays, objects with ``__dlpack__`` or the buffer protocol, and sequences.
    Raises ValueError where copy=False cannot be had.
    """
    check_device(device)
    if isinstance(obj, Variable):
        wanted = obj.requires_grad if requires_grad is None else requires_grad
        source: Any = obj if wanted else obj.detach()  # type: ignore[attr-defined]
    elif isinstance(obj, np.ndarray):
        source = from_numpy(obj)
    elif hasattr(obj, "__dlpack__"):
        source = Variable.wrap(np.from_dlpack(obj))
    elif isinstance(obj, bytes | bytearray | memoryview):
        return frombuffer(obj, dtype=dtype or dtypes.get_default_dtype())
    else:
        if copy is False:
            raise ValueError(f"can't alias arbitrary sequence into a tensor: {type(obj).__name__}")
        return tensor(obj, dtype=dtype, requires_grad=bool(requires_grad))
    target = source.dtype if dtype is None else dtypes.of(dtype)
    if copy is False and target is not source.dtype:
        raise ValueError(
            f"can't alias tensor with dtype '{source.dtype.scalar_name}' into dtype "
            f"'{target.scalar_name}'."
        )
    result: Tensor = source.to(target, copy=bool(copy))
    return result.requires_grad_() if requires_grad and not result.requires_grad else result


def from_numpy(array: Any) -> Tensor:
    """A tensor over the memory of a NumPy array: writes to either are seen in both.

    Raises TypeError for what is no array or has no dtype of PyTorch's, ValueError for negative
    strides and foreign byte order.

    >>> a = np.zeros(2)
    >>> t = from_numpy(a)
    >>> a[0] = 1.5
    >>> t
    tensor([1.5000, 0.0000], dtype=torch.float64)
    """
    return made("from_numpy", fromdata.shared(array), {})


def frombuffer(
    buffer: Any, *, dtype: DType, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A 1-d tensor over the memory of an object with the buffer protocol.

    `count` elements (all that there are, if negative) from the byte `offset` on. Raises ValueError
    where the buffer has not that many.
    """
    numpy = dtypes.of(dtype).numpy
    size = memoryview(buffer).nbytes
    if size == 0 or count == 0:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({size} bytes) minus 1"
        )
    if count < 0 and (size - offset) % numpy.itemsize:
        raise ValueError(
            f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({numpy.itemsize})"
        )
    if count > 0 and offset + count * numpy.itemsize > size:
        raise ValueError(
            f"requested buffer length ({count} * {numpy.itemsize} bytes) after offset ({offset} "
            f"bytes) must not be greater than actual buffer length ({size} bytes)"
        )
    array = np.frombuffer(buffer, numpy, count, offset)
    return made("frombuffer", array, {"requires_grad": requires_grad})


def _sized(
    name: str,
    array_of: Callable[..., Array],
    size: tuple[Any, ...],
    options: Options,
    otherwise: DType | None = None,
) -> Tensor:
    """The tensor over ``array_of(shape, dtype)``, of the size and dtype asked for."""
    shape = shape_of(name, size, options)
    return made(name, array_of(shape, numpy_dtype(options, otherwise)), options)


def zeros(*size: Any, **options: Unpack[Options]) -> Tensor:
    """A tensor of zeros: ``zeros(2, 3)`` or ``zeros((2, 3))``.

    >>> zeros(2)
    tensor([0., 0.])
    """
    return _sized("zeros", np.zeros, size, options)


def ones(*size: Any, **options: Unpack[Options]) -> Tensor:
    """A tensor of ones: ``ones(2, 3)`` or ``ones((2, 3))``.

    >>> ones(2, dtype=dtypes.int64)
    tensor([1, 1])
    """
    return _sized("ones", np.ones, size, options)


def empty(*size: Any, **options: Unpack[Options]) -> Tensor:
    """A tensor whose elements are whatever was in its memory."""
    shape = shape_of("empty", size, options)
    axes = format_axes(len(shape), options.get("memory_format"))
    return made("empty", empty_dense(shape, numpy_dtype(options), axes), options)


def full(size: Any, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """A tensor filled with a number, in the dtype of the number unless `dtype` says otherwise.

    >>> full((2,), 3)
    tensor([3, 3])
    """
    if not isinstance(size, list | tuple):
        raise TypeError(
            f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}"
        )
    value = _fill_value("full", fill_value)
    numpy = numpy_dtype(options, dtypes.of_scalar(value))
    array = np.full(shape_of("full", (size,)), fromdata.number(value, dtypes.from_numpy(numpy)))
    return made("full", array, options)


def _fill_value(name: str, value: Any) -> Any:
    if isinstance(value, Variable) and value._array.ndim == 0 and not value.requires_grad:
        value = value._array[()]
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, bool | int | float | complex):
        raise TypeError(
            f"{name}(): argument 'fill_value' (position 2) must be Number, not "
            f"{type(value).__name__}"
        )
    return value


def format_axes(ndim: int, wanted: MemoryFormat | None) -> tuple[int, ...]:
    """The axes from slowest to fastest in memory, row-major unless a memory format says else."""
    if wanted is channels_last or wanted is channels_last_3d:
        return CHANNELS_LAST[ndim]
    return tuple(range(ndim))


def empty_strided(size: Any, stride: Any, **options: Unpack[Options]) -> Tensor:
    """An uninitialised tensor with the given strides, in elements."""
    shape, numpy = shape_of("empty_strided", (size,)), numpy_dtype(options)
    if len(shape) != len(stride):
        raise RuntimeError(
            f"mismatch in length of strides and shape: {list(stride)} and {list(shape)}"
        )
    last = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))
    array = np.ndarray(shape, numpy, np.empty(last, numpy), 0, [s * numpy.itemsize for s in stride])
    return made("empty_strided", array, options)


def empty_permuted(size: Any, physical_layout: Any, **options: Unpack[Options]) -> Tensor:
    """An uninitialised tensor whose dimensions lie in memory in the order `physical_layout`."""
    shape, axes = shape_of("empty_permuted", (size,)), tuple(physical_layout)
    if len(axes) != len(shape):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(shape)} is not equal to len(physical_layout) = {len(axes)}"
        )
    if sorted(axes) != list(range(len(shape))):
        raise RuntimeError(
            f"Duplicate dim not allowed: physical_layout {list(axes)} is no order of the "
            f"{len(shape)} dimensions"
        )
    return made("empty_permuted", empty_dense(shape, numpy_dtype(options), axes), options)


def scalar_tensor(s: Any, **options: Unpack[Options]) -> Tensor:
    """A 0-d tensor of a number, in the default dtype unless `dtype` says otherwise.

    >>> scalar_tensor(3)
    tensor(3.)
    """
    numpy = numpy_dtype(options)
    return made("scalar_tensor", np.array(fromdata.number(s, dtypes.from_numpy(numpy))), options)


def eye(n: int, m: int | None = None, **options: Unpack[Options]) -> Tensor:
    """The n × m matrix with ones on its diagonal; m = n if not given.

    >>> eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    for name, value in (("n", n), ("m", m)):
        if value is not None and value < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {value}")
    return made("eye", np.eye(n, m, dtype=numpy_dtype(options)), options)


def like(name: str, input: Any, options: Options) -> Array:
    """An uninitialised array of the shape, dtype and order in memory of `input`."""
    if not isinstance(input, Variable):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    array = input._array
    wanted = options.get("memory_format")
    if wanted is None or wanted is preserve_format:
        axes = dense_axes(array)
    else:
        axes = format_axes(array.ndim, wanted)
    return empty_dense(array.shape, numpy_dtype(options, input.dtype), axes)


@for_each
def empty_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """An uninitialised tensor of the shape and dtype of `input`."""
    return made("empty_like", like("empty_like", input, options), options)


@for_each
def zeros_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """Zeros of the shape and dtype of `input`.

    >>> zeros_like(ones(2))
    tensor([0., 0.])
    """
    array = like("zeros_like", input, options)
    array.fill(0)
    return made("zeros_like", array, options)


@for_each
def ones_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """Ones of the shape and dtype of `input`.

    >>> ones_like(zeros(2))
    tensor([1., 1.])
    """
    array = like("ones_like", input, options)
    array.fill(1)
    return made("ones_like", array, options)


@for_each
def full_like(input: Tensor, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """A tensor of the shape and dtype of `input`, filled with a number.

    >>> full_like(zeros(2), 7)
    tensor([7., 7.])
    """
    array = like("full_like", input, options)
    value = _fill_value("full_like", fill_value)
    array.fill(fromdata.number(value, dtypes.from_numpy(array.dtype)))
    return made("full_like", array, options)


@for_each
def new_tensor(self: Tensor, data: Any, **options: Unpack[Options]) -> Tensor:
    """A copy of `data` as a tensor of this one's dtype."""
    if isinstance(data, Variable):
        _warn_copy("tensor.new_tensor(sourceTensor)")
    target = dtypes.from_numpy(numpy_dtype(options, self.dtype))
    return made("new_tensor", fromdata.copied(data, target), options)


@for_each
def new_zeros(self: Tensor, *size: Any, **options: Unpack[Options]) -> Tensor:
    """Zeros of this tensor's dtype."""
    return _sized("new_zeros", np.zeros, size, options, self.dtype)


@for_each
def new_ones(self: Tensor, *size: Any, **options: Unpack[Options]) -> Tensor:
    """Ones of this tensor's dtype."""
    return _sized("new_ones", np.ones, size, options, self.dtype)


@for_each
def new_empty(self: Tensor, *size: Any, **options: Unpack[Options]) -> Tensor:
    """An uninitialised tensor of this one's dtype."""
    return _sized("new_empty", np.empty, size, options, self.dtype)


@for_each
def new_full(self: Tensor, size: Any, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """A tensor of this one's dtype filled with a number."""
    return full(size, fill_value, **_in_dtype(self, options))


@for_each
def new_empty_strided(self: Tensor, size: Any, stride: Any, **options: Unpack[Options]) -> Tensor:
    """An uninitialised tensor of this one's dtype with the given strides."""
    return empty_strided(size, stride, **_in_dtype(self, options))


def _in_dtype(self: Tensor, options: Options) -> Options:
    return {**options, "dtype": options.get("dtype") or self.dtype}


METHODS = "new_empty new_empty_strided new_full new_ones new_tensor new_zeros"
