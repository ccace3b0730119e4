"""The names of tensors, as the variables of a frame tell them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from ..autograd.variable import Variable

LONGEST = 1000  # items, of a container that is looked into: it is done at each backward pass


def variables_of(frame: FrameType) -> dict[str, Any]:
    """The variables that `frame` can name, its own before the global ones."""
    own = dict(frame.f_locals)
    return own | {name: value for name, value in frame.f_globals.items() if name not in own}


def names_in(variables: Mapping[str, Any]) -> dict[int, str]:
    """The names of the tensors in `variables`, by identity; where there are several, the first.

    Tensors are found in variables themselves, in lists, tuples and dictionaries of tensors, and
    among the `named_parameters()` of modules. Long containers and variables that begin with an
    underscore are not looked into.
    """
    found: dict[int, str] = {}
    for name, value in variables.items():
        if not name.startswith("_"):
            for label, tensor in _tensors(name, value):
                found.setdefault(id(tensor), label)
    return found


def _tensors(name: str, value: Any) -> Iterator[tuple[str, Variable]]:
    members: Any = ()
    if isinstance(value, Variable):
        members = [(name, value)]
    elif isinstance(value, list | tuple) and len(value) <= LONGEST:
        members = ((f"{name}[{nr}]", item) for nr, item in enumerate(value))
    elif isinstance(value, dict) and len(value) <= LONGEST:
        members = ((f"{name}[{key!r}]", item) for key, item in list(value.items()))
    elif callable(getattr(type(value), "named_parameters", None)):
        members = ((f"{name}.{key}", item) for key, item in value.named_parameters())
    return (member for member in members if isinstance(member[1], Variable))
