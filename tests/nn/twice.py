"""The same program run with gradfn and with PyTorch."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest

import gradfn

Program = Callable[[Any], Any]


def plain(value: Any) -> Any:
    """What can be compared of a result: tensors as dtype, graph and numbers; others as text."""
    if hasattr(value, "requires_grad"):
        node = value.grad_fn.name() if value.grad_fn else None
        number = value.detach().tolist()
        return [str(value.dtype), value.requires_grad, node, tuple(value.shape), number]
    if isinstance(value, Mapping):
        return [(str(key), plain(each)) for key, each in value.items()]
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value).replace("gradfn.", "torch.")


def outcome(program: Program, torch: ModuleType) -> Any:
    """What `program` gives after a fixed seed; an error as its type and its text."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(program(torch))
        except Exception as error:
            return type(error).__name__, str(error)


def close(mine: Any, theirs: Any, tolerance: float) -> bool:
    """Whether two plain results agree: numbers to `tolerance`, everything else exactly."""
    if isinstance(mine, list | tuple) and isinstance(theirs, list | tuple):
        pairs = zip(mine, theirs, strict=False)
        return len(mine) == len(theirs) and all(close(m, t, tolerance) for m, t in pairs)
    if isinstance(mine, float) and isinstance(theirs, float):
        return mine == pytest.approx(theirs, rel=tolerance, abs=tolerance, nan_ok=True)
    return bool(mine == theirs)


def agree(program: Program, oracle: ModuleType, tolerance: float = 1e-6) -> None:
    """The program gives with gradfn what it gives with PyTorch, and no error."""
    mine, theirs = outcome(program, gradfn), outcome(program, oracle)
    assert not isinstance(theirs, tuple), f"PyTorch raises {theirs}"
    assert close(mine, theirs, tolerance), f"{mine}\n is not PyTorch's\n{theirs}"


def refuse(program: Program, oracle: ModuleType) -> None:
    """The program raises PyTorch's error, with the first words of its text."""
    mine, theirs = outcome(program, gradfn), outcome(program, oracle)
    assert isinstance(theirs, tuple), f"PyTorch gives {theirs}"
    assert isinstance(mine, tuple), f"{mine} instead of {theirs}"
    assert mine[0] == theirs[0], f"{mine} instead of {theirs}"
    assert first_words(mine[1]) == first_words(theirs[1])


def first_words(text: str) -> list[str]:
    """The first words of a message, whatever module names its types have."""
    words = re.sub(r"\b(torch|gradfn)\.", "", text).replace("\\n", " ").split()
    return [word.strip("\"'.,:") for word in words[:5]]
