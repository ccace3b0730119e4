"""Operators under the names of PyTorch's `torch.ops.aten`, for policies that tell them apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .declare import registry
from .emit import FUNCTION, form


class Overloads:
    """``aten.sum``: its attributes are the rows of that name, such as ``aten.sum.default``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"aten.{self.name}"

    def __getattr__(self, overload: str) -> Callable[..., Any]:
        """The row ``name.overload``; where there is none, the plain row of that name."""
        if overload.startswith("__"):
            raise AttributeError(overload)
        row = registry.get(f"{self.name}.{overload}") or registry.get(self.name)
        if row is None:
            row = next(row for row in registry.values() if row.name == self.name)
        return form(row, FUNCTION)


class Aten:
    """The namespace: ``aten.mm.default`` is the function that runs the row `mm`."""

    def __getattr__(self, name: str) -> Overloads:
        if any(row.name == name for row in registry.values()):
            return Overloads(name)
        raise AttributeError(f"torch.ops.aten.{name} is not in gradfn yet")


aten = Aten()
