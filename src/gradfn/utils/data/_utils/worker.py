"""Processes that fetch batches for a loader."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import queue
import random
import signal
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ....random import manual_seed
from .fetch import Fetch

__all__ = ["WorkerInfo", "get_worker_info"]

PATIENCE = 5  # seconds that a worker has to finish its batch when it is no longer needed


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker knows of itself: its number, how many there are, its seed, its data set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The worker that this runs in; None in the main process."""
    return _info


class _KeyErrorText(str):
    """The argument of a KeyError, which shows it by its repr: here, with its line breaks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Failure(NamedTuple):
    """An exception in a worker, with its traceback as text."""

    kind: type[BaseException]
    text: str
    where: str

    def reraise(self) -> NoReturn:
        """Raise it here."""
        message = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        if self.kind is KeyError:
            raise KeyError(_KeyErrorText(message))
        try:
            error = self.kind(message)
        except Exception:  # a type whose constructor takes other arguments
            error = RuntimeError(message)
        raise error


class Exhausted:
    """The end of a worker's part of an iterable data set."""


class Restart:
    """The request to begin another pass."""


def run(
    pipe: Connection,
    fetcher_of: Callable[[], Fetch],
    info: WorkerInfo,
    init: Callable[[int], Any] | None,
) -> None:
    """What a worker does: fetch what it is asked for, ``(indices,)``, until it is told None.

    A thread takes in the requests, so that the main process is never kept waiting with one.
    """
    global _info
    _info = info
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process hears of it, and stops this
    _seed_all(info)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    stopped = threading.Event()
    threading.Thread(target=_receive, args=(pipe, requests, stopped), daemon=True).start()
    where = f"in DataLoader worker process {info.id}"
    fetch: Fetch | None = None
    while (request := requests.get()) is not None and not stopped.is_set():
        if isinstance(request, Restart):
            fetch = None
            continue
        try:
            if init is not None:
                init(info.id)
                init = None
            if fetch is None:
                fetch = fetcher_of()
            answer = fetch(*request)
        except StopIteration:
            answer = Exhausted()
        except Exception as error:
            answer = Failure(type(error), traceback.format_exc(), where)
        _send(pipe, answer, where)


def _seed_all(info: WorkerInfo) -> None:
    """Seed Python's, NumPy's and gradfn's generators as PyTorch does."""
    random.seed(info.seed)
    manual_seed(info.seed)
    base = info.seed - info.id
    words = [info.id, base & 0xFFFFFFFF, base >> 32, 0]
    np.random.seed(np.random.SeedSequence(words).generate_state(4))


def _receive(pipe: Connection, requests: queue.SimpleQueue[Any], stopped: threading.Event) -> None:
    """Take in requests until the last one; where the main process has died, end this one."""
    main = multiprocessing.parent_process()
    assert main is not None
    request: Any = True
    while request is not None:
        if pipe not in multiprocessing.connection.wait([pipe, main.sentinel]):
            os._exit(1)
        try:
            request = pipe.recv()
        except (EOFError, OSError):
            request = None
        if request is None:
            stopped.set()
        requests.put(request)


def _send(pipe: Connection, answer: Any, where: str) -> None:
    try:
        pipe.send(answer)
    except BrokenPipeError:  # nobody waits for it
        return
    except Exception as error:  # it cannot be pickled
        pipe.send(Failure(type(error), traceback.format_exc(), where))


class Workers:
    """The processes of a loader, each with a pipe for requests and answers."""

    def __init__(
        self,
        count: int,
        fetcher_of: Callable[[], Fetch],
        seed: int,
        dataset: Any,
        init: Callable[[int], Any] | None,
        context: Any,
        timeout: float,
    ) -> None:
        self.timeout = timeout or None
        self.parent = os.getpid()
        self.pipes: list[Connection] = []
        self.processes: list[Any] = []
        context = context or multiprocessing.get_context()
        try:
            for number in range(count):
                here, there = context.Pipe()
                self.pipes.append(here)
                info = WorkerInfo(number, count, seed + number, dataset)
                arguments = (there, fetcher_of, info, init)
                process = context.Process(target=run, args=arguments, daemon=True)
                process.start()
                there.close()
                self.processes.append(process)
        except BaseException:
            self.stop()
            raise

    def ask(self, number: int, request: Any) -> None:
        """Let a worker begin to fetch, or to restart."""
        try:
            self.pipes[number].send(request)
        except OSError as error:
            raise self._died(number) from error

    def answer(self, number: int) -> Any:
        """What the worker has fetched, or its `Failure`."""
        pipe = self.pipes[number]
        try:
            if self.timeout is not None and not pipe.poll(self.timeout):
                raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds")
            return pipe.recv()
        except (EOFError, OSError) as error:
            raise self._died(number) from error

    def _died(self, number: int) -> RuntimeError:
        process = self.processes[number]
        process.join(1)
        return RuntimeError(
            f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly with exit code "
            f"{process.exitcode}"
        )

    def stop(self) -> None:
        """End all processes: each finishes its batch, if it can within `PATIENCE` seconds."""
        if os.getpid() != self.parent:  # a fork of the main process, which has them still
            return
        for pipe in self.pipes:
            try:
                pipe.send(None)
            except OSError:  # it has ended already
                continue
        deadline = time.monotonic() + PATIENCE
        for pipe, process in zip(self.pipes, self.processes, strict=False):
            _drain(pipe, process, deadline)
            if process.is_alive():
                process.terminate()
            process.join()
        for pipe in self.pipes:
            pipe.close()


def _drain(pipe: Connection, process: Any, deadline: float) -> None:
    """Take answers that nobody wants any more, until the process ends."""
    while (left := deadline - time.monotonic()) > 0:
        ready = multiprocessing.connection.wait([pipe, process.sentinel], left)
        if pipe not in ready:
            return
        try:
            pipe.recv_bytes()
        except (EOFError, OSError):
            return process.join(max(left, 0))  # type: ignore[no-any-return]
