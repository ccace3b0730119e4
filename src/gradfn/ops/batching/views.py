"""Batching rules of views and of other changes of shape."""

from __future__ import annotations

import math
from typing import Any

from ...raw.strided import Geometry
from ...raw.views import strided_window
from ...shapes import infer_size, wrap_dim
from .calls import Call
from .rules import aligned, batches, past_batch

batches("alias", "identity", "alias_copy", "view_as_real", "view_as_real_copy")(aligned)
batches("view.dtype", "view_copy.dtype")(aligned)


@batches("view_as_complex", "view_as_complex_copy")
def _as_complex(call: Call) -> Any:
    if not call.rank("self"):
        raise RuntimeError("Input tensor must have one or more dimensions")
    return call.run()


@batches("clone", "_to_copy")
def _copied(call: Call) -> Any:
    axes = call["axes"]
    return call.run(axes=None if axes is None else (0, *(axis + 1 for axis in axes)))


@batches("view", "_reshape_alias", "_unsafe_view", "view_copy")
def _reshaped(call: Call) -> Any:
    x = call["self"]
    shape = infer_size(tuple(call["shape"]), math.prod(x.shape[1:]))
    return call.run(shape=(call.size, *shape))


@batches("t", "t_copy", "t_")
def _transposed(call: Call) -> Any:
    x = call["self"]
    return x.transpose(1, 2) if x.ndim == 3 else x.view_as(x)


@batches("transpose", "transpose_copy", "transpose_")
def _exchanged(call: Call) -> Any:
    rank = call.rank("self")
    if not rank:
        return call["self"].view_as(call["self"])
    return call.run(dim0=past_batch(call["dim0"], rank), dim1=past_batch(call["dim1"], rank))


@batches("permute", "permute_copy")
def _permuted(call: Call) -> Any:
    dims = call["dims"]
    return call.run(dims=(0, *(past_batch(dim, len(dims)) for dim in dims)))


@batches("unsqueeze", "unsqueeze_copy", "unsqueeze_")
def _unsqueezed(call: Call) -> Any:
    return call.run(dim=past_batch(call["dim"], call.rank("self") + 1))


@batches("squeeze", "squeeze_copy", "squeeze_")
def _squeezed(call: Call) -> Any:
    x = call["self"]
    return x.squeeze(tuple(dim for dim in range(1, x.ndim) if x.shape[dim] == 1))


@batches("squeeze.dim", "squeeze_copy.dim", "squeeze_.dim")
@batches("squeeze.dims", "squeeze_copy.dims", "squeeze_.dims")
def _squeezed_along(call: Call) -> Any:
    x, dim, rank = call["self"], call["dim"], call.rank("self")
    for d in dim if isinstance(dim, list | tuple) else [dim]:
        wrap_dim(d, rank)
    if not rank or dim == ():
        return x.view_as(x)
    return call.run(dim=past_batch(dim, rank))


@batches("expand", "expand_copy")
def _expanded(call: Call) -> Any:
    x, size = call.aligned("self", len(call["size"])), tuple(call["size"])
    return call.run(self=x, size=(call.size, *size))


def _window(call: Call, base: Any) -> Geometry:
    """Where the slices lie in the batch: each behind the one before."""
    where: Geometry = call["where"]
    reach = max(
        [where.offset + where.dtype.itemsize, where.base_dtype.itemsize]
        + [start + sum(step * (n - 1) for step, n in zip(strides, shape, strict=True) if step > 0)
           + where.base_dtype.itemsize
           for start, strides, shape in (
               (0, where.base_strides, where.base_shape), (where.offset, where.strides, where.shape)
           )]
    )  # fmt: skip
    step = -(-reach // 16) * 16
    return where._replace(
        base_shape=(call.size, *where.base_shape),
        base_strides=(step, *where.base_strides),
        shape=(call.size, *where.shape),
        strides=(step, *where.strides),
    )


@batches("view_of", "base_of")
def _in_window(call: Call) -> Any:
    return call.run(where=_window(call, call["self"]))


@batches("as_strided_scatter")
def _scattered_in_window(call: Call) -> Any:
    return call.run(
        self=call.front("self"), src=call.front("src"), where=_window(call, call["self"])
    )


@batches("as_strided", "as_strided_copy", "as_strided_")
def _strided(call: Call) -> Any:
    x, where = call["self"], call["where"]
    array, item = x._array, x._array.itemsize
    from ...raw.views import storage, storage_offset_of

    offset = storage_offset_of(array, storage(array)) + where.offset // item
    strides = [array.strides[0] // item, *(step // item for step in where.strides)]
    return call.run(where=strided_window(array, (call.size, *where.shape), strides, offset))


@batches("stack")
def _stacked(call: Call) -> Any:
    pairs = zip(call["tensors"], call.batched["tensors"], strict=True)
    tensors = [call.fronted(tensor, batched) for tensor, batched in pairs]
    return call.run(tensors=tensors, dim=past_batch(call["dim"], tensors[0].ndim))


@batches("cat")
def _joined(call: Call) -> Any:
    pairs = zip(call["tensors"], call.batched["tensors"], strict=True)
    tensors = [call.fronted(tensor, batched) for tensor, batched in pairs]
    ranks = [tensor.ndim - 1 for tensor in tensors if tensor.shape[1:] != (0,)]
    rank = ranks[0] if ranks else 1
    kept = [tensor for tensor in tensors if tensor.ndim - 1 == rank or not ranks]
    return call.run(tensors=kept, dim=past_batch(call["dim"], rank))


@batches("repeat")
def _repeated(call: Call) -> Any:
    repeats = tuple(call["repeats"])
    return call.run(self=call.aligned("self", len(repeats)), repeats=(1, *repeats))


@batches("repeat_backward")
def _repeated_back(call: Call) -> Any:
    repeats, shape = tuple(call["repeats"]), tuple(call["shape"])
    padded = (*[1] * (len(repeats) - len(shape)), *shape)
    made = call.run(repeats=(1, *repeats), shape=(call.size, *padded))
    return made.reshape(call.size, *shape)


@batches("flip")
def _flipped(call: Call) -> Any:
    x = call["self"]
    return x.flip(_each(call["dims"], x.ndim - 1)) if x.ndim > 1 else x.clone()


@batches("rot90")
def _turned(call: Call) -> Any:
    return call.run(dims=_each(call["dims"], call.rank("self")))


def _each(dims: Any, rank: int) -> tuple[int, ...]:
    return tuple(past_batch(dim, max(rank, 1)) for dim in dims)


@batches("roll")
def _rolled(call: Call) -> Any:
    x, dims = call["self"], call["dims"]
    if len(dims):
        return call.run(dims=_each(dims, call.rank("self")))
    return x.reshape(call.size, -1).roll(call["shifts"], [1] * len(call["shifts"])).view(x.shape)


batches("tril", "triu")(aligned)


@batches("diag_embed")
def _embedded(call: Call) -> Any:
    rank = call.rank("self") + 1
    return call.run(dim1=past_batch(call["dim1"], rank), dim2=past_batch(call["dim2"], rank))


@batches("unfold", "unfold_copy")
def _unfolded(call: Call) -> Any:
    rank = call.rank("self")
    x = call["self"] if rank else call["self"].unsqueeze(1)
    made = call.run(self=x, dimension=past_batch(call["dimension"], max(rank, 1)))
    return made if rank else made.squeeze(1)


@batches("select", "select_copy")
def _selected(call: Call) -> Any:
    return call.run(dim=past_batch(call["dim"], call.rank("self")))


@batches("select_scatter", "slice_scatter", "diagonal_scatter")
def _scattered(call: Call) -> Any:
    rank = call.rank("self")
    names = {"dim", "dim1", "dim2"} & call.values.keys()
    dims = {name: past_batch(call[name], rank) for name in names}
    return call.run(self=call.front("self"), src=call.front("src"), **dims)


@batches("zeros_like")
def _zeros(call: Call) -> Any:
    return call.run()


@batches("new_zeros")
def _new_zeros(call: Call) -> Any:
    return call.run(shape=(call.size, *call["shape"]))


@batches("fill", "fill.in_place", "zero.in_place")
def _filled(call: Call) -> Any:
    return call.run()


@batches("fill.Tensor", "fill.in_place_Tensor")
def _filled_with(call: Call) -> Any:
    value = call["value"]
    if call.batched["value"]:
        value = value.reshape(call.size, *[1] * call.rank("self"))
    x = call.front("self")
    return value.expand(x.shape).to(x.dtype).clone()


@batches("copy")
def _copied_to(call: Call) -> Any:
    x = call.front("self")
    return call.aligned("src", call.rank("self")).expand(x.shape).to(x.dtype)
