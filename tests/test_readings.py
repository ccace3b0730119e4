"""A formula of the table is read on arrays, on tensors, on symbols and for tangents."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn import ops, raw
from gradfn.autograd.grad_mode import GRAD, get_mode, set_mode
from gradfn.ops.declare import MASK, PLAIN, Operator, op, registry, words
from gradfn.ops.emit import FUNCTION, INPLACE, form
from gradfn.ops.families import tangent_rule
from gradfn.ops.symbols import Symbol, derivative, derivative_text
from opdb import OPS, OpInfo, Sample
from opdb.candidate import lib
from opdb.core import Values
from opdb.measure import EXPECTED_WARNINGS, noting, tensors, to_numpy

STEP = 1e-6
CLOSE = {"rtol": 1e-5, "atol": 1e-6}

pytestmark = [pytest.mark.filterwarnings(text) for text in EXPECTED_WARNINGS]


# Symbols.


@pytest.mark.parametrize(
    ("function", "argument", "text"),
    [
        (ops.sin, "self", "g * cos(x)"),
        (ops.mul, "self", "g * other"),
        (ops.mul, "other", "g * x"),
        (ops.neg, "self", "-g"),
        (ops.exp, "self", "g * result"),
    ],
)
def test_derivatives_are_readable(function: Any, argument: str, text: str) -> None:
    assert derivative_text(function.operator, argument) == text


@pytest.mark.parametrize(
    "name", ["sin", "tanh", "sigmoid", "log1p", "sqrt", "abs", "reciprocal", "atan", "erf"]
)
def test_symbols_agree_with_arrays_and_differences(name: str) -> None:
    function = getattr(gradfn, name)
    x = np.linspace(0.2, 1.7, 7)
    g = np.linspace(-1.0, 2.0, 7)
    leaf = gradfn.from_numpy(x.copy()).requires_grad_()
    result = function(leaf)
    values = {"g": g, "x": x, "result": to_numpy(result)}
    symbolic = derivative(function.operator, "self").evaluate(raw, values)
    (on_arrays,) = gradfn.autograd.grad(result, [leaf], [gradfn.from_numpy(g)])
    np.testing.assert_allclose(symbolic, to_numpy(on_arrays), rtol=1e-12)
    ahead, behind = (function(gradfn.from_numpy(x + d)) for d in (STEP, -STEP))
    slope = (to_numpy(ahead) - to_numpy(behind)) / (2 * STEP)
    np.testing.assert_allclose(symbolic, g * slope, **CLOSE)


ELEMENTWISE = [row for row in registry.values() if row.tangent == "elementwise"]


@pytest.mark.parametrize("row", ELEMENTWISE, ids=lambda row: row.overload)
def test_every_elementwise_formula_can_be_read_on_symbols(row: Operator) -> None:
    """Its expression has the values that the formula itself has on arrays."""
    rng = np.random.default_rng(3)
    inputs = {p.name: rng.uniform(0.2, 0.8, 5) for p in row.inputs}
    masks = [p.name for p in row.inputs if p.kind == MASK or p.name == "mask"]
    inputs |= {name: rng.uniform(size=5) < 0.5 for name in masks}
    plain = {p.name: _plain_value(p.name, p.default) for p in row.parameters if p.kind == PLAIN}
    given = {**inputs, **plain}
    positional = [given[p.name] for p in row.parameters if not p.keyword_only]
    keywords = {p.name: given[p.name] for p in row.parameters if p.keyword_only}
    known = {**given, "g": rng.uniform(-1, 1, 5), "F": raw}
    known |= {f"{name}_dtype": value.dtype for name, value in inputs.items()}
    with np.errstate(all="ignore"):
        known["result"] = row.kernel(*positional, **keywords)
        for name, formula in row.formulas.items():
            expected = formula(**{word: known[word] for word in words(formula)})
            values = {**known, "x": known.get("self")}
            np.testing.assert_array_equal(
                derivative(row, name, plain).evaluate(raw, values), expected
            )


def _plain_value(name: str, default: str | None) -> Any:
    """A value for a plain argument of any elementwise operator."""
    given = {"approximate": "tanh", "rounding_mode": "floor", "min": 0.3, "max": 0.6}
    if name in given or default is None:
        return given.get(name, 0.5)
    return ast.literal_eval(default)


def test_symbols_are_evaluated_on_tensors_too() -> None:
    x = gradfn.tensor([0.5, 1.5])
    values = {"g": gradfn.tensor([1.0, 2.0]), "x": x}
    found = derivative(ops.sin.operator, "self").evaluate(ops, values)
    assert found.tolist() == (values["g"] * x.cos()).tolist()


def test_complex_symbols_keep_conjugates() -> None:
    complex_text = repr(derivative(ops.mul.operator, "self", real=False))
    assert complex_text == "g * conj(other)"


def test_expressions_group_as_python_does() -> None:
    x, y = Symbol("x"), Symbol("y")
    for text in ("x - (y - x)", "(x - y) * y ** 2", "-x ** 2", "(-x) ** 2", "x / (y / x) / y"):
        built = eval(text, {"x": x, "y": y})
        assert repr(built) == text
        assert built.evaluate(raw, {"x": 3.0, "y": 5.0}) == eval(text, {"x": 3.0, "y": 5.0})


def test_expressions_drop_what_does_nothing() -> None:
    x = Symbol("x")
    assert repr((1 * x + 0 - 0) / 1**x**1) == "x / 1 ** x"
    negative = -x
    assert repr(-negative) == "x"
    assert x.conj() is x


def test_a_formula_cannot_branch_on_a_symbol() -> None:
    with pytest.raises(TypeError, match="cannot branch on a value, here x > 0"):
        bool(Symbol("x") > 0)


def test_an_unknown_function_is_named() -> None:
    with pytest.raises(AttributeError, match=r"F\.cosinus"):
        derivative(_operator(lambda F, g, self: g * F.cosinus(self)), "self")


def test_an_unknown_word_fails_at_declaration() -> None:
    with pytest.raises(TypeError, match="names 'output', which is unknown there"):
        op("unknown_word(self)", kernel=np.exp, self=lambda g, output: g * output)
    assert "unknown_word" not in registry


def _operator(formula: Any, **more: Any) -> Operator:
    """A row that does not stay in the table."""
    op("trial(self)", kernel=np.exp, self=formula, **more)
    return registry.pop("trial")


# Tangents.


def test_a_row_without_a_rule_says_so() -> None:
    with pytest.raises(NotImplementedError, match="forward mode is not implemented for trial"):
        tangent_rule(_operator(lambda g: g))


def test_an_elementwise_rule_comes_from_the_gradient() -> None:
    rule = tangent_rule(ops.sin.operator)
    x, t = np.array([0.3, 2.0]), np.array([1.0, -2.0])
    found = rule({"self": x}, {"self": t}, {}, np.sin(x), raw)
    np.testing.assert_allclose(found, t * np.cos(x), rtol=1e-15)


def test_a_linear_rule_is_the_operator() -> None:
    rule = tangent_rule(registry["sum"])
    x, t = np.ones((2, 3)), np.arange(6.0).reshape(2, 3)
    assert rule({"self": x}, {"self": t}, {"dtype": None}, np.asarray(6.0), raw) == 15.0


def test_a_bilinear_rule_is_the_product_rule() -> None:
    a, b, t = np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    rule = tangent_rule(ops.mm.operator)
    found = rule({"self": a, "mat2": b}, {"self": t, "mat2": t}, {}, a @ b, raw)
    np.testing.assert_array_equal(found, t @ b + a @ t)


def test_a_tangent_can_be_differentiated() -> None:
    x = gradfn.tensor([0.3, 2.0]).requires_grad_()
    t = gradfn.tensor([1.0, 3.0])
    found = tangent_rule(ops.sin.operator)({"self": x}, {"self": t}, {}, x.sin(), ops)
    (slope,) = gradfn.autograd.grad(found.sum(), [x])
    np.testing.assert_allclose(to_numpy(slope), to_numpy(-t * x.detach().sin()), rtol=1e-6)


class MissingRuleError(Exception):
    """An operator without a forward-mode rule."""


class Forward:
    """Runs operators with tangents: every call is intercepted, and its rule applied."""

    def __init__(self, leaves: Sequence[Any], directions: Sequence[Values]) -> None:
        # The tensor is kept with its tangent, so that its id stays its own.
        self.known = {
            id(leaf): (leaf, lib.from_numpy(direction))
            for leaf, direction in zip(leaves, directions, strict=True)
        }

    def tangent(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            found = [self.tangent(v) for v in value]
            return found if any(t is not None for t in found) else None
        return self.known.get(id(value), (None, None))[1]

    def run(self, function: Callable[[], Any]) -> Any:
        set_mode(GRAD.replace(intercept=self.intercept))
        try:
            return function()
        finally:
            set_mode(GRAD)

    def intercept(self, operator: Operator, kind: str, values: tuple[Any, ...]) -> Any:
        mode = get_mode()
        set_mode(GRAD)
        try:
            return self.call(operator, kind, values)
        finally:
            set_mode(mode)

    def call(self, operator: Operator, kind: str, values: tuple[Any, ...]) -> Any:
        given = dict(zip([p.name for p in operator.parameters], values, strict=True))
        inputs = {p.name: given[p.name] for p in operator.inputs}
        tangents = {name: self.tangent(value) for name, value in inputs.items()}
        result = _call(operator, FUNCTION, given)
        moved = None
        if any(t is not None for t in tangents.values()) and operator.every_formula():
            if operator.tangent is None:
                raise MissingRuleError(operator.overload)
            arguments = {p.name: given[p.name] for p in operator.parameters if p.kind == PLAIN}
            moved = tangent_rule(operator)(inputs, tangents, arguments, result, ops)
        if kind == INPLACE:
            result = _call(operator, kind, given)
        self.remember(result, moved)
        return result

    def remember(self, result: Any, moved: Any) -> None:
        if isinstance(result, list | tuple):
            for i, item in enumerate(result):
                self.remember(item, None if moved is None else moved[i])
        elif moved is not None:
            self.known[id(result)] = (result, moved)
        else:
            self.known.pop(id(result), None)


def _call(operator: Operator, kind: str, given: dict[str, Any]) -> Any:
    positional = [given[p.name] for p in operator.parameters if not p.keyword_only]
    keywords = {p.name: given[p.name] for p in operator.parameters if p.keyword_only}
    return form(operator, kind)(*positional, **keywords)


DIFFERENTIABLE = [op for op in OPS if "float64" in op.grad_dtypes]


@pytest.mark.parametrize("info", DIFFERENTIABLE, ids=[op.name for op in DIFFERENTIABLE])
def test_tangents_are_the_finite_differences(info: OpInfo) -> None:
    for case, key in info.cases("float64", differentiable=True):
        arrays = case.arrays("float64", key)
        if not case.smooth or any(arrays[i].dtype != float for i in case.differentiated(arrays)):
            continue
        with noting(info, case, "float64"):
            try:
                _check_tangent(info, case, arrays)
            except MissingRuleError as missing:
                pytest.skip(f"no forward-mode rule yet: {missing}")


def _check_tangent(info: OpInfo, case: Sample, arrays: list[Values]) -> None:
    call = case.bind(lib, arrays, requires_grad=True)
    inputs = [arrays[i] for i in case.differentiated(arrays)]
    rng = np.random.default_rng(len(inputs))
    directions = [np.asarray(rng.uniform(0.5, 1.5, a.shape)) for a in inputs]
    forward = Forward(call.leaves, directions)
    found = tensors(forward.run(lambda: info.run(lib, call)))

    def moved(step: float) -> list[Values]:
        varied = [np.copy(a, order="K") for a in inputs]
        for a, d in zip(varied, directions, strict=True):
            a += step * d
        run = info.run(lib, case.bind(lib, case.with_leaves(arrays, varied)))
        return [to_numpy(t) for t in tensors(run)]

    for i, (ahead, behind) in enumerate(zip(moved(STEP), moved(-STEP), strict=True)):
        tangent = forward.tangent(found[i])
        if not found[i].requires_grad:
            continue
        assert tangent is not None, f"result {i} has no tangent"
        np.testing.assert_allclose(
            to_numpy(tangent), (ahead - behind) / (2 * STEP), **CLOSE, err_msg=f"result {i}"
        )
