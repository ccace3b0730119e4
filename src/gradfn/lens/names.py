"""The names of tensors, as the variables of a frame tell them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from types import FrameType, FunctionType, ModuleType
from typing import Any

from ..autograd.variable import Variable

# How much is looked into, at each backward pass that is watched.
LONGEST = 1000  # items of a container
MOST = 10_000  # values

NOT_LOOKED_INTO = ModuleType, FunctionType, type, Variable


def variables_of(frame: FrameType) -> dict[str, Any]:
    """The variables that `frame` can name, its own before the global ones."""
    own = dict(frame.f_locals)
    return own | {name: value for name, value in frame.f_globals.items() if name not in own}


def names_in(variables: Mapping[str, Any]) -> dict[int, str]:
    """The names of the tensors in `variables`, by identity; where there are several, the shortest
    way there.

    Tensors are also found in lists, tuples and dictionaries, in the attributes of objects and among
    the `named_parameters()` of modules, but not behind names that begin with an underscore.
    """
    found: dict[int, str] = {}
    seen: set[int] = set()
    waiting = deque(_public("", variables))
    while waiting and len(seen) < MOST:
        name, value = waiting.popleft()
        if isinstance(value, Variable):
            found.setdefault(id(value), name)
        elif id(value) not in seen:
            seen.add(id(value))
            waiting.extend(islice(_members(name, value), LONGEST))
    return found


def _members(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What `value` contains, each with its name."""
    if isinstance(value, list | tuple):
        return ((f"{name}[{nr}]", item) for nr, item in enumerate(value))
    if isinstance(value, dict):
        return ((f"{name}[{key!r}]", item) for key, item in list(value.items()))
    if isinstance(value, NOT_LOOKED_INTO):
        return iter(())
    own = _public(f"{name}.", getattr(value, "__dict__", {}))
    if callable(getattr(type(value), "named_parameters", None)):
        parameters = ((f"{name}.{key}", item) for key, item in value.named_parameters())
        return chain(parameters, own)
    return own


def _public(prefix: str, variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The `variables` that do not begin with an underscore."""
    return (
        (prefix + name, value)
        for name, value in list(variables.items())
        if not name.startswith("_")
    )
