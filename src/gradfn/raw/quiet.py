"""Run NumPy without its floating-point warnings: PyTorch has none.

`np.errstate` takes a microsecond, as long as a small operator; the context variable under it
takes a tenth. Where NumPy has moved it, `np.errstate` itself serves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

hush: Callable[[], Any]
unhush: Callable[[Any], Any]


def _by_errstate() -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    def enter() -> Any:
        state = np.errstate(all="ignore")
        state.__enter__()
        return state

    def leave(state: Any) -> None:
        state.__exit__(None, None, None)

    return enter, leave


def _by_context_variable() -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    from functools import partial

    from numpy._core.umath import _extobj_contextvar as variable
    from numpy._core.umath import _make_extobj

    quiet = _make_extobj(all="ignore")
    return partial(variable.set, quiet), variable.reset


try:
    hush, unhush = _by_context_variable()
except ImportError:
    hush, unhush = _by_errstate()
