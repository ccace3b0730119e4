"""Parameters and buffers: tensors that a module finds among its attributes."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

import numpy as np

from .. import printing
from ..autograd.variable import Variable
from ..creation import empty
from ..dtypes import dtype, get_default_dtype
from ..ops.overrides import disabled_torch_function
from ..tensor import Tensor

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class Parameter(Tensor):
    """A leaf that requires a gradient by default, and belongs to the module it is assigned to.

    It shares the memory of `data`. Raises RuntimeError where gradients are asked of integers.

    >>> from gradfn import ones
    >>> Parameter(ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()
    __torch_function__ = disabled_torch_function  # type: ignore[assignment]

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        return cls._make_subclass(cls, _tensor(data), requires_grad)

    def __repr__(self) -> str:
        name = "tensor" if type(self) is Parameter else type(self).__name__
        return printing.parameter_text(self, name=name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            data = Variable.wrap(self._array.copy("K"))
            memo[id(self)] = type(self)(data, self.requires_grad)
        return memo[id(self)]


class _BufferType(type):
    """A buffer is a plain tensor that is marked as one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferType):
    """Mark a tensor as part of the state of the module that it is assigned to.

    The result shares the memory of `data`. `persistent` says whether the module's `state_dict` has
    it.
    """

    __slots__ = ()
    __torch_function__ = disabled_torch_function  # type: ignore[assignment]

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        source = _tensor(data)
        buffer = source.detach().requires_grad_(source.requires_grad)
        buffer._is_buffer = True
        buffer.persistent = persistent
        return buffer


_slot: Any = Variable._array  # of every tensor, also where a property of that name hides it


class UninitializedTensorMixin(Tensor):
    """A tensor that has a dtype, but no shape and no elements before `materialize`.

    To use it in any other way raises ValueError, and RuntimeError to ask for its shape.
    """

    __slots__ = ()
    __torch_function__ = disabled_torch_function  # type: ignore[assignment]
    cls_to_become: ClassVar[type[Any]] = Tensor

    @classmethod
    def _of(cls, data: Any) -> Any:
        """One with the dtype of `data`, which has no elements, and as a leaf that it is."""
        made: Any = object.__new__(cls)
        _slot.__set__(made, data._array)
        made._edge, made._memory = data._edge, None
        return made

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a tensor with this shape and arbitrary values, of the dtype it had if not given.

        >>> parameter = UninitializedParameter()
        >>> parameter.materialize((2, 3))
        >>> parameter.shape
        torch.Size([2, 3])
        """
        dtype = self.dtype if dtype is None else dtype
        self.__class__ = self.cls_to_become
        _slot.__set__(self, empty(shape, device=device, dtype=dtype)._array)

    @property
    def data(self) -> Any:
        """A tensor without elements; assigning another one changes the dtype."""
        return Variable.wrap(_slot.__get__(self))

    @data.setter
    def data(self, value: Any) -> None:
        _slot.__set__(self, value.data._array)

    @property
    def _array(self) -> NoReturn:  # type: ignore[override]  # what every operator asks for
        raise ValueError(
            "Attempted to use an uninitialized parameter: it has no shape yet. Call the lazy "
            "module that it belongs to with a batch first, or its `materialize`."
        )

    @property
    def shape(self) -> NoReturn:
        """RuntimeError."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer: it has none yet. Call "
            "the lazy module that it belongs to with a batch before its state is used elsewhere."
        )

    @property
    def dtype(self) -> dtype:
        return self.data.dtype  # type: ignore[no-any-return]

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Itself, or one of another dtype."""
        data = self.data
        converted = data.to(*args, **kwargs)
        return self if converted is data else self._of(converted.requires_grad_(self.requires_grad))

    def cpu(self) -> Any:
        """Itself."""
        return self

    def share_memory_(self) -> NoReturn:
        """RuntimeError: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer: it has none yet. Call the "
            "lazy module that it belongs to with a batch first."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = self._of(self.data.clone().requires_grad_(self.requires_grad))
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad, None, self.dtype), vars(self) or None


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet: `torch.nn.UninitializedParameter`."""

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return cls._of(empty(0, device=device, dtype=dtype, requires_grad=requires_grad))


class UninitializedBuffer(UninitializedTensorMixin, metaclass=_BufferType):
    """A buffer whose shape is not known yet: `torch.nn.UninitializedBuffer`."""

    __slots__ = ()

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Any:
        made = cls._of(empty(0, device=device, dtype=dtype, requires_grad=requires_grad))
        made._is_buffer = True
        made.persistent = persistent
        return made


def is_lazy(param: Any) -> bool:
    """Whether `param` is a parameter or buffer that has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


def _tensor(data: Any) -> Any:
    if data is None:
        return Variable.wrap(np.empty(0, get_default_dtype().numpy))
    if not isinstance(data, Variable):
        raise TypeError(f"expected a tensor as data, got {type(data).__name__}")
    return data
