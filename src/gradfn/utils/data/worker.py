"""Processes that fetch batches for a loader."""

from __future__ import annotations

import multiprocessing
import random
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from ...random import manual_seed

__all__ = ["WorkerInfo", "get_worker_info"]


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


class Failure(NamedTuple):
    """An exception in a worker, with its traceback as text."""

    kind: type[BaseException]
    text: str
    where: str

    def reraise(self) -> None:
        """Raise it here."""
        message = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        if self.kind is KeyError:
            raise KeyError(message)
        try:
            error = self.kind(message)
        except Exception:  # a type whose constructor takes other arguments
            error = RuntimeError(message)
        raise error


class Exhausted(NamedTuple):
    """The end of a worker's part of an iterable data set."""


def run(
    pipe: Connection,
    fetcher_of: Callable[[], Callable[[Any], Any]],
    info: WorkerInfo,
    init: Callable[[int], Any] | None,
) -> None:
    """What a worker does: fetch what it is told to, until it is told None."""
    global _info
    _info = info
    random.seed(info.seed)
    manual_seed(info.seed)
    np.random.seed(info.seed % 2**32)
    where = f"in DataLoader worker process {info.id}"
    failed: Failure | None = None
    try:
        if init is not None:
            init(info.id)
        fetch = fetcher_of()
    except Exception as error:
        failed = Failure(type(error), traceback.format_exc(), where)
    while True:
        try:
            wanted = pipe.recv()
        except EOFError:
            return
        if wanted is None:
            return
        try:
            answer = failed or fetch(wanted)
        except StopIteration:
            answer = Exhausted()
        except Exception as error:
            answer = Failure(type(error), traceback.format_exc(), where)
        try:
            pipe.send(answer)
        except Exception as error:
            pipe.send(Failure(type(error), traceback.format_exc(), where))


class Workers:
    """The processes of one pass over a loader; batch number i comes from worker i mod n."""

    def __init__(
        self,
        count: int,
        fetcher_of: Callable[[], Callable[[Any], Any]],
        seed: int,
        dataset: Any,
        init: Callable[[int], Any] | None,
        context: Any,
        timeout: float,
    ) -> None:
        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context)
        self.timeout = timeout or None
        self.pipes: list[Connection] = []
        self.processes = []
        for number in range(count):
            here, there = context.Pipe()
            info = WorkerInfo(number, count, seed + number, dataset)
            process = context.Process(target=run, args=(there, fetcher_of, info, init), daemon=True)
            process.start()
            there.close()
            self.pipes.append(here)
            self.processes.append(process)

    def ask(self, number: int, wanted: Any) -> None:
        """Let a worker begin to fetch."""
        try:
            self.pipes[number].send(wanted)
        except OSError as error:
            raise self._died(number) from error

    def answer(self, number: int) -> Any:
        """What the worker has fetched; its failure is raised here."""
        pipe = self.pipes[number]
        if self.timeout is not None and not pipe.poll(self.timeout):
            raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds")
        try:
            answer = pipe.recv()
        except (EOFError, OSError) as error:
            raise self._died(number) from error
        if isinstance(answer, Failure):
            answer.reraise()
        return answer

    def _died(self, number: int) -> RuntimeError:
        process = self.processes[number]
        process.join(1)
        return RuntimeError(
            f"DataLoader worker (pid {process.pid}) exited unexpectedly with exit code "
            f"{process.exitcode}"
        )

    def stop(self) -> None:
        """End all processes."""
        for pipe in self.pipes:
            try:
                pipe.send(None)
            except OSError:  # it has ended already
                continue
        for process in self.processes:
            process.join(1)
            if process.is_alive():
                process.terminate()
                process.join()
        for pipe in self.pipes:
            pipe.close()


def in_order(workers: Workers, indices: Iterator[Any], ahead: int, iterable: bool) -> Iterator[Any]:
    """The batches in order, `ahead` of them asked for in advance from each worker."""
    count = len(workers.pipes)
    waiting: list[int] = []  # the workers whose answers are due, in order
    active = list(range(count))
    turn = 0

    def ask() -> None:
        nonlocal turn
        if not active:
            return
        try:
            wanted = next(indices)
        except StopIteration:
            return
        number = active[turn % len(active)]
        turn += 1
        workers.ask(number, wanted)
        waiting.append(number)

    for _ in range(ahead * count):
        ask()
    while waiting:
        number = waiting.pop(0)
        answer = workers.answer(number)
        if isinstance(answer, Exhausted):
            if number in active:
                active.remove(number)
            if iterable:
                ask()
            continue
        ask()
        yield answer
