"""Forward mode through custom functions: the tangents that the user's `jvp` gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import FLOAT
from .forward_ad import Level, check_size, without_tangents
from .grad_mode import get_mode, set_mode
from .variable import Variable

if TYPE_CHECKING:
    from .function import BackwardCFunction


def tangents_of(level: Level, args: tuple[Any, ...]) -> list[Any]:
    """The tangents of the arguments of a custom function; None for those without."""
    return [level.tangent_of(a) if isinstance(a, Variable) else None for a in args]


def push_forward(
    ctx: BackwardCFunction, level: Level, args: tuple[Any, ...], given: list[Any], wrapped: Any
) -> None:
    """Let the outputs `wrapped` carry the tangents that `jvp` computes from those `given`."""
    inputs = {id(a): (a, t) for a, t in zip(args, given, strict=True) if isinstance(a, Variable)}
    before = {id(t): t._version for t in given if t is not None}
    plain = {id(t) for t in ctx.non_differentiable}
    found = _called(ctx, args, given)
    if len(found) != len(wrapped):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(wrapped)} but got {len(found)}): {ctx.name()} has as many outputs"
        )
    for position, (output, tangent) in enumerate(zip(wrapped, found, strict=True)):
        if tangent is not None and not isinstance(tangent, Variable):
            raise RuntimeError(
                f"expected Variable or None (got {type(tangent).__name__}) for grad output "
                f"{position}, which the jvp of {ctx.name()} returned"
            )
        if not isinstance(output, Variable):
            continue
        if id(output) in plain or output.dtype.category < FLOAT:
            if tangent is not None:
                raise RuntimeError(
                    f"Function's jvp returned a gradient at position {position}, but the "
                    "corresponding forward output is not a differentiable Tensor. You should "
                    "return None at that position instead."
                )
            continue
        if tangent is not None:
            check_size(output, tangent)
        if id(output) in inputs:
            _write(level, output, inputs[id(output)][1], tangent, before)
        elif tangent is not None:
            _give(level, output, tangent, inputs)


def _called(ctx: BackwardCFunction, args: tuple[Any, ...], given: list[Any]) -> tuple[Any, ...]:
    """What `jvp` returns; it finds in `saved_tensors` those that were saved for it."""
    tangents = [
        _zeros(a) if t is None and ctx.materialize_grads else t
        for a, t in zip(args, given, strict=True)
    ]
    mode = get_mode()
    set_mode(without_tangents(mode))
    ctx.forward_mode = True
    try:
        found = ctx._forward_cls.jvp(ctx, *tangents)
    finally:
        ctx.forward_mode = False
        set_mode(mode)
    ctx.saved_for_forward = ()
    return found if isinstance(found, tuple) else (found,)


def _zeros(value: Any) -> Any:
    """The tangent of an argument that has none; None where it cannot have one."""
    if not isinstance(value, Variable) or value.dtype.category < FLOAT:
        return None
    return Variable.wrap(np.zeros_like(value._array))


def _write(level: Level, output: Any, old: Any, tangent: Any, before: dict[int, int]) -> None:
    """An input that `forward` has changed in place: so must `jvp` its tangent."""
    if old is None:
        if tangent is not None:
            level.write(output, tangent)
    elif tangent is not old or tangent._version == before[id(old)]:
        raise RuntimeError(
            "An inplace custom Function is not modifying the forward mode gradients inplace. If "
            "the forward is modifying an input inplace, then the jvp function must modify the "
            "corresponding gradient inplace."
        )


def _give(level: Level, output: Any, tangent: Any, inputs: dict[int, Any]) -> None:
    """A new output; where it views an input, `jvp` must return that view of the tangent."""
    viewed = None
    if output._base is not None:
        pairs = inputs.values()
        related = [(a, t) for a, t in pairs if output._base is a or output._base is a._base]
        viewed = max(related, key=lambda pair: pair[1] is not None, default=None)
    if viewed is None:
        level.give(output, tangent)
        return
    source, old = viewed
    level.follow(output, source)
    if old is None:
        level.write(output, tangent)
        return
    if tangent._base is None:
        raise RuntimeError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is "
            "not returning a view."
        )
    base, what = (old, "the") if old._base is None else (old._base, "the same base as the")
    if tangent._base is not base:
        raise RuntimeError(
            "A custom Function is returning a view but the jvp is not returning a view of "
            f"{what} given grad input."
        )
    level.attach(output, tangent, level.base_of(output))
