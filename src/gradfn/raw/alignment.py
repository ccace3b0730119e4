"""Connectionist temporal classification: the probability of all alignments to a labelling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .loss import refuse_half
from .numbers import Array

__all__ = ["ctc_loss", "ctc_loss_backward"]


def _states(targets: Array, lengths: Sequence[int], blank: int) -> tuple[Array, Array]:
    """Each example's labels with blanks around them, and where a blank may be skipped.

    `targets` is (N, S), or the labels of all examples one after another.
    """
    longest = max(lengths, default=0)
    labels = np.full((len(lengths), 2 * longest + 1), blank, np.int64)
    start = 0
    for n, length in enumerate(lengths):
        own = targets[n] if targets.ndim == 2 else targets[start:]
        labels[n, 1 : 2 * length : 2] = own[:length]
        start += length
    skips = np.zeros(labels.shape, bool)
    skips[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    return labels, skips


def _emissions(log_probs: Array, labels: Array) -> Array:
    """The log-probability of each state at each time: (T, N, states)."""
    return np.take_along_axis(log_probs, labels[None], 2)


def _shifted(alpha: Array, by: int) -> Array:
    """`alpha` moved `by` states on, impossible ones in front."""
    made = np.full_like(alpha, -np.inf)
    made[:, by:] = alpha[:, : alpha.shape[1] - by]
    return made


def _step(before: Array, skips: Array) -> Array:
    """The log-probability of arriving in each state: by staying, one on, or past a blank."""
    arrived = np.logaddexp(before, _shifted(before, 1))
    return np.where(skips, np.logaddexp(arrived, _shifted(before, 2)), arrived)


def _forward(emitted: Array, skips: Array) -> Array:
    """The log-probability of each state at each time, with all that was emitted up to then."""
    alpha = np.full_like(emitted, -np.inf)
    alpha[:1, :, :2] = emitted[:1, :, :2]
    for t in range(1, len(emitted)):
        alpha[t] = _step(alpha[t - 1], skips) + emitted[t]
    return alpha


def ctc_loss(
    log_probs: Array,
    targets: Array,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
    zero_infinity: bool,
) -> Array:
    """The negative log-likelihood of each example's labels, infinite where none is possible."""
    refuse_half("ctc_loss_cpu", log_probs)
    labels, skips = _states(targets, target_lengths, blank)
    alpha = _forward(_emissions(log_probs, labels), skips)
    losses = np.empty(len(labels), log_probs.dtype)
    for n, (time, length) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        if time == 0:
            losses[n] = 0.0 if length == 0 else np.inf
        else:
            last = alpha[time - 1, n, max(2 * length - 1, 0) : 2 * length + 1]
            losses[n] = -np.logaddexp.reduce(last)
    return losses


def ctc_loss_backward(
    grad: Array,
    log_probs: Array,
    targets: Array,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    losses: Array,
    blank: int,
    zero_infinity: bool,
) -> Array:
    """Each probability less the posterior probability of its class, times `grad`.

    That is the gradient before a softmax, and behind the softmax as good as any: there only
    differences between the classes count.
    """
    labels, skips = _states(targets, target_lengths, blank)
    emitted = _emissions(log_probs, labels)
    gradient = np.zeros_like(log_probs)
    for n, (time, length) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        if time == 0 or (zero_infinity and np.isinf(losses[n])):
            continue
        used = slice(0, time), slice(n, n + 1), slice(0, 2 * length + 1)
        own, back = emitted[used], emitted[used][::-1, :, ::-1]
        both = _forward(own, skips[used[1:]])
        both += _forward(back, _reversed(skips[used[1:]]))[::-1, :, ::-1]
        both += losses[n] - own
        posterior = np.zeros_like(log_probs[:time, n])
        np.add.at(posterior.T, labels[n, : 2 * length + 1], np.exp(both[:, 0]).T)
        gradient[:time, n] = grad[n] * (np.exp(log_probs[:time, n]) - posterior)
    return gradient


def _reversed(skips: Array) -> Array:
    """Where a blank may be skipped on the way back."""
    made = np.zeros_like(skips)
    made[:, 2:] = skips[:, :1:-1]
    return made
