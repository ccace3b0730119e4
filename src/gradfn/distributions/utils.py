"""Numbers to tensors, and the two parameters of discrete distributions: logits, probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from ..autograd.grad_mode import enable_grad
from ..autograd.variable import Variable
from ..creation import tensor
from ..dtypes import get_default_dtype
from ..ops.activation import softplus as _softplus
from ..ops.shaping import broadcast_tensors
from ..ops.softmaxes import softmax
from ..queries import finfo

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits"]

softplus: Any = _softplus
euler_constant = 0.57721566490153286060
T = TypeVar("T")


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Tensors and numbers as tensors of one shape, numbers in the dtype of the tensors."""
    for value in values:
        if not isinstance(value, Variable | float | int):
            raise ValueError(
                "Input arguments must all be instances of Number, torch.Tensor or objects "
                f"implementing __torch_function__., but one is {type(value).__name__}"
            )
    first: Any = next((v for v in values if isinstance(v, Variable)), None)
    dtype = get_default_dtype() if first is None else first.dtype
    made = [v if isinstance(v, Variable) else tensor(v, dtype=dtype) for v in values]
    return tuple(broadcast_tensors(*made))


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Probabilities from log-odds (`is_binary`) or from logarithms along the last dimension."""
    return logits.sigmoid() if is_binary else softmax(logits, dim=-1)


def clamp_probs(probs: Any) -> Any:
    """Probabilities kept one rounding away from 0 and 1."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Log-odds (`is_binary`) or logarithms of probabilities."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


class lazy_property(Generic[T]):
    """An attribute computed when it is first read, with its graph."""

    def __init__(self, wrapped: Callable[[Any], T]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    @overload
    def __get__(self, instance: None, obj_type: Any = None) -> lazy_property[T]: ...
    @overload
    def __get__(self, instance: object, obj_type: Any = None) -> T: ...
    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def sum_rightmost(value: Any, dims: int) -> Any:
    """The sum over the last `dims` dimensions."""
    return value.flatten(value.dim() - dims).sum(-1) if dims else value


def log_of(number: Any) -> Any:
    """The logarithm of a number or a tensor."""
    return math.log(number) if isinstance(number, float | int) else number.log()
