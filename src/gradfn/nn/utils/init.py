"""Modules whose parameters are not drawn."""

from __future__ import annotations

import inspect
from typing import Any

from ...missing import missing
from ...random import fork_rng
from ..modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """``module_cls(*args, **kwargs)`` with arbitrary parameters; no random numbers are used up.

    RuntimeError for what is no module with a `device` argument.

    >>> from gradfn import nn
    >>> skip_init(nn.Linear, 3, 4)
    Linear(in_features=3, out_features=4, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    with fork_rng():
        return module_cls(*args, **kwargs)


__getattr__ = missing(__name__)
