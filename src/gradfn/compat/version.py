"""The version of PyTorch that gradfn stands for, comparable as programs compare it."""

from __future__ import annotations

import re
from typing import Any


class TorchVersion(str):
    """A version that compares as versions do, with strings and with tuples of numbers.

    >>> TorchVersion("2.13.0+gradfn") >= "2.4", TorchVersion("2.13.0+gradfn") >= (2, 14)
    (True, False)
    """

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return _key(self) < _key(other)

    def __le__(self, other: Any) -> bool:
        return _key(self) <= _key(other)

    def __gt__(self, other: Any) -> bool:
        return _key(self) > _key(other)

    def __ge__(self, other: Any) -> bool:
        return _key(self) >= _key(other)

    def __eq__(self, other: object) -> bool:
        return _key(self) == _key(other)

    def __ne__(self, other: object) -> bool:
        return _key(self) != _key(other)

    __hash__ = str.__hash__


def _key(version: Any) -> tuple[tuple[int, ...], bool, str]:
    """Sorts releases by their numbers, then pre-releases before them and local ones after."""
    text = ".".join(map(str, version)) if isinstance(version, tuple | list) else str(version)
    public, _, local = text.partition("+")
    parts = re.match(r"v?(\d+(?:\.\d+)*)(.*)", public)
    if parts is None:
        raise ValueError(f"{text!r} is not a version")
    numbers = [int(number) for number in parts[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), not parts[2], local


VERSION = TorchVersion("2.13.0+gradfn")
