"""In-place operations: what they may write to, and how histories follow.

Note [In-place and views]: an operation that writes to a view changes its base. The base's new
history is a `CopySlices` node, which applies the operation's own node to the slice that was
written and passes the rest through; every living view of the base is then a view of that.
"""

from __future__ import annotations

from enum import Enum
from typing import Any
from weakref import ref

import numpy as np

from .. import dtypes
from ..raw.strided import Geometry, geometry, overlap, strided_scatter, strided_view
from .grad_mode import Mode, get_mode
from .node import Array, Error, Freed, Node, accumulate_edge
from .variable import LEAF, Variable


class ViewKind(Enum):
    """How a view was made, where that forbids in-place writes to it."""

    NO_GRAD = "no_grad"
    INFERENCE = "inference"
    MULTIPLE = "multiple"
    CUSTOM = "custom"
    CUSTOM_NO_GRAD = "custom under no_grad"


def check_target(target: Any, name: str, mode: Mode, recorded: bool) -> None:
    """Refuse to write to `target` where PyTorch does, before anything is written."""
    base = target._base
    if mode.grad:
        if target._view_kind is not None and (recorded or target._edge or base._edge):
            raise RuntimeError(_view_refused(target))
        if base is not None and base._edge is LEAF:
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place "
                f"operation: {name} would overwrite part of that leaf. Do it under no_grad()."
            )
        if target._edge is LEAF:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation: "
                f"{name} would overwrite a value that its gradient belongs to. Do it under "
                "no_grad(), or use the out-of-place form."
            )
    check_writable(target, mode)


def check_writable(target: Any, mode: Mode) -> None:
    """Refuse to write to a tensor that was made in inference mode, outside of it."""
    if target._inference and not mode.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make "
            "a clone to get a normal tensor before doing inplace update."
        )
    if mode.copies is not None:
        mode.copies.before_write(target.memory())


def check_overlap(target: Any) -> None:
    """Refuse to write values to an expanded tensor, whose elements share memory."""
    array = target._array
    steps = zip(array.strides, array.shape, strict=True)
    if array.size and any(step == 0 and size > 1 for step, size in steps):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def sharing(target: Any, allowed: str, *operands: Any) -> bool:
    """Whether an operand is in the memory of `target`, which will be written to; RuntimeError
    where that would change what is still to be read. `allowed` names the operands that may share
    memory: those that lie "alike", "nothing" or "anything"."""
    memory = target._memory
    found = False
    for operand in operands:
        if operand is target or (
            memory is not None and getattr(operand, "_memory", None) is memory
        ):
            found = True
            if allowed != "anything":
                _check_apart(target._array, operand._array, allowed == "alike")
    return found


def _check_apart(target: Array, operand: Array, or_alike: bool) -> None:
    how = overlap(target, operand)
    if how == "partial" or (how == "full" and not or_alike):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor "
            "refer to a single memory location. Please clone() the tensor before performing the "
            f"operation: it has shape {list(operand.shape)} and lies in the memory of what is "
            f"written to, of shape {list(target.shape)}."
        )


def copied(array: Array | None) -> Array | None:
    """A copy of the array of an operand, if there is one."""
    return None if array is None else array.copy()


_AMBIGUOUS = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the {0} block (if you don't "
    "want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)
_CUSTOM = (
    " This view was created inside a custom Function (or because an input was returned as-is) and "
    "the autograd logic to handle view+inplace would override the custom backward associated with "
    "the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix "
    "this by cloning the output of the custom Function."
)
_REFUSALS = {
    ViewKind.NO_GRAD: "{0} was created in no_grad mode and is being modified inplace with grad "
    "mode enabled." + _AMBIGUOUS.format("no_grad"),
    ViewKind.INFERENCE: "{0} was created in inference mode and is being modified inplace in "
    "normal mode." + _AMBIGUOUS.format("inference_mode"),
    ViewKind.MULTIPLE: "{0} is being modified inplace. This view is the output of a function that "
    "returns multiple views. Such functions do not allow the output views to be modified inplace. "
    "You should replace the inplace operation by an out-of-place one.",
    ViewKind.CUSTOM: "{0} is being modified inplace." + _CUSTOM,
    ViewKind.CUSTOM_NO_GRAD: "{0} was created in no_grad mode and is being modified inplace with "
    "grad mode enabled." + _CUSTOM,
}


def _view_refused(target: Any) -> str:
    """Why `target`, a view, cannot be written to."""
    kind, edge = target._view_kind, target._edge
    quiet = kind not in (ViewKind.MULTIPLE, ViewKind.CUSTOM)
    if edge is None or edge is LEAF:
        return _REFUSALS[kind].format("A view")
    maker = edge[0].name().removesuffix("0").removesuffix("Backward")
    what = "a view of a view which" if quiet else "a view and"
    return _REFUSALS[kind].format(f"Output {target.output_nr} of {maker} is {what}")


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
        slices = CopySlices(base, where, node, output_nr, position)
        _move_retained(base, slices, 0)
        base._edge = (slices, 0)
    root = target if base is None else base
    for reference in target.memory().views or ():
        view = reference()
        if view is None or view._base is not root:
            continue
        if view._view_kind is None or view is target:
            edge = _window_anew(root, view)._edge
            if edge is not None:
                _move_retained(view, *edge)
            view._edge = edge
        else:
            message = _view_refused(view).replace(
                "is being modified", "its base or another view of its base has been modified"
            )
            view._edge = (Error(message, (root._edge,), view._array), 0)


def _window_anew(root: Any, view: Any) -> Any:
    """`view` as a view of what `root` is now. PyTorch can be told to keep its kind (here where it
    is a change of shape); else any view is a window by strides."""
    array, whole = view._array, root._array
    dense = array.flags.c_contiguous and whole.flags.c_contiguous
    if get_mode().view_replay and dense and array.size == whole.size:
        return root.view(array.shape)
    return root._view_of(geometry(whole, array))


def _move_retained(target: Any, node: Node, output_nr: int) -> None:
    """A tensor that retains its gradient retains that of its newest value."""
    edge = target._edge
    if target._retains and edge is not None and edge is not LEAF:
        edge[0].hooked().retain.pop(edge[1], None)
        node.hooked().retain[output_nr] = ref(target)


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

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def _given(self, grad: Any) -> Any:
        """The gradient of the slice, as the node takes it; RuntimeError where it has run before."""
        if self.status is not None:
            self.status.node(self)
        if self.node.outputs == 1:
            return grad
        given = [None] * self.node.outputs_now()
        given[self.output_nr] = grad
        return given

    def backward(self, grad: Any) -> tuple[Any, ...]:
        written = strided_view(np.asarray(grad), self.geometry).copy()
        others = list(self.node.backward(self._given(written)))
        old = others.pop(self.position)
        old = np.zeros(()) if old is None else np.asarray(old)
        return (strided_scatter(np.asarray(grad), old, self.geometry), *others)

    def backward_tensors(self, grad: Any) -> tuple[Any, ...]:
        written = grad._view_of(self.geometry)
        view = self._written_view()
        if view is not None:
            self.node.notes()["written"] = ref(view)
        others = list(self.node.backward_tensors(self._given(written.clone())))
        old = others.pop(self.position)
        if old is None:
            old = written.detach().new_zeros(written.shape)
        elif old.shape != written.shape:
            old = old.expand(written.shape)
        return (grad._scatter_at(old, self.geometry), *others)

    def _written_view(self) -> Node | None:
        """A node of the slice after the write, which is what the node knows as its result; None
        where nothing is recorded. The node must not keep it alive: it leads back here."""
        base = Variable.wrap(np.empty(self.shape, self.dtype), (self, 0))
        view: Node | None = base._view_of(self.geometry).grad_fn
        return view

    def release(self, freed: Freed) -> None:
        self.node.release(freed)
        self.status = freed  # it runs once, as in PyTorch, even where the node saved nothing
