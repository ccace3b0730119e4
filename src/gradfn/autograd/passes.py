"""The backward pass that is running here, for those who are called by it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .readings import Arrays

running: ContextVar[Arrays | None] = ContextVar("gradfn_pass", default=None)

# Passes nest (checkpoints, hooks that call backward) deeper than Python's stack allows: after some
# levels the next one runs on the stack of a thread of its own, while this one waits.
NESTED_PER_THREAD = 30
MOST_NESTED = 10_000


def run_on_fresh_stack(work: Callable[[], None]) -> None:
    """Do `work` in a new thread, within this context, and wait; its exception is raised here."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,))
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def current_pass() -> Arrays:
    """The pass that is running in this thread; RuntimeError where there is none."""
    found = running.get()
    if found is None:
        raise RuntimeError("this should only be called during the backward pass: none is running")
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
