"""In-place operations: what they may write to, and how histories follow.

Note [In-place and views]: an operation that writes to a view changes its base. The base's new
history is a `CopySlices` node, which applies the operation's own node to the slice that was
written and passes the rest through; every living view of the base is then a view of that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..raw.strided import Geometry, geometry, strided_base, strided_view
from .modes import Mode
from .node import Array, Freed, Node, accumulate_edge
from .variable import LEAF


def check_target(target: Any, name: str, mode: Mode, recorded: bool) -> None:
    """Refuse to write to `target` where PyTorch does, before anything is written."""
    if mode.grad:
        base = target._base
        if target._edge is LEAF:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation. "
                f"{name} would overwrite a value that its gradient belongs to: do it under "
                "no_grad(), or use the out-of-place form."
            )
        if base is not None and base._edge is LEAF and target._view_kind is None:
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place "
                f"operation: {name} would overwrite part of that leaf. Do it under no_grad()."
            )
        if target._view_kind is not None and (recorded or target._edge or base._edge):
            _refuse_view(target, name)
    if target._inference and not mode.inference and (mode.grad and recorded):
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. "
            "You can make a clone to get a normal tensor before doing inplace update."
        )
    array = target._array
    if array.size and 0 in array.strides and any(
        step == 0 and size > 1 for step, size in zip(array.strides, array.shape, strict=True)
    ):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def _refuse_view(target: Any, name: str) -> None:
    kind = target._view_kind
    if kind == "no_grad":
        raise RuntimeError(
            "A view was created in no_grad mode and is being modified inplace with grad mode "
            f"enabled by {name}. Make the view with gradients enabled, or write under no_grad()."
        )
    maker = target.grad_fn.name() if target.grad_fn is not None else kind
    raise RuntimeError(
        f"Output {target.output_nr} of {maker} is a view and is being modified inplace. This view "
        "is the output of a function that returns multiple views. Such functions do not allow the "
        "output views to be modified inplace. You should replace the inplace operation by an "
        "out-of-place one."
    )


def check_result(target: Any, result: Array, name: str) -> None:
    """Refuse a result that does not fit the target's dtype or shape."""
    array = target._array
    if result.dtype is not array.dtype:
        made, kept = dtypes.from_numpy(result.dtype), dtypes.from_numpy(array.dtype)
        if not dtypes.can_cast(made, kept):
            raise RuntimeError(
                f"result type {made.scalar_name} can't be cast to the desired output type "
                f"{kept.scalar_name}"
            )
    if result.shape != array.shape:
        raise RuntimeError(
            f"output with shape {list(array.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)} of {name}"
        )


def rebase(target: Any, node: Node, output_nr: int = 0, position: int = 0) -> None:
    """Make output `output_nr` of `node`, which wrote to its input number `position`, the history of
    `target`, and of its base where it is a view."""
    base = target._base
    if base is None:
        _move_retained(target, node, output_nr)
        target._edge = (node, output_nr)
    else:
        where = geometry(base._array, target._array)
        base._edge = (CopySlices(base, where, node, output_nr, position), 0)
    root = target if base is None else base
    for reference in target.memory().views or ():
        view = reference()
        if view is not None and view._base is root:
            view._edge = root._view_of(geometry(root._array, view._array))._edge


def _move_retained(target: Any, node: Node, output_nr: int) -> None:
    """A tensor that retains its gradient retains that of its newest value."""
    edge = target._edge
    if target._retains and edge is not None and edge is not LEAF:
        old = edge[0].hooked().retain
        node.hooked().retain[output_nr] = old.pop(edge[1])


class CopySlices(Node):
    """The history of a base of which a slice was written by `node`."""

    __slots__ = ("geometry", "node", "output_nr", "position")

    def __init__(
        self, base: Any, where: Geometry, node: Node, output_nr: int, position: int
    ) -> None:
        edge = accumulate_edge(base) if base._edge is LEAF else base._edge
        self.next = (edge, *(e for i, e in enumerate(node.next) if i != position))
        self.geometry = where
        self.node = node
        self.output_nr = output_nr
        self.position = position
        self.shape, self.dtype = base._array.shape, base._array.dtype
        self.locate()

    def _given(self, grad: Any) -> Any:
        """The gradient of the slice, as the node takes it."""
        if self.node.outputs == 1:
            return grad
        given = [None] * self.node.outputs_now()
        given[self.output_nr] = grad
        return given

    def backward(self, grad: Any) -> tuple[Any, ...]:
        written = strided_view(np.asarray(grad), self.geometry).copy()
        others = list(self.node.backward(self._given(written)))
        rest = np.asarray(grad) - strided_base(written, self.geometry)
        if (old := others.pop(self.position)) is not None:
            rest = rest + strided_base(np.broadcast_to(old, written.shape), self.geometry)
        return (rest, *others)

    def backward_tensors(self, grad: Any) -> tuple[Any, ...]:
        written = grad._view_of(self.geometry)
        others = list(self.node.backward_tensors(self._given(written.clone())))
        rest = grad - written._base_of(self.geometry)
        if (old := others.pop(self.position)) is not None:
            rest = rest + old.expand(written.shape)._base_of(self.geometry)
        return (rest, *others)

    def release(self, freed: Freed) -> None:
        self.node.release(freed)
