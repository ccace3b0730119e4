"""Collecting the graphs of a program's backward passes, while they are there."""

from __future__ import annotations

from typing import Any

from ..autograd.backward import observers
from ..autograd.where import Place, Where, user_frame
from .model import Graph, graph
from .names import variables_of
from .text import Line, lines, show

KEPT = 50  # distinct graphs; the others are counted only


class Watch:
    """A context manager: the graph of each `backward()` called in its block.

    `counts` says how often each graph was seen, with the line of the call. Equal graphs, as those
    of a training loop, are one entry.
    """

    def __init__(self) -> None:
        self.counts: dict[tuple[Where, Graph], int] = {}
        self.others = 0

    def __enter__(self) -> Watch:
        observers.append(self.observe)
        return self

    def __exit__(self, *exc: object) -> None:
        observers.remove(self.observe)

    def observe(self, tensors: list[Any], by: Place) -> None:
        """Note the graph of the `tensors` of a backward pass called at `by`."""
        seen = by.where, graph(tensors, variables_of(user_frame()))
        if seen in self.counts or len(self.counts) < KEPT:
            self.counts[seen] = self.counts.get(seen, 0) + 1
        else:
            self.others += 1

    def draw(self) -> None:
        """Print the graphs in the order in which they were first seen."""
        for (by, drawn), count in self.counts.items():
            times = f"  x {count:,}" if count > 1 else ""
            title = Line(((str(by), "bold underline"), (times, "yellow")))
            show([Line(), title, *lines(drawn)])
        if self.others:
            show([Line(), Line(((f"and {self.others:,} more graphs", "dim"),))])
