"""Borders around tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from .. import raw
from ..raw.padding import border_places
from .declare import Function, op
from .windows import slice_dim

__all__ = ["constant_pad_nd"]

pad_constant = op(
    "constant_pad_nd(self, pad, value=0)",
    kernel=raw.constant_pad_nd,
    tangent=lambda F, self_t, pad: F.constant_pad_nd(self_t, pad),
    self=lambda F, g, pad: F.constant_pad_nd(g, [-p for p in pad]),
)
unpick = op(
    "unpick(grad, sizes, places)",
    kernel=raw.unpick,
    tangent="linear",
    grad=lambda F, g, places: F.pick(g, places),
    doc="Zeros with the elements of `grad` added at their `places` along the last dimensions.",
)
pick = op(
    "pick(self, places)",
    kernel=raw.pick,
    tangent="linear",
    self=lambda F, g, self_shape, places: F.unpick(g, self_shape[-len(places) :], places),
    doc="The `places` of each of the last dimensions.",
)


def _padded_by(dims: int, mode: str) -> Function:
    """The row that fills borders of the last `dims` dimensions from within."""
    name = {"reflect": "Reflection", "replicate": "Replication"}[mode]

    def gradient(F: Any, g: Any, self_shape: Any, padding: Any) -> Any:
        places = border_places(self_shape, padding, mode)
        return F.unpick(g, self_shape[-dims:], places)

    return op(
        f"{name.lower()}_pad{dims}d(self, padding)",
        kernel=partial(raw.pad_by_index, mode=mode),
        node=f"{name}Pad{dims}DBackward0",
        refuses="b",
        tangent="linear",
        self=gradient,
        doc=f"`pad` of {dims} dimensions in the mode {mode!r}.",
    )


_ROWS = {mode: [_padded_by(dims, mode) for dims in (1, 2, 3)] for mode in ("reflect", "replicate")}


def constant_pad_nd(input: Any, pad: Sequence[int], value: Any = 0) -> Any:
    """`input` with borders of `value`, as `torch.constant_pad_nd`.

    `pad` has the sizes before and after the last dimension, then the last but one, and so on;
    negative ones cut off. RuntimeError where nothing remains.

    >>> from gradfn import constant_pad_nd, tensor
    >>> constant_pad_nd(tensor([1, 2]), (1, 2))
    tensor([0, 1, 2, 0, 0])
    """
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(pad)} while the input has {input.ndim} dimensions."
        )
    for i, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        size = input.shape[input.ndim - 1 - i]
        if size + before + after < 0:
            raise RuntimeError(
                f"The input size {size}, plus negative padding {before} and {after} resulted in a "
                "negative output size, which is invalid. Check dimension "
                f"{input.ndim - 1 - i} of your input."
            )
    return pad_constant(input, tuple(pad), value)


def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Any:
    """Borders around the last dimensions of `input`, as `torch.nn.functional.pad`.

    `pad` has the sizes before and after the last dimension, then the last but one, and so on.
    `mode` fills them: ``"constant"`` with `value`, ``"reflect"`` mirrored at the edge,
    ``"replicate"`` with the edge, ``"circular"`` from the other side. But for the first, batched
    and single inputs of one to three spatial dimensions. RuntimeError for borders that do not fit,
    NotImplementedError for other modes and dimensions.

    >>> from gradfn import nn, tensor
    >>> nn.functional.pad(tensor([[1., 2., 3.]]), (2, 1), mode="reflect")
    tensor([[3., 2., 1., 2., 3., 2.]])
    """
    if len(pad) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2, but it is {len(pad)}")
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    if value not in (None, 0):
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    dims = len(pad) // 2
    if dims not in (1, 2, 3) or input.ndim not in (dims + 1, dims + 2):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now; this is "
            f"a padding of {dims} dimensions, and the input has {input.ndim}"
        )
    if mode == "circular":
        return _circular(input, tuple(pad))
    if mode not in _ROWS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    _check_borders(input, pad, mode)
    return _ROWS[mode][dims - 1](input, tuple(pad))


def _check_borders(input: Any, pad: Sequence[int], mode: str) -> None:
    dims = len(pad) // 2
    if 0 in input.shape[-dims - 1 :]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size "
            f"and other non-zero dimensions for input, but got: {list(input.shape)}"
        )
    for i, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        size = input.shape[input.ndim - 1 - i]
        if mode == "reflect" and max(before, after) >= size:
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, "
                f"but got: padding ({before}, {after}) at dimension {input.ndim - 1 - i} of input "
                f"{list(input.shape)}"
            )
        if size + before + after < 1:
            raise RuntimeError(
                f"input (W: {size}) is too small. Calculated output W: {size + before + after}"
            )


def _circular(input: Any, pad: tuple[int, ...]) -> Any:
    """The input written into the middle, then its ends to the other sides, dimension by dimension.

    Composed of copies into slices, as in PyTorch, so that graphs are the same.
    """
    axes = [input.ndim - 1 - i for i in range(len(pad) // 2)]
    shape = list(input.shape)
    for axis, before, after in zip(axes, pad[::2], pad[1::2], strict=True):
        if max(before, after) > shape[axis]:
            raise RuntimeError(
                "Padding value causes wrapping around more than once: "
                f"{max(before, after)} at a dimension of size {shape[axis]}"
            )
        if shape[axis] + before + after < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        shape[axis] += before + after
    padded = input.new_empty(shape)
    middle, source = padded, input
    for axis, before, after in zip(axes, pad[::2], pad[1::2], strict=True):
        middle = slice_dim(middle, axis, max(before, 0), shape[axis] - max(after, 0))
        source = slice_dim(source, axis, max(-before, 0), input.shape[axis] - max(-after, 0))
    middle.copy_(source)
    for axis, before, after in reversed([*zip(axes, pad[::2], pad[1::2], strict=True)]):
        size, start, stop = shape[axis], max(before, 0), shape[axis] - max(after, 0)
        if before > 0:
            end = slice_dim(padded, axis, stop - before, stop)
            slice_dim(padded, axis, 0, before).copy_(end)
        if after > 0:
            slice_dim(padded, axis, size - after, size).copy_(
                slice_dim(padded, axis, start, start + after)
            )
    return padded


METHODS = ""
