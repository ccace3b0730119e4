"""Connectionist temporal classification: losses of sequences without a known alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import raw
from ..autograd.variable import Variable
from ..raw.loss import MEAN, NONE
from .checking import checked
from .declare import op
from .formulas import no_derivative
from .reducing import number

__all__ = ["ctc_loss"]


def _gradient(
    F: Any, g: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any,
    result: Any, blank: int, zero_infinity: bool,
) -> Any:  # fmt: skip
    lengths = input_lengths, target_lengths
    return F.ctc_loss_backward(g, log_probs, targets, *lengths, result, blank, zero_infinity)


ctc_losses = op(
    "ctc_loss(log_probs, targets: Tensor, input_lengths, target_lengths, blank, zero_infinity)",
    kernel=raw.ctc_loss,
    log_probs=_gradient,
)
ctc_loss_backward = op(
    "ctc_loss_backward(grad, log_probs, targets: Tensor, input_lengths, target_lengths, "
    "losses: Tensor, blank, zero_infinity)",
    kernel=raw.ctc_loss_backward,
    grad=no_derivative("_ctc_loss_backward"),
    log_probs=no_derivative("_ctc_loss_backward"),
)


@checked
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = NONE,
    zero_infinity: bool = False,
) -> Any:
    """`torch.nn.functional.ctc_loss`, its reduction by PyTorch's number."""
    single = log_probs.ndim == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
    times, labels = _lengths(input_lengths, target_lengths)
    if single and targets.ndim == 1 and len(labels) == 1:
        targets = targets.unsqueeze(0)
    _check(log_probs, targets, times, labels, blank)
    losses = ctc_losses(log_probs, targets, times, labels, blank, zero_infinity)
    if zero_infinity:
        losses = losses.new_zeros(()).where(losses.isposinf(), losses)
    if reduction == MEAN:
        sizes = losses.new_tensor(labels).clamp_min(1)
        return (losses / sizes).mean()
    if reduction == NONE:
        return losses.squeeze(0) if single else losses
    return losses.sum()


def _lengths(*given: Any) -> list[tuple[int, ...]]:
    """The lengths of inputs and targets, both tensors or both sequences of numbers."""
    if all(
        isinstance(lengths, Variable) and lengths._array.dtype.kind not in "fc" for lengths in given
    ):
        return [tuple(lengths.reshape(-1).tolist()) for lengths in given]
    if all(isinstance(lengths, Sequence) for lengths in given):
        return [tuple(lengths) for lengths in given]
    raise TypeError(
        "ctc_loss() received an invalid combination of arguments - input_lengths and "
        "target_lengths must both be tensors of integers or both be tuples of ints, not "
        + " and ".join(type(lengths).__name__ for lengths in given)
    )


def _check(
    log_probs: Any, targets: Any, times: tuple[int, ...], labels: tuple[int, ...], blank: int
) -> None:
    if log_probs.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for "
            "argument #1 'log_probs'"
        )
    if not log_probs.numel():
        raise RuntimeError(f"log_probs tensor must not be empty: it is {list(log_probs.shape)}")
    steps, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range: it is {blank} of {classes}")
    for name, lengths in (("input_lengths", times), ("target_lengths", labels)):
        if len(lengths) != batch:
            raise RuntimeError(f"{name} must be of size batch_size, {batch}, not {len(lengths)}")
        if min(lengths, default=0) < 0:
            raise RuntimeError(
                f"Expected {name} to have value at least 0, but got value {min(lengths)}"
            )
    if max(times, default=0) > steps:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {steps}, but got value {max(times)}"
        )
    if targets.ndim == 1 and targets.shape[0] != sum(labels):
        raise RuntimeError(
            f"Expected tensor to have size {sum(labels)} at dimension 0, but got size "
            f"{targets.shape[0]} for argument #2 'targets'"
        )
    if targets.ndim == 2 and targets.shape[1] < max(labels, default=0):
        raise RuntimeError(
            f"Expected tensor to have size at least {max(labels)} at dimension 1, but got size "
            f"{targets.shape[1]} for argument #2 'targets'"
        )


@checked
def functional_ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """The negative log-likelihood of `targets`, summed over all alignments with the input.

    `log_probs` is (T, N, C) or (T, C), the `targets` are (N, S), or all labels in a row; the first
    `input_lengths` times and `target_lengths` labels of each example count. Class `blank` is no
    label. The mean is of the losses over their target lengths; `zero_infinity` makes infinite
    losses, of targets that are too long, and their gradients zero. The gradient is, as PyTorch's,
    the one before the log_softmax that made `log_probs`. RuntimeError for lengths and shapes that
    do not fit. As `torch.nn.functional.ctc_loss`.

    >>> from gradfn import nn, tensor
    >>> log_probs = tensor([[0.5, 0.5], [0.25, 0.75]]).log()
    >>> nn.functional.ctc_loss(log_probs, tensor([1]), (2,), (1,)).exp()
    tensor(1.1429)
    """
    return ctc_loss(
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        blank,
        number(reduction),
        zero_infinity,
    )


METHODS = ""
