"""Saved tensors: their place in the graph, their version, and the hooks that pack them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from .grad_mode import ModeChange
from .memory import Memory, tick
from .node import AccumulateGrad, Array, Edge, Freed, Node, stale
from .variable import LEAF, Variable


class SavedTensor:
    """A tensor that a node saved.

    `edge` is its place in the graph; of an output of the node itself, which may not be referred to,
    `output_nr` tells which it is. The value is an array, or what a pack hook made of it.
    """

    def __init__(self, tensor: Any = None, name: str = "", output_nr: int | None = None) -> None:
        if tensor is None:
            raise RuntimeError(
                "Trying to create a SavedTensor object from Python is forbidden: nodes make them"
            )
        self.name = name
        self.original = tensor if tensor.is_leaf else None
        self.array: Array | None = tensor._array
        self.memory: Memory = tensor.memory()
        self.dual = tensor._dual  # its tangent, in forward mode
        self.stamp = tick()
        self.output_nr = output_nr
        self.edge: Edge = None
        if output_nr is not None:
            self.maker: ref[Node] = ref(tensor._edge[0])
        elif tensor.requires_grad:
            self.edge = tensor.edge()
        self.unpack_hook: Callable[[Any], Any] | None = None
        self.packed: Any = None
        self.freed: Freed | None = None

    def register_hooks(
        self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any] | None = None
    ) -> None:
        """Replace the value by ``pack(value)`` now; ``unpack`` gives it back when it is needed."""
        if self.unpack_hook is not None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
                "only one pair of hooks is allowed at a time."
            )
        if self.freed is not None:
            self.freed.node(Node())
        if not callable(pack) or not callable(unpack):
            raise TypeError(
                "register_hooks(): incompatible function arguments: it takes two functions, pack "
                f"and unpack, and got {type(pack).__name__} and {type(unpack).__name__}"
            )
        version = self.memory.version
        assert self.array is not None
        with ModeChange(grad=False):
            given = self.original
            if given is None:
                given = self._in_place(self.array, self.memory)
            self.packed = pack(given)
        if self.memory.version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook can not be modified by in-place operations as this can lead to "
                "unexpected side-effects. Please open an issue if you need to perform in-place "
                "operations on the input to a pack hook."
            )
        self.unpack_hook = unpack
        self.array = self.original = None

    def unpack(self, node: Node) -> Any:
        """The tensor, for the use of `node`."""
        if self.freed is not None:
            self.freed.node(node)
        if self.unpack_hook is not None:
            with ModeChange(grad=False):
                value = self.unpack_hook(self.packed)
            if not isinstance(value, Variable):
                raise TypeError(
                    "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                    f"type {type(value).__name__}"
                )
            return self._in_place(value._array, value._memory)
        assert self.array is not None
        if self.memory.modified > self.stamp:
            raise stale(node, self.name, self.array, self.memory, self.stamp)
        if self.original is not None:
            return self.original
        tensor = self._in_place(self.array, self.memory)
        tensor._dual = self.dual
        return tensor

    def _in_place(self, array: Array, memory: Memory | None) -> Any:
        """A tensor with the place in the graph that the saved one had."""
        edge = self.edge
        if self.output_nr is not None and (maker := self.maker()) is not None:
            edge = maker.result_edge(self.output_nr)
        if edge is not None and isinstance(edge[0], AccumulateGrad):
            leaf = Variable.wrap(array, LEAF, memory)
            leaf._accumulator = ref(edge[0])
            return leaf
        return Variable.wrap(array, edge, memory)

    def free(self, freed: Freed) -> None:
        """Let go of the value: a backward pass is through with it."""
        self.array = self.original = self.packed = self.unpack_hook = None
        self.edge = None
        self.freed = freed


class SavedNone(SavedTensor):
    """What stands for None among the tensors that a custom function saved."""

    def __init__(self) -> None:
        self.array = None

    def register_hooks(
        self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any] | None = None
    ) -> None:
        raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")

    def unpack(self, node: Node) -> Any:
        return None

    def free(self, freed: Freed) -> None:
        pass
