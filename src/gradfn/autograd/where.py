"""The user's line that made a node: captured as (code, instruction), decoded only when shown."""

from __future__ import annotations

import linecache
import os
from itertools import islice
from sys import _getframe
from types import CodeType, FrameType
from typing import NamedTuple

# Files whose frames are gradfn's own and never "the user's line". Emitted operators add theirs.
internal_files = {
    os.path.join(folder, file)
    for folder, _, files in os.walk(os.path.dirname(os.path.dirname(__file__)))
    for file in files
    if file.endswith(".py")
}


def remember_source(filename: str, source: str) -> None:
    """Let debuggers and tracebacks show `source`, which stands in no file."""
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename


class Where(NamedTuple):
    """A place in the user's program: file, line, function, and the expression's text."""

    filename: str
    line: int
    function: str
    text: str

    def __str__(self) -> str:
        place = f"{os.path.basename(self.filename)}:{self.line}"
        return f"{place}, in {self.function}: {self.text}" if self.text else place


def user_frame(depth: int = 1) -> FrameType:
    """The nearest calling frame outside gradfn (the outermost frame where there is none)."""
    frame = _getframe(depth + 1)
    while frame.f_code.co_filename in internal_files and frame.f_back is not None:
        frame = frame.f_back
    return frame


def decode(code: CodeType, lasti: int) -> Where:
    """The place of instruction `lasti` of `code`; its text is the expression, on one line."""
    span = next(islice(code.co_positions(), lasti // 2, None), (None,) * 4)
    line, end_line, column, end_column = span
    line = line or code.co_firstlineno
    text = linecache.getline(code.co_filename, line).rstrip("\n")
    if column is not None and end_column is not None and end_line == line:
        text = text.encode()[column:end_column].decode(errors="replace")
    return Where(code.co_filename, line, code.co_qualname, text.strip())


class Place(NamedTuple):
    """An instruction of the user's program; it is decoded only when it is shown."""

    code: CodeType
    lasti: int

    @property
    def where(self) -> Where:
        return decode(self.code, self.lasti)

    def __str__(self) -> str:
        return str(self.where)


def here() -> Place:
    """The user's line that is running now."""
    frame = user_frame(2)
    return Place(frame.f_code, frame.f_lasti)
