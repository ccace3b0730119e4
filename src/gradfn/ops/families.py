"""Forward mode from the table: how an operator carries the tangents of its arguments.

Most rows need no rule of their own. Their ``tangent`` names the family that they belong to:

``"elementwise"``  The gradient formula of an input multiplies by the conjugate of a factor, and the
                   tangent is multiplied by the factor: ``conj(formula(conj(tangent)))``.
``"reduced"``      Elementwise, followed by the reduction that the argument `reduction` names.
``"linear"``       The operator itself, applied to the tangents of all its differentiable inputs.
``"contracted"``   Each result is a function of one slice (along ``dim``, all by default): the
                   gradient of the slice, contracted with its tangent.
``"bilinear"``     Linear in each input: the sum over the inputs of the operator applied to the
                   tangent of that one and the values of the others.
a function         Of words, as gradient formulas are; ``<input>_t`` is the tangent of an input.
nothing            The gradient is linear in that of the result, ``u -> uᵀJ``: its own gradient,
                   started with the tangent, is ``J`` times the tangent.

A rule works on arrays (``F`` is `raw`) and on tensors (``F`` is `ops`), where it is recorded and
can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from .. import raw
from ..autograd.backward import grad
from ..autograd.batching import inside
from ..autograd.grad_mode import enable_grad, get_mode
from ..autograd.variable import Variable
from ..raw.loss import MEAN, NONE
from ..shapes import broadcast_shapes
from .declare import Operator, words
from .emit import FUNCTION, form
from .formulas import constant
from .runtime import is_number, wrapped_number

Values: TypeAlias = Mapping[str, Any]
Rule: TypeAlias = Callable[[Values, Values, Values, Any, Any], Any]


def tangent_rule(operator: Operator) -> Rule:
    """The forward-mode rule of `operator`: ``rule(primals, tangents, arguments, result, F)``.

    `primals` and `tangents` are the tensor arguments and their tangents by name (an input without
    a tangent has None or is missing), `arguments` the plain ones; `result` is what the operator
    gave. The tangent returned has the structure of `result`.
    """
    by_family = {
        "elementwise": _elementwise,
        "reduced": _reduced,
        "linear": _linear,
        "bilinear": _bilinear,
        "contracted": _contracted,
        None: _double_reverse,
    }
    apply: Callable[..., Any] = (
        _own_rule if callable(operator.tangent) else by_family[operator.tangent]
    )
    if all(formula is constant for formula in operator.every_formula()):
        apply = _constant

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


def _contracted(
    operator: Operator, primals: Values, tangents: Values, arguments: Values, result: Any, F: Any
) -> Any:
    known = _words(operator, primals, arguments, result, F)
    ones = np.ones_like(getattr(result, "_array", result))
    known["g"] = ones if F is raw else Variable.wrap(ones)
    total = None
    for name, tangent in tangents.items():
        formula = operator.formulas[name]
        slope = formula(**{word: known[word] for word in words(formula)})
        if slope is None:
            continue
        part = F.sum(slope.conj() * tangent, arguments.get("dim"), arguments.get("keepdim", False))
        total = part if total is None else total + part
    return total


def _constant(*_: Any) -> None:
    """The rule of an operator whose gradients are all zero."""


def _own_rule(
    operator: Operator, primals: Values, tangents: Values, arguments: Values, result: Any, F: Any
) -> Any:
    known = _words(operator, primals, arguments, result, F)
    filled = _filled(operator, primals, tangents)
    known |= {f"{name}_t": t for name, t in filled.items()}
    return operator.tangent(**{word: known[word] for word in words(operator.tangent)})


def _double_reverse(
    operator: Operator, primals: Values, tangents: Values, arguments: Values, result: Any, F: Any
) -> Any:
    names = [name for name in tangents if operator.differentiable(name)]
    given = _flat([*(primals[name] for name in names), *tangents.values()])
    recorded = get_mode().grad and any(getattr(t, "requires_grad", False) for t in given)
    with enable_grad():
        inputs = {name: _varied(primals[name], recorded) for name in names}
        made = _call(operator, {**_tensors(primals), **inputs}, arguments, None)
        results = _flat([made])
        outputs = [t for t in results if t.requires_grad]
        if not outputs:
            return None
        cotangents = [_leaf(Variable.wrap(np.zeros_like(t._array))) for t in outputs]
        at, along = _flat(inputs.values()), _flat(_tensors([tangents[name] for name in names]))
        gradients = grad(outputs, at, cotangents, create_graph=True, allow_unused=True)
    pairs = [
        (gradient, tangent)
        for gradient, tangent in zip(gradients, along, strict=True)
        if tangent is not None and gradient is not None and gradient.requires_grad
    ]
    if not pairs:
        return None
    linear, started = zip(*pairs, strict=True)
    moved = iter(grad(linear, cotangents, started, create_graph=recorded, allow_unused=True))
    found = [next(moved) if t.requires_grad else None for t in results]
    if F is raw:
        found = [None if t is None else t._array for t in found]
    return found if isinstance(made, list | tuple) else found[0]


def _varied(primal: Any, recorded: bool) -> Any:
    """A tensor at which to differentiate: where it is `recorded`, one with the primal's history."""
    if isinstance(primal, list | tuple):
        return [_varied(p, recorded) for p in primal]
    tensor = inside(_tensors(primal))
    if recorded and tensor.requires_grad:
        return tensor.view_as(tensor)
    return _leaf(tensor)


def _leaf(tensor: Any) -> Any:
    """A leaf with the values of `tensor`; inside vmap, of an example's."""
    return Variable.wrap(inside(tensor)._array).requires_grad_()


def _tensors(values: Any) -> Any:
    """Arrays as tensors, everything else as it is."""
    if isinstance(values, Mapping):
        return {name: _tensors(value) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return [_tensors(value) for value in values]
    return Variable.wrap(values) if isinstance(values, np.ndarray) else values


def _flat(values: Iterable[Any]) -> list[Any]:
    """The tensors of nested lists."""
    found: list[Any] = []
    for value in values:
        found += _flat(value) if isinstance(value, list | tuple) else [value]
    return found


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
