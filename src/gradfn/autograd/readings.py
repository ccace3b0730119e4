"""A backward pass's values: plain arrays, or tensors that are recorded themselves."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from ..dtypes import from_numpy
from .grad_mode import get_mode
from .node import Edge, Metadata, Node, accumulation
from .variable import Variable

_numbers = count().__next__
# A tensor, its old `grad` with its old values, its new `grad` and the version of that.
Touched: TypeAlias = tuple[Any, Any, Any, Any, int]
Captured: TypeAlias = dict[tuple[Node, int], Any]  # the gradients asked for, by edge


def on_tensors(create_graph: bool) -> bool:
    """Whether a pass has to carry tensors: it is recorded, or its operators are intercepted."""
    return create_graph or get_mode().intercept is not None


class Arrays:
    """A pass over arrays (NumPy scalars stand for 0-d arrays until somebody looks at them)."""

    def __init__(
        self, nodes: Collection[Node] = (), captured: Captured | None = None, depth: int = 0
    ) -> None:
        self.nodes = nodes  # those that will run
        self.depth = depth  # how many passes this one runs within
        self.captured = captured
        self.number = _numbers()
        self.order: list[Node] = []
        self.keep_graph = False
        self.accumulates = True
        self.arrived: dict[Node, Any] = {}  # by node; a list where it has several outputs
        self.summed: set[Edge] = set()  # edges whose buffer the pass itself has made
        self.callbacks: list[Callable[[], object]] = []  # to call when the pass is over
        self.touched: list[Touched] = []

    def touch(self, tensor: Any, before: Any, values: Any = None) -> None:
        """Note that the pass has changed the `grad` of `tensor`, which was `before`, with `values`
        where it was changed in place."""
        self.touched.append((tensor, before, values, tensor._grad, tensor._grad._version))

    def undo(self) -> None:
        """Give the tensors back the `grad` that they had before the pass, except where somebody
        else has changed it since."""
        with accumulation:
            for tensor, before, values, after, version in reversed(self.touched):
                if tensor._grad is not after or after._version != version:
                    continue
                tensor._grad = before
                if values is not None:
                    np.copyto(before._array, values)

    def deliver(self, edge: tuple[Node, int], grad: Any, by: Node | None) -> None:
        """Add `grad` to what has arrived at `edge`, brought to the shape and dtype due there."""
        node, nr = edge
        if node.outputs == 1:
            if grad.shape != node.shape or grad.dtype is not node.dtype:
                grad = self.conform(grad, node.metadata_of(0), by, edge)
            known = self.arrived.get(node)
            self.arrived[node] = grad if known is None else self.add(known, grad, edge)
        else:
            slots = self.arrived.setdefault(node, [None] * node.outputs_now())
            grad = self.conform(grad, node.metadata_of(nr), by, edge)
            slots[nr] = grad if slots[nr] is None else self.add(slots[nr], grad, edge)

    def add(self, known: Any, grad: Any, edge: Edge) -> Any:
        if type(known) is np.ndarray:
            if edge in self.summed:
                return np.add(known, grad, out=known)
            self.summed.add(edge)
        return known + grad

    def conform(self, grad: Any, due: Metadata, by: Node | None, edge: Edge) -> Any:
        """`grad` summed over broadcast dimensions and cast: Note [Gradients fit their tensor]."""
        if grad.dtype.kind == "c" and due.dtype.kind != "c":
            grad = grad.real
        if grad.shape != due.shape:
            grad = np.add.reduce(
                grad, broadcast_axes(grad.shape, due.shape, by, edge), keepdims=True, out=...
            ).reshape(due.shape)
        return grad if grad.dtype == due.dtype else grad.astype(due.dtype)

    def tensor(self, value: Any) -> Any:
        """`value` as the user's hooks see it."""
        return None if value is None else Variable.wrap(np.asarray(value))

    def value(self, tensor: Any) -> Any:
        """What the pass carries for the `tensor` that a hook or a custom Function gave."""
        return None if tensor is None else tensor._array

    def result(self, value: Any) -> Any:
        """`value` as the pass hands it out for good."""
        return None if value is None else Variable.wrap(np.array(value, order="C"))

    def copy(self, value: Any) -> Any:
        """`value` as a tensor with memory of its own."""
        return self.result(value)

    def capture(self, node: Node, grad: Any) -> None:
        """Note the gradients of those outputs of `node` that were asked for."""
        assert self.captured is not None
        for nr, value in enumerate([grad] if node.outputs == 1 else grad):
            if (node, nr) in self.captured:
                self.captured[node, nr] = self.result(value)

    def leads_on(self, edge: Edge) -> bool:
        """Whether a gradient that goes to `edge` is for something that the pass is to find."""
        if edge is None or self.captured is None or edge[0] in self.nodes:
            return edge is not None
        return any(node is edge[0] for node, _ in self.captured)

    def retain(self, tensor: Any, grad: Any) -> None:
        """Add a gradient to the `grad` of a non-leaf that retains it."""
        known = tensor._grad
        tensor._grad = self.copy(grad) if known is None else known + self.result(grad)
        self.touch(tensor, known)

    def checked(self, result: Any, given: Any, hook: Any) -> Any:
        """The tensor that `hook` returned, which must fit the gradient it was `given`."""
        if given is None:
            raise RuntimeError("can't replace a None gradient with a non-None value")
        name = getattr(hook, "__name__", repr(hook))
        if not isinstance(result, Variable):
            raise TypeError(
                f"expected Variable, but hook '{name}' returned {type(result).__name__}"
            )
        if result._array.shape != given._array.shape:
            raise RuntimeError(
                f"hook '{name}' has changed the size of value: it was given a gradient of shape "
                f"{list(given._array.shape)} and returned {list(result._array.shape)}"
            )
        if result._array.dtype != given._array.dtype:
            raise RuntimeError(
                f"hook '{name}' has changed the type of value (was {given.dtype} got "
                f"{result.dtype})"
            )
        return result


class Tensors(Arrays):
    """A pass over tensors: its operations are recorded, so that it can be differentiated."""

    def add(self, known: Any, grad: Any, edge: Edge) -> Any:
        return known + grad

    def conform(self, grad: Any, due: Metadata, by: Node | None, edge: Edge) -> Any:
        array = grad._array
        if array.dtype.kind == "c" and due.dtype.kind != "c":
            grad = grad.real
        if array.shape != due.shape:
            axes = broadcast_axes(array.shape, due.shape, by, edge)
            grad = grad.sum(axes, keepdim=True).reshape(due.shape)
        return grad if array.dtype == due.dtype else grad.to(from_numpy(due.dtype))

    def tensor(self, value: Any) -> Any:
        return value

    def value(self, tensor: Any) -> Any:
        return tensor

    def result(self, value: Any) -> Any:
        return value

    def copy(self, value: Any) -> Any:
        return value.clone()


def broadcast_axes(
    shape: tuple[int, ...], due: tuple[int, ...], by: Node | None, edge: Edge
) -> tuple[int, ...]:
    """Note [Gradients fit their tensor]: formulas ignore broadcasting. The axes over which a
    gradient of `shape` is summed to reach an input of shape `due`, which was broadcast to it."""
    extra = len(shape) - len(due)
    fits = extra >= 0 and all(d in (1, s) for d, s in zip(due, shape[extra:], strict=True))
    if not fits:
        source, made = "The caller", ""
        if by is not None:
            source, made = f"Function {by.name()}", f"; it was made at {by.where}"
        index = 0 if by is None else by.next.index(edge)
        raise RuntimeError(
            f"{source} returned an invalid gradient at index {index} - got {list(shape)} but "
            f"expected shape compatible with {list(due)}{made}"
        )
    aligned = zip(due, shape[extra:], strict=True)
    return (*range(extra), *(extra + axis for axis, (d, s) in enumerate(aligned) if d != s))
