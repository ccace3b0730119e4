"""New tensors of random numbers: PyTorch's numbers for PyTorch's seeds."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from . import dtypes
from .autograd.batching import drawn, is_batched
from .autograd.node import Array
from .creation import Options, as_wanted, like, numpy_dtype, shape_of
from .ops.sampling import generator_of
from .random import Generator
from .raw import random

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = [
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
]


def rand(*size: Any, generator: Generator | None = None, **options: Unpack[Options]) -> Tensor:
    """Uniform numbers in [0, 1): ``rand(2, 3)`` or ``rand((2, 3))``.

    >>> import gradfn
    >>> gradfn.rand(2, generator=gradfn.Generator().manual_seed(0))
    tensor([0.4963, 0.7682])
    """
    shape = shape_of("rand", size, options)
    return _filled("rand", shape, options, random.uniform, generator)


def randn(*size: Any, generator: Generator | None = None, **options: Unpack[Options]) -> Tensor:
    """Standard normal numbers; of complex ones, each part has variance ½.

    >>> import gradfn
    >>> gradfn.randn(2, generator=gradfn.Generator().manual_seed(0))
    tensor([ 1.5410, -0.2934])
    """
    shape = shape_of("randn", size, options)
    return _filled("randn", shape, options, random.normal, generator)


def randint(
    *arguments: Any,
    low: int = 0,
    high: int | None = None,
    size: Any = None,
    generator: Generator | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """Integers in [low, high), as int64: ``randint(high, size)`` or ``randint(low, high, size)``.

    >>> import gradfn
    >>> gradfn.randint(10, (4,), generator=gradfn.Generator().manual_seed(0))
    tensor([4, 9, 3, 0])
    """
    *bounds, size = arguments if size is None else (*arguments, size)
    low, high = _bounds("randint", bounds, low, high)
    if not isinstance(size, list | tuple):
        raise TypeError(
            f"randint(): argument 'size' (position {len(bounds) + 1}) must be tuple of ints, not "
            f"{type(size).__name__}"
        )
    shape = shape_of("randint", (size,))
    draw = partial(random.randint, low=low, high=high)
    return _filled("randint", shape, options, draw, generator, dtypes.int64)


def _bounds(name: str, bounds: list[Any], low: Any, high: Any) -> tuple[int, int]:
    """low and high, by position (one alone is high) or by name."""
    if high is None:
        if not bounds:
            raise TypeError(f'{name}() missing 1 required positional arguments: "high"')
        *bounds, high = bounds
    if bounds:
        low, *_ = bounds
    for word, value in (("low", low), ("high", high)):
        if not hasattr(value, "__index__"):
            raise TypeError(f"{name}(): argument '{word}' must be int, not {type(value).__name__}")
    return low.__index__(), high.__index__()


def randperm(n: int, *, generator: Generator | None = None, **options: Unpack[Options]) -> Tensor:
    """The integers of [0, n) in a random order, as int64.

    >>> import gradfn
    >>> gradfn.randperm(4, generator=gradfn.Generator().manual_seed(0))
    tensor([0, 1, 3, 2])
    """
    if not hasattr(n, "__index__"):
        raise TypeError(
            f"randperm(): argument 'n' (position 1) must be int, not {type(n).__name__}"
        )

    def draw(generator: Any, shape: tuple[int, ...], dtype: Any) -> Array:
        orders = [
            random.randperm(generator, shape[-1], dtype) for _ in range(math.prod(shape[:-1]))
        ]
        return np.reshape(orders, shape)

    return _filled("randperm", (n.__index__(),), options, draw, generator, dtypes.int64)


def rand_like(
    input: Tensor, *, generator: Generator | None = None, **options: Unpack[Options]
) -> Tensor:
    """Uniform numbers in [0, 1) in the shape and dtype of `input`."""
    return _like("rand_like", input, options, random.uniform, generator)


def randn_like(
    input: Tensor, *, generator: Generator | None = None, **options: Unpack[Options]
) -> Tensor:
    """Standard normal numbers in the shape and dtype of `input`."""
    contiguous = like("randn_like", input, options).flags.c_contiguous
    draw = partial(random.normal, contiguous=contiguous)
    return _like("randn_like", input, options, draw, generator)


def randint_like(
    input: Tensor,
    *bounds: Any,
    low: int = 0,
    high: int | None = None,
    generator: Generator | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """Integers in [low, high) in the shape and dtype of `input`; one bound alone is high."""
    low, high = _bounds("randint_like", list(bounds), low, high)
    draw = partial(random.randint, low=low, high=high)
    return _like("randint_like", input, options, draw, generator)


Draw = Callable[..., Array]  # of a generator, a shape and a dtype


def _filled(
    name: str,
    shape: tuple[int, ...],
    options: Options,
    draw: Draw,
    generator: Generator | None,
    default: dtypes.dtype | None = None,
) -> Tensor:
    """A new tensor of numbers that `draw` gives."""
    source = generator_of(generator)
    like = np.empty(shape, numpy_dtype(options, default))
    numbers = drawn(lambda like: draw(source, like.shape, like.dtype), like)
    return as_wanted(name, numbers, options)


def _like(
    name: str, input: Tensor, options: Options, draw: Draw, generator: Generator | None
) -> Tensor:
    """Numbers that `draw` gives, in the order of the memory of `input`."""
    source = generator_of(generator)
    array = like(name, input, options)
    if is_batched(input._array):
        array = input._array.astype(array.dtype)
    return as_wanted(name, drawn(lambda a: random.in_memory_order(draw, source, a), array), options)
