"""The operators of the database as functions of their tensors, as vmap takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .candidate import lib
from .core import OpInfo, Sample, Values

SIZE = 2

# Operators whose results have a shape that depends on values, or that look at values.
UNMAPPED = {
    "_unique2", "allclose", "argwhere", "bincount", "equal", "histc", "histogram",
    "histogramdd", "is_nonzero", "item",
    "masked_scatter", "masked_select", "nonzero", "one_hot", "tolist", "unique",
    "unique_consecutive",
}  # fmt: skip


def values(case: Sample, dtype: str, key: str, number: int) -> list[Values]:
    return case.arrays(dtype, key if number == 0 else f"{key}/{number}")


def flat(result: Any) -> list[Any]:
    """The tensors of a result."""
    if isinstance(result, list | tuple):
        return [tensor for part in result for tensor in flat(part)]
    return [result] if isinstance(result, lib.Tensor) else []


def one_call(op: OpInfo, case: Sample, arrays: Sequence[Values]) -> Callable[..., list[Any]]:
    """The operator as a function of all its tensor arguments."""
    call = case.bind(lib, arrays)
    call.leaves = call.tensors

    def run(*tensors: Any) -> list[Any]:
        return flat(op.run(lib, call.with_leaves(list(tensors))))

    return run


def mapped(op: OpInfo) -> bool:
    return op.base not in UNMAPPED and op.name != "where~indices" and not op.random
