"""The backward pass that is running here, for those who are called by it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .readings import Arrays

running: ContextVar[Arrays | None] = ContextVar("gradfn_pass", default=None)


def current_pass() -> Arrays:
    """The pass that is running in this thread; RuntimeError where there is none."""
    found = running.get()
    if found is None:
        raise RuntimeError("no backward pass is running: this is for hooks and formulas")
    return found


def queue_callback(callback: Callable[[], object]) -> None:
    """Call `callback` when the running backward pass is over."""
    current_pass().callbacks.append(callback)


class ExecutionEngine:
    """The engine as old programs know it: ``Variable._execution_engine``."""

    queue_callback = staticmethod(queue_callback)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """Whether the running pass goes all the way to the leaves."""
        return current_pass().captured is None
