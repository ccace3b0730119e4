"""Forward mode from the table: how an operator carries the tangents of its arguments.

Most rows need no rule of their own. Their ``tangent`` names the family that they belong to:

``"elementwise"``  The gradient formula of an input multiplies by the conjugate of a factor, and the
                   tangent is multiplied by the factor: ``conj(formula(conj(tangent)))``.
``"reduced"``      Elementwise, followed by the reduction that the argument `reduction` names.
``"linear"``       The operator itself, applied to the tangents of all its differentiable inputs.
``"bilinear"``     Linear in each input: the sum over the inputs of the operator applied to the
                   tangent of that one and the values of the others.
a function         Of words, as gradient formulas are; ``<input>_t`` is the tangent of an input.

A rule works on arrays (``F`` is `raw`) and on tensors (``F`` is `ops`), where it is recorded and
can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from .. import raw
from ..autograd.variable import Variable
from ..raw.loss import MEAN, NONE
from ..shapes import broadcast_shapes
from .declare import Operator, words
from .emit import FUNCTION, form
from .runtime import is_number, wrapped_number

Values: TypeAlias = Mapping[str, Any]
Rule: TypeAlias = Callable[[Values, Values, Values, Any, Any], Any]


def tangent_rule(operator: Operator) -> Rule:
    """The forward-mode rule of `operator`: ``rule(primals, tangents, arguments, result, F)``.

    `primals` and `tangents` are the tensor arguments and their tangents by name (an input without
    a tangent has None or is missing), `arguments` the plain ones; `result` is what the operator
    gave. The tangent returned has the structure of `result`. NotImplementedError where the row has
    no rule.
    """
    if operator.tangent is None:
        raise NotImplementedError(f"forward mode is not implemented for {operator.name}")
    by_family = {
        "elementwise": _elementwise,
        "reduced": _reduced,
        "linear": _linear,
        "bilinear": _bilinear,
    }
    named = isinstance(operator.tangent, str)
    apply = by_family[operator.tangent] if named else _own_rule

    def rule(primals: Values, tangents: Values, arguments: Values, result: Any, F: Any) -> Any:
        primals = {name: _value(primal, F) for name, primal in primals.items()}
        given = {name: t for name, t in tangents.items() if t is not None}
        return _fit(apply(operator, primals, given, arguments, result, F), result, F)

    return rule


def _value(primal: Any, F: Any) -> Any:
    """The value of an input; numbers become 0-d arrays or tensors."""
    if not is_number(primal):
        return primal
    tensor = wrapped_number(primal)
    return tensor._array if F is raw else tensor


def _elementwise(
    operator: Operator, primals: Values, tangents: Values, arguments: Values, result: Any, F: Any
) -> Any:
    return _scaled(
        operator, _words(operator, primals, arguments, result, F), tangents, result.shape
    )


def _reduced(
    operator: Operator, primals: Values, tangents: Values, arguments: Values, result: Any, F: Any
) -> Any:
    each = {**arguments, "reduction": NONE}
    shape = broadcast_shapes(*(p.shape for p in primals.values() if p is not None))
    losses = _scaled(operator, _words(operator, primals, each, result, F), tangents, shape)
    if losses is None or arguments["reduction"] == NONE:
        return losses
    return F.mean(losses) if arguments["reduction"] == MEAN else F.sum(losses)


def _scaled(
    operator: Operator, known: dict[str, Any], tangents: Values, shape: tuple[int, ...]
) -> Any:
    """The sum of the tangents, each times the factor in the gradient formula of its input."""
    total = None
    for name, tangent in tangents.items():
        if name in operator.formulas:
            formula = operator.formulas[name]
            given = {**known, "g": known["F"].expand(tangent, shape).conj()}
            part = formula(**{word: given[word] for word in words(formula)}).conj()
            total = part if total is None else total + part
    return total


def _linear(
    operator: Operator, primals: Values, tangents: Values, arguments: Values, result: Any, F: Any
) -> Any:
    inputs = {**primals, **_filled(operator, primals, tangents)}
    return _call(operator, inputs, arguments, F)


def _bilinear(
    operator: Operator, primals: Values, tangents: Values, arguments: Values, result: Any, F: Any
) -> Any:
    total = None
    for name, tangent in tangents.items():
        part = _call(operator, {**primals, name: tangent}, arguments, F)
        total = part if total is None else total + part
    return total


def _own_rule(
    operator: Operator, primals: Values, tangents: Values, arguments: Values, result: Any, F: Any
) -> Any:
    known = _words(operator, primals, arguments, result, F)
    filled = _filled(operator, primals, tangents)
    known |= {f"{name}_t": t for name, t in filled.items()}
    return operator.tangent(**{word: known[word] for word in words(operator.tangent)})


def _words(
    operator: Operator, primals: Values, arguments: Values, result: Any, F: Any
) -> dict[str, Any]:
    """The values of the words that formulas use."""
    results = [result] if len(operator.results) == 1 else result
    known = {"F": F, **primals, **arguments}
    known |= dict(zip(operator.results, results, strict=False))
    for name, value in primals.items():
        for what in ("shape", "dtype"):
            known[f"{name}_{what}"] = _property(value, what)
    return known


def _property(value: Any, what: str) -> Any:
    """The shape or NumPy dtype of an input; for a list those of its items."""
    if isinstance(value, list | tuple):
        return [_property(v, what) for v in value]
    return getattr(getattr(value, "_array", value), what, None)


def _filled(operator: Operator, primals: Values, tangents: Values) -> dict[str, Any]:
    """Tangents for all differentiable inputs, zeros where there are none."""
    return {
        name: _zeros_at(value, tangents.get(name))
        for name, value in primals.items()
        if operator.differentiable(name)
    }


def _zeros_at(primal: Any, tangent: Any) -> Any:
    if isinstance(primal, list | tuple):
        given = tangent or [None] * len(primal)
        return [_zeros_at(p, t) for p, t in zip(primal, given, strict=True)]
    if tangent is not None or primal is None:
        return tangent
    if isinstance(primal, Variable):
        return Variable.wrap(np.zeros_like(primal._array))
    return np.zeros_like(primal)


def _call(operator: Operator, inputs: Values, arguments: Values, F: Any) -> Any:
    """The operator on arrays or on tensors."""
    every = {**inputs, **arguments}
    positional = [every[p.name] for p in operator.parameters if not p.keyword_only]
    keywords = {p.name: every[p.name] for p in operator.parameters if p.keyword_only}
    call = operator.kernel if F is raw else form(operator, FUNCTION)
    return call(*positional, **keywords)


def _fit(tangent: Any, result: Any, F: Any) -> Any:
    """`tangent` in the shape and dtype of `result`; zeros where nothing moves it."""
    if isinstance(result, list | tuple):
        parts: Sequence[Any] = [None] * len(result) if tangent is None else tangent
        return [_fit(t, r, F) for t, r in zip(parts, result, strict=True)]
    if tangent is None:
        return _zeros_at(result, None)
    array, due = (np.asarray(tangent), result) if F is raw else (tangent._array, result._array)
    if array.dtype.kind == "c" and due.dtype.kind != "c":
        tangent = tangent.real
    if array.dtype == due.dtype:
        return array if F is raw else tangent
    return np.asarray(tangent).astype(due.dtype) if F is raw else tangent.to(result.dtype)
