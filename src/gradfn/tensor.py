"""Tensor: an array, its place in the graph, and the operators as methods."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import creation, dtypes, interop, legacy, ops, printing
from .autograd.backward import backward
from .autograd.batching import is_batched
from .autograd.grad_mode import get_mode
from .autograd.inplace import check_target, rebase
from .autograd.node import Error
from .autograd.variable import LEAF, Variable
from .creation import check_differentiable
from .creation import tensor as tensor
from .device import cpu, device, layout, strided
from .ops.operators import OPERATORS
from .ops.overrides import DisableTorchFunctionSubclass, converted, register
from .ops.runtime import note_cut
from .ops.views import alias
from .raw.copying import dense_axes
from .raw.strided import address
from .shapes import Size, contiguous_strides, sizes_of, wrap_dim
from .storage import TypedStorage, UntypedStorage


class Tensor(Variable):
    """A multi-dimensional array that can record what is computed from it.

    Made by `gradfn.tensor` and the other creation functions; the constructor is PyTorch's old one:
    ``Tensor(2, 3)`` is an uninitialised tensor of that size, ``Tensor([2, 3])`` one of the data.

    >>> import gradfn
    >>> gradfn.Tensor([2, 3])
    tensor([2., 3.])
    """

    __module__ = "gradfn"
    __slots__ = ()
    __array_priority__ = 1000  # NumPy's binary operators leave mixed operands to ours

    if TYPE_CHECKING:  # the operators are bound below the class

        def __getattr__(self, name: str) -> Any: ...

    else:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '{name}' (if PyTorch's tensors "
                "have it, it is not in gradfn yet)",
                name=name,
                obj=self,
            )

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = legacy.constructed("Tensor", dtypes.get_default_dtype(), args, kwargs)
        return made if cls is Tensor else made.as_subclass(cls)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        register(cls)

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """How tensors of a subclass take part in `func`: its results are of that class too.

        Override it to see or change what is computed; call it by ``super()`` for the computation.
        """
        with DisableTorchFunctionSubclass():
            return converted(func(*args, **(kwargs or {})), cls)

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this tensor to the `grad` of its graph's leaves.

        See `gradfn.autograd.backward`; `gradient` may be left out for one-element tensors.
        """
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions."""
        return tuple.__new__(Size, self._array.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension."""
        return self.shape if dim is None else self._array.shape[self._dim(dim)]

    def _dim(self, dim: int) -> int:
        if not hasattr(dim, "__index__"):
            raise TypeError(f"argument 'dim' (position 1) must be int, not {type(dim).__name__}")
        if self._array.ndim == 0:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return wrap_dim(dim, self._array.ndim)

    def stride(self, dim: int | None = None) -> Any:
        """The steps in memory between neighbours, in elements: for each dimension, or for one."""
        array = self._array
        if array.size:
            strides = tuple(step // array.itemsize for step in array.strides)
        else:
            strides = contiguous_strides(array.shape)
        return strides if dim is None else strides[self._dim(dim)]

    def numel(self) -> int:
        """The number of elements."""
        return self._array.size

    nelement = numel

    def dim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    ndimension = dim

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    @property
    def device(self) -> device:
        """Where the tensor is: on the CPU."""
        return cpu

    @property
    def layout(self) -> layout:
        """How its elements are laid out: strided."""
        return strided

    is_cpu = property(lambda self: True)
    is_cuda = is_mps = is_xpu = is_xla = is_ipu = is_vulkan = property(lambda self: False)
    is_mtia = is_maia = is_meta = is_mkldnn = property(lambda self: False)
    is_sparse = is_sparse_csr = is_quantized = is_nested = property(lambda self: False)
    name = property(lambda self: None)
    volatile = property(lambda self: False)

    def get_device(self) -> int:
        """-1: the tensor is on the CPU."""
        return -1

    def is_pinned(self) -> bool:
        """False: there is no device to pin memory for."""
        return False

    def is_shared(self) -> bool:
        """Whether the memory is shared with other processes: it is not."""
        return False

    def is_conj(self) -> bool:
        """False: conjugates are computed at once."""
        return False

    is_neg = is_conj

    def is_inference(self) -> bool:
        """Whether the tensor was made in `inference_mode`."""
        return self._inference

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating-point one."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the dtype is a complex one."""
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        """Whether the dtype has negative numbers."""
        return self.dtype.is_signed

    def is_nonzero(self) -> bool:
        """Whether the one element is not zero."""
        return bool(self)

    def is_same_size(self, other: Tensor) -> bool:
        """Whether `other` has the same shape."""
        return bool(self._array.shape == other._array.shape)

    def is_set_to(self, tensor: Tensor) -> bool:
        """Whether `tensor` shows the same memory in the same way."""
        if self.data_ptr() != tensor.data_ptr():
            return False
        return bool(self.shape == tensor.shape and self.stride() == tensor.stride())

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self._array.itemsize

    def element_size(self) -> int:
        """The bytes of one element."""
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self._array.nbytes

    def data_ptr(self) -> int:
        """The address of the first element; 0 where there is none."""
        return address(self._array) if self._array.size else 0

    const_data_ptr = data_ptr

    def dim_order(self) -> tuple[int, ...]:
        """The dimensions from the slowest to the fastest in memory."""
        return dense_axes(self._array)

    def to_dense(self) -> Tensor:
        """The tensor itself: it is dense."""
        return self

    def untyped_storage(self) -> UntypedStorage:
        """The memory that this tensor and its views share, as bytes."""
        return UntypedStorage(self._array)

    def storage(self) -> TypedStorage:
        """The elements in the memory under this tensor, which its views share. Deprecated."""
        warnings.warn(
            "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will "
            "be the only storage class: use tensor.untyped_storage() instead of tensor.storage()",
            stacklevel=2,
        )
        return TypedStorage(self)

    def storage_offset(self) -> int:
        """Where the first element lies in the storage, in elements."""
        if not self._array.size:
            return 0
        return (self.data_ptr() - self.untyped_storage().data_ptr()) // self._array.itemsize

    @property
    def data(self) -> Tensor:
        """The same memory, outside the graph, with a version counter of its own.

        Writes through it are not noticed by the backward pass: prefer `detach`, or `no_grad`.
        """
        if is_batched(self._array):
            raise RuntimeError("accessing `data` under vmap transform is not allowed: use detach()")
        out: Tensor = Variable.wrap(self._array)
        if self._edge is not None:
            note_cut(out, ".data was taken")
        return out

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, Variable):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if is_batched(self._array):
            raise RuntimeError(
                "mutating directly with `.data` under vmap transform is not allowed: use copy_()"
            )
        if self._edge is not None and value._array.dtype.kind in "biu":
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex "
                f"dtype: got {value.dtype}"
            )
        if (self._array.shape, self._array.dtype) != (value._array.shape, value._array.dtype):
            self._accumulator = None  # it expects gradients like the old data
        self._array = value._array

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("cannot delete data: assign another tensor to it")

    def set_(self, source: Any = None) -> Tensor:
        """Show the memory of `source` from now on, or none; an in-place operation."""
        if source is None:
            array = np.empty(0, self._array.dtype)
        elif source._array.dtype != self._array.dtype:
            raise RuntimeError(
                f"Could not set tensor of type {source.dtype} to a tensor of type {self.dtype}"
            )
        else:
            array = source._array
        check_target(self, "set_", get_mode(), self._edge is not None)
        history = self._edge
        self._array = array
        self._accumulator = None
        self.memory().write("set_")
        if history is not None and history is not LEAF:
            rebase(self, Error("derivative for set_ is not implemented", (history,), array))
        return self

    def resize_(self, *sizes: Any, memory_format: Any = None) -> Tensor:
        """Take another shape in place: the first elements are kept, new ones are uninitialised.

        RuntimeError for a tensor that requires a gradient.

        >>> import gradfn
        >>> gradfn.tensor([1, 2, 3]).resize_(2)
        tensor([1, 2])
        """
        shape = sizes_of(sizes)
        if self.requires_grad and not get_mode().inference:
            raise RuntimeError("cannot resize variables that require grad")
        if shape == self._array.shape:
            return self
        check_target(self, "resize_", get_mode(), False)
        flat, size = self._array.reshape(-1), math.prod(shape)
        if size > flat.size:
            grown = np.empty(size, flat.dtype)
            grown[: flat.size] = flat
            flat = grown
        self._array = flat[:size].reshape(shape)
        self.memory().write("resize_")
        return self

    def resize_as_(self, template: Tensor, *, memory_format: Any = None) -> Tensor:
        """Take the shape of `template` in place: see `resize_`."""
        return self.resize_(template.shape)

    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replace each element by what the Python function `callable` makes of it, in place."""
        return self._each("apply_", callable)

    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replace each element by ``callable(element, element of tensor)``, in place."""
        return self._each("map_", callable, tensor)

    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Replace each element by ``callable(element, element of x, element of y)``, in place."""
        return self._each("map2_", callable, x, y)

    def _each(self, name: str, function: Callable[..., Any], *others: Tensor) -> Tensor:
        if self.requires_grad or any(other.requires_grad for other in others):
            raise RuntimeError(
                f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
                "instead."
            )
        array = self._array
        check_target(self, name, get_mode(), False)
        for other in others:
            if other.dtype is not self.dtype:
                raise TypeError(
                    f"{name}: expected torch.{self.dtype.scalar_name}Tensor for 'other' (got "
                    f"torch.{other.dtype.scalar_name}Tensor)"
                )
        given = [other.expand(self.shape)._array.ravel().tolist() for other in others]
        values = [function(*each) for each in zip(array.ravel().tolist(), *given, strict=True)]
        array[...] = np.array(values, array.dtype).reshape(array.shape)
        self.memory().write(name)
        return self

    def share_memory_(self) -> Tensor:
        """Do nothing: processes do not share tensors."""
        return self

    def item(self) -> Any:
        """The one element as a Python number; RuntimeError where there is not exactly one."""
        array = self._array
        if array.size != 1:
            raise RuntimeError(
                f"a Tensor with {array.size} elements cannot be converted to Scalar: it has shape "
                f"{list(array.shape)}"
            )
        return array.item()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; a number for a 0-d tensor."""
        return self._array.tolist()

    def as_subclass(self, cls: type[Any]) -> Any:
        """The same memory and history as a tensor of the subclass `cls`."""
        same = alias(self)
        same.__class__ = cls
        return same

    @staticmethod
    def _make_subclass(cls: type[Any], data: Any, require_grad: bool = False) -> Any:
        """A leaf of class `cls` over the memory of `data`."""
        tensor: Any = object.__new__(cls)
        tensor._array, tensor._edge, tensor._memory = data._array, None, data.memory()
        if require_grad:
            check_differentiable(data._array.dtype)
            tensor.requires_grad_()
        return tensor

    def __repr__(self) -> str:
        name = "tensor" if type(self) is Tensor else type(self).__name__
        return printing.tensor_text(self, name=name)

    def __format__(self, spec: str) -> str:
        if self._array.ndim == 0 and type(self) is Tensor:
            return format(self._array.item(), spec)
        return object.__format__(self, spec)

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        length: int = self._array.shape[0]
        return length

    def __iter__(self) -> Iterator[Tensor]:
        if self._array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self) -> Tensor:
        return self if self._array.ndim == 0 else self.flip(0)

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, Variable | bool | int | float | complex | np.generic):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{type(element)}."
            )
        return bool((self == element)._array.any())  # type: ignore[attr-defined]

    def __bool__(self) -> bool:
        array = self._array
        if array.size == 1:
            return bool(array if array.ndim == 0 else array.item())
        if array.size == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        raise RuntimeError(
            "Boolean value of Tensor with more than one value is ambiguous: it has shape "
            f"{list(array.shape)}; say which with any() or all()"
        )

    def _scalar(self, kind: str) -> Any:
        """The one element, for Python's conversions; `kind` is what they want it as."""
        array = self._array
        if array.size != 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars: this one has shape "
                f"{list(array.shape)}"
            )
        if self._edge is not None:
            warnings.warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                "behavior.\nConsider using tensor.detach() first.",
                UserWarning,
                stacklevel=3,
            )
        value = array.item()
        if kind != "complex" and isinstance(value, complex):
            raise RuntimeError(
                f"value cannot be converted to type {kind} without overflow: {value} is complex"
            )
        return value

    def __int__(self) -> int:
        return int(self._scalar("int64_t"))

    def __float__(self) -> float:
        return float(self._scalar("double"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        array = self._array
        if array.size != 1 or array.dtype.kind not in "biu":
            raise TypeError(
                "only integer tensors of a single element can be converted to an index: this one "
                f"has dtype {self.dtype} and shape {list(array.shape)}"
            )
        return int(array.item())

    def __hash__(self) -> int:
        return id(self)

    numpy = interop.numpy
    __array__ = interop.array
    __array_wrap__ = interop.array_wrap
    __dlpack__ = interop.dlpack
    __dlpack_device__ = interop.dlpack_device
    __deepcopy__ = interop.deepcopy
    __reduce_ex__ = interop.reduce_ex
    __setstate__ = interop.setstate


for _name, _operator in OPERATORS.items():
    setattr(Tensor, _name, _operator)
for _family in (creation, legacy, *ops.FAMILIES):
    for _name in _family.METHODS.split():
        setattr(Tensor, _name, getattr(_family, _name))
    for _name, _property in getattr(_family, "PROPERTIES", {}).items():
        setattr(Tensor, _name, _property)

Variable.concrete = Tensor
