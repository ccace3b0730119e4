"""How tensors meet NumPy, DLPack, `copy` and `pickle`: the methods that `Tensor` takes over."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from .autograd.grad_mode import get_mode
from .autograd.node import Array
from .autograd.variable import LEAF, Variable
from .device import check_device
from .fromdata import shared
from .raw.strided import address, owner

if TYPE_CHECKING:
    from .tensor import Tensor


def numpy(self: Tensor, *, force: bool = False) -> Array:
    """The tensor as a NumPy array over the same memory: writes to either are seen in both.

    Raises RuntimeError for a tensor that requires grad, unless `force` detaches it.

    >>> import gradfn
    >>> gradfn.ones(2).numpy()
    array([1., 1.], dtype=float32)
    """
    if self._edge is not None and not force and get_mode().grad:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead. "
            "Gradients do not flow through NumPy."
        )
    return self._array.view()


def array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Array:
    """What NumPy's functions see: the same memory, or a copy in another dtype."""
    return np.array(numpy(self), dtype, copy=copy)


def array_wrap(
    self: Tensor, result: Array, context: Any = None, return_scalar: bool = False
) -> Tensor:
    """What NumPy's functions make of tensors becomes a tensor again."""
    tensor: Tensor = Variable.wrap(shared(np.asarray(result)))
    return tensor


def dlpack(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Share the memory through DLPack; BufferError for a tensor that requires grad."""
    if self._edge is not None:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self._array.__dlpack__(
        stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
    )


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """The kind and number of the device in DLPack's terms: the CPU."""
    return self._array.__dlpack_device__()


class _Capsule:
    """A DLPack capsule as an object that exports it."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of a DLPack capsule, or of any object with ``__dlpack__``.

    >>> from_dlpack(np.ones(2))
    tensor([1., 1.], dtype=torch.float64)
    """
    check_device(device)
    source = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Capsule(ext_tensor)
    result: Tensor = Variable.wrap(shared(np.from_dlpack(source, copy=copy)))
    return result


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule over the memory of `tensor`."""
    return dlpack(tensor)


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A copy with its own memory, gradient and attributes; leaves only.

    Tensors that share memory share that of the copies, if they are copied together.
    """
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            f"protocol at the moment: this one was made by {self.grad_fn}. Use detach() or clone()."
        )
    if id(self) in memo:
        known: Tensor = memo[id(self)]
        return known
    result: Any = object.__new__(type(self))
    memo[id(self)] = result
    _restore(result, _deepcopied(self._array, memo), self.requires_grad)
    for name, value in self.__dict__.items():
        if name in _COPIED or not name.startswith("_"):
            result.__dict__[name] = copy.deepcopy(value, memo)
    made: Tensor = result
    return made


_COPIED = {"_grad", "_inference"}  # of the engine's own attributes; the others tell a history


def _deepcopied(array: Array, memo: dict[int, Any]) -> Array:
    """`array` in a copy of the whole memory that it is a view of."""
    memory = owner(array)
    twin = memo.get(id(memory))
    if twin is None:
        twin = memo[id(memory)] = memory.copy("K")
    if twin.strides != memory.strides:
        return array.copy("K")
    offset = address(array) - address(memory)
    return np.ndarray(array.shape, array.dtype, twin.ravel("K"), offset, array.strides)


def reduce_ex(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    """How to pickle the tensor: class, array, whether a gradient is required, and attributes."""
    attributes = {n: v for n, v in self.__dict__.items() if not n.startswith("_")}
    return _rebuilt, (type(self), self._array, self.requires_grad), attributes or None


def _rebuilt(kind: type[Any], array: Array, requires_grad: bool) -> Any:
    return _restore(object.__new__(kind), array, requires_grad)


def _restore(tensor: Any, array: Array, requires_grad: bool) -> Any:
    tensor._array = array
    tensor._memory = None
    tensor._edge = LEAF if requires_grad else None
    return tensor


def setstate(self: Tensor, attributes: dict[str, Any]) -> None:
    """Take up the pickled attributes."""
    self.__dict__.update(attributes)
