"""Python's `multiprocessing` under PyTorch's name, with `spawn`.

Tensors go from process to process as copies: they share no memory, and `share_memory_` does
nothing.
"""

from __future__ import annotations

import multiprocessing
import sys
import traceback
from collections.abc import Callable
from multiprocessing import *  # noqa: F403 - what that has, this has
from multiprocessing.connection import Connection, wait
from typing import Any

from .missing import missing

__all__ = [
    *multiprocessing.__all__,
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]
__getattr__ = missing(__name__)


class ProcessException(Exception):  # noqa: N818 - PyTorch's name
    """The failure of process number `error_index`, which has the number `pid` on this machine."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid


class ProcessRaisedException(ProcessException):
    """The process raised an exception; the message has its traceback."""


class ProcessExitedException(ProcessException):
    """The process ended with `exit_code`, or by a signal."""

    exit_code: int


class ProcessContext:
    """The processes that `spawn` started."""

    def __init__(self, processes: list[Any], pipes: list[Connection]) -> None:
        self.processes = processes
        self.sentinels = {process.sentinel: number for number, process in enumerate(processes)}
        self._pipes = pipes

    def pids(self) -> list[int]:
        """The numbers of the processes on this machine."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None) -> bool:
        """Wait for one of the processes to end; whether all have ended.

        Where one fails the others are terminated, and ProcessRaisedException or
        ProcessExitedException says how.
        """
        for sentinel in wait(list(self.sentinels), timeout):
            number = self.sentinels.pop(sentinel)
            process = self.processes[number]
            process.join()
            if process.exitcode != 0:
                self._fail(number)
        return not self.sentinels

    def _fail(self, number: int) -> None:
        failed, pipe = self.processes[number], self._pipes[number]
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join()
        try:
            text = pipe.recv()
        except EOFError:  # it ended without a word
            text = None
        if text is not None:
            message = f"\n\n-- Process {number} terminated with the following error:\n{text}"
            raise ProcessRaisedException(message, number, failed.pid)
        error = ProcessExitedException(
            f"process {number} terminated with exit code {failed.exitcode}", number, failed.pid
        )
        error.exit_code = failed.exitcode
        raise error


def _run(fn: Callable[..., Any], number: int, args: tuple[Any, ...], pipe: Connection) -> None:
    """Call `fn` in a process of its own, which reports what it raises."""
    try:
        fn(number, *args)
    except Exception:
        pipe.send(traceback.format_exc())
        sys.exit(1)


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Call ``fn(i, *args)`` in `nprocs` processes, i from 0, and wait for them, or give them.

    Where `torch` means gradfn in this process they are forked, if they can be: a new Python would
    import another `torch`.
    """
    renamed = sys.modules.get("torch") is sys.modules[__package__]
    if renamed and start_method == "spawn" and "fork" in multiprocessing.get_all_start_methods():
        start_method = "fork"
    context: Any = multiprocessing.get_context(start_method)
    processes, pipes = [], []
    for number in range(nprocs):
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, number, args, there), daemon=daemon)
        process.start()
        there.close()
        processes.append(process)
        pipes.append(here)
    running = ProcessContext(processes, pipes)
    if not join:
        return running
    while not running.join():
        pass
    return None


spawn = start_processes


def get_all_sharing_strategies() -> set[str]:
    """The names that PyTorch has on Linux for ways of sharing memory."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """PyTorch's default: it makes no difference here."""
    return "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accept one of `get_all_sharing_strategies`, which makes no difference here."""
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"{new_strategy} is no sharing strategy")
