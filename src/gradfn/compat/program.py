"""Running a program as `python` does, in this process: a script, a module (`-m`) or code (`-c`)."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec
from types import CodeType, ModuleType, TracebackType

from ..autograd.where import internal_files
from .finder import install


class NoProgramError(Exception):
    """There is no such program; the message is what `python` says."""


def run_script(path: str, arguments: list[str]) -> None:
    """Run the file at `path` as `python path arguments` does, `torch` meaning gradfn."""
    where = os.path.abspath(path)
    try:
        with open(where, "rb") as file:
            source = file.read()
    except OSError as error:
        text = f"can't open file {where!r}: [Errno {error.errno}] {error.strerror}"
        raise NoProgramError(text) from None
    main = _main_module(__file__=where, __cached__=None)
    main.__loader__ = SourceFileLoader("__main__", where)
    folder = os.path.dirname(os.path.realpath(path))
    _run(main, lambda: _compiled(source, where), [path, *arguments], folder)


def run_module(name: str, arguments: list[str]) -> None:
    """Run a module or package as `python -m name arguments` does."""
    install()
    _set_path(os.getcwd())
    spec = _runnable(name)
    main = _main_module(__file__=spec.origin, __cached__=spec.cached, __package__=spec.parent)
    main.__spec__, main.__loader__ = spec, spec.loader
    code: Callable[[], CodeType] = lambda: spec.loader.get_code(spec.name)  # type: ignore[union-attr] # noqa: E731
    _run(main, code, [spec.origin or name, *arguments], os.getcwd())


def run_code(text: str, arguments: list[str]) -> None:
    """Run `text` as `python -c text arguments` does."""
    linecache.cache["<string>"] = len(text), None, text.splitlines(True), "<string>"
    _run(_main_module(), lambda: _compiled(text, "<string>"), ["-c", *arguments], "")


def _main_module(**names: object) -> ModuleType:
    main = ModuleType("__main__")
    vars(main).update(__annotations__={}, __builtins__=sys.modules["builtins"], **names)
    return main


def _compiled(source: str | bytes, filename: str) -> CodeType:
    code: CodeType = compile(source, filename, "exec", dont_inherit=True)
    return code


def _runnable(name: str) -> ModuleSpec:
    """The spec of what `python -m name` runs."""
    try:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name, spec = f"{name}.__main__", find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        raise NoProgramError(
            f"Error while finding module specification for {name!r} ({error})"
        ) from error
    if spec is None or not hasattr(spec.loader, "get_code"):
        raise NoProgramError(f"No module named {name}")
    return spec


def _set_path(folder: str) -> None:
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _run(main: ModuleType, code: Callable[[], CodeType], argv: list[str], folder: str) -> None:
    install()
    _set_path(folder)
    sys.argv = argv
    sys.modules["__main__"] = main
    sys.excepthook = _show
    exec(code(), vars(main))


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback of the program: it begins below `_run`."""
    top = trace
    while top is not None and top.tb_frame.f_code is not _run.__code__:
        top = top.tb_next
    top = trace if top is None else top.tb_next
    while top is not None and top.tb_frame.f_code.co_filename in internal_files:
        top = top.tb_next
    sys.__excepthook__(kind, error.with_traceback(top), top)
