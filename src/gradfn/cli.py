"""The command line: `gradfn run` and `gradfn graph`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from . import version
from .compat.program import NoProgramError, run_code, run_module, run_script
from .lens import Progress, Watch

DESCRIPTION = """\
Run PyTorch programs on gradfn, and look at their graphs.

In the program, `import torch` means gradfn; the rest is as under `python`.
"""


def main(arguments: Sequence[str] | None = None) -> int | str:
    """The `gradfn` command; returns what `sys.exit` takes."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 2
    try:
        options.action(options)
    except NoProgramError as error:
        print(f"gradfn: {error}", file=sys.stderr)
        return 2 if options.script else 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "gradfn", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"gradfn {version.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", title="commands")
    run = _add(commands, "run", _run, "run a program in which torch means gradfn", "[--watch] ")
    run.add_argument(
        "--watch",
        action="store_true",
        help="show how the backward passes are getting on: their rate, loss, gradients and memory",
    )
    _add(commands, "graph", _graph, "run a program and draw the graph of every backward() in it")
    return parser


def _add(
    commands: Any, name: str, action: Callable[..., None], about: str, own: str = ""
) -> argparse.ArgumentParser:
    usage = f"gradfn {name} [-h] {own}(SCRIPT | -m MODULE | -c CODE) [ARGUMENT ...]"
    parser: argparse.ArgumentParser = commands.add_parser(
        name, usage=usage, help=about, description=about.capitalize() + "."
    )
    rest: dict[str, Any] = {"nargs": argparse.REMAINDER, "default": []}
    parser.add_argument("-m", dest="module", help="run a module, as `python -m` does", **rest)
    parser.add_argument("-c", dest="code", help="run the code given, as `python -c` does", **rest)
    parser.add_argument("script", metavar="SCRIPT", help="a file to run, and its arguments", **rest)
    parser.set_defaults(action=action, parser=parser)
    return parser


def _run(options: argparse.Namespace) -> None:
    with Progress() if options.watch else nullcontext():
        _execute(options)


def _execute(options: argparse.Namespace) -> None:
    chosen = [
        (run, given)
        for run, given in (
            (run_module, options.module),
            (run_code, options.code),
            (run_script, options.script),
        )
        if given
    ]
    if len(chosen) != 1:
        options.parser.error("a SCRIPT, -m MODULE or -c CODE is needed")
    ((run, (program, *arguments)),) = chosen
    run(program, arguments)


def _graph(options: argparse.Namespace) -> None:
    watch = Watch()
    try:
        with watch:
            _execute(options)
    finally:
        _draw(watch)


def _draw(watch: Watch) -> None:
    try:
        watch.draw()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
