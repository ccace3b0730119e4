"""Every operator of the database against PyTorch, where that is installed."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from opdb import ALL, OPS, ErrorCase, OpInfo
from opdb.candidate import lib
from opdb.core import COMPLEX, FLOAT, Call
from opdb.measure import (
    EXPECTED_WARNINGS,
    assert_same,
    in_place,
    is_tensor,
    node_names,
    noting,
    pull_back,
    pull_back_twice,
    structure,
    tensors,
    tolerance,
)


def each(cases: list[tuple[OpInfo, str]]) -> pytest.MarkDecorator:
    """Parametrises by operator and dtype."""
    return pytest.mark.parametrize(("op", "dtype"), cases, ids=[f"{o.name}-{d}" for o, d in cases])


each_dtype = each([(op, dtype) for op in OPS for dtype in op.dtypes])
each_gradient = each([(op, d) for op in OPS for d in op.grad_dtypes if d in FLOAT + COMPLEX])
each_fine_gradient = each(
    [(op, d) for op in OPS for d in op.grad_dtypes if d in ("float64", "complex128")]
)
each_in_place = each([(op, dtype) for op in OPS if op.inplace for dtype in op.dtypes])


pytestmark = [pytest.mark.filterwarnings(text) for text in EXPECTED_WARNINGS]

Check = Callable[[Call, Call, str], None]

LAID_OUT = [
    "cumsum",
    "cumprod",
    "cummax",
    "cummin",
    "logcumsumexp",
    "softmax",
    "log_softmax",
    "masked_fill",
    "cat",
    "renorm",
    "roll",
    "tril",
    "triu",
    "gather",
    "index_add",
    "index_fill",
    "index_put",
    "logsigmoid",
    "sort",
    "argsort",
    "msort",
    "flip",
    "sum",
    "mean",
    "prod",
    "var",
    "std",
    "norm",
    "amax",
    "amin",
    "any",
    "all",
    "count_nonzero",
    "logsumexp",
    "put",
    "fill",
    "pow",
    "rpow",
]
"""Where NumPy's own choice of a layout differs from PyTorch's."""


def compare(
    op: OpInfo, dtype: str, oracle: ModuleType, check: Check, differentiable: bool = False
) -> None:
    """Checks every sample as a call in the library under test and in PyTorch."""
    for case, key in op.cases(dtype, differentiable):
        recording = op.recording(case, dtype)
        with noting(op, case, dtype):
            own = case.bind(lib, case.arrays(dtype, key), recording)
            check(own, case.bind(oracle, case.arrays(dtype, key), recording), key)


@each_dtype
def test_forward(oracle: ModuleType, op: OpInfo, dtype: str) -> None:
    def check(own: Call, torch: Call, _: str) -> None:
        actual, expected = op.run(lib, own), op.run(oracle, torch)
        assert structure(actual) == structure(expected)
        limit = tolerance(torch, expected)
        assert_same(tensors(actual), tensors(expected), limit, "result")

    compare(op, dtype, oracle, check)


@each_gradient
def test_gradients(oracle: ModuleType, op: OpInfo, dtype: str) -> None:
    """The graph, by the names of its nodes, and the gradients."""

    def check(own: Call, torch: Call, key: str) -> None:
        actual, expected = op.run(lib, own), op.run(oracle, torch)
        flags = [t.requires_grad for t in tensors(expected)]
        assert [t.requires_grad for t in tensors(actual)] == flags
        assert node_names(actual) == node_names(expected)
        limit = tolerance(torch, expected)
        gradients = pull_back(oracle, expected, torch.leaves, key)
        assert_same(pull_back(lib, actual, own.leaves, key), gradients, limit, "gradient")

    compare(op, dtype, oracle, check, differentiable=True)


def none_against_zeros(mine: Any, theirs: Any) -> bool:
    """Where a first gradient does not depend on an input, rules may give None or zeros."""
    given = [gradient for gradient in (mine, theirs) if gradient is not None]
    return len(given) == 1 and not given[0].any()


@each_fine_gradient
def test_second_gradients(oracle: ModuleType, op: OpInfo, dtype: str) -> None:
    def check(own: Call, torch: Call, key: str) -> None:
        actual, expected = op.run(lib, own), op.run(oracle, torch)
        if op.once:
            return
        limit = tolerance(torch, expected)
        try:
            gradients = pull_back_twice(oracle, expected, torch.leaves, key)
        except NotImplementedError:
            return  # the finite differences tell
        second = pull_back_twice(lib, actual, own.leaves, key)
        pairs = [
            (None, None) if none_against_zeros(mine, theirs) else (mine, theirs)
            for mine, theirs in zip(second, gradients, strict=True)
        ]
        second, gradients = [mine for mine, _ in pairs], [theirs for _, theirs in pairs]
        assert_same(second, gradients, limit, "second gradient")

    compare(op, dtype, oracle, check, differentiable=True)


@each_in_place
def test_in_place(oracle: ModuleType, op: OpInfo, dtype: str) -> None:
    """Values, versions, graphs and gradients, or the same refusal."""

    def check(own: Call, torch: Call, key: str) -> None:
        if not is_tensor(torch.args[op.receiver]):
            return
        try:
            expected, _ = in_place(op, oracle, torch)
        except Exception as refusal:
            with pytest.raises(type(refusal)):
                in_place(op, lib, own)
            return
        actual, receiver = in_place(op, lib, own)
        assert actual is receiver
        assert actual._version == expected._version
        limit = tolerance(torch, expected)
        assert_same([actual], [expected], limit, "result")
        assert node_names(actual) == node_names(expected)
        if expected.requires_grad:
            gradients = pull_back(oracle, expected, torch.leaves, key)
            assert_same(pull_back(lib, actual, own.leaves, key), gradients, limit, "gradient")

    compare(op, dtype, oracle, check)


@pytest.mark.parametrize("op", [o for o in OPS if o.refuses_as_pytorch], ids=lambda op: op.name)
def test_other_dtypes_are_refused(oracle: ModuleType, op: OpInfo) -> None:
    """A dtype is declared exactly if PyTorch takes it; what it refuses is refused alike."""
    for dtype in sorted(set(ALL) - set(op.dtypes)):
        case = op.samples[0]
        own = case.bind(lib, case.arrays(dtype, op.name))
        torch = case.bind(oracle, case.arrays(dtype, op.name))
        with noting(op, case, dtype):
            with pytest.raises((RuntimeError, TypeError, IndexError)) as refusal:
                op.run(oracle, torch)
            with pytest.raises(refusal.type):
                op.run(lib, own)


@pytest.mark.parametrize(
    ("op", "case"),
    [(op, case) for op in OPS for case in op.errors],
    ids=[f"{op.name}-{i}" for op in OPS for i in range(len(op.errors))],
)
def test_errors(oracle: ModuleType, op: OpInfo, case: ErrorCase) -> None:
    """The database's error cases are PyTorch's."""
    call = case.sample.bind(oracle, case.sample.arrays(case.dtype, op.name))
    with pytest.raises(case.exception) as caught:
        op.run(oracle, call)
    assert type(caught.value) is case.exception
    assert str(caught.value).startswith(case.phrase)


@pytest.mark.parametrize("op", [op for op in OPS if op.base in LAID_OUT], ids=lambda op: op.name)
def test_layouts_of_results(oracle: ModuleType, op: OpInfo) -> None:
    """Results lie in memory as PyTorch's do when the arguments are column-major."""
    for case in op.samples:
        dtype = next((d for d in op.dtypes if d in case.dtypes), None)
        if dtype is None:
            continue
        arrays = [np.asfortranarray(a).reshape(a.shape, order="F") for a in case.arrays(dtype, "")]
        with noting(op, case, dtype):
            own, torch = (tensors(op.run(m, case.bind(m, arrays))) for m in (lib, oracle))
            for a, b in zip(own, torch, strict=True):
                steps = [[t.stride(d) for d in range(t.ndim) if t.shape[d] > 1] for t in (a, b)]
                assert steps[0] == steps[1] or 0 in b.shape
