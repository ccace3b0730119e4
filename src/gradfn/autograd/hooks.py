"""Hooks: ordered sets of functions, the handles that remove them, and how a pass calls them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    from .node import Edge, Node
    from .readings import Arrays

Hook = Callable[..., Any]


class RemovableHandle:
    """Returned when a hook is registered: `remove()` takes the hook away; a context manager too."""

    next_id = count().__next__

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.id = RemovableHandle.next_id()
        self.hooks_dict_ref: Any = ref(hooks_dict)
        extras = extra_dict if isinstance(extra_dict, list | tuple) else [extra_dict]
        self.extra_dict_ref: tuple[Any, ...] = tuple(ref(d) for d in extras if d is not None)

    def remove(self) -> None:
        for dictionary in (self.hooks_dict_ref, *self.extra_dict_ref):
            if (found := dictionary()) is not None:
                found.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()

    def __getstate__(self) -> tuple[Any, ...]:
        return self.hooks_dict_ref(), self.id, tuple(d() for d in self.extra_dict_ref)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        hooks, self.id, extras = state
        self.hooks_dict_ref = ref(OrderedDict() if hooks is None else hooks)
        self.extra_dict_ref = tuple(ref(OrderedDict() if d is None else d) for d in extras)


class HookList(OrderedDict[int, Hook]):
    """Hooks in order of registration."""

    def add(self, hook: Hook) -> RemovableHandle:
        handle = RemovableHandle(self)
        self[handle.id] = hook
        return handle

    def now(self) -> list[Hook]:
        """The hooks at this moment: one that runs may remove others, or itself."""
        return list(self.values())


class NodeHooks:
    """The hooks of one node: on the gradients of its outputs (`tensor`), before it runs (`pre`),
    after it has run (`post`), and the tensors that retain their gradients, by output number."""

    __slots__ = ("post", "pre", "retain", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, HookList] = {}
        self.pre = HookList()
        self.retain: dict[int, ref[Any]] = {}
        self.post = HookList()


def call_tensor_hooks(node: Node, grad: Any, reading: Arrays) -> Any:
    """Show the gradients of `node`'s outputs to their tensors' hooks, which may replace them."""
    hooks = node.hooks
    if hooks is None or not (hooks.tensor or hooks.retain):
        return grad
    grads = [grad] if node.outputs == 1 else list(grad)
    for nr, hook_list in hooks.tensor.items():
        for hook in hook_list.now():
            given = reading.tensor(grads[nr])
            if (result := hook(given)) is not None:
                grads[nr] = reading.value(reading.checked(result, given, hook))
    for nr, tensor in hooks.retain.items():
        if (retaining := tensor()) is not None and grads[nr] is not None:
            reading.retain(retaining, grads[nr])
    return grads[0] if node.outputs == 1 else grads


def call_pre_hooks(node: Node, grad: Any, reading: Arrays) -> Any:
    """Show the gradients of `node`'s outputs to its prehooks, which may replace them."""
    assert node.hooks is not None
    grads = tuple(map(reading.tensor, [grad] if node.outputs == 1 else grad))
    for hook in node.hooks.pre.now():
        if (result := hook(grads)) is not None:
            grads = _replaced(result, grads, hook, reading)
    values = list(map(reading.value, grads))
    return values[0] if node.outputs == 1 else values


def call_post_hooks(node: Node, grads: Any, grad: Any, reading: Arrays) -> Any:
    """Show the gradients of `node`'s inputs and outputs to its hooks; they may replace the
    inputs'."""
    assert node.hooks is not None
    edges = zip(node.next, grads, strict=True)
    inputs = tuple(_shown(node, edge, g, reading) for edge, g in edges)
    outputs = tuple(map(reading.tensor, [grad] if node.outputs == 1 else grad))
    for hook in node.hooks.post.now():
        if (result := hook(inputs, outputs)) is not None:
            inputs = _replaced(result, inputs, hook, reading)
    return tuple(map(reading.value, inputs))


def _shown(node: Node, edge: Edge, grad: Any, reading: Arrays) -> Any:
    """The gradient of an input as hooks see it: of a selective node only where the pass is after
    it, and as the input is, for formulas ignore broadcasting."""
    if node.selective:
        if edge is None or grad is None or not reading.leads_on(edge):
            return None
        due = edge[0].metadata_of(edge[1])
        if grad.shape != due.shape:
            grad = reading.conform(grad, due, node, edge)
    return reading.tensor(grad)


def _replaced(results: Any, given: tuple[Any, ...], hook: Hook, reading: Arrays) -> tuple[Any, ...]:
    if not isinstance(results, tuple):
        results = (results,)
    if len(results) != len(given):
        raise RuntimeError(
            f"hook {hook} has returned an incorrect number of values (got {len(results)}, "
            f"but expected {len(given)})"
        )
    pairs = zip(results, given, strict=True)
    return tuple(None if r is None else reading.checked(r, g, hook) for r, g in pairs)
