"""Variable: the part of a tensor that autograd knows. `gradfn.Tensor` adds everything else."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import ref

import numpy as np

from ..dtypes import FLOAT, dtype, from_numpy
from .grad_mode import get_mode
from .hooks import HookList, NodeHooks, RemovableHandle
from .memory import Memory
from .node import AccumulateGrad, Array, Edge, Error, Node, accumulate_edge
from .passes import ExecutionEngine, running

if TYPE_CHECKING:
    from typing import Self

    from .forward_ad import Dual
    from .inplace import ViewKind

LEAF: Final[tuple[Node, int]] = (Node(), 0)  # stands for the edge of a leaf that requires grad


class Variable:
    """An array with its place in the graph.

    `_edge` says everything about gradients: None (none wanted), LEAF (a leaf that requires one), or
    the node that made the tensor with the output number. `_memory` is made when first needed.
    The other fields are rare and have their defaults on the class.
    """

    __slots__ = ("__dict__", "__weakref__", "_array", "_edge", "_memory")
    _array: Array
    _edge: Edge
    _memory: Memory | None

    _grad: Any = None
    _accumulator: ref[AccumulateGrad] | None = None
    _base: Any = None
    _hooks: NodeHooks | None = None
    _after_accumulate: HookList | None = None
    _inference: bool = False
    _retains: bool = False
    _dual: Dual | None = None
    _view_kind: ViewKind | None = None
    _cut: tuple[str, CodeType, int] | None = None  # what cut the history, and at which line

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        """PyTorch's old ``Variable(tensor)``: another tensor over the same memory."""
        return cls.wrap(data._array, None, data.memory()).requires_grad_(requires_grad)

    _execution_engine: ClassVar[ExecutionEngine] = ExecutionEngine()
    concrete: ClassVar[type[Any]]  # gradfn.Tensor, the class of results
    _view_of: Callable[..., Any]  # a window into a tensor's memory (ops/views.py), and writing
    _scatter_at: Callable[..., Any]  # to one, out of place (ops/indexing.py)
    _window: Callable[..., Any]  # the same as a view,
    _identity: Callable[..., Any]  # and a view of all of it

    @classmethod
    def wrap(cls, array: Array, edge: Edge = None, memory: Memory | None = None) -> Any:
        """A new tensor over `array`, without copying."""
        tensor = object.__new__(Variable.concrete)
        tensor._array = array
        tensor._edge = edge
        tensor._memory = memory
        return tensor

    def memory(self) -> Memory:
        """The version counter, made on first demand."""
        if self._memory is None:
            self._memory = Memory()
        return self._memory

    @property
    def requires_grad(self) -> bool:
        return self._edge is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("cannot delete requires_grad: set it, or detach() the tensor")

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Ask for (or stop asking for) gradients of this leaf, in place."""
        edge = self._edge
        if edge is not None and edge is not LEAF:
            if not requires_grad:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use "
                    "a computed variable in a subgraph that doesn't require differentiation use "
                    f"var_no_grad = var.detach(). This one is the result of {edge[0].name()} at "
                    f"{edge[0].where}."
                )
            return self
        if requires_grad and from_numpy(self._array.dtype).category < FLOAT:
            raise RuntimeError(
                "only Tensors of floating point dtype can require gradients, or complex ones; this "
                f"one has dtype {from_numpy(self._array.dtype)}"
            )
        newly = requires_grad and not self.requires_grad
        if newly and self._inference and not get_mode().inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed: make a clone() of it first."
            )
        self._edge = LEAF if requires_grad else None
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        return self._edge is None or self._edge is LEAF

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for leaves.

        RuntimeError for a view whose history is lost: its base was written to in a way that a view
        made as this one cannot follow.
        """
        edge = self._edge
        if edge is None or edge is LEAF:
            return None
        if isinstance(edge[0], Error) and self._view_kind is not None:
            raise RuntimeError(edge[0].message)
        return edge[0]

    @property
    def _grad_fn(self) -> Node | None:
        return self.grad_fn

    @_grad_fn.deleter
    def _grad_fn(self) -> None:
        raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")

    @property
    def output_nr(self) -> int:
        """Which output of `grad_fn` this tensor is."""
        return 0 if self._edge is None else self._edge[1]

    def edge(self) -> tuple[Node, int]:
        """Where a gradient for this tensor goes: its node, or its AccumulateGrad."""
        if self._edge is None:
            raise RuntimeError("this tensor does not require grad")
        return accumulate_edge(self) if self._edge is LEAF else self._edge

    @property
    def _version(self) -> int:
        if self._inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self._memory is None else self._memory.version

    @property
    def grad(self) -> Any:
        """The gradient collected by backward passes, or None."""
        if self._grad is None and not self.is_leaf and not self._retains:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
                ".grad attribute won't be populated during autograd.backward(). If you indeed want "
                "the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
                "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you "
                "access the leaf Tensor instead.",
                UserWarning,
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            self._check_grad(value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def _check_grad(self, value: Any) -> None:
        if not isinstance(value, Variable):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type "
                f"{type(value).__name__}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value._array.shape != self._array.shape:
            raise RuntimeError(
                f"assigned grad has data of a different size: the tensor has shape "
                f"{list(self._array.shape)}, the grad {list(value._array.shape)}"
            )
        if value._array.dtype != self._array.dtype:
            raise RuntimeError(
                f"assigned grad has data of a different type: the tensor is "
                f"{from_numpy(self._array.dtype)}, the grad {from_numpy(value._array.dtype)}"
            )

    def accumulate(self, grad: Any, unshared: bool) -> None:
        """Add the array `grad` to this leaf's `grad`, in place where there is one already.

        A first gradient that nobody else refers to (`unshared`) is kept as it is, not copied.
        """
        known, this_pass = self._grad, running.get()
        if known is None:
            mine = unshared and type(grad) is np.ndarray and grad.base is None
            if not mine or grad.strides != self._array.strides:  # grads are laid out as leaves are
                copy = np.empty_like(self._array)
                copy[...] = grad
                grad = copy
            self._grad = Variable.wrap(grad)
        values = None if known is None or this_pass is None else known._array.copy()
        if known is not None:
            np.add(known._array, grad, out=known._array)
            known.memory().write("gradient accumulation")
        if this_pass is not None:
            this_pass.touch(self, known, values)

    def accumulate_tensor(self, grad: Any) -> None:
        """Add the tensor `grad` to this leaf's `grad`, out of place, so that it is recorded."""
        if not get_mode().grad:
            self.accumulate(grad._array, unshared=False)
            return
        known, this_pass = self._grad, running.get()
        if known is None:  # PyTorch records a copy
            self._grad = Variable.wrap(np.empty_like(grad._array)).copy_(grad)
        else:
            self._grad = known + grad
        if this_pass is not None:
            this_pass.touch(self, known)

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in `grad` too."""
        edge = self._edge
        if edge is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if edge is LEAF or self._retains:
            return
        self._retains = True
        edge[0].hooked().retain[edge[1]] = ref(self)

    @property
    def retains_grad(self) -> bool:
        """Whether this non-leaf keeps its gradient."""
        return self._retains and not self.is_leaf

    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call ``hook(grad)`` when the gradient of this tensor is known; a result replaces it."""
        edge = self._edge
        if edge is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        node, nr = self.edge()
        return node.hooked().tensor.setdefault(nr, HookList()).add(hook)

    @property
    def _backward_hooks(self) -> Any:
        """The dictionary of hooks on this tensor's gradient, or None."""
        if self._edge is None:
            return self.__dict__.get("_backward_hooks")
        node, nr = self.edge()
        return None if node.hooks is None else node.hooks.tensor.get(nr)

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: Any) -> None:
        if self._edge is None:
            self.__dict__["_backward_hooks"] = hooks
        else:
            node, nr = self.edge()
            node.hooked().tensor[nr] = HookList(hooks or {})

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call ``hook(tensor)`` after a gradient was added to this leaf's `grad`."""
        if self._edge is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._edge is not LEAF:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        if self._after_accumulate is None:
            self._after_accumulate = HookList()
        return self._after_accumulate.add(hook)

    @property
    def dtype(self) -> dtype:
        return from_numpy(self._array.dtype)
