"""Values and gradients at kinks, ties, zeros and infinities, as PyTorch 2.13 has them.

`data/edge_values.tsv` is the table: a function, its inputs (leaves in float64), keywords, its
value, and the gradients of the sum of the value. Where PyTorch is wrong, docs/deviations.md says
so, and `DEVIATIONS` has what is right.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from opdb import OPS, lookup
from opdb.candidate import lib
from opdb.measure import EXPECTED_WARNINGS

TABLE = Path(__file__).parent / "data" / "edge_values.tsv"
TOLERANCE = 1e-12
NUMBERS = {"nan": math.nan, "inf": math.inf}

DEVIATIONS = {
    ("lambda x: torch.linalg.det(x)", "[[1.0, 2.0], [2.0, 4.0]]"): [[[4.0, -2.0], [-2.0, 1.0]]],
}
"""The gradients of the rows where gradfn means to differ from PyTorch."""


pytestmark = [pytest.mark.filterwarnings(text) for text in EXPECTED_WARNINGS]


class Row(NamedTuple):
    """One row of the table."""

    function: str
    inputs: str
    keywords: str
    value: str
    gradients: str


def rows() -> Iterator[Row]:
    for line in TABLE.read_text().splitlines():
        if not line.startswith("#"):
            yield Row(*line.split("\t"))


def written(text: str) -> Any:
    """The numbers that a cell of the table holds."""
    return eval(text, dict(NUMBERS))


def missing(function: str) -> set[str]:
    """The names in a function that the library under test lacks, those of the database aside."""
    attributes = [n for n in ast.walk(ast.parse(function)) if isinstance(n, ast.Attribute)]
    lacking = {node.attr for node in attributes if not exists(node)}
    return lacking - {op.base for op in OPS}


def exists(node: ast.Attribute) -> bool:
    """Whether the library has what an expression such as `torch.linalg.norm` or `x.abs` names."""
    path = ast.unparse(node)
    if path == "math.pi":
        return True
    if not re.fullmatch(r"torch(\.\w+)+", path):
        return hasattr(lib.Tensor, node.attr)
    try:
        lookup(lib, path.removeprefix("torch."))
    except (AttributeError, NotImplementedError):
        return False
    return True


def leaves(row: Row) -> list[Any]:
    inputs = eval(f"[{row.inputs}]", {"math": math, **NUMBERS})
    return [lib.tensor(given, dtype=lib.float64, requires_grad=True) for given in inputs]


def callable_of(row: Row) -> Callable[..., Any]:
    function: Callable[..., Any] = eval(row.function, {"torch": lib, "math": math, **NUMBERS})
    return function


def assert_exact(actual: Any, expected: Any, what: str) -> None:
    """Equal numbers; NaN equals NaN, and zeros have the same sign."""
    found, wanted = actual.detach().numpy(), np.asarray(expected, np.float64)
    assert found.shape == wanted.shape, what
    np.testing.assert_allclose(found, wanted, rtol=TOLERANCE, atol=0.0, err_msg=what)
    zero = wanted == 0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]), err_msg=what)


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: f"{row.function}({row.inputs})")
def test_edge(row: Row) -> None:
    if lacking := missing(row.function):
        pytest.skip(f"{lib.__name__} lacks {', '.join(sorted(lacking))}")
    inputs = leaves(row)
    if row.value.startswith("EXC "):
        name, phrase = row.value.removeprefix("EXC ").split(": ")
        with pytest.raises(RuntimeError, match=phrase) as caught:
            callable_of(row)(*inputs).sum().backward()
        assert type(caught.value).__name__ == name
        return
    value = callable_of(row)(*inputs, **eval(f"dict({row.keywords})"))
    assert_exact(value, written(row.value), "value")
    value.sum().backward()
    gradients = written(row.gradients)
    if lib.__name__ == "gradfn":
        gradients = DEVIATIONS.get((row.function, row.inputs), gradients)
    for i, (leaf, gradient) in enumerate(zip(inputs, gradients, strict=True)):
        assert_exact(leaf.grad, gradient, f"gradient {i}")
