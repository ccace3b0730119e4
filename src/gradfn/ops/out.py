"""The `out` argument of operators: results written into tensors of the caller's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar, cast

from .. import dtypes
from ..autograd.batching import is_batched
from ..autograd.inplace import check_overlap
from ..autograd.node import Array
from ..autograd.variable import Variable
from ..creation import refuse_gradients, written
from .declare import Operator

P = ParamSpec("P")
R = TypeVar("R")


def write_out(operator: Operator, out: Any, result: Any, recorded: bool) -> Any:
    """Write an operator's `result` (or several) into `out` (or several), and return that."""
    results = [result] if len(operator.results) == 1 else result
    return _write(operator.name, out, results, operator.returns, recorded)


def stored(name: str, out: Any, result: Any) -> Any:
    """Write what the plain function `name` made, one tensor or a tuple of them, into `out`."""
    tensors = [result] if isinstance(result, Variable) else list(result)
    if any(is_batched(t._array) or t._dual is not None for t in tensors):
        raise RuntimeError(
            f"Batching rule not implemented for aten::{name}.out; the fallback path doesn't work "
            "on out= or view ops, and neither do tangents: use the result"
        )
    recorded = any(t._edge is not None for t in tensors)
    return _write(name, out, [t._array for t in tensors], type(result), recorded)


def with_out(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, which makes tensors of other operators, with PyTorch's argument `out`."""

    @wraps(function)
    def call(*args: P.args, out: Any = None, **kwargs: P.kwargs) -> R:  # type: ignore[valid-type]
        made = function(*args, **kwargs)
        return made if out is None else cast(R, stored(function.__name__, out, made))

    known = signature(function)
    last = Parameter("out", Parameter.KEYWORD_ONLY, default=None)
    call.__signature__ = known.replace(parameters=[*known.parameters.values(), last])  # type: ignore[attr-defined]
    return cast("Callable[P, R]", call)


def _write(
    name: str, out: Any, results: Sequence[Array], returns: type[Any], recorded: bool
) -> Any:
    """Write `results` into `out`, resized to fit."""
    outs = out if isinstance(out, tuple | list) else [out]
    if len(outs) != len(results):
        raise TypeError(
            f"{name}(): argument 'out' must be tuple of {len(results)} Tensors, not {len(outs)}"
        )
    refuse_gradients(name, outs, recorded)
    for tensor, array in zip(outs, results, strict=True):
        _check_fits(tensor, array)
        if tensor._array.shape == array.shape:
            check_overlap(tensor)
        written(name, tensor, array)
    return out if isinstance(out, returns) or len(outs) == 1 else returns(outs)


def _check_fits(out: Any, result: Array) -> None:
    """Refuse an `out` of a lower category than `result`, and warn of one of another shape."""
    made, kept = dtypes.from_numpy(result.dtype), dtypes.from_numpy(out._array.dtype)
    if not dtypes.can_cast(made, kept):
        raise RuntimeError(
            f"result type {made.scalar_name} can't be cast to the desired output type "
            f"{kept.scalar_name}"
        )
    if out._array.shape != result.shape and out._array.size:
        warnings.warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(out._array.shape)}, which does not match the required output shape "
            f"{list(result.shape)}. This behavior is deprecated, and in a future PyTorch "
            "release outputs will not be resized unless they have zero elements.",
            stacklevel=4,
        )
