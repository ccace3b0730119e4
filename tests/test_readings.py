"""A formula of the table is read on arrays, on tensors, on symbols and for tangents."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn import ops, raw
from gradfn.ops.declare import MASK, PLAIN, Operator, op, registry, words
from gradfn.ops.families import tangent_rule
from gradfn.ops.symbols import Symbol, derivative, derivative_text
from opdb.measure import EXPECTED_WARNINGS, to_numpy

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
    ahead, behind = (function(gradfn.from_numpy(x + d)) for d in (1e-6, -1e-6))
    slope = (to_numpy(ahead) - to_numpy(behind)) / 2e-6
    np.testing.assert_allclose(symbolic, g * slope, rtol=1e-5, atol=1e-6)


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
            if formula.__qualname__.startswith("not_implemented"):
                continue
            expected = formula(**{word: known[word] for word in words(formula)})
            values = {**known, "x": known.get("self")}
            np.testing.assert_array_equal(
                derivative(row, name, plain).evaluate(raw, values), expected
            )


def _plain_value(name: str, default: str | None) -> Any:
    """A value for a plain argument of any elementwise operator."""
    given = {"approximate": "tanh", "rounding_mode": "floor", "min": 0.3, "max": 0.6, "p": 1}
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


@pytest.mark.parametrize("F", [raw, ops])
def test_a_row_without_a_rule_takes_the_gradient_of_its_gradient(F: Any) -> None:
    rule = tangent_rule(_operator(lambda g, result: g * result))
    x, t = np.array([0.3, 2.0]), np.array([1.0, -2.0])
    values = [x, t, np.exp(x)]
    if F is ops:
        values = [gradfn.from_numpy(a) for a in values]
    found = rule({"self": values[0]}, {"self": values[1]}, {}, values[2], F)
    np.testing.assert_allclose(np.asarray(found), t * np.exp(x), rtol=1e-15)


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


@pytest.mark.parametrize("function", [gradfn.addcmul, gradfn.addcdiv])
def test_scalar_gradients_know_the_plain_arguments(function: Any) -> None:
    """0-d gradients are NumPy scalars on their way, for which formulas are written out."""
    leaves = [gradfn.tensor(v, dtype=gradfn.float64, requires_grad=True) for v in (0.1, 0.2, 0.5)]
    result = function(*leaves, value=3).exp()
    plain = gradfn.autograd.grad(result, leaves, retain_graph=True)
    traced = gradfn.autograd.grad(result, leaves, create_graph=True)
    assert all(a.allclose(b.detach()) for a, b in zip(plain, traced, strict=True))


def test_arguments_are_not_called_as_what_is_emitted_around_them() -> None:
    for name in ("mode", "x1", "node", "r"):
        with pytest.raises(TypeError, match="as a variable of the code"):
            Operator(f"sample(self, {name})", kernel=abs)
