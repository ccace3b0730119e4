"""The error for a name of PyTorch's that gradfn does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def lacks(name: str) -> str:
    """The message for the PyTorch name `name`.

    >>> lacks("torch.fx")
    'torch.fx is not in gradfn yet'
    """
    return f"{name} is not in gradfn yet"


def missing(module: str) -> Callable[[str], NoReturn]:
    """The `__getattr__` of `module`, by its name in gradfn."""
    theirs = "torch" + module.removeprefix("gradfn")

    def getattr_(name: str) -> NoReturn:
        raise AttributeError(lacks(f"{theirs}.{name}"), name=name)

    return getattr_


def refusing(name: str, why: str) -> Callable[..., NoReturn]:
    """A function in the place of PyTorch's `name` that says why it is not in gradfn."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{name} is not in gradfn: {why}")

    return refuse
