"""Dropout: elements or whole channels zeroed at random."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any

from .. import raw
from ..autograd.batching import drawn
from ..creation import zeros_like
from ..random import default_generator
from ..raw import random
from .arithmetic import add, add_, mul, mul_
from .checking import checked

__all__ = [
    "alpha_dropout",
    "alpha_dropout_",
    "dropout",
    "dropout_",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "feature_dropout",
    "feature_dropout_",
]


@checked
def dropout(input: Any, p: float, train: bool) -> Any:
    """Elements zeroed with probability `p`, the others divided by ``1 - p``, if `train`.

    The random numbers are the default generator's. Raises RuntimeError unless `p` is in [0, 1].
    """
    noise = _noise(input, p, train)
    return input if noise is None else mul(input, noise)


@checked
def dropout_(input: Any, p: float, train: bool) -> Any:
    """`dropout` in place."""
    noise = _noise(input, p, train)
    return input if noise is None else mul_(input, noise)


def _check(p: float, error: type[Exception] = RuntimeError) -> None:
    if not 0 <= p <= 1:
        raise error(f"dropout probability has to be between 0 and 1, but got {p}")


def _noise(input: Any, p: float, train: bool) -> Any:
    _check(p)
    array = input._array
    if p == 0 or not train or array.size == 0:
        return None
    if array.dtype.kind in "biu":
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {input.dtype.scalar_name}"
        )
    if p == 1:
        return zeros_like(input)
    return drawn(lambda like: raw.dropout_noise(default_generator, like, p), array)


@checked
def feature_dropout(input: Any, p: float, train: bool) -> Any:
    """`dropout` of whole channels, (N, C, ...): each is zeroed or kept as one."""
    noise = _feature_noise(input, p, train)
    return input if noise is None else mul(input, noise)


@checked
def feature_dropout_(input: Any, p: float, train: bool) -> Any:
    """`feature_dropout` in place."""
    noise = _feature_noise(input, p, train)
    return input if noise is None else mul_(input, noise)


def _feature_noise(input: Any, p: float, train: bool) -> Any:
    kept = _kept(input, p, train, _channels(input))
    return kept if kept is None or p == 1 else kept.div_(1 - p)


def _channels(input: Any) -> tuple[int, ...]:
    """The shape of one number for each channel."""
    if input.ndim < 2:
        raise RuntimeError(
            "Feature dropout requires at least 2 dimensions in the input, but it has shape "
            f"{list(input.shape)}"
        )
    return *input.shape[:2], *[1] * (input.ndim - 2)


def _kept(input: Any, p: float, train: bool, shape: tuple[int, ...]) -> Any:
    """1 where something stays and 0 where it goes; None where everything stays."""
    _check(p)
    if p == 0 or not train or input.numel() == 0:
        return None
    if p == 1:
        return input.new_zeros(())
    draw = partial(random.in_memory_order, random.bernoulli, default_generator)
    return drawn(lambda like: draw(like, 1 - p), input.new_empty(shape)._array)


@checked
def alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """Elements replaced by the limit of SELU with probability `p`, then scaled and shifted so that
    mean and variance stay 0 and 1, if `train`. RuntimeError unless `p` is in [0, 1]."""
    return _replaced(input, p, _kept(input, p, train, input.shape), mul, add)


@checked
def alpha_dropout_(input: Any, p: float, train: bool) -> Any:
    """`alpha_dropout` in place."""
    return _replaced(input, p, _kept(input, p, train, input.shape), mul_, add_)


@checked
def feature_alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """`alpha_dropout` of whole channels, (N, C, ...)."""
    return _replaced(input, p, _kept(input, p, train, _channels(input)), mul, add)


@checked
def feature_alpha_dropout_(input: Any, p: float, train: bool) -> Any:
    """`feature_alpha_dropout` in place."""
    return _replaced(input, p, _kept(input, p, train, _channels(input)), mul_, add_)


_LIMIT = 1.7580993408473766  # of SELU is minus this


def _replaced(input: Any, p: float, kept: Any, mul: Any, add: Any) -> Any:
    if kept is None:
        return input
    if p == 1:
        return mul(input, kept)
    scale = 1 / math.sqrt((_LIMIT**2 * p + 1) * (1 - p))
    shift = (kept - 1).mul_(_LIMIT * scale).add_(_LIMIT * scale * p)
    return add(mul(input, kept.mul_(scale)), shift)


# The functions of `nn.functional`.


def dropout_functional(
    input: Any, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Any:
    """Elements zeroed with probability `p`, the others divided by ``1 - p``, while `training`.

    Raises ValueError unless `p` is in [0, 1].
    """
    _check(p, ValueError)
    return dropout_(input, p, training) if inplace else dropout(input, p, training)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`dropout` of whole channels, (N, C, L) or (C, L)."""
    _check(p, ValueError)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input: (N, C, L) or "
            "(C, L)"
        )
    return _by_channel(input, p, training, inplace, input.ndim == 3)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`dropout` of whole channels, (N, C, H, W); a 3-D input is (N, C, L)."""
    _check(p, ValueError)
    if input.ndim not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.ndim}-D input to dropout2d, which is deprecated and "
            "will result in an error in a future release.",
            stacklevel=2,
        )
    return _by_channel(input, p, training, inplace, batched=True)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`dropout` of whole channels, (N, C, D, H, W) or (C, D, H, W)."""
    _check(p, ValueError)
    if input.ndim not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.ndim}-D input to dropout3d, which is deprecated and "
            "will result in an error in a future release.",
            stacklevel=2,
        )
    return _by_channel(input, p, training, inplace, input.ndim == 5)


def _by_channel(input: Any, p: float, training: bool, inplace: bool, batched: bool) -> Any:
    drop = feature_dropout_ if inplace else feature_dropout
    if batched:
        return drop(input, p, training)
    dropped = drop(input.unsqueeze_(0) if inplace else input.unsqueeze(0), p, training)
    return dropped.squeeze_(0) if inplace else dropped.squeeze(0)


def alpha_dropout_functional(
    input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """`alpha_dropout` while `training`. Raises ValueError unless `p` is in [0, 1]."""
    _check(p, ValueError)
    return (alpha_dropout_ if inplace else alpha_dropout)(input, p, training)


def feature_alpha_dropout_functional(
    input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """`feature_alpha_dropout` while `training`. Raises ValueError unless `p` is in [0, 1]."""
    _check(p, ValueError)
    return (feature_alpha_dropout_ if inplace else feature_alpha_dropout)(input, p, training)


METHODS = ""
