"""Custom functions: the user's own forward and backward as a node of the graph."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from .. import dtypes
from .inplace import rebase
from .memory import tick
from .modes import ModeChange, get_mode
from .node import Freed, Metadata, Node
from .saved import SavedTensor
from .variable import LEAF, Variable


class FunctionCtx:
    """What a custom function's `forward` and `backward` share; it is the node itself."""

    needs_input_grad: tuple[bool, ...]
    materialize_grads: bool
    to_save: tuple[Any, ...]
    dirty: tuple[Any, ...]
    non_differentiable: tuple[Any, ...]
    saved_for_forward: tuple[Any, ...]

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep `tensors` (or None) for `backward`, which finds them in `saved_tensors`."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Variable):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument "
                    f"{tensors.index(tensor)} is of type {type(tensor).__name__}"
                )
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep `tensors` (or None) for `jvp`."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Variable):
                raise TypeError(
                    "save_for_forward expected all arguments to be tensors or None, got "
                    f"{type(tensor).__name__}"
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs `forward` has changed in place; they must be outputs."""
        self.dirty = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (the default) or None for outputs without gradient."""
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: Any) -> None:
        raise NotImplementedError("mark_shared_storage is deprecated: views are tracked anyway")


class BackwardCFunction(FunctionCtx, Node):
    """The node of a custom function. Each `Function` has a subclass named after it."""

    __slots__ = ("__dict__", "_arguments", "_inputs", "_saved", "metas")
    outputs = 0
    _forward_cls: ClassVar[type[Function]]
    metas: list[Metadata]
    _arguments: list[int | None]  # for each argument of `forward`, the number of its edge
    _inputs: list[Metadata]
    _saved: list[SavedTensor | None] | None

    def __init__(self) -> None:
        self.locate()
        self.next = ()
        self.materialize_grads = True
        self.to_save = self.dirty = self.non_differentiable = self.saved_for_forward = ()
        self._saved = None
        self.metas = []
        self.shape, self.dtype = (), np.dtype(np.float32)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors kept by `save_for_backward`."""
        if self.status is not None:
            self.status.node(self)
        if self._saved is None:
            return self.to_save
        return tuple(None if s is None else s.unpack(self) for s in self._saved)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor | None, ...]:
        return tuple(self._saved or ())

    @property
    def dirty_tensors(self) -> tuple[Any, ...]:
        return self.dirty

    def outputs_now(self) -> int:
        return len(self.metas)

    def metadata_of(self, output_nr: int) -> Metadata:
        return self.metas[output_nr]

    def saved(self) -> dict[str, Any]:
        """The saved tensors, as the lens lists them."""
        return {f"tensor {i}": s.array for i, s in enumerate(self._saved or []) if s is not None}

    def pack(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        for saved in self._saved or ():
            if saved is not None:
                saved.register_hooks(pack, unpack)

    def release(self, freed: Freed) -> None:
        if self._saved:
            for saved in self._saved:
                if saved is not None:
                    saved.free(freed)
            self.status = freed

    def backward(self, grad: Any) -> tuple[Any, ...]:
        wrapped = [None if g is None else Variable.wrap(np.asarray(g)) for g in grad]
        grads = self.backward_tensors(wrapped)
        return tuple(None if g is None else g._array for g in grads)

    def backward_tensors(self, grad: Any) -> tuple[Any, ...]:
        if self.materialize_grads:
            grad = [self._zeros(i) if g is None else g for i, g in enumerate(grad)]
        rule = self._forward_cls.backward
        if rule is Function.backward:
            rule = self._forward_cls.vjp
        return self._checked(rule(self, *grad))

    def apply(self, *grads: Any) -> Any:
        """The rule as the user wrote it, called with tensors."""
        return self._forward_cls.backward(self, *grads)

    def _zeros(self, output_nr: int) -> Any:
        shape, dtype = self.metas[output_nr]
        return Variable.wrap(np.zeros(shape, dtype))

    def _checked(self, grads: Any) -> tuple[Any, ...]:
        """The gradients of the tensor inputs among what the user's `backward` returned."""
        if not isinstance(grads, tuple):
            grads = (grads,)
        due = len(self._arguments)
        if len(grads) > due and all(g is None for g in grads[due:]):
            grads = grads[:due]
        if len(grads) != due:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{due}, got {len(grads)}); it was called at {self.where}"
            )
        kept = []
        for position, (grad, edge_nr) in enumerate(zip(grads, self._arguments, strict=True), 1):
            if grad is not None and edge_nr is None:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different from None at position "
                    f"{position}, but the corresponding forward input was not a Variable"
                )
            if grad is not None and not isinstance(grad, Variable):
                raise RuntimeError(
                    f"expected Variable or None (got {type(grad).__name__}) at position {position} "
                    f"of what {self.name()} returned"
                )
            if edge_nr is not None:
                kept.append(grad)
        return tuple(kept)


class FunctionMeta(type):
    """Gives each `Function` the class of its nodes."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        node_bases = (getattr(cls, "_node_base", BackwardCFunction),)
        cls._backward_cls = type(name + "Backward", node_bases, {"_forward_cls": cls})
        super().__init__(name, bases, namespace)


class Function(metaclass=FunctionMeta):
    """A differentiable operation written by the user.

    Subclass it with static methods ``forward(ctx, *args)`` and ``backward(ctx, *grads)``, which
    returns a gradient (or None) for each argument of `forward`; or leave `ctx` out of `forward`
    and write ``setup_context(ctx, inputs, output)``. Call it by ``apply``.

    >>> import gradfn
    >>> class Square(gradfn.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad
    >>> x = gradfn.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    _backward_cls: ClassVar[Any]
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the results. To be overridden."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what `backward` needs, where `forward` takes no ctx. To be overridden."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Gradients of the arguments from those of the results. To be overridden."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name for `backward`."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Tangents of the results from those of the arguments. To be overridden."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and record it."""
        ctx: BackwardCFunction = cls._backward_cls()
        mode = get_mode()
        inputs = [a for a in args if isinstance(a, Variable)]
        ctx.needs_input_grad = tuple(isinstance(a, Variable) and a.requires_grad for a in args)
        recorded = mode.grad and any(ctx.needs_input_grad)
        edges = [t.edge() if t.requires_grad and recorded else None for t in inputs]
        numbers = iter(range(len(inputs)))
        ctx._arguments = [next(numbers) if isinstance(a, Variable) else None for a in args]
        ctx.next = tuple(edges)
        with ModeChange(grad=False):
            if cls.setup_context is Function.setup_context:
                output = cls.forward(ctx, *args, **kwargs)
            else:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, output)
        single = not isinstance(output, tuple | list)
        outputs = [output] if single else list(output)
        wrapped = _wrap_outputs(ctx, inputs, outputs, recorded)
        if recorded:
            ctx.seq = tick()
            _save(ctx, outputs, wrapped)
            if mode.saved_hooks or mode.anomaly:
                mode.recorded(ctx)
        if single:
            return wrapped[0]
        return tuple(wrapped)


def _wrap_outputs(
    ctx: BackwardCFunction, inputs: list[Any], outputs: list[Any], recorded: bool
) -> list[Any]:
    """The outputs with `ctx` as their history, following the marks that `forward` has set."""
    wrapped: list[Any] = []
    plain = {id(t) for t in ctx.non_differentiable}
    dirty = {id(t) for t in ctx.dirty}
    for output in outputs:
        if not isinstance(output, Variable):
            wrapped.append(output)
            continue
        number = len(ctx.metas)
        ctx.metas.append(Metadata(output._array.shape, output._array.dtype))
        differentiable = id(output) not in plain and output.dtype.category >= dtypes.FLOAT
        is_input = any(output is t for t in inputs)
        if id(output) in dirty:
            _take_dirty(ctx, inputs, output, recorded and differentiable, number)
        elif is_input or (output._edge is not None and output._edge is not LEAF):
            output = _alias(output, custom=recorded and is_input)
        if recorded and id(output) not in dirty:
            if output._base is not None:
                output._view_kind = f"{ctx.name()} (a custom Function)"
            output._edge = (ctx, number) if differentiable else None
        wrapped.append(output)
    if ctx.metas:
        ctx.shape, ctx.dtype = ctx.metas[0]
    return wrapped


def _alias(output: Any, custom: bool) -> Any:
    """Another tensor over the memory of `output`."""
    alias = Variable.wrap(output._array, None, output.memory())
    if custom:
        alias._base = output if output._base is None else output._base
    return alias


def _take_dirty(
    ctx: BackwardCFunction, inputs: list[Any], output: Any, recorded: bool, number: int
) -> None:
    """Give an input that was changed in place the node as its history."""
    if not any(output is t for t in inputs):
        return
    if recorded and output._edge is LEAF:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation: "
            f"{ctx.name()} marks it as dirty."
        )
    if recorded:
        position = next(i for i, t in enumerate(inputs) if t is output)
        rebase(output, ctx, number, position)


def _save(ctx: BackwardCFunction, outputs: list[Any], wrapped: list[Any]) -> None:
    """Turn what `save_for_backward` was given into saved tensors."""
    saved: list[SavedTensor | None] = []
    for index, tensor in enumerate(ctx.to_save):
        if tensor is None:
            saved.append(None)
            continue
        number = next((i for i, t in enumerate(wrapped) if t is tensor), None)
        if number is not None and tensor._edge is not None and tensor._edge[0] is ctx:
            saved.append(SavedTensor(tensor, f"saved tensor {index}", tensor._edge[1]))
        else:
            saved.append(SavedTensor(tensor, f"saved tensor {index}"))
    ctx._saved = saved
    ctx.to_save = ()
    ctx.dirty = ctx.non_differentiable = ()
