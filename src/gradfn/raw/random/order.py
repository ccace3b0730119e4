"""The order in which a sampler visits the elements of a tensor that is there already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..copying import dense_axes
from ..numbers import Array
from .twister import MersenneTwister


def in_memory_order(
    sampler: Callable[..., Array],
    generator: MersenneTwister,
    like: Array,
    *arguments: Any,
    **options: Any,
) -> Array:
    """Numbers for the elements of `like`, drawn in the order of its memory."""
    axes = dense_axes(like)
    shape = tuple(like.shape[axis] for axis in axes)
    drawn = sampler(generator, shape, like.dtype, *arguments, **options)
    return drawn.transpose(np.argsort(axes))
