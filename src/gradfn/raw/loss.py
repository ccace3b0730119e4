"""Losses, in the forms that do not overflow, and their reduction to one number."""

from __future__ import annotations

import numpy as np

from ..dtypes import can_cast, from_numpy
from .numbers import HALF, Array, narrow_as, not_implemented, refuse, refuse_bool, wide

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_backward",
    "binary_cross_entropy_with_logits",
    "huber_loss",
    "label_counts",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "nll_loss",
    "nll_loss_backward",
    "smooth_l1_loss",
    "soft_margin_loss",
]

NONE, MEAN, SUM = range(3)  # PyTorch's numbers, which nodes save
LEAST_VARIANCE = float(np.float32(1e-12))  # a constant of single precision in PyTorch


def reduced(losses: Array, reduction: int) -> Array:
    """The losses, their mean or their sum; half precision is summed in single."""
    if reduction == NONE:
        return losses
    total = np.add.reduce(wide(losses), axis=None, out=...)
    if reduction == MEAN:
        total = np.divide(total, losses.size, out=...)
    return narrow_as(total, losses)


def _written_to(out: Array, losses: Array) -> Array:
    """`losses` as they come out of PyTorch's in-place steps on `out`: in its dtype and shape."""
    made, kept = from_numpy(losses.dtype), from_numpy(out.dtype)
    if not can_cast(made, kept):
        raise RuntimeError(
            f"result type {made.scalar_name} can't be cast to the desired output type "
            f"{kept.scalar_name}"
        )
    if losses.shape != out.shape:
        raise RuntimeError(
            f"output with shape {list(out.shape)} doesn't match the broadcast shape "
            f"{list(losses.shape)}"
        )
    return losses.astype(out.dtype, copy=False)


def _refuse_half(kernel: str, self: Array) -> None:
    """Refuse half precision too, as PyTorch's kernels with loops over the classes do."""
    refuse(kernel, self, "biuc")
    if self.dtype.char in HALF:
        raise not_implemented(kernel, self.dtype)


def mse_loss(self: Array, target: Array, reduction: int) -> Array:
    refuse("mse_cpu", self, "biuc")
    return reduced(np.square(np.subtract(self, target, out=...), out=...), reduction)


def smooth_l1_loss(self: Array, target: Array, reduction: int, beta: float) -> Array:
    refuse("smooth_l1_cpu", self, "biuc")
    distance = np.abs(self - target)
    near = 0.5 * distance * distance / beta
    return reduced(np.where(distance < beta, near, distance - 0.5 * beta), reduction)


def huber_loss(self: Array, target: Array, reduction: int, delta: float) -> Array:
    target = _written_to(self, target)
    refuse("huber_cpu", self, "biuc")
    distance = np.abs(self - target)
    near = 0.5 * distance * distance
    far = delta * (distance - 0.5 * delta)
    return reduced(np.where(distance <= delta, near, far), reduction)


def soft_margin_loss(self: Array, target: Array, reduction: int) -> Array:
    dtype = from_numpy(self.dtype)
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {dtype.scalar_name}"
        )
    sign = target.astype(self.dtype) if target.dtype.kind == "b" else target
    losses = np.log1p(np.exp(-sign * self), out=...)
    return reduced(_written_to(self, losses), reduction)


def binary_cross_entropy(self: Array, target: Array, weight: Array | None, reduction: int) -> Array:
    refuse("binary_cross_entropy", self, "biuc")
    if self.dtype != target.dtype:
        got, due = from_numpy(target.dtype).scalar_name, from_numpy(self.dtype).scalar_name
        raise RuntimeError(f"Found dtype {got} but expected {due}")
    for name, array in (("input", self), ("target", target)):
        if not np.all((array >= 0) & (array <= 1)):
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    ones = np.maximum(np.log(self), -100)  # PyTorch's bound, so that log(0) is not infinite
    zeros = np.maximum(np.log1p(-self), -100)
    losses = np.asarray((target - 1) * zeros - target * ones)
    if weight is not None:
        losses = _written_to(losses, np.multiply(losses, weight, out=...))
    return reduced(losses, reduction)


def binary_cross_entropy_backward(g: Array, self: Array, target: Array) -> Array:
    """The derivative of the losses, which is 0 where input and target are the same bound."""
    return np.asarray(g * (self - target) / np.maximum((1 - self) * self, LEAST_VARIANCE))


def binary_cross_entropy_with_logits(
    self: Array, target: Array, weight: Array | None, pos_weight: Array | None, reduction: int
) -> Array:
    refuse("log_sigmoid_cpu", self, "biuc")
    if target.dtype.kind == "b":
        refuse_bool(target)
    log_sigmoid = np.minimum(self, 0) - np.log1p(np.exp(-np.abs(self)))
    scale = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    losses = _written_to(target, np.asarray((1 - target) * self - scale * log_sigmoid))
    if weight is not None:
        losses = _written_to(losses, np.multiply(losses, weight, out=...))
    return reduced(losses, reduction)


def _kept(
    self: Array, target: Array, weight: Array | None, ignore_index: int
) -> tuple[Array, Array]:
    """The target classes, 0 for those that are ignored, and the weights, 0 for those."""
    refuse("nll_loss_out_frame", self, "biuc")
    classes = self.shape[_class_axis(self)]
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight.shape)}"
        )
    if weight is not None and weight.dtype != self.dtype:
        got, due = from_numpy(weight.dtype).scalar_name, from_numpy(self.dtype).scalar_name
        raise RuntimeError(f"expected scalar type {due} but found {got}")
    keep = target != ignore_index
    wrong = keep & ((target < 0) | (target >= classes))
    if np.any(wrong):
        raise IndexError(
            f"Target {target[wrong][0]} is out of bounds. The classes go from 0 to {classes - 1}"
        )
    classes_kept = np.where(keep, target, 0)
    if weight is None:
        return classes_kept, keep.astype(self.dtype)
    return classes_kept, np.where(keep, weight[classes_kept], np.zeros((), self.dtype))


def _class_axis(self: Array) -> int:
    return 0 if self.ndim == 1 else 1


def nll_loss(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> Array:
    target = target.reshape(()) if self.ndim == 1 else target
    classes, weights = _kept(self, target, weight, ignore_index)
    axis = _class_axis(self)
    picked = np.take_along_axis(self, np.expand_dims(classes, axis), axis).squeeze(axis)
    losses = np.where(target != ignore_index, -picked * weights, np.zeros((), self.dtype))
    if reduction == MEAN:
        total = reduced(weights, SUM)
        return np.divide(reduced(losses, SUM), total, out=...)
    return reduced(losses, reduction)


def nll_loss_backward(
    g: Array,
    self: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int,
) -> Array:
    """The adjoint of `nll_loss`, which is linear in the log-probabilities `self`."""
    gradient = np.zeros_like(self)
    target = target.reshape(()) if gradient.ndim == 1 else target
    classes, weights = _kept(gradient, target, weight, ignore_index)
    scale = -weights / np.add.reduce(weights, axis=None) if reduction == MEAN else -weights
    each = np.where(target != ignore_index, g * scale, np.zeros((), g.dtype))
    axis = _class_axis(gradient)
    np.put_along_axis(
        gradient, np.expand_dims(classes, axis), np.expand_dims(each, axis).astype(g.dtype), axis
    )
    return gradient


def _check_samples(self: Array, target: Array) -> None:
    """Refuse what is neither a sample nor a batch of samples, or labels of another dtype."""
    if self.ndim > 2 or 0 in self.shape[-1:]:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(self.shape)}"
        )
    if target.dtype != np.int64:
        got = from_numpy(target.dtype).scalar_name
        raise RuntimeError(f"expected scalar type Long but found {got}")


def multi_margin_loss(
    self: Array, target: Array, weight: Array | None, p: int, margin: float, reduction: int
) -> Array:
    """For each sample of (samples, classes), the margins that its other classes violate."""
    _check_samples(self, target)
    scores, labels = np.atleast_2d(self), target.reshape(-1)
    samples, classes = scores.shape
    if labels.size != samples or target.ndim > 1:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{samples}], but got "
            f"{list(target.shape)}. Input has shape {list(self.shape)}."
        )
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"inconsistent weight size, expected {classes} but got {list(weight.shape)}"
        )
    _refuse_half("multi_margin_loss_cpu_kernel", self)
    if np.any((labels < 0) | (labels >= classes)):
        raise RuntimeError(f"target out of range: the classes go from 0 to {classes - 1}")
    own = np.expand_dims(labels, 1)
    violations = np.maximum(margin - np.take_along_axis(scores, own, 1) + scores, 0) ** p
    np.put_along_axis(violations, own, 0, 1)
    if weight is not None:
        violations = violations * weight[own]
    losses = np.add.reduce(violations, axis=1, out=...) / classes
    return reduced(losses.astype(self.dtype, copy=False).reshape(target.shape), reduction)


def label_counts(target: Array) -> Array:
    """How often each class is among a sample's labels, which end before the first -1."""
    labels = np.atleast_2d(target)
    classes = labels.shape[1]
    if labels.size and (labels.min() < -1 or labels.max() >= classes):
        raise RuntimeError(
            f"argument #2 'target' is out of range: labels go from 0 to {classes - 1}"
        )
    counts = np.zeros(labels.shape, np.int64)
    listed = np.logical_and.accumulate(labels >= 0, axis=1)
    samples, places = np.nonzero(listed)
    np.add.at(counts, (samples, labels[samples, places]), 1)
    return counts


def multilabel_margin_loss(self: Array, target: Array, reduction: int) -> Array:
    """For each sample of (samples, classes), the violated margins of 1 between its labels and its
    other classes, over the number of classes."""
    if np.atleast_1d(self).shape != np.atleast_1d(target).shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(self.shape)}"
        )
    _check_samples(self, target)
    _refuse_half("multilabel_margin_loss_forward_out_frame", self)
    scores, counts = np.atleast_2d(self), label_counts(target)
    violations = np.maximum(1 - scores[:, :, None] + scores[:, None, :], 0)
    pairs = counts[:, :, None] * (counts == 0)[:, None, :]
    losses = np.add.reduce(pairs * violations, axis=(1, 2), out=...) / scores.shape[1]
    return reduced(losses.astype(self.dtype, copy=False).reshape(self.shape[:-1]), reduction)
