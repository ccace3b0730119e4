"""Modules that hold parameters: by number, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView
from typing import Any, Self

from ...ops.conversion import type_name
from ...tensor import Tensor
from ..parameter import Parameter
from .items import absolute_index, pairs_of
from .module import Module

__all__ = ["ParameterDict", "ParameterList"]


class _Parameters(Module):
    """Attributes of which tensors become parameters; other values stay what they are."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{type(self).__name__} should not be called.")


def _as_parameter(value: Any) -> Any:
    known = isinstance(value, Parameter) or not isinstance(value, Tensor)
    return value if known else Parameter(value)


class ParameterList(_Parameters):
    """A list of parameters: `torch.nn.ParameterList`. Tensors become parameters.

    >>> from gradfn import nn, ones
    >>> nn.ParameterList([ones(2), ones(3)])
    ParameterList(
        (0): Parameter containing: [torch.float32 of size 2]
        (1): Parameter containing: [torch.float32 of size 3]
    )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(self[number] for number in range(len(self))[index])
        return getattr(self, str(absolute_index(index, len(self))))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(absolute_index(index, len(self))), _as_parameter(value))

    def append(self, value: Any) -> Self:
        """Add `value` at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add all `values` at the end; TypeError where they are no iterable."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def extra_repr(self) -> str:
        return _listed(enumerate(self), lambda parameter: str(parameter.dtype))


class ParameterDict(_Parameters):
    """A dictionary of parameters: `torch.nn.ParameterDict`. Tensors become parameters.

    Raises TypeError for keys that are no strings.

    >>> from gradfn import nn, ones
    >>> nn.ParameterDict({"scale": ones(2)})["scale"]
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _name(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type "
                f"is '{type(key).__name__}')."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._name(key))

    def __setitem__(self, key: str, value: Any) -> None:
        name = self._name(key)
        self._keys[key] = None
        setattr(self, name, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._name(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another dictionary with the same values."""
        return ParameterDict({key: self[key] for key in self._keys})

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of `key`, which becomes `default` where there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove `key` and return its value."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove and return the last key with its value."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`, or `default`."""
        return self[key] if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dictionary with these keys, all with the same value."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> KeysView[str]:
        """The keys, in order."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The keys with their values."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add what is in a mapping, or in an iterable of pairs."""
        for key, value in pairs_of("ParameterDict", parameters):
            self[key] = value

    def __or__(self, other: Any) -> ParameterDict:
        copy = self.copy()
        copy.update(other)
        return copy

    def __ror__(self, other: Any) -> Any:
        copy = other.copy()
        copy.update(self)
        return copy

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return _listed(self.items(), lambda parameter: type_name(parameter.dtype))


def _listed(items: Iterable[tuple[Any, Any]], kind: Any) -> str:
    """A line for each value: what it is, for parameters with their kind and size."""
    lines = []
    for key, value in items:
        if isinstance(value, Tensor):
            size = "x".join(map(str, value.data.shape))  # 0 where it is not known yet
            name = "Parameter" if isinstance(value, Parameter) else "Tensor"
            text = f"{name} containing: [{kind(value)} of size {size}]"
        else:
            text = f"Object of type: {type(value).__name__}"
        lines.append(f"  ({key}): {text}")
    return "\n".join(lines)
