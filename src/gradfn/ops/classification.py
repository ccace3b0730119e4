"""Losses of scores for classes, given the class or its probability."""

from __future__ import annotations

import math
from typing import Any

from .. import raw
from ..raw.loss import MEAN, NONE
from .activation import logsigmoid
from .checking import checked
from .declare import op, variant
from .reducing import choose, each, number, over, plus, reduced, refuse_gradient, times

__all__: list[str] = []


# `nll_loss` is linear in its first argument; it and its adjoint are each other's derivatives.
nll_of = op(
    "nll_loss(self, target: Tensor, weight: Optional, reduction, ignore_index)",
    kernel=raw.nll_loss,
    tangent=lambda F, self_t, target, weight, reduction, ignore_index: F.nll_loss(
        self_t, target, weight, reduction, ignore_index
    ),
    self=lambda F, g, self, target, weight, reduction, ignore_index: F.nll_loss_backward(
        g, self, target, weight, reduction, ignore_index
    ),
)
nll_of_images = variant(nll_of, "nll_loss2d", node="NllLoss2DBackward0")
nll_loss_backward = op(
    "nll_loss_backward(grad_output, self, target: Tensor, weight: Optional, reduction, "
    "ignore_index)",
    kernel=raw.nll_loss_backward,
    tangent=lambda F, grad_output_t, self, target, weight, reduction, ignore_index: (
        F.nll_loss_backward(grad_output_t, self, target, weight, reduction, ignore_index)
    ),
    self=lambda F, self: F.zeros_like(self),
    grad_output=lambda F, g, target, weight, reduction, ignore_index: F.nll_loss(
        g, target, weight, reduction, ignore_index
    ),
)


def _multi_margin_gradient(
    F: Any, g: Any, self: Any, target: Any, weight: Any, p: int, margin: float, reduction: int
) -> Any:
    """Each violated margin pushes its class down and the sample's own class up."""
    classes = math.prod(self.shape[-1:])
    scores = F.reshape(self, (-1, classes))
    own = F.one_hot(F.reshape(target, (-1,)), classes)
    violations = (margin - F.sum(scores * own, 1, True) + scores) * (1 - own)
    slope = violations > 0 if p == 1 else 2 * F.clamp(violations, 0)
    g = F.reshape(each(g, reduction, scores.shape[:1]), (-1, 1)) / classes
    if weight is not None:
        g = g * F.sum(own * weight, 1, True)
    pushed = g * slope
    return F.reshape(pushed - own * F.sum(pushed, 1, True), self.shape)


def _multilabel_margin_gradient(F: Any, g: Any, self: Any, target: Any, reduction: int) -> Any:
    """The same for every pair of one of a sample's labels and one of its other classes."""
    classes = math.prod(self.shape[-1:])
    scores, counts = F.reshape(self, (-1, classes)), F.label_counts(target)
    pairs = F.unsqueeze(counts, 2) * F.unsqueeze(counts == 0, 1)
    violated = 1 - F.unsqueeze(scores, 2) + F.unsqueeze(scores, 1) > 0
    g = F.reshape(each(g, reduction, scores.shape[:1]), (-1, 1, 1)) / classes
    pushed = g * (violated * pairs)
    return F.reshape(F.sum(pushed, 1) - F.sum(pushed, 2), self.shape)


label_counts = op("label_counts(target: Tensor)", kernel=raw.label_counts)
multi_margin = op(
    "multi_margin_loss(self, target: Tensor, weight: Optional, p, margin, reduction)",
    kernel=raw.multi_margin_loss,
    self=_multi_margin_gradient,
)
multilabel_margin = op(
    "multilabel_margin_loss(self, target: Tensor, reduction)",
    kernel=raw.multilabel_margin_loss,
    self=_multilabel_margin_gradient,
)


@checked
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The negative log-probability of the target class, as `torch.nn.functional.nll_loss`.

    `input` holds log-probabilities, (classes), (batch, classes) or (batch, classes, ...), `target`
    the classes, without that dimension. `weight` weighs classes, and then the mean is over the
    weights; targets equal to `ignore_index` count for nothing. IndexError for other classes.

    >>> from gradfn import tensor
    >>> nll_loss(tensor([[-1., -2.], [-3., -4.]]), tensor([0, 1]))
    tensor(2.5000)
    """
    kind = number(choose(reduction, size_average, reduce))
    return _nll_loss(input, target, weight, kind, ignore_index)


def _nll_loss(input: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    refuse_gradient("nll_loss_forward", "weight", weight)
    _check_target(input, target)
    if input.ndim <= 2:
        return nll_of(input, target, weight, reduction, ignore_index)
    batch, classes, *sizes = input.shape
    flat = len(sizes) == 2
    if flat and target.ndim != 3:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
            f"{target.ndim}"
        )
    if list(target.shape) != [batch, *sizes]:
        got = f"(got input: {list(input.shape)} , target: {list(target.shape)}"
        wanted = f"Expected target size {[batch, *sizes]}, got {list(target.shape)}"
        raise RuntimeError(f"size mismatch {got})" if flat else wanted)
    if flat:
        return nll_of_images(input, target, weight, reduction, ignore_index)
    pixels = math.prod(sizes)
    images = input.contiguous().view(batch, classes, 1, pixels)
    labels = target.contiguous().view(batch, 1, pixels)
    losses = nll_of_images(images, labels, weight, reduction, ignore_index)
    return losses.view(batch, *sizes) if reduction == NONE else losses


def _check_target(input: Any, target: Any) -> None:
    """Refuse a `target` that holds no class for each sample of `input`."""
    if not input.ndim:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    batch, labels = input.size(0), target.size(0) if target.ndim else 0
    if input.ndim > 1 and batch != labels:
        raise ValueError(
            f"Expected input batch_size ({batch}) to match target batch_size ({labels})."
        )
    if input.ndim <= 2 and target.ndim > 1:
        raise RuntimeError(
            "0D or 1D target tensor expected, multi-target not supported: the target has the shape "
            f"{list(target.shape)}"
        )
    kind = target.dtype.scalar_name
    if kind not in ("Long", "Byte"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {kind}")
    if input.ndim > 2 and kind == "Byte":
        raise RuntimeError("expected scalar type Long but found Byte")
    if input.ndim == 2 and not target.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if input.ndim == 1 and target.ndim and labels != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {labels}")


@checked
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The cross entropy of scores and target classes, as `torch.nn.functional.cross_entropy`.

    `nll_loss` of the `log_softmax` of `input`. `target` holds classes, or, in the shape of
    `input`, the probabilities of all classes. `label_smoothing` mixes that much of the uniform
    distribution into the target.

    >>> from gradfn import tensor
    >>> cross_entropy(tensor([[0., 0.]]), tensor([1]))
    tensor(0.6931)
    """
    kind = number(choose(reduction, size_average, reduce))
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    probabilities = input.shape == target.shape
    if probabilities and not target.is_floating_point():
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{target.dtype.scalar_name}"
        )
    if probabilities and ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    scores = input.log_softmax(0 if input.ndim == 1 else 1)
    if probabilities:
        return _expected(scores, target, weight, kind, label_smoothing)
    if label_smoothing == 0:
        return _nll_loss(scores, target, weight, kind, ignore_index)
    return _smoothed(scores, target, weight, kind, ignore_index, label_smoothing)


def _by_class(weight: Any, scores: Any) -> Any:
    """The weights of the classes in a shape that broadcasts with `scores`."""
    if scores.ndim == 1:
        return weight
    return weight.view(1, -1, *(1 for _ in scores.shape[2:]))


def _expected(scores: Any, target: Any, weight: Any, reduction: int, label_smoothing: float) -> Any:
    """The cross entropy for a `target` of probabilities."""
    axis = 0 if scores.ndim == 1 else 1
    classes = scores.size(axis)
    if label_smoothing > 0:
        target = plus(times(target, 1 - label_smoothing), label_smoothing / max(classes, 1))
    losses = scores * target
    if weight is not None:
        losses = losses * _by_class(weight, scores)
    if reduction == NONE:
        return -losses.sum(axis)
    total = -losses.sum()
    return over(total, scores.numel() / max(classes, 1)) if reduction == MEAN else total


def _smoothed(
    scores: Any, target: Any, weight: Any, reduction: int, ignore_index: int, label_smoothing: float
) -> Any:
    """The cross entropy for classes, with a share of the uniform distribution."""
    axis = 0 if scores.ndim == 1 else 1
    classes = scores.size(axis)
    chosen = _nll_loss(scores, target, weight, reduction, ignore_index)
    every = scores if weight is None else scores * _by_class(weight, scores)
    ignored = target == ignore_index
    uniform = (-every.sum(axis)).masked_fill(ignored, 0)
    if reduction == MEAN and weight is None:
        uniform = uniform.sum() / (~ignored).sum()
    elif reduction == MEAN:
        kept = weight.gather(0, target.masked_fill(ignored, 0).flatten()).view(target.shape)
        uniform = uniform.sum() / kept.masked_fill(ignored, 0).sum()
    else:
        uniform = reduced(uniform, reduction)
    return times(chosen, 1 - label_smoothing) + times(uniform, label_smoothing / max(classes, 1))


def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The sum over the other classes i of ``max(0, margin - x[target] + x[i]) ** p / classes``.

    `input` is (batch, classes) or (classes); `weight` weighs samples by their class.

    >>> from gradfn import tensor
    >>> multi_margin_loss(tensor([[0., 1., 4.]]), tensor([1]))
    tensor(1.3333)
    """
    kind = number(choose(reduction, size_average, reduce))
    if p not in (1, 2):
        raise ValueError(f"only p == 1 and p == 2 supported, not {p}")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    return multi_margin(input, target, weight, p, margin, kind)


def multilabel_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The sum over labels j and other classes i of ``max(0, 1 - x[j] + x[i]) / classes``.

    `target`, in the shape of `input`, lists a sample's labels and then -1.

    >>> from gradfn import tensor
    >>> multilabel_margin_loss(tensor([0.1, 0.2, 0.4, 0.8]), tensor([3, 0, -1, 1]))
    tensor(0.8500)
    """
    return multilabel_margin(input, target, number(choose(reduction, size_average, reduce)))


@checked
def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The mean over the classes of the binary cross entropy of ``sigmoid(input)``.

    >>> from gradfn import tensor
    >>> multilabel_soft_margin_loss(tensor([[0., 0.]]), tensor([[1., 0.]]))
    tensor(0.6931)
    """
    reduction = choose(reduction, size_average, reduce)
    losses = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        losses = losses * weight
    axis = input.ndim - 1
    losses = losses.sum(axis) / input.size(axis)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    return reduced(losses, number(reduction))


METHODS = ""
