"""Connectionist temporal classification: the loss of sequences without alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import raw
from ..autograd.variable import Variable
from ..raw.numbers import Array
from .checking import checked
from .declare import op
from .formulas import not_implemented

__all__: list[str] = []

alignments = op(
    "ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths, target_lengths, blank, "
    "zero_infinity)",
    kernel=raw.ctc_loss,
    results=("neg_log_likelihood", "log_alpha"),
    log_probs=lambda F, g_neg_log_likelihood, log_probs, targets, input_lengths, target_lengths,
    neg_log_likelihood, log_alpha, blank, zero_infinity: F.ctc_loss_backward(
        g_neg_log_likelihood, log_probs, targets, input_lengths, target_lengths,
        neg_log_likelihood, log_alpha, blank, zero_infinity,
    ),
)  # fmt: skip
ctc_loss_backward = op(
    "ctc_loss_backward(grad, log_probs: Tensor, targets: Tensor, input_lengths, target_lengths, "
    "neg_log_likelihood: Tensor, log_alpha: Tensor, blank, zero_infinity)",
    kernel=raw.ctc_loss_backward,
    grad=not_implemented("_ctc_loss_backward"),
    log_probs=not_implemented("_ctc_loss_backward"),
    neg_log_likelihood=not_implemented("_ctc_loss_backward"),
    log_alpha=not_implemented("_ctc_loss_backward"),
    doc="The gradient of `ctc_loss`.",
)


@checked
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """Minus the log-probability of label sequences, over all alignments with `log_probs`.

    `log_probs` is (T, N, C), or (T, C) for one example; `targets` are the labels (N, S), padded, or
    all in a row; the lengths say how much of each counts. `blank` is the label for nothing. The
    mean is over losses divided by their target's length. With `zero_infinity`, targets that are too
    long for their input count nothing. RuntimeError for sizes and labels that do not fit,
    ValueError for unknown reductions. Not differentiable twice. Graves et al. (2006); as
    `torch.nn.functional.ctc_loss`.

    >>> import gradfn
    >>> log_probs = gradfn.zeros(3, 1, 2).log_softmax(2)
    >>> ctc_loss(log_probs, gradfn.tensor([[1]]), [3], [1])
    tensor(0.2877)
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    single = log_probs.ndim == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
    steps, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError(
            f"blank must be in label range: it is {blank}, and there are {classes} labels"
        )
    inputs = _lengths("input_lengths", input_lengths, batch)
    labels = _lengths("target_lengths", target_lengths, batch)
    if max(inputs, default=0) > steps:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {steps}, but got value {max(inputs)}"
        )
    padded = _padded(targets._array, labels, classes)
    losses, _ = alignments(
        log_probs, Variable.wrap(padded), inputs, labels, blank, bool(zero_infinity)
    )
    if zero_infinity:
        losses = losses.new_zeros(()).where(losses == np.inf, losses)
    if reduction == "none":
        return losses[0] if single else losses
    if reduction == "sum":
        return losses.sum()
    return (losses / losses.new_tensor(labels).clamp_min(1)).mean()


def _lengths(name: str, lengths: Any, batch: int) -> tuple[int, ...]:
    array = lengths._array if isinstance(lengths, Variable) else np.asarray(lengths, np.int64)
    if array.dtype.kind not in "iu":
        raise RuntimeError(f"{name} must be integral, not {array.dtype}")
    found = tuple(array.reshape(-1).tolist())
    if len(found) != batch:
        raise RuntimeError(f"{name} must be of size batch_size: {len(found)} are not {batch}")
    if min(found, default=0) < 0:
        raise RuntimeError(f"Expected {name} to have value at least 0, but got value {min(found)}")
    return found


def _padded(targets: Array, lengths: Sequence[int], classes: int) -> Array:
    """The labels as (N, L), 0 where there are none."""
    longest = max(lengths, default=0)
    made = np.zeros((len(lengths), longest), np.int64)
    if targets.ndim == 1:
        if len(targets) != sum(lengths):
            raise RuntimeError(
                f"Expected tensor to have size {sum(lengths)} at dimension 0, but got size "
                f"{len(targets)} for argument #2 'targets'"
            )
        rows = np.split(targets, np.cumsum(lengths)[:-1])
    else:
        if len(targets) != len(lengths):
            raise RuntimeError(
                f"Expected tensor to have size {len(lengths)} at dimension 0, but got size "
                f"{len(targets)} for argument #2 'targets'"
            )
        if targets.shape[1] < longest:
            raise RuntimeError(
                f"Expected tensor to have size at least {longest} at dimension 1, but got size "
                f"{targets.shape[1]} for argument #2 'targets'"
            )
        rows = list(targets)
    for row, labels, length in zip(made, rows, lengths, strict=True):
        row[:length] = labels[:length]
    if made.size and not 0 <= made.min() <= made.max() < classes:
        raise RuntimeError(
            f"ctc_loss: targets must be labels from 0 to {classes - 1}, and are between "
            f"{made.min()} and {made.max()}"
        )
    return made


METHODS = ""
