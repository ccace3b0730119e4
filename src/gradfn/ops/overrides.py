"""Subclasses of Tensor that take part in operators: PyTorch's `__torch_function__` protocol.

An operator consults `OVERRIDING` first; it is empty, and costs nothing, until a program defines
such a subclass.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from ..autograd.variable import Variable
from .declare import Operator

OVERRIDING: list[type[Any]] = []  # the classes of tensors that override operators

_disabled: ContextVar[bool] = ContextVar("gradfn_overrides_disabled", default=False)


class DisableTorchFunctionSubclass:
    """Within it, subclasses are treated as plain tensors."""

    def __enter__(self) -> None:
        self.before = _disabled.get()
        _disabled.set(True)

    def __exit__(self, *exc: object) -> None:
        _disabled.set(self.before)


def disabled_torch_function(
    func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """The `__torch_function__` of classes that are plain tensors to operators."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def register(cls: type[Any]) -> None:
    """Let operators know of a new subclass of Tensor."""
    if cls.__torch_function__ is not disabled_torch_function:
        OVERRIDING.append(cls)


def overridden(operator: Operator, kind: str, arguments: tuple[Any, ...]) -> Any:
    """What a subclass among the arguments makes of the call; NotImplemented where none has a say.

    Subclasses come before their superclasses, else arguments from left to right, as in PyTorch.
    """
    if _disabled.get():
        return NotImplemented
    found: list[type[Any]] = []
    for argument in _tensors(arguments):
        cls = type(argument)
        if cls in OVERRIDING and cls not in found:
            place = next((i for i, other in enumerate(found) if issubclass(cls, other)), len(found))
            found.insert(place, cls)
    if not found:
        return NotImplemented
    from .emit import form

    function = form(operator, "function" if kind == "binary operator" else kind)
    positional, keywords = [], {}
    for parameter, value in zip(operator.parameters, arguments, strict=True):
        if parameter.keyword_only:
            keywords[parameter.name] = value
        else:
            positional.append(value)
    for cls in found:
        result = cls.__torch_function__(function, tuple(found), tuple(positional), keywords)
        if result is not NotImplemented:
            return result
    names = ", ".join(cls.__name__ for cls in found)
    raise TypeError(
        f"no implementation found for '{operator.name}' on types that implement "
        f"__torch_function__: [{names}]"
    )


def _tensors(arguments: tuple[Any, ...]) -> list[Variable]:
    tensors = []
    for argument in arguments:
        if isinstance(argument, tuple | list):
            tensors += [item for item in argument if isinstance(item, Variable)]
        elif isinstance(argument, Variable):
            tensors.append(argument)
    return tensors


def converted(result: Any, cls: type[Any]) -> Any:
    """`result`, and the tensors within it, as tensors of class `cls`."""
    if isinstance(result, Variable):
        return result if isinstance(result, cls) else result.as_subclass(cls)  # type: ignore[attr-defined]
    if isinstance(result, tuple | list):
        return type(result)([converted(item, cls) for item in result])
    return result
