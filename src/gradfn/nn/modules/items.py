"""Indices and updates of the modules that behave as lists and dictionaries."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, SupportsIndex


def absolute_index(index: SupportsIndex, length: int) -> int:
    """`index` counted from the front; IndexError where it is out of range."""
    number = operator.index(index)
    if not -length <= number < length:
        raise IndexError(f"index {number} is out of range")
    return number % length


def pairs_of(owner: str, source: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs of a mapping or of an iterable of pairs, which `owner` is updated with."""
    if isinstance(source, Mapping) or hasattr(source, "items"):
        yield from source.items()
        return
    if not isinstance(source, Iterable):
        raise TypeError(
            f"{owner}.update should be called with an iterable of key/value pairs, but got "
            f"{type(source).__name__}"
        )
    for position, pair in enumerate(source):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{owner} update sequence element #{position} should be Iterable; is "
                f"{type(pair).__name__}"
            )
        key_and_value = tuple(pair)
        if len(key_and_value) != 2:
            raise ValueError(
                f"{owner} update sequence element #{position} has length {len(key_and_value)}; "
                "2 is required"
            )
        yield key_and_value
