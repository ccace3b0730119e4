"""Numbers for each dimension, and states from inside of a wrapper."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

from ...missing import missing

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """The function that makes a tuple of an iterable, and one of `n` of any other value."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: tuple[Any, ...], n: int) -> tuple[Any, ...]:
    """Each element `n` times, the last one first: paddings as `functional.pad` takes them."""
    return tuple(x for x in reversed(t) for _ in range(n))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take `prefix` off the names in `state_dict`, in place.

    >>> state = {"module.weight": 1}
    >>> consume_prefix_in_state_dict_if_present(state, "module.")
    >>> state
    {'weight': 1}
    """
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key.removeprefix(prefix)] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is None:
        return
    for key in list(metadata):
        if key == prefix.rstrip("."):
            metadata[""] = metadata.pop(key)
        elif key.startswith(prefix):
            metadata[key.removeprefix(prefix)] = metadata.pop(key)


__getattr__ = missing(__name__)
