"""How a long run is getting on: `gradfn run --watch`."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.backward import observers
from ..autograd.engine import topological_order
from ..autograd.function import BackwardCFunction
from ..autograd.graph import GradientEdge
from ..autograd.node import AccumulateGrad, Array, Node
from ..autograd.passes import running
from ..autograd.where import Place
from ..ops.node import OperatorNode
from .below import Below

if TYPE_CHECKING:
    from rich.table import Table

LIVE_INTERVAL, LINE_INTERVAL = 0.25, 5.0  # seconds between two views
LARGEST_SHARE = 0.02  # of the time may go into measuring
SMOOTHING = 0.95  # how much of the smoothed loss stays at each step


class Progress:
    """A context manager: shows how the backward passes called in its block are getting on.

    The view names the calls a second, the loss (the last one, and smoothed exponentially) where
    they start from one number, the norm of all gradients of the leaves after the pass, and the
    nodes of the graph with the memory that they hold. It is renewed in place where standard output
    is a terminal; elsewhere a line goes to standard error from time to time.
    """

    def __init__(self) -> None:
        self.count = 0
        self.loss: float | None = None
        self.smoothed: float | None = None
        self.graph: tuple[int, int] | None = None  # nodes, bytes
        self.norm: float | None = None
        self._view: Below | None = None
        self._exits = ExitStack()
        self._lock = threading.Lock()
        self._over = False

    def __enter__(self) -> Progress:
        self._file, self._process = sys.stderr, os.getpid()
        self._began = self._shown_at = perf_counter()
        self._shown_count = 0
        if sys.stdout.isatty():
            self._view = self._exits.enter_context(Below())
        self._interval = LINE_INTERVAL if self._view is None else LIVE_INTERVAL
        self._due = self._began + LIVE_INTERVAL
        observers.append(self.observe)
        return self

    def __exit__(self, *exc: object) -> None:
        observers.remove(self.observe)
        with self._lock, self._exits:
            self._over = True
            if self.count:
                self._shown_at, self._shown_count = self._began, 0  # the rate of the whole run
                self._show()

    def observe(self, tensors: list[Any], by: Place) -> Callable[[], None] | None:
        """Note a backward pass from `tensors`; returns what is to be done after it, if anything."""
        if running.get() is not None or os.getpid() != self._process:
            return None  # a part of another pass, or a worker's
        with self._lock:
            self.count += 1
            self._note_loss(tensors)
            began = perf_counter()
            if began < self._due:
                return None
            self._due = began + self._interval
        nodes = topological_order(_node(tensor) for tensor in tensors)
        leaves = [node.variable for node in nodes if isinstance(node, AccumulateGrad)]
        graph = len(nodes), _memory(nodes, leaves)
        spent = perf_counter() - began

        def show() -> None:
            nonlocal spent
            began = perf_counter()
            norm = _norm(leaf._grad._array for leaf in leaves if leaf._grad is not None)
            with self._lock:
                if self._over:
                    return
                self.graph, self.norm = graph, norm
                self._show()
                now = perf_counter()
                spent += now - began
                self._due = now + max(self._interval, spent / LARGEST_SHARE)

        return show

    def _note_loss(self, tensors: list[Any]) -> None:
        self.loss = None
        if len(tensors) == 1 and not isinstance(tensors[0], GradientEdge):
            array = tensors[0]._array
            if array.size == 1 and array.dtype.kind == "f":
                self.loss = loss = float(array.item())
                if self.smoothed is None:
                    self.smoothed = loss
                elif math.isfinite(loss):
                    self.smoothed += (1 - SMOOTHING) * (loss - self.smoothed)

    def _show(self) -> None:
        now = perf_counter()
        fields = self._fields(now)
        self._shown_at, self._shown_count = now, self.count
        if self._view is not None:
            self._view.show(_table(fields))
        else:
            line = "  ".join(f"{name} {value}" for name, value in fields.items())
            print(f"gradfn: {line}", file=self._file, flush=True)

    def _fields(self, now: float) -> dict[str, str]:
        """What is shown, by name."""
        rate = (self.count - self._shown_count) / max(now - self._shown_at, 1e-9)
        fields = {
            "elapsed": f"{now - self._began:.1f} s",
            "backward": f"{self.count:,}",
            "a second": f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}",
        }
        if self.loss is not None:
            fields["loss"] = f"{self.loss:.4g}"
            fields["smoothed"] = f"{self.smoothed:.4g}"
        if self.norm is not None:
            fields["|gradient|"] = f"{self.norm:.4g}"
        if self.graph is not None:
            nodes, held = self.graph
            fields["nodes"] = f"{nodes:,}"
            fields["memory"] = _bytes(held)
        return fields


def _node(tensor: Any) -> Node:
    node: Node = tensor.node if isinstance(tensor, GradientEdge) else tensor.edge()[0]
    return node


def _memory(nodes: list[Node], leaves: list[Any]) -> int:
    """The bytes of the arrays that `nodes` save, each once, without those of the leaves."""
    buffers: dict[int, int] = {}
    for node in nodes:
        if isinstance(node, OperatorNode | BackwardCFunction):
            for value in node.saved().values():
                for array in value if isinstance(value, list) else [value]:
                    if isinstance(array, np.ndarray):
                        owner = _owner(array)
                        buffers[id(owner)] = owner.nbytes
    for leaf in leaves:
        buffers.pop(id(_owner(leaf._array)), None)
    return sum(buffers.values())


def _owner(array: Array) -> Array:
    """The array whose memory `array` looks at."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _norm(grads: Iterator[Array]) -> float:
    with np.errstate(all="ignore"):
        return math.hypot(*(float(np.linalg.norm(grad.reshape(-1))) for grad in grads))


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


def _table(fields: dict[str, str]) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for _ in fields:
        table.add_column(no_wrap=True)
    table.add_row(*(f"[dim]{name}" for name in fields))
    table.add_row(*(f"[bold]{value}" for value in fields.values()))
    return table
