"""Python's index syntax: ``x[...]`` and ``x[...] = y``.

Integers, slices, None and Ellipsis are views, one operator each, from left to right; what index
tensors remain are then applied at once, as a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import raw
from ..autograd.batching import is_batched
from ..autograd.variable import Variable
from ..raw.numbers import HALF, converted
from .comparison import where
from .conversion import type_name
from .filling import copy_, fill_
from .indexing import index_at, index_put_, positions
from .runtime import narrowed
from .views import alias, expand_size, reshape, unsqueeze, view_shape
from .windows import select, slice_dim

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__: list[str] = []


def get_item(input: Tensor, index: Any) -> Tensor:
    """``input[index]``: a view for integers, slices, None and Ellipsis, a copy for the rest.

    Index tensors and lists pick elements, masks those where they are true. IndexError for what is
    out of bounds.
    """
    if index.__class__ is int:
        return _pick(input, 0, index, 0)
    if index.__class__ is slice and input._array.ndim:
        return slice_dim(input, 0, *_bounds(index))
    if index.__class__ is tuple and (found := _plain(input, index)) is not None:
        return found
    if isinstance(index, Variable) and index._array.ndim and input._array.ndim:
        return index_at(input, *positions(input, (index,)))
    viewed, tensors = _apply_views(input, index)
    if tensors:
        return index_at(viewed, *positions(viewed, tensors))
    return alias(input) if viewed is input else viewed


def _plain(input: Tensor, index: tuple[Any, ...]) -> Tensor | None:
    """The view that integers, slices, None and Ellipsis ask for.

    None for anything else, for mistakes, and where all of the input is asked for.
    """
    result, dim = input, 0
    try:
        for position, item in enumerate(index, 1):
            if item.__class__ is int:
                result = select(result, dim, item)
            elif item.__class__ is slice:
                result = _narrowed(result, dim, item)
                dim += 1
            elif item is None:
                result = unsqueeze(result, dim)
                dim += 1
            elif item is Ellipsis:
                rest = [i for i in index[position:] if i is not None and i is not Ellipsis]
                at = result._array.ndim - len(rest)
                if at < dim:
                    return None
                dim = at
            else:
                return None
    except IndexError:
        return None
    return None if result is input or dim > result._array.ndim else result


def set_item(input: Tensor, index: Any, value: Any) -> None:
    """``input[index] = value``: a tensor that broadcasts, or a number, cast to the dtype.

    Gradients flow to the value and to the rest of the input. RuntimeError where the value does
    not fit, or where a leaf that requires a gradient would be overwritten.
    """
    if not isinstance(value, Variable):
        value = _number(input, value)
    if index is False:
        return
    if index.__class__ is int:
        _write(_pick(input, 0, index, 0), value)
        return
    if index.__class__ is tuple and (found := _plain(input, index)) is not None:
        _write(found, value)
        return
    viewed, tensors = (unsqueeze(input, 0), []) if index is True else _apply_views(input, index)
    if not tensors:
        _write(viewed, value)
        return
    value = _without_leading_ones(value)
    if not value._array.ndim and value._array.dtype != viewed._array.dtype:
        value = value.to(viewed.dtype)
    mask = tensors[0]
    if len(tensors) == 1 and _is_batched_mask(mask) and not value._array.ndim:
        trailing = viewed._array.ndim - mask._array.ndim
        _write(viewed, where(mask.reshape(*mask.shape, *[1] * trailing), value, viewed))
        return
    index_put_(viewed, tensors, value)


def _is_batched_mask(index: Any) -> bool:
    """Whether `index` is a mask of each example's own, inside vmap."""
    return index is not None and is_batched(index._array) and index._array.dtype == np.bool_


def _number(input: Tensor, value: Any) -> Any:
    """The number `value` as a 0-d tensor of the dtype of `input`."""
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, bool | int | float | complex):
        raise TypeError(f"can't assign a {type(value).__name__} to a {type_name(input.dtype)}")
    dtype = input._array.dtype
    single = np.dtype(np.float32) if dtype.char in HALF else dtype
    return Variable.wrap(narrowed(converted(value, single), dtype))


def _write(target: Tensor, value: Any) -> None:
    """Write `value` into all of `target`, broadcast."""
    shape = value._array.shape
    if shape == target._array.shape:
        copy_(target, value)
    elif not shape:
        fill_(target, value)
    else:
        ones = next((i for i, size in enumerate(shape) if size != 1), len(shape))
        value, wanted = view_shape(value, shape[ones:]), target._array.shape
        copy_(target, value if value._array.shape == wanted else expand_size(value, wanted))


def _without_leading_ones(value: Any) -> Any:
    shape = value._array.shape
    return value if not shape or shape[0] != 1 else _without_leading_ones(reshape(value, shape[1:]))


def _apply_views(input: Tensor, index: Any) -> tuple[Tensor, list[Any]]:
    """The views that `index` asks for; and the index tensors left to apply, with None for each
    dimension that they leave whole."""
    items = [*map(_converted, _items(index))]
    ndim = input._array.ndim
    room = ndim - sum(map(_consumed, items))
    if not ndim and any(item.__class__ is slice for item in items):
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if room < 0:
        raise IndexError(
            f"too many indices for tensor of dimension {ndim}: the index takes {ndim - room}"
        )
    result, tensors, covered = input, [], 0
    dim = taken = 0  # of the result, and of the input
    for item in items:
        steps = _consumed(item)
        if item is Ellipsis:
            dim, taken, room = dim + room, taken + room, 0
        elif item is None:
            result = unsqueeze(result, dim)
            dim += 1
        elif item.__class__ is int:
            result = _pick(result, dim, item, taken)
        elif item.__class__ is slice:
            result = _narrowed(result, dim, item)
            dim += 1
        else:
            if not steps:
                result, item = unsqueeze(result, dim), reshape(item, (1,))
            tensors += [None] * (dim - covered) + [item]
            dim += max(steps, 1)
            covered = dim
        taken += steps
    return result, tensors


def _items(index: Any) -> Sequence[Any]:
    """The parts of an index; a list counts as a tuple where not all in it are numbers."""
    if index.__class__ is tuple:
        return index
    if isinstance(index, list) and any(
        item is None or item is Ellipsis or isinstance(item, slice | Variable | Sequence)
        for item in index
    ):
        return index
    return (index,)


def _converted(item: Any) -> Any:
    """An integer, slice, None or Ellipsis as it is; anything else as an index tensor."""
    if item is None or item is Ellipsis or item.__class__ in (int, slice):
        return item
    if isinstance(item, Variable):
        array = item._array
        number = not array.ndim and array.dtype.kind == "i" and not is_batched(array)
        return int(array) if number else item
    if isinstance(item, bool | np.bool_):
        return Variable.wrap(np.array(item, bool))
    if isinstance(item, str):
        raise TypeError("new(): invalid data type 'str': a tensor has no named parts")
    if isinstance(item, np.ndarray):
        return _converted(Variable.wrap(item))
    if isinstance(item, Sequence):
        array = np.asarray([getattr(i, "_array", i) for i in item])
        return Variable.wrap(array if array.dtype.kind == "b" else array.astype(np.int64))
    if hasattr(item, "__index__"):
        return item.__index__()
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        f"indices (got {type(item).__name__})"
    )


def _consumed(item: Any) -> int:
    """How many dimensions of the input an item takes."""
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, Variable) and item._array.dtype in (np.bool_, np.uint8):
        return item._array.ndim
    return 1


def _pick(input: Tensor, dim: int, index: int, taken: int) -> Tensor:
    """The view at an integer; `taken` is the number of the dimension for errors."""
    try:
        return select(input, dim, index)
    except IndexError:
        if not input._array.ndim:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` to convert it to a number"
            ) from None
        raise IndexError(raw.out_of_bounds(index, taken, input._array.shape[dim])) from None


def _integer(bound: Any) -> int:
    if not hasattr(bound, "__index__"):
        raise TypeError(
            "slice indices must be integers or None or have an __index__ method, not "
            f"{type(bound).__name__}"
        )
    return int(bound.__index__())


def _bounds(index: slice) -> tuple[int | None, int | None, int]:
    start, end, step = index.start, index.stop, index.step
    if start is not None and start.__class__ is not int:
        start = _integer(start)
    if end is not None and end.__class__ is not int:
        end = _integer(end)
    if step is None:
        return start, end, 1
    step = _integer(step)
    if step <= 0:
        raise ValueError(f"step must be greater than zero, but it is {step}")
    return start, end, step


def _narrowed(input: Tensor, dim: int, index: slice) -> Tensor:
    """The view of a slice, or the input itself where that is all of it."""
    start, end, step = _bounds(index)
    size = input._array.shape[dim]
    if step == 1 and not start and (end is None or end >= size):
        return input
    return slice_dim(input, dim, start, end, step)


__getitem__, __setitem__ = get_item, set_item

METHODS = "__getitem__ __setitem__"
