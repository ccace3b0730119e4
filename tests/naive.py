"""A naive autograd to compare with, written for obviousness alone.

It understands the programs of test_engine_machine.py: float64, a few operators. Everything linear
(views, broadcasting, sums, slices written in place) is a `gather` by flat indices or its adjoint
`spread`; values are copied before they are written to, so that a gradient can never be stale.
"""

# ruff: noqa: E731 - methods that are one expression

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import numpy as np

numbers = count()
recording = True


class Node:
    """A value with its history: where it came from, and the gradient for each of these."""

    def __init__(self, value: Any, *inputs: tuple[Node, Callable[[Node], Node]]) -> None:
        self.value = np.array(value, np.float64, order="C")
        self.inputs = [(node, vjp) for node, vjp in inputs if node.needs] if recording else []
        self.needs = bool(self.inputs)
        self.number = next(numbers)
        self.hooks: list[Callable[[Any], Any]] = []
        self.leaf: Tensor | None = None


def add(a: Node, b: Node) -> Node:
    return Node(a.value + b.value, (a, lambda g: g), (b, lambda g: g))


def mul(a: Node, b: Node) -> Node:
    return Node(a.value * b.value, (a, lambda g: mul(g, b)), (b, lambda g: mul(g, a)))


def neg(a: Node) -> Node:
    return Node(-a.value, (a, neg))


def sub(a: Node, b: Node) -> Node:
    return add(a, neg(b))


def sin(a: Node) -> Node:
    return Node(np.sin(a.value), (a, lambda g: mul(g, cos(a))))


def cos(a: Node) -> Node:
    return Node(np.cos(a.value), (a, lambda g: neg(mul(g, sin(a)))))


def exp(a: Node) -> Node:
    result = Node(np.exp(a.value), (a, lambda g: mul(g, result)))
    return result


def tanh(a: Node) -> Node:
    result = Node(np.tanh(a.value), (a, lambda g: sub(g, mul(g, mul(result, result)))))
    return result


def gather(a: Node, index: Any) -> Node:
    return Node(a.value.reshape(-1)[index], (a, lambda g: spread(g, index, a.value.shape)))


def spread(a: Node, index: Any, shape: tuple[int, ...]) -> Node:
    total = np.zeros(shape)
    np.add.at(total.reshape(-1), index, a.value)
    return Node(total, (a, lambda g: gather(g, index)))


def numbered(shape: tuple[int, ...]) -> Any:
    return np.arange(np.prod(shape, dtype=int)).reshape(shape)


def broadcast(a: Node, shape: tuple[int, ...]) -> Node:
    places = numbered(a.value.shape)
    kept = places.shape[max(0, places.ndim - len(shape)) :]  # assignments drop leading ones
    return gather(a, np.broadcast_to(places.reshape(kept), shape))


def gradients(root: Node, seed: Node, targets: set[Node] | None) -> dict[Node, Node]:
    """The gradient of each node below `root`, or of those only that lead to `targets`."""
    reached, stack = {root}, [root]
    while stack:
        new = {node for node, _ in stack.pop().inputs} - reached
        reached |= new
        stack += new
    order = sorted(reached, key=lambda node: node.number)
    wanted = reached if targets is None else {node for node in order if node in targets}
    for node in order:
        if any(below in wanted for below, _ in node.inputs):
            wanted = wanted | {node}
    found = {root: seed}
    for node in reversed(order):
        if node not in found or node not in wanted:
            continue
        for hook in node.hooks:
            replaced = hook(Tensor(found[node]))
            found[node] = found[node] if replaced is None else replaced.node()
        for tensor in [tensor for tensor in retaining if tensor.node() is node]:
            kept = Tensor(mul(found[node], Node(1)))
            tensor.grad = kept if tensor.grad is None else tensor.grad + kept
        for below, vjp in node.inputs:
            part = vjp(found[node])
            found[below] = add(found[below], part) if below in found else part
    return found


class Memory:
    """What a tensor and its views share: the history of the whole, and the count of writes."""

    def __init__(self, node: Node, writes: list[int]) -> None:
        self.node = node
        self.writes = writes  # shared with detached tensors, as is the array


class Tensor:
    def __init__(self, node: Node, memory: Memory | None = None, index: Any = None) -> None:
        self.made = node
        self.memory = memory or Memory(node, [0])
        self.index = index  # in the base, for views
        self.seen = self._version
        self.grad: Tensor | None = None
        self.after: list[Callable[[Tensor], Any]] = []

    def node(self) -> Node:
        """The history now: that of the base where something was written since."""
        if self.index is None:
            return self.memory.node
        if self.seen != self._version:
            self.seen = self._version
            with recorded(True):
                self.made = gather(self.memory.node, self.index)
        return self.made

    @property
    def _version(self) -> int:
        return self.memory.writes[0]

    def numpy(self) -> Any:
        return self.node().value

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numpy().shape

    def in_base(self) -> Node:
        """The history that a write continues: straight from the base, past this view's hooks."""
        return self.memory.node if self.index is None else gather(self.memory.node, self.index)

    def write(self, new: Node) -> Tensor:
        memory, shape = self.memory, self.shape
        index = numbered(shape) if self.index is None else self.index
        new, old, array = broadcast(new, shape), memory.node, memory.node.value
        old.value = array.copy()
        array.reshape(-1)[index] = new.value
        memory.writes[0] += 1
        if recording and (old.needs or new.needs):
            rest = np.setdiff1d(numbered(array.shape), index)
            untouched = (old, lambda g: spread(gather(g, rest), rest, array.shape))
            memory.node = Node(0, untouched, (new, lambda g: gather(g, index)))
        memory.node.value = array
        return self

    def view_by(self, choose: Callable[[Any], Any]) -> Tensor:
        part = choose(numbered(self.shape))
        index = part if self.index is None else self.index.reshape(-1)[part]
        return Tensor(gather(self.node(), part), self.memory, index)

    def detach(self) -> Tensor:
        whole = Node(0)
        whole.value = self.memory.node.value  # shared, not copied
        memory = Memory(whole, self.memory.writes)
        part = whole if self.index is None else gather(whole, self.index)
        return Tensor(part, memory, self.index)

    __getitem__ = lambda self, item: self.view_by(lambda index: index[item])
    view = lambda self, *shape: self.view_by(lambda index: index.reshape(shape))
    expand = lambda self, *shape: self.view_by(lambda index: np.broadcast_to(index, shape))
    unsqueeze = lambda self, dim: self.view_by(lambda index: np.expand_dims(index, dim))
    transpose = lambda self, a, b: self.view_by(lambda i: i.swapaxes(a, b) if i.ndim else i)
    diagonal = lambda self: self.view_by(lambda index: index.diagonal())
    unbind = lambda self: [self[i] for i in range(self.shape[0])]

    neg = lambda self: Tensor(neg(self.node()))
    sin = lambda self: Tensor(sin(self.node()))
    exp = lambda self: Tensor(exp(self.node()))
    tanh = lambda self: Tensor(tanh(self.node()))
    clone = lambda self: self + 0.0
    __add__ = lambda self, other: Tensor(together(add, self, other))
    __sub__ = lambda self, other: Tensor(together(sub, self, other))
    __mul__ = lambda self, other: Tensor(together(mul, self, other))

    neg_ = lambda self: self.write(neg(self.in_base()))
    sin_ = lambda self: self.write(sin(self.in_base()))
    exp_ = lambda self: self.write(exp(self.in_base()))
    tanh_ = lambda self: self.write(tanh(self.in_base()))
    add_ = __iadd__ = lambda self, other: self.write(together(add, self.in_base(), other))
    sub_ = __isub__ = lambda self, other: self.write(together(sub, self.in_base(), other))
    mul_ = __imul__ = lambda self, other: self.write(together(mul, self.in_base(), other))
    copy_ = fill_ = lambda self, other: self.write(as_node(other))
    zero_ = lambda self: self.write(Node(0))
    __setitem__ = lambda self, item, other: self[item].copy_(other)

    def sum(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        places = numbered(np.sum(self.numpy(), axis=dim, keepdims=True).shape)
        total = spread(self.node(), np.broadcast_to(places, self.shape), places.shape)
        shape = np.sum(self.numpy(), axis=dim, keepdims=keepdim).shape
        return Tensor(gather(total, numbered(places.shape).reshape(shape)))

    def __matmul__(self, other: Tensor) -> Tensor:
        if len(other.shape) == 1:
            return (self * other).sum(-1)
        return (self.view_by(lambda index: index[..., None]) * other).sum(-2)

    def requires_grad_(self, wanted: bool = True) -> Tensor:
        if wanted != self.memory.node.needs:
            self.memory.node.needs, self.memory.node.leaf = wanted, self
        return self

    def retain_grad(self) -> None:
        if self.node().leaf is None:
            retaining.add(self)

    def register_hook(self, hook: Callable[[Tensor], Any]) -> SimpleNamespace:
        return added(hook, self.node().hooks)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], Any]) -> SimpleNamespace:
        return added(hook, self.after)

    def accumulate(self, grad: Node) -> None:
        if not self.node().needs:
            pass
        elif self.grad is None:
            self.grad = Tensor(mul(grad, Node(1)))
        elif recording:
            self.grad = self.grad + Tensor(grad)
        else:
            self.grad.add_(Tensor(grad))
        for hook in self.after:
            hook(self)

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool = False,
        create_graph: bool = False,
        inputs: list[Tensor] | None = None,
    ) -> None:
        targets = None if inputs is None else {tensor.node() for tensor in inputs}
        for tensor in inputs or ():
            tensor.retain_grad()
        seed = Node(np.ones(self.shape)) if gradient is None else gradient.node()
        with recorded(create_graph):
            found = gradients(self.node(), seed, targets)
            for node, grad in found.items():
                if node.leaf is not None and (targets is None or node in targets):
                    node.leaf.accumulate(grad)


retaining: WeakSet[Tensor] = WeakSet()
float64 = np.float64


def added(hook: Any, hooks: list[Any]) -> SimpleNamespace:
    hooks.append(hook)
    return SimpleNamespace(remove=lambda: hooks.remove(hook))


def as_node(value: Any) -> Node:
    if isinstance(value, Node):
        return value
    return value.node() if isinstance(value, Tensor) else Node(value)


def together(operator: Callable[[Node, Node], Node], a: Any, b: Any) -> Node:
    """An elementwise operator on operands that are broadcast to one shape."""
    a, b = as_node(a), as_node(b)
    shape = np.broadcast_shapes(a.value.shape, b.value.shape)
    return operator(broadcast(a, shape), broadcast(b, shape))


def tensor(data: Any, dtype: Any, requires_grad: bool = False) -> Tensor:
    return Tensor(Node(data)).requires_grad_(requires_grad)


def ones_like(tensor: Tensor) -> Tensor:
    return Tensor(Node(np.ones(tensor.shape)))


def grad(
    output: Tensor,
    inputs: list[Tensor],
    retain_graph: bool = False,
    create_graph: bool = False,
) -> list[Tensor]:
    targets = [tensor.node() for tensor in inputs]
    with recorded(create_graph):
        found = gradients(output.node(), Node(1), set(targets))
    return [Tensor(found[target]) for target in targets]


@contextmanager
def recorded(wanted: bool) -> Iterator[None]:
    global recording
    before, recording = recording, wanted
    try:
        yield
    finally:
        recording = before


def no_grad() -> AbstractContextManager[None]:
    return recorded(False)


autograd = SimpleNamespace(grad=grad)
