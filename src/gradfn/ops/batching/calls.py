"""One call of an operator inside a vmap level.

The operator runs its emitted code as always, on tensors whose arrays stand for one example
(autograd/batching.py). Only its kernel is replaced: by the operator itself on the physical tensors
outside, arranged by a batching rule (rules.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...autograd.batching import Batched, Vmap, requires_grad
from ...autograd.grad_mode import get_mode, set_mode
from ...autograd.variable import Variable
from ..declare import LIST, PLAIN, Operator
from ..emit import FUNCTION, INPLACE, form, with_kernel
from ..runtime import SCALARS, is_number, wrapped_number
from .rules import is_random, rule_of


def apply(
    level: Vmap, operator: Operator, kind: str, values: tuple[Any, ...], out: Any = None
) -> Any:
    """One call of `operator`, in the form `kind`, inside `level`."""
    mode = get_mode()
    pairs = list(zip(operator.parameters, values, strict=True))
    if is_random(operator) or any(_owned(level, value) for p, value in pairs if p.kind != PLAIN):
        if out is not None:
            raise RuntimeError(
                f"Batching rule not implemented for aten::{operator.name}.out; the fallback path "
                "doesn't work on out= or view ops: use its result"
            )
        if kind == INPLACE and not level.owns(values[0]):
            _check_captured(level, operator, pairs[1:])
        inside = mode.replace(intercept=None)
        if operator.numbers:
            pairs = _with_tensors(operator, pairs)
        pairs = [(p, value if p.kind == PLAIN else _lifted(level, value)) for p, value in pairs]
        function = _on_batches(operator, kind)
    else:
        inside = mode.replace(intercept=level.outer)
        function = form(operator, kind)
    keywords = {p.name: value for p, value in pairs if p.keyword_only}
    if out is not None:
        keywords["out"] = out
    set_mode(inside)
    try:
        result = function(*(value for p, value in pairs if not p.keyword_only), **keywords)
    finally:
        set_mode(mode)
    return values[0] if kind == INPLACE else result


Vmap.apply = staticmethod(apply)


def _owned(level: Vmap, value: Any) -> bool:
    """Whether a tensor, or one of a list of them, stands inside `level`."""
    if isinstance(value, Variable):
        return level.owns(value)
    return isinstance(value, list | tuple) and any(_owned(level, item) for item in value)


def _lifted(level: Vmap, value: Any) -> Any:
    """Tensors inside `level`; everything else as it is."""
    if isinstance(value, Variable):
        lifted = level.lift(value)
        if getattr(value, "_number", False):
            lifted._number = True
        return lifted
    if isinstance(value, list | tuple):
        return [_lifted(level, item) for item in value]
    return value


def _with_tensors(operator: Operator, pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The arguments with tensors for the numbers that emitted code does not take as they are."""
    made = []
    for position, (p, value) in enumerate(pairs):
        taken = value.__class__ in SCALARS and position
        if p.kind != PLAIN and is_number(value) and not taken:
            value = wrapped_number(value)
        made.append((p, value))
    return made


def _check_captured(level: Vmap, operator: Operator, pairs: Sequence[tuple[Any, Any]]) -> None:
    """Refuse to write something of a derivative inside the level to a tensor from outside."""
    for p, value in pairs:
        if p.kind != PLAIN and isinstance(value, Variable) and level.owns(value) and value._edge:
            raise RuntimeError(
                "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to "
                f"call in-place operation ({operator.name}_) that would mutate a captured Tensor. "
                "This is not supported; please rewrite the function being transformed to "
                "explicitly accept the mutated Tensor(s) as inputs."
            )


@cache
def _on_batches(operator: Operator, kind: str) -> Callable[..., Any]:
    """The form of `operator` whose kernel computes with physical tensors."""
    return with_kernel(operator, kind, BatchedKernel(operator, kind))


class BatchedKernel:
    """The kernel of an operator on arrays of which some stand for batches."""

    def __init__(self, operator: Operator, kind: str) -> None:
        self.operator = operator
        self.in_place = kind == INPLACE
        self.__name__ = operator.name

    def __call__(self, *arrays: Any, out: Any = None, **keywords: Any) -> Any:
        call = Call(self.operator, arrays, keywords, self.in_place)
        level = call.level
        with level.left():
            call.keep_target()
            by_rule = call.any_batched or is_random(self.operator)
            results = rule_of(self.operator)(call) if by_rule else call.run()
            if not level.differentiable:
                several = [results] if isinstance(results, Variable) else results
                level.differentiable = any(result._edge is not None for result in several)
            if isinstance(results, Variable):
                made: Any = Batched.of(level, results, call.result_batched)
            else:
                made = [Batched.of(level, result, call.result_batched) for result in results]
        if out is not None and out is not Ellipsis:
            out[...] = made
        return made

    def into(self, *arrays: Any, **keywords: Any) -> Any:
        """The same, written to the first array."""
        arrays[0][...] = self(*arrays, **keywords)
        return arrays[0]


class Call:
    """One call on batches: the physical tensors (or numbers, or lists of them) by name, which of
    them are `batched`, in their first dimension, and the plain arguments."""

    def __init__(
        self,
        operator: Operator,
        arrays: Sequence[Any],
        keywords: dict[str, Any],
        in_place: bool = False,
    ) -> None:
        self.operator = operator
        self.in_place = in_place
        given = iter(arrays)
        self.values: dict[str, Any] = {}
        self.batched: dict[str, Any] = {}
        self.level: Vmap = None  # type: ignore[assignment]
        for p in operator.parameters:
            value = keywords[p.name] if p.name in keywords else next(given)
            if p.kind == LIST:
                pairs = [self._taken(item) for item in value]
                value, self.batched[p.name] = [v for v, _ in pairs], [b for _, b in pairs]
            elif p.kind != PLAIN:
                value, self.batched[p.name] = self._taken(value)
            self.values[p.name] = value
        self.any_batched = any(
            any(flag) if isinstance(flag, list) else flag for flag in self.batched.values()
        )
        self.result_batched = self.any_batched
        self.size = self.level.size

    def _taken(self, array: Any) -> tuple[Any, bool]:
        if isinstance(array, Batched):
            self.level = array.level
            return array.physical, array.batched
        return (Variable.wrap(array) if isinstance(array, np.ndarray) else array), False

    def keep_target(self) -> None:
        """Compute with a copy of what will be written to, if it may be saved."""
        target = self.operator.parameters[0].name
        if self.in_place and requires_grad(self.values[target]):
            self.values[target] = self.values[target].clone()

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def tensors(self) -> list[str]:
        """The names of the inputs that are there, lists of tensors excepted."""
        return [
            p.name
            for p in self.operator.inputs
            if p.kind != LIST and self.values[p.name] is not None
        ]

    def rank(self, name: str) -> int:
        """How many dimensions an example has."""
        value = self.values[name]
        rank: int = value._array.ndim - self.batched[name] if isinstance(value, Variable) else 0
        return rank

    def front(self, name: str) -> Any:
        """The tensor, its first dimension the batch: repeated, without copies, if need be."""
        return self.fronted(self.values[name], self.batched[name])

    def fronted(self, tensor: Any, batched: bool) -> Any:
        return tensor if batched else tensor.expand(self.size, *tensor.shape)

    def aligned(self, name: str, rank: int) -> Any:
        """The tensor with as many dimensions as line up with `rank` behind the batch."""
        value = self.values[name]
        if not self.batched[name]:
            return value
        missing = rank - self.rank(name)
        shape = value.shape
        return value.reshape(shape[0], *[1] * missing, *shape[1:]) if missing > 0 else value

    def widened(self, name: str, rank: int) -> Any:
        """The same, with a batch of one in front of what is not batched."""
        value = self.values[name]
        if self.batched[name]:
            return self.aligned(name, rank)
        return value.reshape(*[1] * (rank + 1 - value.ndim), *value.shape)

    def check(self, /, **ranks: int) -> None:
        """Raise the operator's own error where an example's input has another rank than it takes,
        or the inputs do not fit: it is computed for the first examples."""
        if any(self.rank(name) != rank for name, rank in ranks.items()):
            self.run(**{name: v[0] for name, v in self.values.items() if self.batched.get(name)})

    def run(self, /, **changes: Any) -> Any:
        """The operator outside of the level, on the physical values with `changes`."""
        values = {**self.values, **changes}
        parameters = self.operator.parameters
        positional = [values[p.name] for p in parameters if not p.keyword_only]
        keywords = {p.name: values[p.name] for p in parameters if p.keyword_only}
        return form(self.operator, FUNCTION)(*positional, **keywords)
