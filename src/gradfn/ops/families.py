"""Forward mode from the table: how an operator carries the tangents of its arguments.

Most rows need no rule of their own. Their ``tangent`` names the family that they belong to:

``"elementwise"``  The gradient formula of an input multiplies by the conjugate of a factor, and the
                   tangent is multiplied by the factor: ``conj(formula(conj(tangent)))``.
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
    by_family = {"elementwise": _elementwise, "linear": _linear, "bilinear": _bilinear}
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
    known = _words(operator, primals, arguments, result, F)
    total = None
    for name, tangent in tangents.items():
        if name not in operator.formulas:
            continue
        formula = operator.formulas[name]
        known["g"] = F.expand(tangent, result.shape).conj()
        part = formula(**{word: known[word] for word in words(formula)}).conj()
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
            if isinstance(value, list | tuple):
                known[f"{name}_{what}"] = [getattr(v, what) for v in value]
            else:
                known[f"{name}_{what}"] = getattr(value, what, None)
    return known


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
