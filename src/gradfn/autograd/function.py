"""Custom functions: the user's own forward and backward as a node of the graph."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ClassVar

import numpy as np

from .. import dtypes
from .batched_function import batched_forward
from .batching import Vmap
from .custom_jvp import push_forward, tangents_of
from .forward_ad import open_level, without_tangents
from .grad_mode import GRAD, ModeChange, get_mode, set_mode
from .inplace import ViewKind, rebase
from .memory import tick
from .node import Error, Freed, Metadata, Node
from .saved import SavedNone, SavedTensor
from .variable import LEAF, Variable

# Whether a transform of `gradfn.func` is running the user's function here.
within_transform: ContextVar[bool] = ContextVar("gradfn_within_transform", default=False)


class FunctionCtx:
    """What a custom function's `forward` and `backward` share; it is the node itself."""

    needs_input_grad: tuple[bool, ...]
    materialize_grads: bool
    to_save: tuple[Any, ...]
    dirty: tuple[Any, ...]
    non_differentiable: tuple[Any, ...]
    saved_for_forward: tuple[Any, ...]
    forward_mode: bool = False  # whether `jvp` is running

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
    selective = False  # the user's rule gives what it gives
    _forward_cls: ClassVar[type[Function]]
    metas: list[Metadata | None]  # None for outputs that are no tensors
    _arguments: list[int | None]  # for each argument of `forward`, the number of its edge
    _inputs: list[Metadata]
    _saved: list[SavedTensor] | None

    def __repr__(self) -> str:
        return f"<{self.__module__}.{self.name()} object at {id(self):#x}>"

    def __init__(self) -> None:
        self.locate()
        self.next = ()
        self.materialize_grads = self._materialize_non_diff_grads = True
        self.to_save = self.dirty = self.non_differentiable = self.saved_for_forward = ()
        self._saved = None
        self.metas = []
        self.shape, self.dtype = (), np.dtype(np.float32)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors kept by `save_for_backward`; in `jvp` those kept by `save_for_forward`."""
        if self.forward_mode:
            return self.saved_for_forward
        if self.status is not None:
            self.status.node(self)
        if self._saved is None:
            return self.to_save
        return tuple(s.unpack(self) for s in self._saved)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        if self.status is not None:
            self.status.node(self)
        return tuple(self._saved or ())

    @property
    def dirty_tensors(self) -> tuple[Any, ...]:
        return self.dirty

    def outputs_now(self) -> int:
        return len(self.metas)

    def metadata_of(self, output_nr: int) -> Metadata:
        meta = self.metas[output_nr]
        assert meta is not None, "no gradient goes to an output that is no tensor"
        return meta

    def saved(self) -> dict[str, Any]:
        """The saved tensors, as the lens lists them."""
        saved = enumerate(self._saved or [])
        return {f"tensor {i}": s.array for i, s in saved if not isinstance(s, SavedNone)}

    def pack(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        for saved in self._saved or ():
            if not isinstance(saved, SavedNone):
                saved.register_hooks(pack, unpack)

    def release(self, freed: Freed) -> None:
        if self._saved:
            for saved in self._saved:
                saved.free(freed)
            self.status = freed

    def backward(self, grad: Any) -> tuple[Any, ...]:
        wrapped = [None if g is None else Variable.wrap(np.asarray(g)) for g in grad]
        grads = self.backward_tensors(wrapped)
        return tuple(None if g is None else g._array for g in grads)

    def backward_tensors(self, grad: Any) -> tuple[Any, ...]:
        if self.materialize_grads:
            grad = [self._zeros(i) if g is None else g for i, g in enumerate(grad)]
        return self._checked(self.apply(*grad))

    def undefined(self, grad: Any, create_graph: bool) -> tuple[Any, ...]:
        return self.backward_tensors(grad) if create_graph else self.backward(grad)

    def apply(self, *grads: Any) -> Any:
        """The rule as the user wrote it, called with tensors."""
        cls = self._forward_cls
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return (cls.backward if cls.vjp is Function.vjp else cls.vjp)(self, *grads)

    def _zeros(self, output_nr: int) -> Any:
        meta = self.metas[output_nr]
        return None if meta is None else Variable.wrap(np.zeros(meta.shape, meta.dtype))

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
        members = {"_forward_cls": cls, "__module__": "torch.autograd.function"}  # shown with it
        cls._backward_cls = type(name + "Backward", node_bases, members)
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
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself: use its apply.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method: call "
            f"{type(self).__name__}.apply."
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

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """The results for a batch, and where its dimension is in them: ``(output, out_dims)``.
        To be overridden, unless `generate_vmap_rule` is True."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap static method "
            "or set generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and record it."""
        separate = cls.setup_context is not Function.setup_context
        given_by_name = kwargs
        if not separate and within_transform.get():
            raise RuntimeError(_NO_SETUP)
        if separate:
            args = _with_defaults(cls.forward, args, kwargs)
            kwargs = {}
        ctx: BackwardCFunction = cls._backward_cls()
        mode = get_mode()
        inputs = [a for a in args if isinstance(a, Variable)]
        ctx.needs_input_grad = tuple(isinstance(a, Variable) and a.requires_grad for a in args)
        recorded = mode.grad and any(ctx.needs_input_grad)
        numbers = iter(range(len(inputs)))
        ctx._arguments = [next(numbers) if isinstance(a, Variable) else None for a in args]
        ctx.next = tuple(t.edge() if t.requires_grad and recorded else None for t in inputs)
        level = open_level(mode)
        tangents = [] if level is None else tangents_of(level, args)
        inner = without_tangents(mode)
        set_mode(inner.replace(grad=False))
        try:
            if isinstance(inner.intercept, Vmap) and inner.intercept.owns_any(args):
                if not separate:
                    raise RuntimeError(_NO_SETUP)
                if any(isinstance(value, Variable) for value in given_by_name.values()):
                    raise NotImplementedError(
                        f"Run-time dispatch of kwarg-only Tensor args of {cls.__name__} inside of "
                        "vmap: give them by position"
                    )
                output = batched_forward(cls, inner.intercept, args, mode.grad)
                cls.setup_context(ctx, args, output)
            elif separate:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args, **kwargs)
        finally:
            set_mode(mode)
        single = not isinstance(output, tuple)
        outputs = (output,) if single else output
        wrapped = _wrap_outputs(ctx, inputs, outputs, recorded, mode.grad)
        if level is not None and any(tangent is not None for tangent in tangents):
            push_forward(ctx, level, args, tangents, wrapped)
        if recorded:
            ctx.seq = tick()
            _save(ctx, wrapped)
            if mode is not GRAD:
                mode.recorded(ctx)
        return wrapped[0] if single else tuple(wrapped)


_NO_SETUP = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
    "...), it must override the setup_context staticmethod."
)


def _with_defaults(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """All arguments of a call, with the defaults of those that were left out."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def _wrap_outputs(
    ctx: BackwardCFunction,
    inputs: list[Any],
    outputs: tuple[Any, ...],
    recorded: bool,
    grad_mode: bool,
) -> list[Any]:
    """The outputs with `ctx` as their history, following the marks that `forward` has set."""
    wrapped: list[Any] = []
    plain, dirty = {id(t) for t in ctx.non_differentiable}, {id(t) for t in ctx.dirty}
    _check_dirty(ctx, inputs, outputs)
    kind = ViewKind.CUSTOM if grad_mode else ViewKind.CUSTOM_NO_GRAD
    for output in outputs:
        number = len(ctx.metas)
        if not isinstance(output, Variable):
            ctx.metas.append(None)
            wrapped.append(output)
            continue
        ctx.metas.append(Metadata(output._array.shape, output._array.dtype))
        differentiable = id(output) not in plain and output.dtype.category >= dtypes.FLOAT
        position = next((i for i, t in enumerate(inputs) if t is output), None)
        again = any(output is t for t in wrapped)  # the same output twice: the last edge counts
        if id(output) in dirty and position is not None:
            output.memory().write(ctx.name())
            if recorded and differentiable:
                rebase(output, ctx, number, position)
        else:
            leaf_view = output._edge is LEAF and output._base is not None
            own_history = output._edge is not None and not leaf_view
            if not again and (position is not None or own_history):
                output = _alias(output, as_view=position is not None)
            if output._base is not None:
                output._view_kind = kind
            if recorded and differentiable:
                output._edge = (ctx, number)
        if not differentiable and not ctx._materialize_non_diff_grads:
            ctx.metas[number] = None
        wrapped.append(output)
    return wrapped


def _check_dirty(ctx: BackwardCFunction, inputs: list[Any], outputs: tuple[Any, ...]) -> None:
    returned = {id(output) for output in outputs}
    for tensor in ctx.dirty:
        if not any(tensor is t for t in inputs):
            warnings.warn(
                "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an "
                "input, there is no need to pass it to mark_dirty().",
                stacklevel=4,
            )
            continue
        if id(tensor) not in returned:
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function."
            )
        if tensor._edge is LEAF and any(ctx.needs_input_grad):
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation: "
                f"{ctx.name()} marks it as dirty."
            )
        if tensor._base is not None and len(outputs) > 1 and any(ctx.needs_input_grad):
            raise RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your "
                "Function cannot return more than one Tensor. This is not supported by the current "
                "autograd engine. You should either make sure the input is not a view (using "
                ".clone() for example) or make your Function only return one Tensor (potentially "
                "splitting it into two Functions: one doing the inplace that returns a single "
                "Tensor and a second one that does the other operations)."
            )


def _alias(output: Any, as_view: bool) -> Any:
    """Another tensor over the memory of `output`, what its class makes of a view where that
    overrides operators."""
    own = getattr(type(output).__torch_function__, "__func__", None)  # other classes are plain
    if as_view and own not in (None, Variable.concrete.__torch_function__.__func__):
        return output.view_as(output)
    alias = Variable.wrap(output._array, None, output.memory())
    if as_view:
        alias._base = output if output._base is None else output._base
    return alias


def _save(ctx: BackwardCFunction, wrapped: list[Any]) -> None:
    """Turn what `save_for_backward` was given into saved tensors."""
    saved: list[SavedTensor] = []
    for index, tensor in enumerate(ctx.to_save):
        if tensor is None:
            saved.append(SavedNone())
            continue
        number = next((i for i, t in enumerate(wrapped) if t is tensor), None)
        if number is not None and tensor._edge is not None and tensor._edge[0] is ctx:
            saved.append(SavedTensor(tensor, f"saved tensor {index}", tensor._edge[1]))
        else:
            saved.append(SavedTensor(tensor, f"saved tensor {index}"))
    ctx._saved = saved
    ctx.to_save = ()
    ctx.dirty = ctx.non_differentiable = ()


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that cannot be differentiated itself: what it returns raises
    RuntimeError when a second derivative is asked for.
    """

    @functools.wraps(backward)
    def run(ctx: Any, *grads: Any) -> Any:
        with ModeChange(grad=False):
            outputs = backward(ctx, *grads)
        differentiated = any(isinstance(g, Variable) and g.requires_grad for g in grads)
        if not get_mode().grad or not differentiated:
            return outputs
        message = (
            "trying to differentiate twice a function that was marked with @once_differentiable: "
            f"{ctx.name()}, called at {ctx.where}"
        )
        listed = outputs if isinstance(outputs, tuple) else (outputs,)
        leaves = [
            Variable.wrap(t._array, LEAF) if isinstance(t, Variable) else None for t in listed
        ]
        edges = tuple(None if leaf is None else leaf.edge() for leaf in leaves)
        refused = [
            t if leaf is None else Variable.wrap(t._array, (Error(message, edges, t._array), 0))
            for t, leaf in zip(listed, leaves, strict=True)
        ]
        return tuple(refused) if isinstance(outputs, tuple) else refused[0]

    return run


class InplaceFunction(Function):
    """A `Function` that may work in place: PyTorch's old name for a flag that is kept."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
