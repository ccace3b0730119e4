"""Every operator of the database, checked without any other library."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from opdb import OPS, ErrorCase, OpInfo, Sample
from opdb.candidate import lib
from opdb.core import COMPLEX, FLOAT, Call, Values
from opdb.measure import (
    EXPECTED_WARNINGS,
    assert_close,
    assert_same,
    cotangents,
    directions,
    dtype_name,
    in_place,
    is_tensor,
    noting,
    pull_back,
    pull_back_twice,
    recorded,
    rounding,
    structure,
    tensors,
    to_numpy,
)
from opdb.numeric import jacobian, reals

FINE = ("float64", "complex128")
NUMERIC = 1e-6
"""What central differences in double precision can tell."""

RESHAPING = ("t_", "transpose_", "squeeze_", "unsqueeze_")
"""The in-place variants that change the shape of their receiver."""

pytestmark = [pytest.mark.filterwarnings(text) for text in EXPECTED_WARNINGS]


def name_of(op: OpInfo) -> str:
    return op.name


def each_gradient(*dtypes: str) -> pytest.MarkDecorator:
    """Parametrises by operator and those of the dtypes in which it has gradients."""
    cases = [(op, dtype) for op in OPS for dtype in op.grad_dtypes if dtype in dtypes]
    return pytest.mark.parametrize(
        ("op", "dtype"), cases, ids=[f"{op.name}-{dtype}" for op, dtype in cases]
    )


def smooth(op: OpInfo, dtype: str) -> Iterator[tuple[Sample, list[Values], str]]:
    """The samples whose derivatives finite differences can tell."""
    for case, key in op.cases(dtype, differentiable=True):
        arrays = case.arrays(dtype, key)
        fine = all(arrays[i].dtype.name in FINE for i in case.differentiated(arrays))
        if case.smooth and fine:
            yield case, arrays, key


def augmented(operation: Any) -> Any:
    """The augmented assignment of a Python operator, such as `iadd` of `add`."""
    return getattr(operator, f"i{operation.__name__}", None)


def forms() -> dict[str, set[str]]:
    """For every public name the forms that its entries declare."""
    found: dict[str, set[str]] = defaultdict(set)
    for op in OPS:
        if op.syntax is None and "." not in op.name:
            declared = (("function", op.function), ("method", op.method), ("inplace", op.inplace))
            found[op.base] |= {form for form, name in declared if name is not None}
    return found


@pytest.mark.parametrize(("name", "declared"), forms().items(), ids=list(forms()))
def test_exists_in_exactly_the_declared_forms(name: str, declared: set[str]) -> None:
    present = {
        "function": callable(getattr(lib, name, None)),
        "method": hasattr(lib.Tensor, name),
        "inplace": hasattr(lib.Tensor, f"{name}_"),
    }
    assert {form for form, there in present.items() if there} == declared


def test_names_are_unique() -> None:
    """The values of a sample come from its operator's name."""
    names = [op.name for op in OPS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("op", [op for op in OPS if op.function and op.method], ids=name_of)
def test_method_gives_what_the_function_gives(op: OpInfo) -> None:
    assert op.method is not None
    _check_form(op, op.as_method(op.method), lambda call: is_tensor(call.args[op.receiver]))


@pytest.mark.parametrize("op", [op for op in OPS if op.operator], ids=name_of)
def test_python_operator_gives_what_the_function_gives(op: OpInfo) -> None:
    assert op.operator is not None
    _check_form(op, op.operator, lambda call: not call.kwargs and len(call.args) <= 2)


def _check_form(op: OpInfo, form: Callable[..., Any], fits: Callable[[Call], bool]) -> None:
    """Compares a form with the function on the calls that it can take."""
    dtype, checked = op.dtypes[0], 0
    for case, key in op.cases(dtype):
        with noting(op, case, dtype):
            call = case.bind(lib, case.arrays(dtype, key))
            if fits(call):
                expected = tensors(op.run(lib, call))
                assert_same(tensors(op.run(lib, call, form)), expected, 0.0, "result")
                checked += 1
    assert checked


@each_gradient(*FINE)
def test_gradients_are_the_finite_differences(op: OpInfo, dtype: str) -> None:
    for case, arrays, key in smooth(op, dtype):
        with noting(op, case, dtype):
            _check_first(op, case, arrays, key)


def _check_first(op: OpInfo, case: Sample, arrays: list[Values], key: str) -> None:
    call = case.bind(lib, arrays, requires_grad=True)
    result = op.run(lib, call)
    followed = [i for i, tensor in enumerate(tensors(result)) if tensor.requires_grad]
    assert followed, "no result has a history"

    def values(inputs: list[Values]) -> list[Values]:
        found = tensors(op.run(lib, case.bind(lib, case.with_leaves(arrays, inputs))))
        return [to_numpy(found[i]) for i in followed]

    inputs = [arrays[i] for i in case.differentiated(arrays)]
    seeds = [to_numpy(c) for c in cotangents(lib, recorded(result), key)]
    expected = jacobian(values, inputs).T @ reals(seeds)
    actual = reals(_filled(pull_back(lib, result, call.leaves, key), inputs))
    assert_close(actual, expected, NUMERIC, "gradient")


@each_gradient(*FINE)
def test_second_gradients_are_the_finite_differences(op: OpInfo, dtype: str) -> None:
    for case, arrays, key in smooth(op, dtype):
        with noting(op, case, dtype):
            _check_second(op, case, arrays, key)


def _check_second(op: OpInfo, case: Sample, arrays: list[Values], key: str) -> None:
    call = case.bind(lib, arrays, requires_grad=True)
    result = op.run(lib, call)
    if op.once:
        with pytest.raises(NotImplementedError, match=r"the derivative for .* is not implemented"):
            pull_back_twice(lib, result, call.leaves, key)
        return
    inputs = [arrays[i] for i in case.differentiated(arrays)]
    seeds = [to_numpy(c) for c in cotangents(lib, recorded(result), key)]

    def gradients(varied: list[Values]) -> list[Values]:
        leaves, weights = varied[: len(inputs)], varied[len(inputs) :]
        again = case.bind(lib, case.with_leaves(arrays, leaves), requires_grad=True)
        outputs = recorded(op.run(lib, again))
        weighted = [lib.from_numpy(weight) for weight in weights]
        found = lib.autograd.grad(outputs, again.leaves, weighted, allow_unused=True)
        return _filled(found, leaves)

    weights = [to_numpy(d) for d in directions(lib, call.leaves, key)]
    expected = jacobian(gradients, [*inputs, *seeds]).T @ reals(weights)
    second = pull_back_twice(lib, result, call.leaves, key)
    assert_close(reals(_filled(second, [*inputs, *seeds])), expected, NUMERIC, "second gradient")


def _filled(gradients: Sequence[Any], like: Sequence[Values]) -> list[Values]:
    """The gradients as arrays, None as zeros."""
    pairs = zip(gradients, like, strict=True)
    return [np.zeros_like(a) if g is None else to_numpy(g) for g, a in pairs]


@each_gradient(*FLOAT, *COMPLEX)
def test_gradients_fit_their_leaves(op: OpInfo, dtype: str) -> None:
    for case, key in op.cases(dtype, differentiable=True):
        with noting(op, case, dtype):
            call = case.bind(lib, case.arrays(dtype, key), requires_grad=True)
            gradients = pull_back(lib, op.run(lib, call), call.leaves, key)
            for leaf, gradient in zip(call.leaves, gradients, strict=True):
                assert gradient is None or structure(gradient) == structure(leaf)


@each_gradient(*FLOAT, *COMPLEX)
def test_readings_agree(op: OpInfo, dtype: str) -> None:
    """A formula gives the same gradients on arrays as on tensors that record."""
    for case, key in op.cases(dtype, differentiable=True):
        with noting(op, case, dtype):
            call = case.bind(lib, case.arrays(dtype, key), requires_grad=True)
            result = op.run(lib, call)
            plain = pull_back(lib, result, call.leaves, key, retain_graph=True)
            traced = pull_back(lib, result, call.leaves, key, create_graph=True)
            assert_same(traced, plain, rounding(call), "gradient")


@each_gradient("float64")
def test_one_leaf_gets_the_gradient_it_gets_among_others(op: OpInfo, dtype: str) -> None:
    """What a node saves and computes depends on which inputs want a gradient."""
    for case, key in op.cases(dtype, differentiable=True):
        with noting(op, case, dtype):
            arrays = case.arrays(dtype, key)
            call = case.bind(lib, arrays, requires_grad=True)
            together = pull_back(lib, op.run(lib, call), call.leaves, key)
            for i, expected in enumerate(together):
                alone = case.bind(lib, arrays)
                leaf = alone.leaves[i].requires_grad_()
                result = op.run(lib, alone)
                gradients = pull_back(lib, result, [leaf], key) if recorded(result) else [None]
                assert_same(gradients, [expected], rounding(call), f"gradient of leaf {i}")


@pytest.mark.parametrize("op", [op for op in OPS if op.inplace], ids=name_of)
def test_in_place_is_out_of_place_in_place(op: OpInfo) -> None:
    checked = 0
    for dtype in op.dtypes:
        for case, key in op.cases(dtype):
            with noting(op, case, dtype):
                checked += _check_in_place(op, case, dtype, key)
    assert checked


def _check_in_place(op: OpInfo, case: Sample, dtype: str, key: str) -> bool:
    """Compares the two variants; False where the result does not fit its receiver."""
    arrays, recording = case.arrays(dtype, key), op.recording(case, dtype)
    outer = case.bind(lib, arrays, recording)
    expected = op.run(lib, outer)
    receiver = outer.args[op.receiver]
    if not is_tensor(receiver) or dtype_name(receiver) != dtype_name(expected):
        return False
    if op.inplace not in RESHAPING and tuple(receiver.shape) != tuple(expected.shape):
        return False
    inner = case.bind(lib, arrays, recording)
    actual, changed = in_place(op, lib, inner)
    assert actual is changed
    assert actual._version == 1
    assert_same([actual], [expected], rounding(outer), "result")
    assert actual.requires_grad == expected.requires_grad
    if expected.requires_grad:
        gradients = pull_back(lib, expected, outer.leaves, key)
        actual_gradients = pull_back(lib, actual, inner.leaves, key)
        assert_same(actual_gradients, gradients, rounding(outer), "gradient")
    return True


AUGMENTED = [op for op in OPS if op.inplace and op.operator and augmented(op.operator)]


@pytest.mark.parametrize("op", AUGMENTED, ids=name_of)
def test_augmented_assignment_is_in_place(op: OpInfo) -> None:
    case, key = next(op.cases("float64"))
    arrays = case.arrays("float64", key)
    expected, _ = in_place(op, lib, case.bind(lib, arrays))
    left, right = case.bind(lib, arrays).args
    assert augmented(op.operator)(left, right) is left
    assert_same([left], [expected], 0.0, "result")


@pytest.mark.parametrize(
    ("op", "case"),
    [(op, case) for op in OPS for case in op.errors],
    ids=[f"{op.name}-{i}" for op in OPS for i in range(len(op.errors))],
)
def test_errors(op: OpInfo, case: ErrorCase) -> None:
    call = case.sample.bind(lib, case.sample.arrays(case.dtype, op.name))
    with pytest.raises(case.exception) as caught:
        op.run(lib, call)
    assert str(caught.value).startswith(case.phrase)


def test_every_row_has_an_entry() -> None:
    """A row counts by its name without overload, and `f_backward` as part of `f`. Those that draw
    random numbers are tested by their distributions and streams, in test_sampling.py."""
    if lib.__name__ != "gradfn":
        pytest.skip(f"{lib.__name__} has no table of operators")
    from gradfn.ops import sampling
    from gradfn.ops.declare import registry

    drawn = {f.operator.name for f in vars(sampling).values() if hasattr(f, "operator")}
    covered = {name for op in OPS for name in (op.base, *op.rows)} | drawn
    rows = {name: name.split(".")[0].removesuffix("_backward") for name in registry}
    missing = sorted(name for name, operator in rows.items() if operator not in covered)
    assert not missing, "these rows of the table have no entry in tests/opdb"
