"""Batching rules of reading and writing by position."""

from __future__ import annotations

import math
from typing import Any

from ...shapes import broadcast_shapes
from ..comparison import where
from .calls import Call
from .rules import batches, dynamic, past_batch

batches("masked_scatter_backward", "nonzero")("dynamic")
batches("_unique2", "unique_dim", "unique_consecutive", "distinct")("dynamic")


def _places(call: Call) -> Any:
    """The vector of positions, as a row for each example."""
    index = call.front("index")
    return index.reshape(call.size, -1)


def _joined(call: Call, dim: int, *names: str) -> tuple[dict[str, Any], int]:
    """The inputs `names` with the batch merged into dimension `dim`, moved to the front, and the
    size of that of the first."""
    changed: dict[str, Any] = {}
    for name in names:
        x = call.front(name)
        x = (x if x.ndim > 1 else x.unsqueeze(1)).movedim(dim + 1, 1)
        changed[name] = x.flatten(0, 1)
    size = call.front(names[0]).shape[dim + 1] if call.rank(names[0]) else 1
    return changed, size


def _offset(call: Call, index: Any, size: int) -> Any:
    """Positions in examples of `size` as positions in all of them, one after the other."""
    return (index + _numbers(call.size).mul(size).unsqueeze(1)).reshape(-1)


def _by_index(call: Call, *sources: str) -> Any:
    """An operator along one dimension with a vector of positions, each example's its own."""
    rank = max(call.rank("self"), 1)
    dim = call["dim"] % rank
    inputs, size = _joined(call, dim, "self", *sources)
    index = _offset(call, _places(call), size)
    made = call.run(**inputs, dim=0, index=index)
    made = made.unflatten(0, (call.size, made.shape[0] // call.size)).movedim(1, dim + 1)
    return made if call.rank("self") else made.squeeze(1)


def _one_index(call: Call, *names: str) -> Any:
    """The same with one vector of positions for all examples."""
    rank = max(call.rank("self"), 1)
    inputs = {name: call.front(name) for name in names}
    if not call.rank("self"):
        inputs = {name: x.unsqueeze(1) if x.ndim == 1 else x for name, x in inputs.items()}
    made = call.run(**inputs, dim=past_batch(call["dim"], rank))
    return made if call.rank("self") else made.squeeze(1)


@batches("index_select")
def _selected(call: Call) -> Any:
    return _by_index(call) if call.batched["index"] else _one_index(call, "self")


@batches("index_add", "index_copy", "index_reduce")
def _with_source(call: Call) -> Any:
    if call.batched["index"]:
        return _by_index(call, "source")
    return _one_index(call, "self", "source")


@batches("index_fill")
def _filled(call: Call) -> Any:
    return _by_index(call) if call.batched["index"] else _one_index(call, "self")


@batches("index_fill.tensor")
def _filled_with(call: Call) -> Any:
    """A value of each example's own is put where one of the positions is."""
    if not call.batched["value"]:
        return _filled(call)
    x = call.front("self")
    dim = call["dim"] % max(x.ndim - 1, 1)
    places = _places(call)
    size = x.shape[dim + 1] if x.ndim > 1 else 1
    chosen = places.new_zeros((call.size, size)).scatter(1, places, 1).bool()
    if x.ndim > 1:
        chosen = chosen.reshape(call.size, *[1] * dim, size, *[1] * (x.ndim - dim - 2))
    value = call["value"].reshape(call.size, *[1] * (x.ndim - 1))
    return where(chosen.reshape(x.shape) if x.ndim == 1 else chosen, value, x)


@batches("index_select_backward")
def _select_gradient(call: Call) -> Any:
    return _added(call, call["self"].new_zeros(call.size, *call["shape"]), call.front("self"))


def _added(call: Call, target: Any, source: Any) -> Any:
    """`source` added to `target` (both batches) at the positions along `dim`."""
    if target.ndim == 1:
        source = source.reshape(call.size, -1)
        return _added(call, target.unsqueeze(1), source).squeeze(1)
    dim = call["dim"] % (target.ndim - 1)
    if not call.batched["index"]:
        return target.index_add(dim + 1, call["index"].reshape(-1), source)
    size = target.shape[dim + 1]
    flat, given = (x.movedim(dim + 1, 1).flatten(0, 1) for x in (target, source))
    made = flat.index_add(0, _offset(call, _places(call), size), given)
    return made.unflatten(0, (call.size, size)).movedim(1, dim + 1)


# Index tensors in several dimensions.


def _arranged(call: Call) -> tuple[list[Any], list[int], int, int]:
    """Index tensors and their dimensions for the batch; how many dimensions the positions have,
    and at which dimension of an example's result they come."""
    dims = list(call["dims"])
    adjacent = dims == list(range(dims[0], dims[0] + len(dims)))
    flags = call.batched["indices"]
    shapes = [tuple(i.shape[b:]) for i, b in zip(call["indices"], flags, strict=True)]
    wide = len(broadcast_shapes(*shapes))
    indices = []
    for index, batched in zip(call["indices"], flags, strict=True):
        if batched:
            missing = wide - (index.ndim - 1)
            index = index.reshape(call.size, *[1] * missing, *index.shape[1:])
        indices.append(index)
    return indices, [dim + 1 for dim in dims], wide, dims[0] if adjacent else 0


def _with_numbers(call: Call, indices: list[Any], wide: int) -> list[Any]:
    """The index tensors behind one that tells the example."""
    numbers = _numbers(call.size).reshape(call.size, *[1] * wide)
    return [numbers, *indices]


def _numbers(size: int) -> Any:
    from ...ranges import arange

    return arange(size)


@batches("index")
def _read(call: Call) -> Any:
    indices, dims, wide, at = _arranged(call)
    if any(call.batched["indices"]):
        made = call.run(
            self=call.front("self"), indices=_with_numbers(call, indices, wide), dims=[0, *dims]
        )
        return _moved(made, 1, 1 + at, wide)
    made = call.run(indices=indices, dims=dims)
    return made if at == dims[0] - 1 and _adjacent(dims) else made.movedim(wide, 0)


def _adjacent(dims: list[int]) -> bool:
    return dims == list(range(dims[0], dims[0] + len(dims)))


def _moved(made: Any, start: int, end: int, count: int) -> Any:
    """`count` dimensions from `start` moved so that they come from `end`."""
    if start == end or not count:
        return made
    return made.movedim([start + i for i in range(count)], [end + i for i in range(count)])


def _write(call: Call, target: Any, name: str, accumulate: bool) -> Any:
    from ..indexing import index_put_at

    indices, dims, wide, at = _arranged(call)
    indices = _with_numbers(call, indices, wide)
    values = call[name]
    rank = target.ndim - 1 - len(dims) + wide
    if call.batched[name]:
        values = call.aligned(name, rank)
    else:
        values = values.reshape(1, *[1] * (rank - values.ndim), *values.shape)
    values = _moved(values, 1 + at, 1, wide) if at else values
    return index_put_at(target, indices, values, [0, *dims], accumulate)


@batches("index_put")
def _written(call: Call) -> Any:
    return _write(call, call.front("self"), "values", call["accumulate"])


@batches("index_backward")
def _read_gradient(call: Call) -> Any:
    zeros = call["self"].new_zeros(call.size, *call["shape"])
    return _write(call, zeros, "self", True)


@batches("index_put_backward")
def _cleared(call: Call) -> Any:
    indices, dims, wide, _ = _arranged(call)
    return call.run(
        self=call.front("self"), indices=_with_numbers(call, indices, wide), dims=[0, *dims]
    )


# Positions in the flattened tensor.


def _flat_positions(call: Call) -> Any:
    index = call.front("index")
    total = math.prod(call["shape"]) if "shape" in call.values else call.front("self")[0].numel()
    index = index % total if total else index
    return index + _numbers(call.size).mul(total).reshape(-1, *[1] * (index.ndim - 1))


@batches("take", "put")
def _taken(call: Call) -> Any:
    changes = {"source": call.front("source")} if "source" in call.values else {}
    return call.run(self=call.front("self"), index=_flat_positions(call), **changes)


@batches("take_backward")
def _taken_gradient(call: Call) -> Any:
    return call.run(
        self=call.front("self"), index=_flat_positions(call), shape=(call.size, *call["shape"])
    )


@batches("unselect")
def _unselected(call: Call) -> Any:
    g, index, shape = call.front("self"), call.front("index"), tuple(call["shape"])
    if not shape:
        return g.reshape(call.size)
    return call.run(
        self=g, index=index, shape=(call.size, *shape), dim=past_batch(call["dim"], len(shape))
    )


# Elements where a mask is true: as many for each example only if these share the mask.


def _chosen(call: Call, shape: tuple[int, ...]) -> Any:
    """The positions, in examples of `shape`, where the mask that all share is true."""
    if call.batched["mask"]:
        return dynamic(call)
    return call["mask"].expand(shape).reshape(-1).nonzero().squeeze(1)


@batches("masked_select")
def _masked(call: Call) -> Any:
    x = call["self"]
    shape = broadcast_shapes(tuple(x.shape[1:]), tuple(call["mask"].shape))
    places = _chosen(call, shape)
    x = call.aligned("self", len(shape)).expand(call.size, *shape)
    return x.reshape(call.size, -1).index_select(1, places)


@batches("masked_select_backward")
def _masked_gradient(call: Call) -> Any:
    shape = tuple(call["shape"])
    wide = broadcast_shapes(shape, tuple(call["mask"].shape[call.batched["mask"] :]))
    places = _chosen(call, wide)
    zeros = call["self"].new_zeros(call.size, math.prod(wide))
    spread = zeros.index_copy(1, places, call["self"]).reshape(call.size, *wide)
    return spread.sum_to_size(call.size, *[1] * (len(wide) - len(shape)), *shape).reshape(
        call.size, *shape
    )
