"""The graph as users meet it: PyTorch's `torch.autograd.graph`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary, ref

from .grad_mode import ModeChange, get_mode, set_mode
from .hooks import RemovableHandle
from .mutation import allow_mutation_on_saved_tensors
from .node import Node as EngineNode
from .passes import current_pass
from .variable import Variable

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class _AnyNode(type):
    """Takes the nodes of the engine for its instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, EngineNode)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, EngineNode)


class Node(metaclass=_AnyNode):
    """What every node of a graph is an instance of; as in PyTorch, none inherits from it.

    >>> import gradfn
    >>> isinstance(gradfn.ones(1, requires_grad=True).exp().grad_fn, Node)
    True
    """


class GradientEdge(NamedTuple):
    """Where a gradient goes: output number `output_nr` of `node`. Takes a tensor's place in
    `backward` and `grad`."""

    node: EngineNode
    output_nr: int
    ownership_token: EngineNode | None = None


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """The edge at which the gradient of `tensor` arrives.

    >>> import gradfn
    >>> x = gradfn.tensor(1.0, requires_grad=True)
    >>> get_gradient_edge(x * 2).node.name()
    'MulBackward0'
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    node, nr = tensor.edge()
    return GradientEdge(node, nr, None if tensor.grad_fn is not None else node)


def increment_version(tensor: Any) -> None:
    """Count an in-place write to `tensor` (or to each of several) made behind autograd's back."""
    for each in [tensor] if isinstance(tensor, Variable) else tensor:
        each.memory().write("increment_version")


class saved_tensors_hooks:  # noqa: N801 - PyTorch's name
    """Pass what nodes save through ``pack(tensor)``, and through ``unpack(packed)`` when used.

    >>> import gradfn
    >>> x = gradfn.tensor(2.0, requires_grad=True)
    >>> with saved_tensors_hooks(lambda t: t.item(), lambda v: gradfn.tensor(v)):
    ...     y = x * x
    >>> y.grad_fn._raw_saved_self is not None
    True
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        mode = get_mode()
        if mode.hooks_refused is not None:
            raise RuntimeError(mode.hooks_refused)
        hooks = (*mode.saved_hooks, (self.pack_hook, self.unpack_hook))
        set_mode(mode.replace(saved_hooks=hooks))

    def __exit__(self, *exc: object) -> None:
        mode = get_mode()
        set_mode(mode.replace(saved_hooks=mode.saved_hooks[:-1]))


class save_on_cpu(saved_tensors_hooks):  # noqa: N801
    """Keep what nodes save as copies: gradfn's tensors are all on the CPU."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor.clone(), lambda packed: packed)


class disable_saved_tensors_hooks(ModeChange):  # noqa: N801
    """Refuse saved tensor hooks, with `error_message`."""

    def __init__(self, error_message: str) -> None:
        super().__init__(hooks_refused=error_message)

    def __enter__(self) -> None:
        if get_mode().saved_hooks:
            raise RuntimeError(self._changes["hooks_refused"])
        super().__enter__()


class _MultiHandle(RemovableHandle):
    """Removes several hooks at once."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> tuple[Any, ...]:
        return self.handles

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.handles = state


def register_multi_grad_hook(
    tensors: Sequence[Any], fn: Callable[..., None], *, mode: Literal["all", "any"] = "all"
) -> RemovableHandle:
    """Call `fn` once per backward pass: with all gradients of `tensors` (None where none came), or,
    with ``mode="any"``, with the first that is known.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    watched = list(tensors)
    if mode == "any":
        return _MultiHandle(_any_hooks(watched, fn))
    return _MultiHandle(_all_hooks(watched, fn))


def _gradient_node(tensor: Any) -> Callable[[], EngineNode | None]:
    """The node at which the gradient of `tensor` arrives, not kept alive: hooks refer to it."""
    if tensor.is_leaf:
        leaf = ref(tensor)
        return lambda: None if (found := leaf()) is None else found.edge()[0]
    return ref(tensor.grad_fn)


def _any_hooks(tensors: list[Any], fn: Callable[..., None]) -> list[RemovableHandle]:
    lock = threading.Lock()
    ran: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()

    def hook(grad: Any) -> None:
        this_pass = current_pass()
        with lock:
            first = not ran.get(this_pass)
            ran[this_pass] = True
        if first:
            fn(grad)

    return [t.register_hook(hook) for t in tensors if t.requires_grad]


def _all_hooks(tensors: list[Any], fn: Callable[..., None]) -> list[RemovableHandle]:
    lock = threading.Lock()
    seen: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()
    wanted = [_gradient_node(t) for t in tensors if t.requires_grad]
    count = len(tensors)  # the hooks must not keep the tensors

    def make(index: int) -> Callable[[Any], None]:
        def hook(grad: Any) -> None:
            this_pass = current_pass()
            with lock:
                if this_pass not in seen:
                    seen[this_pass] = [None] * count + [0]
                grads = seen[this_pass]
                grads[index] = grad
                grads[-1] += 1
                expected = sum(node() in this_pass.nodes for node in wanted)
                done = grads[-1] == expected
            if done:
                fn(grads[:-1])

        return hook

    return [t.register_hook(make(i)) for i, t in enumerate(tensors) if t.requires_grad]
