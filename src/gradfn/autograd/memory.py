"""Version counters, kept as a clock.

Note [Versions are a clock]: one counter numbers both nodes (their sequence number) and in-place
writes. A value that a node saved is unchanged exactly when its memory was last written before the
node was made, so nothing has to be copied when saving. `Memory.version` counts the writes, as
PyTorch's `_version` does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import count
from types import CodeType
from typing import Any, NamedTuple
from weakref import ref

from .where import Where, decode, user_frame

tick: Callable[[], int] = count(1).__next__

REMEMBERED_WRITES = 64


class Write(NamedTuple):
    """One in-place operation: when, by which operator, at which line."""

    time: int
    operator: str
    code: CodeType
    lasti: int

    @property
    def where(self) -> Where:
        return decode(self.code, self.lasti)


class Memory:
    """What all tensors over the same memory share: the version counter and the live views.

    One is made for each tensor that a node saves, so a new one sets no fields.
    """

    modified: int = 0  # the time of the last write
    version: int = 0
    writes: deque[Write] | None = None
    views: list[ref[Any]] | None = None
    prune_at: int = 8

    def write(self, operator: str) -> None:
        """Note that `operator` has changed the memory at the user's line running now."""
        frame = user_frame(2)
        if self.writes is None:
            self.writes = deque(maxlen=REMEMBERED_WRITES)
        self.modified = tick()
        self.version += 1
        self.writes.append(Write(self.modified, operator, frame.f_code, frame.f_lasti))

    def since(self, time: int) -> list[Write]:
        """The remembered writes after `time`, oldest first."""
        return [write for write in self.writes or () if write.time > time]


class preserve_version:  # noqa: N801 - PyTorch's _unsafe_preserve_version_counter
    """Within it, in-place writes to `tensors` do not count: saved values are trusted blindly."""

    def __init__(self, tensors: Any) -> None:
        self.memories = [t.memory() for t in (tensors if isinstance(tensors, tuple) else [tensors])]

    def __enter__(self) -> None:
        self.before = [(memory.version, memory.modified) for memory in self.memories]

    def __exit__(self, *exc: object) -> None:
        for memory, (version, modified) in zip(self.memories, self.before, strict=True):
            memory.version, memory.modified = version, modified


UNTRACKED = Memory()  # of values that nobody else can write to
