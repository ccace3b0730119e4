"""Running a program as `python` does, in this process: a script, a module (`-m`) or code (`-c`)."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.machinery import BuiltinImporter, ModuleSpec, SourceFileLoader
from importlib.util import find_spec
from types import CodeType, ModuleType, TracebackType

from ..autograd.where import internal_files, remember_source
from .finder import install


class NoProgramError(Exception):
    """There is no such program; the message is what `python` says."""


def run_script(path: str, arguments: list[str]) -> None:
    """Run the file at `path` as `python path arguments` does, `torch` meaning gradfn."""
    where = os.path.abspath(path)

    def prepare(main: ModuleType) -> CodeType:
        try:
            with open(where, "rb") as file:
                source = file.read()
        except OSError as error:
            text = f"can't open file {where!r}: [Errno {error.errno}] {error.strerror}"
            raise NoProgramError(text) from None
        main.__loader__ = SourceFileLoader("__main__", where)
        vars(main).update(__file__=where, __cached__=None)
        return _compiled(source, where)

    _run([path, *arguments], os.path.dirname(os.path.realpath(path)), prepare)


def run_module(name: str, arguments: list[str]) -> None:
    """Run a module or package as `python -m name arguments` does."""

    def prepare(main: ModuleType) -> CodeType:
        spec, loader = _runnable(name)
        code = loader.get_code(spec.name)
        if code is None:
            raise NoProgramError(f"No code object available for {spec.name}")
        main.__spec__, main.__loader__, main.__package__ = spec, spec.loader, spec.parent
        vars(main).update(__file__=spec.origin, __cached__=spec.cached)
        sys.argv[0] = spec.origin or name
        return code

    _run(["-m", *arguments], os.getcwd(), prepare)


def run_code(text: str, arguments: list[str]) -> None:
    """Run `text` as `python -c text arguments` does."""

    def prepare(main: ModuleType) -> CodeType:
        main.__loader__ = BuiltinImporter  # as python has it
        remember_source("<string>", text)
        return _compiled(text, "<string>")

    _run(["-c", *arguments], "", prepare)


def _compiled(source: str | bytes, filename: str) -> CodeType:
    code: CodeType = compile(source, filename, "exec", dont_inherit=True)
    return code


def _runnable(name: str) -> tuple[ModuleSpec, InspectLoader]:
    """The spec of what `python -m name` runs, and its loader."""
    parent = name.rpartition(".")[0]
    try:
        if parent:
            import_module(parent)
        spec = find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # by the program, for another module
        text = f"Error while finding module specification for {name!r}"
        raise NoProgramError(f"{text} ({type(error).__name__}: {error})") from None
    if spec is None:
        raise NoProgramError(f"No module named {name}")
    if spec.submodule_search_locations is not None:
        try:
            return _runnable(f"{name}.__main__")
        except NoProgramError as error:
            text = f"{error}; {name!r} is a package and cannot be directly executed"
            raise NoProgramError(text) from None
    if not isinstance(spec.loader, InspectLoader):
        raise NoProgramError(f"{name!r} is not Python and cannot be executed")
    return spec, spec.loader


def _run(argv: list[str], folder: str, prepare: Callable[[ModuleType], CodeType]) -> None:
    """Execute the code that `prepare` finds as the module ``__main__``, which it completes."""
    install()
    sys.excepthook = _show
    sys.argv = argv
    if not sys.flags.safe_path:
        sys.path[0] = folder
    main = ModuleType("__main__")
    vars(main)["__builtins__"] = builtins
    if sys.version_info < (3, 14):  # later ones make it on demand
        main.__annotations__ = {}
    code = prepare(main)
    sys.modules["__main__"] = main
    exec(code, vars(main))


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback of the program: it begins below `_run`."""
    top = trace
    while top is not None and top.tb_frame.f_code is not _run.__code__:
        top = top.tb_next
    top = trace if top is None else top.tb_next
    while top is not None and top.tb_frame.f_code.co_filename in internal_files:
        top = top.tb_next
    sys.__excepthook__(kind, error.with_traceback(top), top)
