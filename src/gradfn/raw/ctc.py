"""Connectionist temporal classification, by forward and backward sums over all alignments.

Graves et al., "Connectionist Temporal Classification" (2006). An alignment goes through the labels
with blanks between and around them; `log_alpha` (N, T, 2 L + 1) is the log of the sum over its
beginnings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .numbers import Array, not_implemented

__all__ = ["ctc_loss", "ctc_loss_backward"]


def ctc_loss(
    log_probs: Array,
    targets: Array,
    input_lengths: tuple[int, ...],
    target_lengths: tuple[int, ...],
    blank: int,
    zero_infinity: bool,
) -> tuple[Array, Array]:
    """(T, N, C) and labels (N, L): the loss of each example, and `log_alpha`."""
    if log_probs.dtype.kind != "f" or log_probs.dtype.itemsize < 4:
        raise not_implemented("ctc_loss_cpu", log_probs.dtype)
    steps, batch, _ = log_probs.shape
    path, skips = _path(targets, blank)
    emitted = _emitted(log_probs, path)
    alpha = np.full((batch, steps, path.shape[1]), -np.inf, log_probs.dtype)
    if steps:
        alpha[:, 0, :2] = emitted[0, :, :2]
    for t in range(1, steps):
        before = alpha[:, t - 1]
        total = np.logaddexp(before, _shifted(before, 1))
        total = np.logaddexp(total, np.where(skips, _shifted(before, 2), -np.inf))
        alpha[:, t] = total + emitted[t]
    losses = np.empty(batch, log_probs.dtype)
    for n, (length, labels) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        if length == 0:
            losses[n] = 0 if labels == 0 else np.inf
            continue
        ends = alpha[n, length - 1, max(2 * labels - 1, 0) : 2 * labels + 1]
        losses[n] = -np.logaddexp.reduce(ends)
    return losses, alpha


def _path(targets: Array, blank: int) -> tuple[Array, Array]:
    """The labels with blanks around them, and where one may come straight after the one before."""
    batch, labels = targets.shape
    path = np.full((batch, 2 * labels + 1), blank, np.int64)
    path[:, 1::2] = targets
    skips = np.zeros(path.shape, bool)
    skips[:, 2:] = (path[:, 2:] != blank) & (path[:, 2:] != path[:, :-2])
    return path, skips


def _emitted(log_probs: Array, path: Array) -> Array:
    """(T, N, 2 L + 1): the log-probability of each place of the path at each step."""
    index = np.broadcast_to(path, (len(log_probs), *path.shape))
    return np.asarray(np.take_along_axis(log_probs, index, 2))


def _shifted(values: Array, by: int) -> Array:
    made = np.full_like(values, -np.inf)
    made[:, by:] = values[:, :-by] if values.shape[1] > by else made[:, by:]
    return made


def ctc_loss_backward(
    grad: Array,
    log_probs: Array,
    targets: Array,
    input_lengths: tuple[int, ...],
    target_lengths: tuple[int, ...],
    neg_log_likelihood: Array,
    log_alpha: Array,
    blank: int,
    zero_infinity: bool,
) -> Array:
    """The gradient of the log-probabilities, as of those that sum to one: PyTorch's."""
    result = np.zeros_like(log_probs)
    path, skips = _path(targets, blank)
    emitted = _emitted(log_probs, path)
    for n, (length, labels) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        loss = neg_log_likelihood[n]
        if length == 0 or (zero_infinity and np.isinf(loss)):
            continue
        size = 2 * labels + 1
        places = path[n, :size]
        beta = _beta(emitted[:length, n, :size], skips[n, :size])
        both = log_alpha[n, :length, :size] + beta
        own = log_probs[:length, n]
        shares = np.full(own.shape, -np.inf, own.dtype)
        for place, column in zip(places, both.T, strict=True):
            shares[:, place] = np.logaddexp(shares[:, place], column)
        result[:length, n] = (np.exp(own) - np.exp(shares + loss - own)) * grad[n]
    return result


def _beta(emitted: Array, skips: Any) -> Array:
    """The log of the sums over the ends of alignments, (T, 2 L + 1)."""
    steps, size = emitted.shape
    beta = np.full(emitted.shape, -np.inf, emitted.dtype)
    beta[-1, max(size - 2, 0) :] = emitted[-1, max(size - 2, 0) :]
    ahead = np.zeros(size, bool)
    ahead[:-2] = skips[2:]
    for t in range(steps - 2, -1, -1):
        after = beta[t + 1]
        one, two = np.full(size, -np.inf), np.full(size, -np.inf)
        one[:-1], two[:-2] = after[1:], after[2:]
        total = np.logaddexp(np.logaddexp(after, one), np.where(ahead, two, -np.inf))
        beta[t] = total + emitted[t]
    return beta
