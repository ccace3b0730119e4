"""`torch.compiler` for programs that mention it: functions run as the Python that they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .missing import missing

__getattr__ = missing(__name__)
T = TypeVar("T")


def compile(model: Any = None, **options: Any) -> Any:
    """`model` itself, or a decorator that leaves its function alone: there is no compiler.

    >>> @compile
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """
    return (lambda function: function) if model is None else model


def disable(fn: Any = None, recursive: bool = True, **options: Any) -> Any:
    """`fn` itself, or a decorator that leaves its function alone."""
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: T) -> T:
    """`fn` itself."""
    return fn


def is_compiling() -> bool:
    """False: nothing is compiled."""
    return False


def is_dynamo_compiling() -> bool:
    """False: nothing is compiled."""
    return False


def is_exporting() -> bool:
    """False: nothing is exported."""
    return False


def reset() -> None:
    """Forget what was compiled, which is nothing."""


def cudagraph_mark_step_begin() -> None:
    """Mark a step of a graph of kernels, of which there are none."""


def set_stance(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator that leaves its function alone."""
    return lambda function: function
