"""Nodes and edges, and the leaves' AccumulateGrad.

A node is made by one operation. `next` holds its edges, one for each differentiable input: the
node and output number that the input came from, or None where no gradient is wanted. Nodes never
refer to the tensors they made, so a graph has no reference cycles and is freed with its last
tensor.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from sys import getrefcount
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias
from weakref import ref

import numpy as np

from ..dtypes import from_numpy
from .hooks import NodeHooks, RemovableHandle
from .memory import Memory, tick
from .where import Place, Where, decode, user_frame

if TYPE_CHECKING:
    from .variable import Variable

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Edge: TypeAlias = "tuple[Node, int] | None"


class Metadata(NamedTuple):
    """Shape and dtype of one output of a node."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Node:
    """An operation of the graph. `shape` and `dtype` are those of its (first) output."""

    __slots__ = (
        "__weakref__",
        "code",
        "dtype",
        "extra",
        "hooks",
        "lasti",
        "next",
        "seq",
        "shape",
        "status",
    )
    next: tuple[Edge, ...]
    seq: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    code: CodeType
    lasti: int
    hooks: NodeHooks | None
    status: Status | None
    extra: dict[str, Any] | None

    renumbered: ClassVar[bool] = False  # whether a sequence number was ever set by hand
    outputs: ClassVar[int] = 1  # 0: as many as `metas` says; the gradient is then a list
    selective: ClassVar[bool] = True  # gives no gradient where none is wanted
    saved_inputs: ClassVar[dict[str, int | None]] = {}  # name -> index of its edge, if any
    saved_results: ClassVar[dict[str, int]] = {}  # name -> output number
    saved_arguments: ClassVar[tuple[str, ...]] = ()

    def backward(self, grad: Any) -> tuple[Any, ...]:
        """Gradients of the inputs from the gradient of the output: arrays in, arrays out."""
        raise NotImplementedError(f"derivative for {self.name()} is not implemented")

    def backward_tensors(self, grad: Any) -> tuple[Any, ...]:
        """The same rule read on tensors, so that it is recorded itself."""
        raise NotImplementedError(f"derivative for {self.name()} is not implemented")

    def undefined(self, grad: Any, create_graph: bool) -> tuple[Any, ...]:
        """The gradients of the inputs where none has come for any output: None."""
        if self.status is not None:
            self.status.node(self)
        return (None,) * len(self.next)

    def release(self, freed: Freed) -> None:
        """Drop the saved values; `freed` tells by which backward pass."""

    def locate(self) -> None:
        """Number the node and note the user's line that is running now."""
        frame = user_frame(2)
        self.code = frame.f_code
        self.lasti = frame.f_lasti
        self.seq = tick()
        self.hooks = self.status = self.extra = None

    def metadata_of(self, output_nr: int) -> Metadata:
        return Metadata(self.shape, self.dtype)

    def outputs_now(self) -> int:
        """The number of outputs of this node, where its class leaves it open."""
        return self.outputs

    @property
    def where(self) -> Where:
        """The user's line that made this node."""
        return decode(self.code, self.lasti)

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that made the inputs, with the number of the output that each input was."""
        return tuple((None, 0) if edge is None else edge for edge in self.next)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes on this node."""
        found: dict[Any, Any] = self.notes().setdefault("metadata", {})
        return found

    def name(self) -> str:
        """The node's name, as PyTorch gives it."""
        return type(self).__name__

    def __call__(self, *grads: Any) -> Any:
        """The gradients of the inputs for the tensors `grads`, one for each output."""
        expected = self.outputs_now()
        if len(grads) != expected:
            raise TypeError(f"expected {expected} arguments, got {len(grads)} instead")
        results = self.backward_tensors(grads[0] if self.outputs == 1 else list(grads))
        return results[0] if len(results) == 1 else results

    @property
    def _input_metadata(self) -> list[Metadata]:
        return [self.metadata_of(nr) for nr in range(self.outputs_now())]

    def _sequence_nr(self) -> int:
        given: int | None = None if self.extra is None else self.extra.get("sequence_nr")
        return self.seq if given is None else given

    def _set_sequence_nr(self, number: int) -> None:
        """Let this node run before those of lower number, once what was made of its results has
        run."""
        self.notes()["sequence_nr"] = number
        Node.renumbered = True

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after this node has run; what it returns, a tuple
        of as many gradients, replaces `grad_inputs`."""
        return self.hooked().post.add(fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before this node runs; what it returns replaces them."""
        return self.hooked().pre.add(fn)

    def hooked(self) -> NodeHooks:
        """This node's hooks, made on first demand."""
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def notes(self) -> dict[str, Any]:
        """What is rarely kept with a node, made on first demand."""
        if self.extra is None:
            self.extra = {}
        return self.extra

    def remember_stack(self) -> None:
        """Keep the whole stack of the forward call (anomaly mode)."""
        self.notes()["stack"] = traceback.extract_stack(user_frame(2))

    def result_edge(self, output_nr: int) -> tuple[Node, int]:
        """The edge of a result: where that was written into a view, the view's newest one."""
        view: Node | None = None
        if self.extra is not None and "written" in self.extra:
            view = self.extra["written"]()
        return (self, output_nr) if view is None else (view, 0)

    def pack(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        """Replace the saved tensors by what `pack` makes of them, until `unpack` is asked."""
        raise NotImplementedError(f"saved tensor hooks on {self.name()}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


class Status:
    """Why a node cannot simply run: its values were freed, or packed away by hooks."""

    __slots__ = ()

    def node(self, node: Node) -> Node:
        """The node to run instead, its saved values in place; RuntimeError where that is over."""
        raise NotImplementedError


class Freed(Status):
    """The saved values went with an earlier backward pass."""

    __slots__ = ("by",)

    def __init__(self, by: Place | None) -> None:
        self.by = by

    def node(self, node: Node) -> Node:
        earlier = f" called at {self.by}" if self.by else ""
        raise RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors "
            f"after they have already been freed). {node.name()} was made at {node.where}; its "
            f"saved values were freed by the backward pass{earlier}. Specify retain_graph=True in "
            "that call if you need to go through the graph again."
        )


def stale(
    node: Node, name: str, array: Array, memory: Memory, stamp: int | None = None
) -> RuntimeError:
    """The error for a value whose memory was written after `node` had saved it (at `stamp`)."""
    later = memory.since(node.seq if stamp is None else stamp)
    expected = memory.version - len(later)
    kind = from_numpy(array.dtype).scalar_name
    text = (
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [torch.{kind}Tensor {list(array.shape)}], which is '{name}' of {node.name()}, "
        f"is at version {memory.version}; expected version {expected} instead. "
        f"{node.name()} saved it at {node.where}."
    )
    if later:
        text += f" It was changed by {later[0].operator} at {later[0].where}."
    return RuntimeError(
        text + " Hint: use the out-of-place form of that operation, clone() the tensor before it, "
        "or move it after the backward pass."
    )


accumulation = threading.Lock()


def _references(grad: Any) -> int:
    return getrefcount(grad)


def _references_when_unshared() -> int:
    """What `getrefcount` counts in `AccumulateGrad.backward` for a gradient that only the engine's
    variable holds. It differs between versions of Python, so that it is measured."""
    grad = np.empty(0)
    return _references(grad)


_UNSHARED = _references_when_unshared()


class Error(Node):
    """Stands where there is no derivative: running it raises RuntimeError with `message`."""

    __slots__ = ("message",)

    def __init__(self, message: str, edges: tuple[Edge, ...], like: Array) -> None:
        self.message = message
        self.next = edges
        self.shape, self.dtype = like.shape, like.dtype
        self.locate()

    def backward(self, grad: Any) -> tuple[Any, ...]:
        raise RuntimeError(self.message)

    backward_tensors = backward


class AccumulateGrad(Node):
    """A leaf's node: adds what arrives to the leaf's `grad`."""

    __slots__ = ("variable",)
    variable: Variable

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        self.next = ()
        self.shape = variable._array.shape
        self.dtype = variable._array.dtype
        self.locate()
        self.hooks = variable._hooks

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def _sequence_nr(self) -> int:
        return 2**64 - 1  # PyTorch gives leaves the highest priority

    def backward(self, grad: Any) -> tuple[Any, ...]:
        unshared = getrefcount(grad) <= _UNSHARED
        if self._wanted():
            with accumulation:
                self.variable.accumulate(grad, unshared)
        self._after()
        return ()

    def backward_tensors(self, grad: Any) -> tuple[Any, ...]:
        if self._wanted():
            self.variable.accumulate_tensor(grad)
        self._after()
        return ()

    def undefined(self, grad: Any, create_graph: bool) -> tuple[Any, ...]:
        self._after()
        return ()

    def hooked(self) -> NodeHooks:
        self.hooks = self.variable._hooks = super().hooked()  # they outlive this node
        return self.hooks

    def _wanted(self) -> bool:
        """Whether the leaf still collects; RuntimeError where it is none any more."""
        if not self.variable.is_leaf:
            raise RuntimeError(
                "leaf variable has been moved into the graph interior: it was written to in place "
                f"after it was used. It has shape {list(self.shape)}"
            )
        return self.variable.requires_grad

    def _after(self) -> None:
        if self.variable._after_accumulate:
            for hook in self.variable._after_accumulate.now():
                if hook(self.variable) is not None:
                    raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def accumulate_edge(variable: Variable) -> tuple[Node, int]:
    """The edge to `variable`'s AccumulateGrad, which lives as long as some graph refers to it."""
    found = variable._accumulator
    node = found() if found is not None else None
    if node is None:
        node = AccumulateGrad(variable)
        variable._accumulator = ref(node)
    return node, 0
