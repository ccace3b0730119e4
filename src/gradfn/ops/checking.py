"""PyTorch's error where a plain function over rows gets something else for a tensor."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ..autograd.variable import Variable
from .runtime import is_number

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, raising TypeError where an argument that it takes for a tensor is none.

    Only a failure costs anything: it tells which object lacked a tensor's attribute.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except AttributeError as error:
            _explain(function, error, args, kwargs)
            raise

    return call


def _explain(
    function: Callable[..., Any],
    error: AttributeError,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """Raise for the argument that caused `error`, if one did."""
    wrong = error.obj
    if isinstance(wrong, Variable) or not hasattr(Variable.concrete, error.name or ""):
        return
    kind = type(wrong).__name__
    given = inspect.signature(function).bind(*args, **kwargs).arguments
    for position, (name, value) in enumerate(given.items(), 1):
        if value is wrong:
            raise TypeError(
                f"{function.__name__}(): argument '{name}' (position {position}) must be Tensor, "
                f"not {kind}"
            ) from None
        for i, item in enumerate(value if isinstance(value, tuple | list) else ()):
            if item is wrong:
                raise TypeError(
                    f"{function.__name__}(): expected Tensor as element {i} in argument "
                    f"'{name}' (position {position}), but got {kind}"
                ) from None


def row_for(value: Any, of_tensor: Callable[..., Any], of_number: Callable[..., Any]) -> Any:
    """The row for a `value` that is a tensor or a number; TypeError for anything else."""
    if isinstance(value, Variable):
        return of_tensor
    if is_number(value):
        return of_number
    raise TypeError(
        f"{of_number.operator.name}() received an invalid combination of arguments - got "  # type: ignore[attr-defined]
        f"{type(value).__name__} where a number or a Tensor was expected"
    )
