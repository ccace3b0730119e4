"""Operators on tensors that carry tangents: what an open dual level does in their place."""

from __future__ import annotations

from typing import Any

from ..autograd.forward_ad import Level
from ..autograd.grad_mode import get_mode, set_mode
from ..autograd.variable import LEAF, Variable
from .declare import PLAIN, Operator
from .emit import INPLACE, form
from .families import tangent_rule


def apply(
    level: Level, operator: Operator, kind: str, values: tuple[Any, ...], out: Any = None
) -> Any:
    """One call of `operator`, in the form `kind`, with the tangents that it gives its results."""
    mode = get_mode()
    set_mode(mode.replace(intercept=level.outer))
    try:
        given = dict(zip([p.name for p in operator.parameters], values, strict=True))
        tangents = {
            p.name: _tangent_of(level, given[p.name])
            for p in operator.inputs
            if operator.differentiable(p.name)
        }
        if all(tangent is None for tangent in tangents.values()):
            return _without_tangents(level, operator, kind, given, out)
        if out is not None:
            raise _out_refused(operator)
        if kind == INPLACE:
            return _in_place(level, operator, given, tangents)
        return _out_of_place(level, operator, kind, given, tangents)
    finally:
        level.node = None
        set_mode(mode)


Level.apply = staticmethod(apply)


def _tangent_of(level: Level, value: Any) -> Any:
    """The tangent of an input; those of a list where one of its tensors has one."""
    if isinstance(value, Variable):
        return level.tangent_of(value)
    if not isinstance(value, list | tuple):
        return None
    found = [_tangent_of(level, item) for item in value]
    return found if any(tangent is not None for tangent in found) else None


def _call(operator: Operator, kind: str, given: dict[str, Any], out: Any = None) -> Any:
    positional = [given[p.name] for p in operator.parameters if not p.keyword_only]
    keywords = {p.name: given[p.name] for p in operator.parameters if p.keyword_only}
    if out is not None:
        keywords["out"] = out
    return form(operator, kind)(*positional, **keywords)


def _out_refused(operator: Operator) -> NotImplementedError:
    return NotImplementedError(
        f"Trying to use forward AD with {operator.name}_out that does not support it because it is "
        "an out= function"
    )


def _without_tangents(
    level: Level, operator: Operator, kind: str, given: dict[str, Any], out: Any
) -> Any:
    if out is not None and _tangent_of(level, out) is not None:
        raise _out_refused(operator)
    result = _call(operator, kind, given, out)
    if kind == INPLACE and (known := level.tangent_of(result)) is not None:
        known.zero_()
    if operator.view:
        for view in result if isinstance(result, list | tuple) else [result]:
            level.follow(view, given["self"])
    return result


def _out_of_place(
    level: Level,
    operator: Operator,
    kind: str,
    given: dict[str, Any],
    tangents: dict[str, Any],
) -> Any:
    level.node = None
    result = _call(operator, kind, given)
    if result is NotImplemented:
        return result
    node = level.node
    moved = _moved(operator, given, tangents, result)
    if len(operator.results) == 1:
        results, moved = [result], [moved]
    else:
        results = result
    for tensor, tangent in zip(results, moved, strict=True):
        if tangent is None or not tensor.dtype.is_floating_point | tensor.dtype.is_complex:
            continue
        if operator.view:
            level.follow(tensor, given["self"])
            level.attach(tensor, tangent, level.base_of(tensor))
        else:
            level.give(tensor, _unshared(tangent, tangents))
    _keep_tangents(node, given | dict(zip(operator.results, results, strict=False)))
    return result


def _in_place(
    level: Level, operator: Operator, given: dict[str, Any], tangents: dict[str, Any]
) -> Any:
    """Write to the target and to its tangent; the rule sees what the target was before."""
    target = given["self"]
    edge = None if target._edge is LEAF else target._edge
    old = Variable.wrap(target._array.copy(), edge)
    before = {name: old if value is target else value for name, value in given.items()}
    tangents = {
        name: tangent.clone() if given[name] is target and tangent is not None else tangent
        for name, tangent in tangents.items()
    }
    level.attach(old, tangents.get("self"), None)
    level.node = None
    _call(operator, INPLACE, given)
    node = level.node
    level.write(target, _unshared(_moved(operator, before, tangents, target), tangents))
    _keep_tangents(node, before | {"result": target})
    return target


def _moved(operator: Operator, given: dict[str, Any], tangents: dict[str, Any], result: Any) -> Any:
    """The tangents of `result`."""
    inputs = {p.name: given[p.name] for p in operator.inputs}
    arguments = {p.name: given[p.name] for p in operator.parameters if p.kind == PLAIN}
    from .. import ops

    try:
        return tangent_rule(operator)(inputs, tangents, arguments, result, ops)
    except NotImplementedError as error:
        raise NotImplementedError(
            f"Trying to use forward AD with {operator.name} that does not support it because it "
            f"has not been implemented yet: {error}"
        ) from error


def _unshared(tangent: Any, given: dict[str, Any]) -> Any:
    """`tangent`, or a copy where it shares memory with those `given`: it may be written to."""
    shared = tangent._base is not None or any(tangent is known for known in _flat(given.values()))
    return tangent.clone() if shared else tangent


def _flat(values: Any) -> Any:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _flat(value)
        else:
            yield value


def _keep_tangents(node: Any, tensors: dict[str, Any]) -> None:
    """Let the `node` just recorded keep the tangents of the tensors that it has saved."""
    if node is None:
        return
    duals: dict[int, Any] = {}
    for name in (*node.saved_inputs, *node.saved_results):
        saved = getattr(node, f"v_{name}")
        several = isinstance(saved, list | tuple)
        pairs = zip(saved, tensors[name], strict=True) if several else [(saved, tensors[name])]
        for array, tensor in pairs:
            if isinstance(tensor, Variable) and tensor._dual is not None:
                duals[id(array)] = tensor._dual
    if duals:
        node.extra = {**(node.extra or {}), "duals": duals}
