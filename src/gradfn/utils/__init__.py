"""Utilities around training: checkpointing, data loading, structures of tensors."""

from importlib import import_module as _import_module
from typing import Any as _Any

from ..missing import missing as _missing_from
from . import checkpoint as checkpoint

_LATER = frozenset({"_pytree", "benchmark", "data", "dlpack", "hooks", "model_zoo"})
_missing = _missing_from(__name__)


def __getattr__(name: str) -> _Any:
    if name in _LATER:
        return _import_module(f".{name}", __name__)
    return _missing(name)
