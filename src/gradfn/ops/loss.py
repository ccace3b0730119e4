"""Losses of two tensors, element by element."""

from __future__ import annotations

import math
import warnings
from typing import Any

from .. import raw
from ..autograd.batching import all_values
from ..raw.loss import LEAST_VARIANCE, NONE
from ..shapes import broadcast_shapes
from .checking import checked
from .declare import op
from .reducing import (
    at_least,
    check_weight,
    choose,
    each,
    number,
    plus,
    reduced,
    refuse_gradient,
    times,
    together,
    weighted,
)

__all__: list[str] = []


# The losses that are operators of their own in PyTorch.


def _bce_input(
    F: Any, g: Any, self: Any, target: Any, weight: Any, self_shape: Any, reduction: int
) -> Any:
    g = F.binary_cross_entropy_backward(each(g, reduction, self_shape), self, target)
    return g if weight is None else g * weight


def _bce_second(F: Any, g: Any, grad_output: Any, self: Any, target: Any) -> Any:
    variance = F.clamp((1 - self) * self, LEAST_VARIANCE)
    return g * grad_output * ((self * self - 2 * self * target + target) / (variance * variance))


def _bce_target(F: Any, g: Any, self: Any, weight: Any, self_shape: Any, reduction: int) -> Any:
    g = each(g, reduction, self_shape) * (F.log1p(-self) - F.log(self))
    return g if weight is None else g * weight


def _logits_input(
    F: Any,
    g: Any,
    self: Any,
    target: Any,
    weight: Any,
    pos_weight: Any,
    self_shape: Any,
    reduction: int,
) -> Any:
    probability = F.sigmoid(self)
    if pos_weight is None:
        slope = probability - target
    else:
        positive = pos_weight * target
        slope = (positive + 1 - target) * probability - positive
    g = each(g, reduction, self_shape) * slope
    return g if weight is None else g * weight


def _logits_target(
    F: Any, g: Any, self: Any, weight: Any, pos_weight: Any, self_shape: Any, reduction: int
) -> Any:
    if pos_weight is None:
        slope = -self
    else:
        log_one = F.clamp(self, None, 0) - F.log1p(F.exp(-F.abs(self)))  # of sigmoid(self)
        slope = log_one - self - pos_weight * log_one
    g = each(g, reduction, self_shape) * slope
    return g if weight is None else g * weight


def _bounded(F: Any, distance: Any, bound: float) -> Any:
    """`distance` clamped to the bounds, with a slope of 0 at them."""
    return F.where(F.abs(distance) < bound, distance, F.sign(distance) * bound)


squared = op(
    "mse_loss(self, target, reduction)",
    kernel=raw.mse_loss,
    tangent="reduced",
    promote="number",
    self=lambda g, self, target, self_shape, reduction: (
        each(g, reduction, self_shape) * (2 * (self - target))
    ),
    target=lambda g, self, target, self_shape, reduction: (
        each(g, reduction, self_shape) * (2 * (target - self))
    ),
)
smooth_absolute = op(
    "smooth_l1_loss(self, target, reduction, beta)",
    kernel=raw.smooth_l1_loss,
    tangent="reduced",
    promote="number",
    self=lambda F, g, self, target, self_shape, reduction, beta: (
        each(g, reduction, self_shape) * (_bounded(F, self - target, beta) / beta)
    ),
    target=lambda F, g, self, target, self_shape, reduction, beta: (
        each(g, reduction, self_shape) * (_bounded(F, target - self, beta) / beta)
    ),
)
huber = op(
    "huber_loss(self, target, reduction, delta)",
    kernel=raw.huber_loss,
    tangent="reduced",
    self=lambda F, g, self, target, self_shape, reduction, delta: (
        each(g, reduction, self_shape) * _bounded(F, self - target, delta)
    ),
    target=lambda F, g, self, target, self_shape, reduction, delta: (
        each(g, reduction, self_shape) * _bounded(F, target - self, delta)
    ),
)
soft_margin = op(
    "soft_margin_loss(self, target: Tensor, reduction)",
    kernel=raw.soft_margin_loss,
    tangent="reduced",
    self=lambda F, g, self, target, self_shape, target_shape, reduction: (
        each(g, reduction, broadcast_shapes(self_shape, target_shape))
        * (-target * F.sigmoid(-target * self))
    ),
)
cross_entropy_of = op(
    "binary_cross_entropy(self, target, weight: Optional, reduction)",
    kernel=raw.binary_cross_entropy,
    tangent="reduced",
    self=_bce_input,
    target=_bce_target,
)
binary_cross_entropy_backward = op(
    "binary_cross_entropy_backward(grad_output, self, target)",
    kernel=raw.binary_cross_entropy_backward,
    tangent="elementwise",
    grad_output=lambda F, g, self, target: F.binary_cross_entropy_backward(g, self, target),
    self=_bce_second,
    target=lambda F, g, grad_output, self: (
        -g * grad_output / F.clamp((1 - self) * self, LEAST_VARIANCE)
    ),
)
cross_entropy_of_logits = op(
    "binary_cross_entropy_with_logits(self, target, weight: Optional, pos_weight: Optional, "
    "reduction)",
    kernel=raw.binary_cross_entropy_with_logits,
    tangent="reduced",
    self=_logits_input,
    target=_logits_target,
)


# PyTorch's functions.


@checked
def mse_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """The squared difference, ``(input - target) ** 2``, as `torch.nn.functional.mse_loss`.

    `reduction` is "mean", "sum" or "none"; with a `weight` of the same shape, the mean is over the
    weights. Warns where shapes differ; ValueError for another reduction.

    >>> from gradfn import tensor
    >>> mse_loss(tensor([1., 2.]), tensor([0., 4.]))
    tensor(2.5000)
    """
    kind = number(choose(reduction, size_average, reduce))
    input, target = together(input, target)
    if weight is not None:
        return weighted((input - target).pow(2), weight, kind)
    return squared(input, target, kind)


@checked
def l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """The distance ``abs(input - target)``; arguments as for `mse_loss`.

    >>> from gradfn import tensor
    >>> l1_loss(tensor([1., 2.]), tensor([0., 4.]), reduction="none")
    tensor([1., 2.])
    """
    kind = number(choose(reduction, size_average, reduce))
    input, target = together(input, target)
    losses = (input - target).abs()
    return reduced(losses, kind) if weight is None else weighted(losses, weight, kind)


@checked
def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """``d ** 2 / (2 * beta)`` where the distance d is below `beta`, else ``d - beta / 2``.

    >>> from gradfn import tensor
    >>> smooth_l1_loss(tensor([0.5, 3.]), tensor([0., 0.]), reduction="none")
    tensor([0.1250, 2.5000])
    """
    kind = number(choose(reduction, size_average, reduce))
    if beta < 0:
        raise RuntimeError(
            f"smooth_l1_loss does not support negative values for beta. It is {beta}."
        )
    input, target = together(input, target)
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return smooth_absolute(input, target, kind, beta)


@checked
def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """``d ** 2 / 2`` where the distance d is at most `delta`, else ``delta * (d - delta / 2)``.

    >>> from gradfn import tensor
    >>> huber_loss(tensor([0.5, 3.]), tensor([0., 0.]), reduction="none", delta=2.0)
    tensor([0.1250, 4.0000])
    """
    kind = number(reduction)
    if delta <= 0:
        raise RuntimeError(
            f"huber_loss does not support non-positive values for delta. It is {delta}."
        )
    input, target = together(input, target)
    if weight is None:
        return huber(input, target, kind, delta)
    check_weight(weight, input)
    return reduced(huber(input, target, NONE, delta) * weight, kind)


@checked
def soft_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """``log(1 + exp(-target * input))`` for targets 1 and -1.

    >>> from gradfn import tensor
    >>> soft_margin_loss(tensor([0., 2.]), tensor([1., -1.]), reduction="none")
    tensor([0.6931, 2.1269])
    """
    refuse_gradient("soft_margin_loss", "target", target)
    return soft_margin(input, target, number(choose(reduction, size_average, reduce)))


@checked
def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """``-(target * log(input) + (1 - target) * log(1 - input))``, for values from 0 to 1.

    Logarithms are bounded by -100. ValueError where shapes differ.

    >>> from gradfn import tensor
    >>> binary_cross_entropy(tensor([0.5, 1.]), tensor([1., 0.]), reduction="none")
    tensor([  0.6931, 100.0000])
    """
    kind = number(choose(reduction, size_average, reduce))
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}) is deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        refuse_gradient("binary_cross_entropy", "weight", weight)
        weight = weight.expand(broadcast_shapes(target.shape, weight.shape))
    return cross_entropy_of(input, target, weight, kind)


@checked
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """`binary_cross_entropy` of ``sigmoid(input)``, exact for inputs of any size.

    `pos_weight` multiplies the part of the positive targets.

    >>> from gradfn import tensor
    >>> binary_cross_entropy_with_logits(tensor([0., 1000.]), tensor([1., 0.]), reduction="none")
    tensor([6.9315e-01, 1.0000e+03])
    """
    kind = number(choose(reduction, size_average, reduce))
    if target.size() != input.size():
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    refuse_gradient("binary_cross_entropy_with_logits", "weight", weight)
    refuse_gradient("binary_cross_entropy_with_logits", "pos_weight", pos_weight)
    return cross_entropy_of_logits(input, target, weight, pos_weight, kind)


@checked
def kl_div(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """``target * (log(target) - input)``: `input` holds logarithms, and so does `target` where
    `log_target` says so. The reduction "batchmean" divides the sum by the batch size.

    >>> from gradfn import tensor
    >>> kl_div(tensor([-1., -1.]), tensor([0.5, 0.5]), reduction="sum")
    tensor(0.3069)
    """
    reduction = choose(reduction, size_average, reduce)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support "
            "size.'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.",
            UserWarning,
            stacklevel=2,
        )
    for tensor in (input, target):
        if not tensor.is_floating_point():
            kind = "Complex" if tensor.is_complex() else "Integral"
            raise RuntimeError(f"kl_div: {kind} inputs not supported.")
    if log_target:
        losses = target.exp() * (target - input)
    else:
        losses = target.xlogy(target) - target * input
    if reduction == "batchmean":
        return losses.sum() / input.size(0) if input.ndim else losses.sum()
    return reduced(losses, number(reduction))


@checked
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """``exp(input) - target * input``, or ``input - target * log(input + eps)`` if not `log_input`.

    `full` adds Stirling's approximation of ``log(target!)``, for targets above 1.

    >>> from gradfn import tensor
    >>> poisson_nll_loss(tensor([0., 1.]), tensor([1., 2.]), reduction="none")
    tensor([1.0000, 0.7183])
    """
    kind = number(choose(reduction, size_average, reduce))
    rate, log_rate = (input.exp(), input) if log_input else (input, plus(input, eps).log())
    losses = rate - target * log_rate
    if full:
        stirling = target * target.log() - target + times(times(target, 2 * math.pi).log(), 0.5)
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return reduced(losses, kind)


@checked
def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """``(log(var) + (input - target) ** 2 / var) / 2``, with `var` at least `eps`.

    `var` has the shape of `input`, or one without its last dimension, or with 1 there; or is a
    number. `full` adds ``log(2 * pi) / 2``. ValueError for another shape or a negative `var`.

    >>> from gradfn import tensor
    >>> gaussian_nll_loss(tensor([1., 2.]), tensor([0., 0.]), tensor([1., 1.]), reduction="none")
    tensor([0.5000, 2.0000])
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = input.new_full((), var).expand(input.size())
    elif (all_values(var._array) < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif input.ndim != var.ndim or [
            own for own, other in zip(var.shape, input.shape, strict=True) if own != other
        ] != [1]:
            raise ValueError(f"var is of incorrect size: {var.size()} for inputs {input.size()}")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    var = at_least(var, eps)
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, number(reduction))


METHODS = ""
