"""The `out` argument: results written into a tensor of the caller's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import Mode
from ..autograd.node import Array
from .declare import Operator


def write_out(operator: Operator, out: Any, result: Any, mode: Mode, recorded: bool) -> Any:
    """Write `result` (or several) into `out` (or several), resized to fit, and return it."""
    outs = out if isinstance(out, tuple | list) else [out]
    results = [result] if len(operator.results) == 1 else result
    if len(outs) != len(results):
        raise TypeError(
            f"{operator.name}(): argument 'out' must be tuple of {len(results)} Tensors, "
            f"not {len(outs)}"
        )
    if mode.grad and (recorded or any(tensor.requires_grad for tensor in outs)):
        raise RuntimeError(
            f"{operator.name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    for tensor, array in zip(outs, results, strict=True):
        if mode.copies is not None:
            mode.copies.before_write(tensor.memory())
        write(operator.name, tensor, array)
    return out if isinstance(out, operator.returns) or len(outs) == 1 else operator.returns(outs)


def write(name: str, out: Any, result: Array) -> None:
    """Write the array `result` into the tensor `out`."""
    made, kept = dtypes.from_numpy(result.dtype), dtypes.from_numpy(out._array.dtype)
    if not dtypes.can_cast(made, kept):
        raise RuntimeError(
            f"result type {made.scalar_name} can't be cast to the desired output type "
            f"{kept.scalar_name}"
        )
    if out._array.shape != result.shape:
        if out._array.size:
            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out._array.shape)}, which does not match the required output shape "
                f"{list(result.shape)}. This behavior is deprecated, and in a future PyTorch "
                "release outputs will not be resized unless they have zero elements.",
                stacklevel=4,
            )
        out._array = np.empty(result.shape, out._array.dtype)
    np.copyto(out._array, result, casting="unsafe")
    out.memory().write(f"{name}(out=...)")
