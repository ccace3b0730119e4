"""Modules that hold other modules: in a row, by number, by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import (
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    ValuesView,
)
from itertools import chain
from typing import Any, Self

from ...missing import missing
from .items import absolute_index, pairs_of
from .module import Module, block, indented
from .parameters import ParameterDict, ParameterList

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class _Numbered(Module):
    """Submodules with the names "0", "1", ... and what lists do."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._of(list(self._modules.items())[index])
        return self._modules[self._name_at(index)]

    def _of(self, items: list[tuple[str, Module | None]]) -> Self:
        """A container of the same kind for a slice of this one."""
        return type(self)(module for _, module in items)

    def _name_at(self, index: Any) -> str:
        return list(self._modules)[absolute_index(index, len(self))]

    def __setitem__(self, index: Any, module: Module | None) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)
        chosen = names[index] if isinstance(index, slice) else [self._name_at(index)]
        for name in chosen:
            del self._modules[name]
        self._renumber(list(self._modules.values()))

    def _renumber(self, modules: list[Module | None]) -> None:
        self._modules.clear()
        for number, module in enumerate(modules):
            self._modules[str(number)] = module

    def append(self, module: Module | None) -> Self:
        """Add `module` at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: Any) -> Any:
        """Remove and return the module at `key`."""
        module = self[key]
        del self[key]
        return module

    def _insert(self, index: int, module: Module | None) -> None:
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]


class Sequential(_Numbered):
    """Modules in a row, each called with the output of the one before: `torch.nn.Sequential`.

    Made of modules, or of one OrderedDict of modules by name.

    >>> from gradfn import nn, tensor
    >>> nn.Sequential(nn.ReLU(), nn.Flatten(0))(tensor([[-1., 2.]]))
    tensor([0., 2.])
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for number, module in enumerate(args):
                self.add_module(str(number), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def _of(self, items: list[tuple[str, Module | None]]) -> Self:
        return type(self)(OrderedDict(items))

    def insert(self, index: int, module: Module) -> Self:
        """Add `module` before the one at `index`; IndexError where that is out of range."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}, but got {type(module)}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        self._insert(index, module)
        return self

    def extend(self, sequential: Iterable[Any]) -> Self:
        """Add the modules of `sequential` at the end."""
        for module in list(sequential):
            self.append(module)
        return self

    def __add__(self, other: Any) -> Sequential:
        self._check_addition(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Self:
        self._check_addition(other)
        return self.extend(other)

    def _check_addition(self, other: Any) -> None:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but "
                f"{type(other)} is given."
            )

    def __mul__(self, other: Any) -> Sequential:
        return Sequential(*chain.from_iterable([self] * self._checked_factor(other)))

    __rmul__ = __mul__

    def __imul__(self, other: Any) -> Self:
        modules = list(self)
        for _ in range(self._checked_factor(other) - 1):
            self.extend(modules)
        return self

    def _checked_factor(self, other: Any) -> int:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return other


class ModuleList(_Numbered):
    """A list of modules: `torch.nn.ModuleList`.

    >>> from gradfn import nn
    >>> nn.ModuleList([nn.ReLU(), nn.Linear(1, 2), nn.Linear(1, 2)])
    ModuleList(
      (0): ReLU()
      (1-2): 2 x Linear(in_features=1, out_features=2, bias=True)
    )
    """

    def __init__(self, modules: Iterable[Module | None] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def extend(self, modules: Iterable[Module | None]) -> Self:
        """Add all `modules` at the end; TypeError where they are no iterable."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module | None) -> None:
        """Add `module` before the one at `index`, as lists do."""
        self._insert(index, module)

    def __add__(self, other: Iterable[Module | None]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __iadd__(self, modules: Iterable[Module | None]) -> Self:
        return self.extend(modules)

    def __repr__(self) -> str:
        """Equal neighbours as one line with their number."""
        runs: list[tuple[int, int, str]] = []
        for number, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], number, text)
            else:
                runs.append((number, number, text))
        lines = [
            f"({first}): {text}"
            if first == last
            else f"({first}-{last}): {last - first + 1} x {text}"
            for first, last, text in runs
        ]
        return block(self._get_name(), list(map(indented, lines)))


class ModuleDict(Module):
    """A dictionary of modules: `torch.nn.ModuleDict`.

    >>> from gradfn import nn
    >>> nn.ModuleDict({"act": nn.ReLU()})["act"]
    ReLU()
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module | None) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove and return the module `key`; KeyError where there is none."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names, in order."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Any]:
        """The names with the modules."""
        return self._modules.items()

    def values(self) -> ValuesView[Any]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add the modules of a mapping, or of an iterable of pairs."""
        for key, module in pairs_of("ModuleDict", modules):
            self[key] = module


__getattr__ = missing(__name__)
