"""New tensors of random numbers: PyTorch's numbers for PyTorch's seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from . import dtypes
from .creation import Options, like, made, numpy_dtype, shape_of
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
    drawn = random.uniform(generator_of(generator), shape, numpy_dtype(options))
    return made("rand", drawn, options)


def randn(*size: Any, generator: Generator | None = None, **options: Unpack[Options]) -> Tensor:
    """Standard normal numbers; of complex ones, each part has variance ½.

    >>> import gradfn
    >>> gradfn.randn(2, generator=gradfn.Generator().manual_seed(0))
    tensor([ 1.5410, -0.2934])
    """
    shape = shape_of("randn", size, options)
    drawn = random.normal(generator_of(generator), shape, numpy_dtype(options))
    return made("randn", drawn, options)


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
    numpy = numpy_dtype(options, dtypes.int64)
    shape = shape_of("randint", (size,))
    return made(
        "randint", random.randint(generator_of(generator), shape, numpy, low, high), options
    )


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
    numpy = numpy_dtype(options, dtypes.int64)
    return made("randperm", random.randperm(generator_of(generator), n.__index__(), numpy), options)


def rand_like(
    input: Tensor, *, generator: Generator | None = None, **options: Unpack[Options]
) -> Tensor:
    """Uniform numbers in [0, 1) in the shape and dtype of `input`."""
    array = like("rand_like", input, options)
    drawn = random.in_memory_order(random.uniform, generator_of(generator), array)
    return made("rand_like", drawn, options)


def randn_like(
    input: Tensor, *, generator: Generator | None = None, **options: Unpack[Options]
) -> Tensor:
    """Standard normal numbers in the shape and dtype of `input`."""
    array = like("randn_like", input, options)
    drawn = random.in_memory_order(
        random.normal, generator_of(generator), array, contiguous=array.flags.c_contiguous
    )
    return made("randn_like", drawn, options)


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
    array = like("randint_like", input, options)
    drawn = random.in_memory_order(random.randint, generator_of(generator), array, low, high)
    return made("randint_like", drawn, options)
