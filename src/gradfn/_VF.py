"""PyTorch's private names of the functions under `torch.unique`."""  # noqa: N999 - its name

from __future__ import annotations

from typing import Any

from .missing import missing
from .ops.sorting import unique

__all__ = ["unique_dim"]
__getattr__ = missing(__name__)


def _unique2(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Any, Any, Any]:
    """The distinct elements, where each element went and how many did; empty what was not asked
    for."""
    return _three(input, return_inverse, return_counts)


def _unique(input: Any, sorted: bool = True, return_inverse: bool = False) -> tuple[Any, Any]:
    """`_unique2` without counts."""
    values, inverse, _ = _three(input, return_inverse, False)
    return values, inverse


def unique_dim(
    input: Any,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[Any, Any, Any]:
    """`_unique2` of slices along `dim`."""
    return _three(input, return_inverse, return_counts, dim)


def _three(input: Any, inverse: bool, counts: bool, dim: int | None = None) -> tuple[Any, Any, Any]:
    values, places, numbers = unique(input, True, True, True, dim)
    return (
        values,
        places if inverse else places.new_empty(0),
        numbers if counts else numbers.new_empty(0),
    )
