"""Batching rules: how an operator computes for all examples at once.

Most rows need no rule of their own, which is read off their declaration:

elementwise families    The batch dimension comes first; the others are aligned behind it.
``dim``, ``dims``, ...  Arguments that name dimensions are moved by one, for the batch dimension.
``shape``               Gets the size of the batch in front.
``"trailing"``          (a row's ``batch``) The operator works on the last dimensions and takes any
                        dimensions before them.
``"random"``            It draws for each example, or once, as the level's randomness says.
``"dynamic"``           The shape of its result depends on values: RuntimeError.
a function              Of the `Call`: the physical result, with the batch dimension first.
nothing                 The examples are computed one by one, with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...autograd.variable import Variable
from ...raw.loss import MEAN, NONE
from ..declare import LIST, PLAIN, Operator, registry

if TYPE_CHECKING:
    from .calls import Call

Rule: TypeAlias = "Callable[[Call], Any]"

RANDOM = "random"
DIMENSIONS = frozenset({"dim", "dims", "dim0", "dim1", "dim2", "dimension"})


def rule_of(operator: Operator) -> Rule:
    """The batching rule of `operator`: its own, or the one of its family."""
    given = operator.batch
    if given is None:
        return _by_declaration(operator)
    rule: Rule = WORDS[given] if isinstance(given, str) else given
    return rule


@cache
def _by_declaration(operator: Operator) -> Rule:
    plain = {p.name for p in operator.parameters if p.kind == PLAIN}
    if operator.tangent == "reduced":
        return reduced
    if plain & DIMENSIONS or "shape" in plain:
        return moved
    if (
        operator.tangent == "elementwise"
        or operator.promote
        or isinstance(operator.kernel, np.ufunc)
    ):
        return aligned
    return one_by_one


def aligned(call: Call) -> Any:
    """Elementwise, or on the last dimensions: the batch in front, the others behind it."""
    rank = max(map(call.rank, call.tensors))
    return call.run(**{name: call.aligned(name, rank) for name in call.tensors})


def reduced(call: Call) -> Any:
    """Losses by element, reduced for each example."""
    rank = max(map(call.rank, call.tensors))
    given = {
        name: call.front(name) if call.rank(name) == rank else call.aligned(name, rank)
        for name in call.tensors
    }
    losses = call.run(**given, reduction=NONE)
    if call["reduction"] == NONE:
        return losses
    each = losses.expand(call.size, *losses.shape[1:]).flatten(1) if rank else losses.unsqueeze(1)
    return each.mean(1) if call["reduction"] == MEAN else each.sum(1)


def moved(call: Call) -> Any:
    """Along dimensions named by arguments, or to a shape: both count the batch dimension too."""
    names = call.tensors
    shape = call.values.get("shape")
    rank = len(shape) if shape is not None else max(map(call.rank, names), default=0)
    changes: dict[str, Any] = {name: call.front(name) for name in names}
    for p in call.operator.inputs:
        if p.kind == LIST:
            pairs = zip(call[p.name], call.batched[p.name], strict=True)
            changes[p.name] = [call.fronted(tensor, batched) for tensor, batched in pairs]
            rank = max([rank, *(t.ndim - 1 for t in changes[p.name])])
    scalars = rank == 0
    if scalars:  # examples without dimensions get one
        changes = {name: tensor.unsqueeze(1) for name, tensor in changes.items()}
        rank = 1
    if shape is not None:
        changes["shape"] = (call.size, *shape, *[1] * scalars)
    for name in DIMENSIONS & call.values.keys():
        changes[name] = past_batch(call[name], rank)
    made = call.run(**changes)
    if not scalars:
        return made
    flat: list[Any] = [made] if isinstance(made, Variable) else made
    flat = [t.squeeze(1) if t.ndim == 2 and t.shape[1] == 1 else t for t in flat]
    return flat[0] if isinstance(made, Variable) else flat


def past_batch(dim: Any, rank: int) -> Any:
    """`dim` (or several, all where none is named) of examples of `rank` as that of batches."""
    if dim is None or (isinstance(dim, list | tuple) and not len(dim)):
        return tuple(range(1, rank + 1))
    if isinstance(dim, list | tuple):
        return tuple(past_batch(d, rank) for d in dim)
    return (dim + rank if dim < 0 else dim) + 1


def is_random(operator: Operator) -> bool:
    """Whether `operator` draws random numbers, which concerns vmap whatever its arguments are."""
    return operator.batch == RANDOM or operator.batch in DRAWING


DRAWING: list[Rule] = []  # rules of operators that draw random numbers in a way of their own


def random(call: Call) -> Any:
    """Numbers drawn for each example, or the same for all."""
    level = call.level
    level.check_random()
    first = call.operator.inputs[0].name
    if level.randomness == "different":
        if call.in_place and not call.batched[first]:
            raise RuntimeError(
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This "
                f"will appear like same randomness: {call.operator.name}_ writes to a tensor that "
                "all examples share"
            )
        call.result_batched = True
        return call.run(**{name: call.front(name) for name in call.tensors})
    others = any(call.batched[name] for name in call.tensors[1:])
    if others or (call.any_batched and not call.in_place):
        raise RuntimeError(
            "Vmap does not currently support same randomness with a batched tensor input: "
            f"{call.operator.name} depends on the values of each example"
        )
    call.result_batched = False
    like = call[first]
    return call.run(**{first: like.new_empty(like.shape[1:])} if call.any_batched else {})


def dynamic(call: Call) -> Any:
    raise RuntimeError(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to "
        f"vmap over aten::{call.operator.name}"
    )


WORDS: dict[str, Rule] = {"trailing": aligned, RANDOM: random, "dynamic": dynamic}


def one_by_one(call: Call) -> Any:
    """Each example by itself, and the results stacked."""
    from ..joining import stack

    warnings.warn(
        "There is a performance drop because we have not yet implemented the batching rule for "
        f"{call.operator.name}: vmap computes it for one example after the other.",
        stacklevel=2,
    )
    if not call.size:
        raise RuntimeError(
            f"vmap: {call.operator.name} has no batching rule, and so cannot be computed for an "
            "empty batch"
        )
    rows = [call.run(**_example(call, number)) for number in range(call.size)]
    if isinstance(rows[0], Variable):
        return stack(rows)
    return [stack(column) for column in zip(*rows, strict=True)]


def _example(call: Call, number: int) -> dict[str, Any]:
    """The inputs of example `number`."""
    chosen: dict[str, Any] = {}
    for name, batched in call.batched.items():
        value = call[name]
        if isinstance(batched, list):
            pairs = zip(value, batched, strict=True)
            chosen[name] = [v.select(0, number) if b else v for v, b in pairs]
        elif batched:
            chosen[name] = value.select(0, number)
    return chosen


def batches(*overloads: str) -> Callable[[Any], Any]:
    """Make the decorated rule that of the rows `overloads`."""

    def decorate(rule: Any) -> Any:
        for overload in overloads:
            registry[overload].batch = rule
        return rule

    return decorate
