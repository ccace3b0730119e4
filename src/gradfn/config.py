"""Settings of the whole process that PyTorch programs read and write."""

from __future__ import annotations

import os
import warnings

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_float32_matmul_precision",
    "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_float32_matmul_precision",
    "set_num_threads",
    "use_deterministic_algorithms",
]

PRECISIONS = "highest", "high", "medium"

_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_precision = PRECISIONS[0]
_deterministic = _warn_only = False


def get_num_threads() -> int:
    """How many threads an operator may use: at first, as many as there are processors."""
    return _threads


def set_num_threads(num: int) -> None:
    """Set how many threads an operator may use. NumPy's linear algebra keeps its own setting."""
    global _threads
    if not isinstance(num, int):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(num).__name__}")
    if num < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, but got {num}")
    _threads = num


def get_float32_matmul_precision() -> str:
    """The precision that float32 matrix products need at least; gradfn always gives "highest"."""
    return _precision


def set_float32_matmul_precision(precision: str) -> None:
    """Allow lower precision for float32 matrix products. gradfn makes no use of it."""
    global _precision
    if precision in PRECISIONS:
        _precision = precision
    else:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current "
            "set_float32_matmul_precision call has no effect",
            stacklevel=2,
        )


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for deterministic algorithms. All of gradfn's are."""
    global _deterministic, _warn_only
    _deterministic, _warn_only = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """Whether deterministic algorithms were asked for."""
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether a warning was asked for where an algorithm is not deterministic."""
    return _warn_only
