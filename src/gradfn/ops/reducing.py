"""What losses share: their reductions, warnings and refusals."""

from __future__ import annotations

import math
import warnings
from typing import Any

from .. import raw
from ..autograd.grad_mode import no_grad
from ..raw.loss import MEAN, NONE, SUM
from ..shapes import broadcast_shapes
from .declare import Function, op

# PyTorch's composites use its overloads for numbers, whose nodes have names of their own.

plus: Function = op(
    "add.number(self, other: Tensor)",
    kernel=raw.add,
    promote="number",
    node="AddBackward1",
    tangent="elementwise",
    self=lambda g: g,
)
minus: Function = op(
    "sub.number(self, other: Tensor)",
    kernel=raw.sub,
    promote="number",
    node="SubBackward1",
    tangent="elementwise",
    self=lambda g: g,
)
times: Function = op(
    "mul.number(self, other: Tensor)",
    kernel=raw.mul,
    promote="number",
    node="MulBackward1",
    tangent="elementwise",
    self=lambda g, other: g * other.conj(),
)
over: Function = op(
    "div.number(self, other: Tensor)",
    kernel=raw.div,
    promote="float",
    node="DivBackward1",
    tangent="elementwise",
    self=lambda g, other: g / other,
)


def choose(reduction: str, size_average: Any = None, reduce: Any = None) -> str:
    """The reduction, from its name or from the two flags that it replaced in PyTorch."""
    if size_average is not None or reduce is not None:
        average = size_average is None or size_average
        wanted = ("mean" if average else "sum") if reduce is None or reduce else "none"
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{wanted}' instead.",
            UserWarning,
            stacklevel=3,
        )
        return wanted
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.",
            UserWarning,
            stacklevel=3,
        )
        return "mean"
    return reduction


def number(reduction: str) -> int:
    """PyTorch's number of a reduction."""
    try:
        return {"none": NONE, "mean": MEAN, "sum": SUM}[reduction]
    except KeyError:
        raise ValueError(
            f"{reduction} is not a valid value for reduction: it is 'none', 'mean' or 'sum'"
        ) from None


def reduced(losses: Any, reduction: int) -> Any:
    """The losses themselves, their mean or their sum, recorded as such."""
    if reduction == NONE:
        return losses
    return losses.mean() if reduction == MEAN else losses.sum()


def check_weight(weight: Any, losses: Any) -> None:
    if weight.shape != losses.shape:
        raise ValueError(
            f"Weights and input must have the same size: they have {weight.shape}, {losses.shape}"
        )


def weighted(losses: Any, weight: Any, reduction: int) -> Any:
    """`reduced` weighted losses: the mean is over the weights."""
    check_weight(weight, losses)
    losses = losses * weight
    if reduction == MEAN:
        return losses.sum() / weight.sum()
    return reduced(losses, reduction)


def each(g: Any, reduction: int, shape: tuple[int, ...]) -> Any:
    """The gradient of every loss of an array of `shape`, from that of the reduced loss."""
    return g / max(math.prod(shape), 1) if reduction == MEAN else g


def together(input: Any, target: Any) -> tuple[Any, Any]:
    """Both in their common shape, with PyTorch's warning where they differ."""
    if target._array.shape == input._array.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size "
        f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size.",
        UserWarning,
        stacklevel=3,
    )
    shape = broadcast_shapes(input.shape, target.shape)
    first, second = (t if t.shape == shape else t.expand(shape) for t in (input, target))
    return first, second


def refuse_gradient(function: str, argument: str, tensor: Any) -> None:
    """PyTorch's error for an argument that its losses cannot be differentiated by."""
    if tensor is not None and tensor.requires_grad:
        raise RuntimeError(
            f"The function '{function}' is not differentiable with respect to argument "
            f"'{argument}'. This input cannot have requires_grad True."
        )


def at_least(input: Any, bound: float) -> Any:
    """`input` with a lower bound for its values only: the gradient passes as if there were none."""
    clone = input.clone()
    with no_grad():
        return clone.clamp_min_(bound)
