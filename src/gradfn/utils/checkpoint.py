"""Trading time for memory: recompute a function's intermediate values in the backward pass."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import zip_longest
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, ref

import numpy as np

from .. import random
from ..amp.autocast_mode import autocast_here
from ..autograd.backward import backward
from ..autograd.function import Function
from ..autograd.grad_mode import ModeChange, get_mode
from ..autograd.graph import saved_tensors_hooks
from ..autograd.passes import running
from ..autograd.variable import LEAF, Variable
from ..autograd.where import Place, here
from .selective import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "CheckpointError",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class CheckpointError(RuntimeError):
    """The recomputation did not save what the first run had saved."""


class _StopRecomputationError(Exception):
    """Everything that was needed has been recomputed."""


_early_stop = True
_debug: bool | None = None  # None: as each checkpoint says


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Whether checkpoints remember lines for their errors, whatever their own `debug` says."""
    global _debug
    before, _debug = _debug, enabled
    try:
        yield
    finally:
        _debug = before


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether a recomputation stops as soon as the last saved value is there (the default)."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


def noop_context_fn() -> Contexts:
    """No contexts around the first run and the recomputation."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Run ``function(*args, **kwargs)`` without keeping its intermediate values.

    They are computed again when the backward pass needs them, with the same random numbers if
    `preserve_rng_state`. ``use_reentrant=False`` recomputes through saved-tensor hooks and works
    with everything; ``True`` runs the whole function in a backward pass of its own, as older
    programs expect. `context_fn` gives a context for each of the two runs. CheckpointError where
    the second run saves other tensors; with `debug` it shows the lines that saved them in both.

    >>> import gradfn
    >>> x = gradfn.tensor(2.0, requires_grad=True)
    >>> y = checkpoint(lambda t: (t * t).exp(), x, use_reentrant=False)
    >>> y.backward()
    >>> x.grad
    tensor(218.3926)
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly: "
            "use_reentrant=False is recommended, the default is True for now.",
            stacklevel=2,
        )
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], got {determinism_check}"
        )
    frame = _Frame(function, args, kwargs, preserve_rng_state)
    frame.compare = determinism_check == "default"
    frame.early_stop = early_stop and _early_stop
    frame.debug = debug if _debug is None else _debug
    forward_context, frame.recompute_context = context_fn()
    with saved_tensors_hooks(frame.pack, frame.unpack), forward_context:
        result = function(*args, **kwargs)
    frame.complete = True
    return result


class _Key:
    """Stands for a use of saved values outside any backward pass."""


class _Holder:
    """Stands for one saved tensor: the recomputed value, for each pass that asks for it, once. It
    dies with the node's saved value, and the recomputed ones with it."""

    def __init__(self) -> None:
        self.values: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self.taken: WeakSet[Any] = WeakSet()  # the passes that have had theirs


class _SavedInputs(Function):
    """Keeps the inputs of a checkpointed call as any node keeps its values, so that an enclosing
    checkpoint can recompute them too."""

    @staticmethod
    def forward(anchor: Any, *args: Any) -> Any:
        return anchor.detach().clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _, *args = inputs
        ctx.positions = [i for i, a in enumerate(args) if isinstance(a, Variable)]
        ctx.others = [None if isinstance(a, Variable) else a for a in args]
        ctx.save_for_backward(*[args[i] for i in ctx.positions])

    @staticmethod
    def arguments(ctx: Any) -> list[Any]:
        """The inputs, each tensor with a graph of its own."""
        args = list(ctx.others)
        for position, tensor in zip(ctx.positions, ctx.saved_tensors, strict=True):
            args[position] = tensor.detach().requires_grad_(tensor.requires_grad)
        return args


class _Frame:
    """One checkpointed call: what it needs to run again."""

    compare: bool
    early_stop: bool
    debug: bool
    recompute_context: AbstractContextManager[Any]

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        preserve_rng_state: bool,
    ) -> None:
        self.function, self.kwargs = function, kwargs
        self.rng_state = random.get_rng_state() if preserve_rng_state else None
        self.mode = get_mode()
        self.autocast = autocast_here()
        self.complete = False  # a backward pass may run within the function itself
        self.inputs: Any = None
        if self.mode.grad:
            anchor = Variable.wrap(np.zeros(0, np.float32), LEAF)
            self.inputs = _SavedInputs.apply(anchor, *args)
        self.holders: list[ref[_Holder]] = []
        self.metadata: list[tuple[Any, ...]] = []
        self.places: list[Place] = []  # with `debug`, the lines that saved the tensors,
        self.places_again: list[Place] = []  # and those of the last recomputation
        self.recomputed: WeakSet[Any] = WeakSet()

    def pack(self, tensor: Any) -> _Holder:
        holder = _Holder()
        self.holders.append(ref(holder))
        self.metadata.append((tuple(tensor.shape), tensor.dtype))
        if self.debug:
            self.places.append(here())
        return holder

    def unpack(self, holder: _Holder) -> Any:
        key = running.get() or _Key()
        if key in holder.taken:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                "unpacked once. If you are calling ctx.saved_tensors in backward, make sure to do "
                "so only once."
            )
        if key not in holder.values:
            if key in self.recomputed:
                raise self.differs(
                    "A different number of tensors was saved during the original forward and "
                    f"recomputation. At first {len(self.holders)} were saved."
                )
            self.recomputed.add(key)
            self.recompute(key)
        if key not in holder.values:
            raise self.differs(
                "A different number of tensors was saved during the original forward and "
                f"recomputation. At first {len(self.holders)} were saved; the recomputation saved "
                "fewer."
            )
        holder.taken.add(key)
        return holder.values.pop(key)

    def recompute(self, key: Any) -> None:
        """Run the function again, giving each living holder the tensor that it stands for."""
        count = 0
        self.places_again.clear()
        arguments = _SavedInputs.arguments(self.inputs.grad_fn)

        def keep(tensor: Any) -> Any:
            nonlocal count
            index, count = count, count + 1
            if self.debug:
                self.places_again.append(here())
            if index >= len(self.holders):
                return tensor
            self._check(index, tensor)
            value = tensor.detach()
            if (holder := self.holders[index]()) is not None:
                holder.values[key] = value
            if self.early_stop and count == len(self.holders):
                raise _StopRecomputationError
            return value

        with (
            _rng(self.rng_state),
            self.autocast,
            ModeChange(grad=self.mode.grad, saved_hooks=self.mode.saved_hooks),
            saved_tensors_hooks(keep, lambda value: value),
            self.recompute_context,
            contextlib.suppress(_StopRecomputationError),
        ):
            self.function(*arguments, **self.kwargs)
        if self.complete and count != len(self.holders) and self.compare and not self.early_stop:
            raise self.differs(
                "trying to save more tensors during recomputation than during the original forward "
                f"pass: {len(self.holders)} at first, then {count}."
                if count > len(self.holders)
                else "A different number of tensors was saved during the original forward and "
                f"recomputation: {len(self.holders)} at first, then {count}."
            )

    def _check(self, index: int, tensor: Any) -> None:
        if not self.compare or index >= len(self.metadata):
            return
        found, due = (tuple(tensor.shape), tensor.dtype), self.metadata[index]
        if found != due:
            raise self.differs(
                "Recomputed values for the following tensors have different metadata than during "
                f"the forward pass: saved tensor {index} was {due[0]} of {due[1]}, and is now "
                f"{found[0]} of {found[1]}."
            )

    def differs(self, text: str) -> CheckpointError:
        """The error for a recomputation that is not what the first run was."""
        text = f"torch.utils.checkpoint: {text}"
        if not self.debug:
            return CheckpointError(
                f"{text} Pass debug=True to checkpoint to see which lines differ."
            )
        text += (
            "\nYou are seeing this error because you passed `debug=True` to checkpoint. Tensors "
            "were saved by these lines, in the first run and in the recomputation:"
        )
        pairs = zip_longest(self.places, self.places_again, fillvalue="nothing more")
        for number, (first, second) in enumerate(pairs):
            text += f"\n  {number}: {first}\n     {second}"
        return CheckpointError(text)


@contextlib.contextmanager
def _rng(state: Any) -> Iterator[None]:
    """Draw the random numbers that follow `state`, then go on as before."""
    if state is None:
        yield
        return
    before = random.get_rng_state()
    random.set_rng_state(state)
    try:
        yield
    finally:
        random.set_rng_state(before)


class CheckpointFunction(Function):
    """The whole function as one node, whose backward runs it again and goes back through it."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        ctx.function = function
        ctx.autocast = autocast_here()
        ctx.rng_state = random.get_rng_state() if preserve_rng_state else None
        ctx.positions = [i for i, a in enumerate(args) if isinstance(a, Variable)]
        ctx.others = [None if isinstance(a, Variable) else a for a in args]
        ctx.save_for_backward(*[args[i] for i in ctx.positions])
        if not any(args[i].requires_grad for i in ctx.positions):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3
            )
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        this_pass = running.get()
        if this_pass is not None and this_pass.captured is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        inputs = _SavedInputs.arguments(ctx)
        with _rng(ctx.rng_state), ModeChange(grad=True), ctx.autocast:
            outputs = ctx.function(*inputs)
        if isinstance(outputs, Variable):
            outputs = (outputs,)
        pairs = [
            (o, g)
            for o, g in zip(outputs, grads, strict=True)
            if isinstance(o, Variable) and o.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([o for o, _ in pairs], [g for _, g in pairs])
        given = [i.grad if isinstance(i, Variable) else None for i in inputs]
        return (None, None, *given)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Run a list of functions (or a `Sequential`) in `segments` checkpointed parts; the last part
    keeps its values, since the backward pass starts there."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be "
            "passed explicitly.",
            stacklevel=2,
        )
        use_reentrant = True
    steps: Sequence[Callable[[Any], Any]] = list(functions)
    size = len(steps) // segments

    def part(start: int, end: int) -> Callable[[Any], Any]:
        def run(value: Any) -> Any:
            for step in steps[start:end]:
                value = step(value)
            return value

        return run

    start = 0
    for _ in range(segments - 1):
        run = part(start, start + size)
        input = checkpoint(run, input, use_reentrant=use_reentrant, **kwargs)
        start += size
    return part(start, len(steps))(input)
