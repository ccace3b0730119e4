"""Tensor: an array, its place in the graph, and the operators as methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import ops
from .autograd.backward import backward
from .autograd.variable import Variable
from .ops.emit import binary
from .shapes import Size


class Tensor(Variable):
    """A multi-dimensional array that can record what is computed from it."""

    __slots__ = ()
    __array_priority__ = 1000  # NumPy's binary operators leave mixed operands to ours

    __mul__ = __rmul__ = binary(ops.mul)
    __add__ = __radd__ = binary(ops.add)
    __sub__ = binary(ops.sub)
    __truediv__ = binary(ops.div)
    __neg__ = ops.neg

    @property
    def shape(self) -> Size:
        return Size(self._array.shape)

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

    def conj(self) -> Tensor:
        return self


for _family in ops.FAMILIES:
    for _name in _family.METHODS.split():
        setattr(Tensor, _name, getattr(_family, _name))

Variable.concrete = Tensor


def tensor(data: Any, requires_grad: bool = False) -> Any:
    return Variable.wrap(np.array(data, np.float32)).requires_grad_(requires_grad)
