"""`torch.jit` for programs that mention it: functions and modules stay the Python that they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from .missing import missing
from .nn.modules.module import Module

T = TypeVar("T")


class ScriptModule(Module):
    """The class of compiled modules: nothing here is one."""


class ScriptFunction:
    """The class of compiled functions: nothing here is one."""


def script(obj: T, *args: Any, **kwargs: Any) -> T:
    """`obj` itself: there is nothing to compile for."""
    return obj


def trace(func: T, example_inputs: Any = None, *args: Any, **kwargs: Any) -> T:
    """`func` itself: there is nothing to compile for."""
    return func


@overload
def ignore(drop: Callable[..., Any]) -> Callable[..., Any]: ...
@overload
def ignore(drop: bool = False, **kwargs: Any) -> Callable[[T], T]: ...
def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Mark a function, which changes nothing; also as ``@ignore(drop=True)``."""
    return drop if callable(drop) else lambda function: function


def unused(fn: T) -> T:
    """Mark a function, which changes nothing."""
    return fn


export = interface = script_if_tracing = unused


def is_scripting() -> bool:
    """False: nothing is compiled."""
    return False


is_tracing = is_scripting


def annotate(the_type: Any, the_value: T) -> T:
    """The value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's `isinstance`."""
    import builtins

    return builtins.isinstance(obj, target_type)


Final = Any
Attribute = annotate

__getattr__ = missing(__name__)
