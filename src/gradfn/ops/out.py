"""The `out` argument of operators: results written into tensors of the caller's."""

from __future__ import annotations

import warnings
from typing import Any

from .. import dtypes
from ..autograd.node import Array
from ..creation import refuse_gradients, written
from .declare import Operator


def write_out(operator: Operator, out: Any, result: Any, recorded: bool) -> Any:
    """Write `result` (or several) into `out` (or several), resized to fit, and return it."""
    outs = out if isinstance(out, tuple | list) else [out]
    results = [result] if len(operator.results) == 1 else result
    if len(outs) != len(results):
        raise TypeError(
            f"{operator.name}(): argument 'out' must be tuple of {len(results)} Tensors, "
            f"not {len(outs)}"
        )
    refuse_gradients(operator.name, outs, recorded)
    for tensor, array in zip(outs, results, strict=True):
        _check_fits(tensor, array)
        written(operator.name, tensor, array)
    return out if isinstance(out, operator.returns) or len(outs) == 1 else operator.returns(outs)


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
