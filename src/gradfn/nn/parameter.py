"""Parameters and buffers: tensors that a module finds among its attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import printing
from ..autograd.variable import Variable
from ..dtypes import get_default_dtype
from ..ops.overrides import disabled_torch_function
from ..tensor import Tensor

__all__ = ["Buffer", "Parameter"]


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


def _tensor(data: Any) -> Any:
    if data is None:
        return Variable.wrap(np.empty(0, get_default_dtype().numpy))
    if not isinstance(data, Variable):
        raise TypeError(f"expected a tensor as data, got {type(data).__name__}")
    return data
