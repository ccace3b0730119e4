"""A view that stays below what a program prints on its terminal."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import RenderableType


class Below:
    """A context manager, of which `show` draws something below the program's output.

    In the block, `sys.stdout` and `sys.stderr` take the view away, write what the program writes as
    it is, and put the view back where that ends a line. `sys.stdout` must be a terminal.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.line_ended = True
        self._text = ""
        self._drawn = 0  # lines

    def __enter__(self) -> Below:
        from rich.console import Console

        self._stdout, self._stderr = sys.stdout, sys.stderr
        self._console = Console(file=self._stdout)
        self._above_out: Any = Above(self._stdout, self)
        self._above_err: Any = self._stderr
        if self._stderr.isatty():
            self._above_err = Above(self._stderr, self)
        sys.stdout, sys.stderr = self._above_out, self._above_err
        return self

    def __exit__(self, *exc: object) -> None:
        if sys.stdout is self._above_out:
            sys.stdout = self._stdout
        if sys.stderr is self._above_err:
            sys.stderr = self._stderr
        with self.lock:  # what is drawn stays, and whoever kept one of our streams just writes
            self._text, self._drawn = "", 0

    def show(self, view: RenderableType) -> None:
        """Let `view` take the place of the last one."""
        with self.lock:
            with self._console.capture() as captured:
                self._console.print(view)
            self.erase()
            self._text = captured.get()
            self.draw()

    def erase(self) -> None:
        """Take the view away; the cursor is at the end of the output again."""
        if self._drawn:
            self._stdout.write(f"\x1b[{self._drawn}A\x1b[J")
            self._stdout.flush()
            self._drawn = 0

    def draw(self) -> None:
        """Put the view below the output, if a line of that is not under way."""
        if self.line_ended and self._text:
            self._stdout.write(self._text)
            self._stdout.flush()
            self._drawn = self._text.count("\n")


class Above:
    """A standard stream, above the view."""

    def __init__(self, stream: TextIO, view: Below) -> None:
        self._stream, self._view = stream, view

    def write(self, text: str) -> int:
        with self._view.lock:
            self._view.erase()
            written = self._stream.write(text)
            if text:
                self._view.line_ended = text.endswith("\n")
            self._view.draw()
        return written

    def writelines(self, lines: Any) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
