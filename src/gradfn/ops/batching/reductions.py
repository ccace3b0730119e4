"""Batching rules of reductions, scans and sorting."""

from __future__ import annotations

from typing import Any

from ..comparison import where
from .calls import Call
from .rules import batches, moved, past_batch


def _flat(call: Call, name: str = "self") -> Any:
    """All of an example in one dimension."""
    return call[name].reshape(call.size, -1)


@batches("sum", "mean", "prod")
def _reduced(call: Call) -> Any:
    reduce = getattr(_flat(call), call.operator.name)
    return reduce(1, dtype=None if call["dtype"] is None else _dtype(call["dtype"]))


def _dtype(dtype: Any) -> Any:
    import numpy as np

    from ...dtypes import from_numpy

    return from_numpy(dtype) if isinstance(dtype, np.dtype) else dtype


@batches("max", "min")
def _extreme(call: Call) -> Any:
    return getattr(_flat(call), "a" + call.operator.name)(1)


@batches("median", "nanmedian")
def _middle(call: Call) -> Any:
    """The mean of the elements that are equal to the median, which shares the gradient."""
    x = _flat(call)
    middle = getattr(x.detach(), call.operator.name)(1, True).values
    chosen = (x == middle) | (x.isnan() & middle.isnan())
    still = x - x.detach()
    if call.operator.name == "nanmedian":
        still = where(chosen, still, 0)
    return middle.squeeze(1) + (still * chosen).sum(1) / chosen.sum(1)


@batches("trace")
def _trace(call: Call) -> Any:
    return call["self"].diagonal(0, 1, 2).sum(1)


@batches("argmax", "argmin")
def _place(call: Call) -> Any:
    if call["dim"] is not None:
        return moved(call)
    place = call.run(self=_flat(call), dim=1, keepdim=False)
    return place.reshape(call.size, *[1] * call.rank("self")) if call["keepdim"] else place


@batches("aminmax", "any", "all", "var_mean", "std_mean", "unique_dim")
def _along(call: Call) -> Any:
    if call.operator.name in ("any", "all", "aminmax") and call["dim"] is None:
        made = call.run(self=_flat(call), dim=1, keepdim=False)
        return _kept(call, made) if call["keepdim"] else made
    return moved(call)


def _kept(call: Call, made: Any) -> Any:
    shape = (call.size, *[1] * call.rank("self"))
    if isinstance(made, tuple | list):
        return [part.reshape(shape) for part in made]
    return made.reshape(shape)


@batches("unsum")
def _unsummed(call: Call) -> Any:
    shape, keepdim = call["shape"], call["keepdim"]
    g = call["self"]
    dims = past_batch(call["dim"], len(shape))
    if not shape:
        return g.reshape(call.size)
    return call.run(self=g, shape=(call.size, *shape), dim=dims, keepdim=keepdim)


@batches("dist")
def _distance(call: Call) -> Any:
    rank = max(call.rank("self"), call.rank("other"))
    difference = call.aligned("self", rank) - call.aligned("other", rank)
    return difference.reshape(call.size, -1).norm(call["p"], 1)


@batches("renorm")
def _renormed(call: Call) -> Any:
    dim = call["dim"] % call.rank("self")
    x = call["self"].movedim(dim + 1, 1)
    flat = x.flatten(0, 1).reshape(x.shape[0] * x.shape[1], -1)
    made = flat.renorm(call["p"], 0, call["maxnorm"])
    return made.reshape(x.shape).movedim(1, dim + 1)


@batches("searchsorted")
def _searched(call: Call) -> Any:
    ordered, values = call.front("sorted_sequence"), call.front("self")
    if ordered.ndim == 2 and values.ndim != 2:  # one sequence for values of any shape
        made = call.run(sorted_sequence=ordered, self=values.reshape(call.size, -1))
        return made.reshape(values.shape)
    return call.run(sorted_sequence=ordered, self=values)
