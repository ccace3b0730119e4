"""Dropout: elements zeroed at random."""

from __future__ import annotations

from typing import Any

from .. import raw
from ..autograd.variable import Variable
from ..random import default_generator
from .arithmetic import mul, mul_
from .checking import checked

__all__ = ["dropout", "dropout_"]


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


def _noise(input: Any, p: float, train: bool) -> Any:
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    array = input._array
    if p == 0 or not train or array.size == 0:
        return None
    if array.dtype.kind in "biu":
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {input.dtype.scalar_name}"
        )
    if p == 1:
        return Variable.wrap(raw.zeros_like(array))
    return Variable.wrap(raw.dropout_noise(default_generator, array, p))


def dropout_functional(
    input: Any, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Any:
    """Elements zeroed with probability `p`, the others divided by ``1 - p``, while `training`.

    Raises ValueError unless `p` is in [0, 1].
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return dropout_(input, p, training) if inplace else dropout(input, p, training)


METHODS = ""
