"""Leaky rectified units whose slope is drawn for each element."""

from __future__ import annotations

from typing import Any

from .. import raw
from ..autograd.batching import drawn
from .checking import checked
from .declare import op, variant
from .emit import inplace
from .sampling import generator_of

__all__ = ["rrelu", "rrelu_"]


def _gradient(
    F: Any, g: Any, self: Any, noise: Any, lower: float, upper: float, training: bool
) -> Any:
    return g * noise if training else F.leaky_relu_backward(g, self, (lower + upper) / 2)


rrelu_with_noise = op(
    "rrelu_with_noise(self, noise: Tensor, lower, upper, training)",
    kernel=raw.rrelu_with_noise,
    tangent="elementwise",
    self=_gradient,
)
rrelu_of_result = variant(
    rrelu_with_noise,
    "rrelu_with_noise.of_result",
    node="RreluWithNoiseBackward1",
    self=lambda F, g, result, noise, lower, upper, training: _gradient(
        F, g, result, noise, lower, upper, training
    ),
)


def _noise(input: Any, lower: float, upper: float, training: bool, generator: Any) -> Any:
    """The slopes, 1 where the input is positive; not read unless `training`."""
    if lower > upper:
        raise RuntimeError(
            "Lower bound should be less than or equal to the upper bound: they are "
            f"{lower} and {upper}"
        )
    if not training:
        return input.detach()
    source = generator_of(generator)
    return drawn(lambda like: raw.rrelu_noise(source, like, lower, upper), input._array)


@checked
def rrelu(
    input: Any,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    """`input` where it is positive, else a multiple: `torch.rrelu`.

    The factor is the mean of `lower` and `upper`, and, while `training`, drawn uniformly between
    them for each element. RuntimeError where `lower` is above `upper`. Xu et al. (2015).

    >>> from gradfn import tensor
    >>> rrelu(tensor([2.0, -2.0]), 0.25, 0.75)
    tensor([ 2., -1.])
    """
    noise = _noise(input, lower, upper, training, generator)
    return rrelu_with_noise(input, noise, lower, upper, training)


@checked
def rrelu_(
    input: Any,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    """`rrelu` in place."""
    noise = _noise(input, lower, upper, training, generator)
    return inplace(rrelu_of_result)(input, noise, lower, upper, training)


def rrelu_functional(
    input: Any,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Any:
    """`rrelu`, or `rrelu_` if `inplace`."""
    return (rrelu_ if inplace else rrelu)(input, lower, upper, training)


METHODS = ""
