"""The names of PyTorch's compiled core that autograd programs reach for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from weakref import ref

from .autograd.forward_ad import _is_fwd_grad_enabled as _is_fwd_grad_enabled
from .autograd.forward_ad import _set_fwd_grad_enabled as _set_fwd_grad_enabled
from .autograd.function import Function
from .autograd.grad_mode import get_mode, is_grad_enabled, set_mode
from .autograd.node import AccumulateGrad, Error, Node
from .autograd.passes import current_pass, running
from .autograd.saved import SavedTensor
from .autograd.variable import Variable
from .missing import missing
from .ops.overrides import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from .ops.overrides import disabled_torch_function as _disabled_torch_function_impl

__all__ = ["DisableTorchFunctionSubclass", "_disabled_torch_function_impl", "is_grad_enabled"]
__getattr__ = missing(__name__)


class _Undefined(Function):
    """The identity, with no gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None


class UndefinedGrad:
    """``UndefinedGrad()(tensor)`` is the tensor, with an undefined gradient."""

    def __call__(self, *tensors: Any) -> Any:
        results = tuple(map(_Undefined.apply, tensors))
        return results[0] if len(results) == 1 else results


class DelayedError(Node):
    """``DelayedError(message, n)(*tensors)`` are the tensors; their backward raises `message`."""

    __slots__ = ("message",)

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message = message

    def __call__(self, *tensors: Any) -> Any:
        results = tuple(map(self._delayed, tensors))
        return results[0] if len(results) == 1 else results

    def _delayed(self, tensor: Any) -> Any:
        edge = tensor.edge() if tensor.requires_grad else None
        node = Error(self.message, (edge,), tensor._array)
        return Variable.wrap(tensor._array, (node, 0), tensor.memory())


def _current_graph_task_id() -> int:
    """A number for the backward pass that is running here; -1 where there is none."""
    this_pass = running.get()
    return -1 if this_pass is None else this_pass.number


def _will_engine_execute_node(node: Node) -> bool:
    """Whether the running backward pass will run `node`; RuntimeError for a leaf in `grad`."""
    if not isinstance(node, Node):
        raise RuntimeError(
            f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}"
        )
    this_pass = current_pass()
    if not this_pass.accumulates and not node.next:
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running "
            "autograd.grad(), in which no leaf runs: this is not supported."
        )
    return node in this_pass.nodes


def _current_graph_task_execution_order() -> list[Node]:
    """The nodes of the running backward pass, in the order in which they run."""
    this_pass = current_pass()
    if get_mode().multithreading:
        raise RuntimeError(
            "get_current_graph_task_execution_order expects the current backward to be executed "
            "with multithreading disabled: run it within "
            "torch.autograd.set_multithreading_enabled(False)"
        )
    return list(this_pass.order)


def _get_current_graph_task_keep_graph() -> bool:
    """Whether the running backward pass keeps the graph; True where none is running."""
    this_pass = running.get()
    return this_pass is None or this_pass.keep_graph


def _set_grad_enabled(enabled: bool) -> None:
    set_mode(get_mode().replace(grad=bool(enabled)))


class _WeakTensorRef:
    """A weak reference to a tensor."""

    def __init__(self, tensor: Any) -> None:
        self.reference = ref(tensor)

    def expired(self) -> bool:
        return self.reference() is None


def _saved_tensors_hooks_is_enabled() -> bool:
    """Whether saved tensor hooks are allowed here."""
    return get_mode().hooks_refused is None


_functions = SimpleNamespace(
    AccumulateGrad=AccumulateGrad,
    DelayedError=DelayedError,
    UndefinedGrad=UndefinedGrad,
)
_autograd = SimpleNamespace(
    SavedTensor=SavedTensor,
    _get_current_graph_task_keep_graph=_get_current_graph_task_keep_graph,
    _saved_tensors_hooks_is_enabled=_saved_tensors_hooks_is_enabled,
)
