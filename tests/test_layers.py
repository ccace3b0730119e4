"""Imports point downwards only, files and functions stay short."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "gradfn"

# From the bottom up; modules of one layer may import each other.
LAYERS = [
    "dtypes shapes errors missing config version device",
    "raw",
    "jit",
    "autograd",
    "creation fromdata interop printing random ranges storage",
    "ops",
    "legacy lowrank queries sampling tapers tensor",
    "_C _VF _functorch _vmap_internals accelerator amp backends compiler cpu cuda distributed "
    "distributions fft func functional hub jit linalg mps multiprocessing nn onnx optim scipy "
    "serialization signal special testing utils xpu",
    "lens",
    "compat",
    "cli",
    "__main__",
]
LAYER = {name: level for level, names in enumerate(LAYERS) for name in names.split()}

# Imports of a higher layer inside a function: (importer, imported) and why it has to be.
UPWARDS = {
    ("autograd", "ops"): "Jacobians come stacked: `torch.autograd` is a front door as well",
    ("autograd", "utils"): "custom functions inside vmap take structures of tensors",
}

FILES = sorted(PACKAGE.rglob("*.py"))

each_file = pytest.mark.parametrize(
    "file", FILES, ids=[str(file.relative_to(PACKAGE)) for file in FILES]
)


class Import(NamedTuple):
    target: str  # the part of gradfn that is imported, "" for the package itself
    line: int
    lazy: bool


def part(file: Path) -> str:
    """The module or package right below gradfn that `file` belongs to, "" for `__init__`."""
    name = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if name == "__init__" else name


def imports(file: Path) -> Iterator[Import]:
    """The imports of gradfn's own modules, but for those that only type checkers see."""
    todo: list[tuple[ast.AST, bool]] = [(ast.parse(file.read_bytes()), False)]
    while todo:
        node, lazy = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        for target in targets(node, file):
            yield Import(target, node.lineno, lazy)  # type: ignore[attr-defined]
        lazy = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        todo += [(child, lazy) for child in ast.iter_child_nodes(node)]


def targets(node: ast.AST, file: Path) -> Iterator[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            package = ["gradfn", *file.relative_to(PACKAGE).parts[:-1]]
            base = ".".join([*package[: len(package) - node.level + 1], *filter(None, [base])])
        names = [f"{base}.{alias.name}" for alias in node.names]
    else:
        return
    for name in names:
        package, _, rest = name.partition(".")
        if package == "gradfn":
            top = rest.partition(".")[0]
            yield top if top in LAYER else ""


def test_every_module_has_a_layer() -> None:
    assert {part(file) for file in FILES} - {""} <= LAYER.keys()


@each_file
def test_imports_point_downwards(file: Path) -> None:
    here = part(file)
    if here == "":
        return
    level = LAYER[here]
    for target, line, lazy in imports(file):
        if target == "":
            assert level >= LAYER["lens"], f"line {line} imports the whole package"
        elif LAYER[target] > level:
            assert lazy, f"line {line} imports {target}, which is above"
            assert (here, target) in UPWARDS, f"line {line} imports {target} inside a function"


def test_the_exceptions_are_in_use() -> None:
    used = {
        (part(file), target)
        for file in FILES
        if part(file)
        for target, _, lazy in imports(file)
        if lazy and target and LAYER[target] > LAYER[part(file)]
    }
    assert used == UPWARDS.keys()


@each_file
def test_files_and_functions_are_short_enough(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    lines = source.count("\n")
    assert lines <= 550
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body:
                length = (body[-1].end_lineno or 0) - body[0].lineno + 1
                assert length <= 60, f"{node.name} has {length} lines"
