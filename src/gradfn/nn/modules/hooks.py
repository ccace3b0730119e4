"""Hooks of modules: around `forward`, and on the gradients that pass in `backward`.

Note [Gradients of a module]: full backward hooks see the gradients of a module's inputs and outputs
whatever is computed in between. So the inputs pass through one identity function and the outputs
through another, and the hooks are those of the two nodes.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ...autograd.function import Function
from ...autograd.grad_mode import is_grad_enabled
from ...autograd.hooks import HookList, RemovableHandle
from ...autograd.node import Node
from ...tensor import Tensor

if TYPE_CHECKING:
    from .module import Module

Hook = Callable[..., Any]


class GlobalHook(NamedTuple):
    """A hook of every module."""

    kind: str
    function: Hook
    with_kwargs: bool = False
    always_call: bool = False


class GlobalHooks(OrderedDict[int, GlobalHook]):
    """The hooks of every module, in order of registration."""

    def add(self, hook: GlobalHook) -> RemovableHandle:
        handle = RemovableHandle(self)
        self[handle.id] = hook
        return handle

    def of(self, kind: str) -> list[tuple[int, GlobalHook]]:
        return [(number, hook) for number, hook in self.items() if hook.kind == kind]

    def functions(self, kind: str) -> list[Hook]:
        return [hook.function for _, hook in self.of(kind)]


everywhere = GlobalHooks()  # what running a module calls
registrations = GlobalHooks()  # what registering a part with a module calls


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, args)`` before the `forward` of every module."""
    return everywhere.add(GlobalHook("forward_pre", hook))


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the `forward` of every module."""
    return everywhere.add(GlobalHook("forward", hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the backward pass of every module."""
    return everywhere.add(GlobalHook("full_backward_pre", hook))


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` after the backward pass of every module."""
    _refuse_mixing(everywhere.of("backward"))
    return everywhere.add(GlobalHook("full_backward", hook))


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """PyTorch's older hook on the last node of every module: prefer the full one."""
    _refuse_mixing(everywhere.of("full_backward"))
    return everywhere.add(GlobalHook("backward", hook))


def _refuse_mixing(others: list[Any]) -> None:
    if others:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            "hook. Please use only one of them."
        )


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` when one is registered; a result replaces it."""
    return registrations.add(GlobalHook("parameter", hook))


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` when one is registered; a result replaces it."""
    return registrations.add(GlobalHook("buffer", hook))


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` when one is registered; a result replaces it."""
    return registrations.add(GlobalHook("module", hook))


def registered(kind: str, module: Module, name: str, value: Any) -> Any:
    """What is to be registered with `module` as `name`, after the hooks have seen it."""
    for hook in registrations.functions(kind):
        if (replacement := hook(module, name, value)) is not None:
            value = replacement
    return value


def register_forward_pre_hook(
    self: Module, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args)`` before `forward`: the arguments it returns replace the others.

    `with_kwargs`: call ``hook(module, args, kwargs)``, which returns both or None. `prepend`:
    before the hooks that are there already.
    """
    flags = self._forward_pre_hooks_with_kwargs if with_kwargs else None
    return _added(self._forward_pre_hooks, hook, prepend, flags)


def register_forward_hook(
    self: Module,
    hook: Hook,
    *,
    prepend: bool = False,
    with_kwargs: bool = False,
    always_call: bool = False,
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after `forward`: what it returns replaces the output.

    `with_kwargs`: call ``hook(module, args, kwargs, output)``. `always_call`: also where `forward`
    raises an error. `prepend`: before the hooks that are there already.
    """
    with_kwargs_of = self._forward_hooks_with_kwargs if with_kwargs else None
    always = self._forward_hooks_always_called if always_call else None
    return _added(self._forward_hooks, hook, prepend, with_kwargs_of, always)


def register_full_backward_pre_hook(
    self: Module, hook: Hook, prepend: bool = False
) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` when the gradients of the outputs are known; what it
    returns, a gradient or a tuple of them, replaces them."""
    return _added(self._backward_pre_hooks, hook, prepend)


def register_full_backward_hook(self: Module, hook: Hook, prepend: bool = False) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known;
    what it returns, a gradient or a tuple of them, replaces them.

    Raises RuntimeError if the module has hooks of the older kind.
    """
    _choose_kind(self, full=True)
    return _added(self._backward_hooks, hook, prepend)


def register_backward_hook(self: Module, hook: Hook) -> RemovableHandle:
    """PyTorch's older hook, on the last node of the module: prefer `register_full_backward_hook`.

    Raises RuntimeError if the module has full hooks.
    """
    _choose_kind(self, full=False)
    return _added(self._backward_hooks, hook)


def _choose_kind(module: Module, full: bool) -> None:
    if module._is_full_backward_hook is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks on a single Module. "
            "Please use only one of them."
        )
    module._is_full_backward_hook = full


def _added(
    hooks: HookList, hook: Hook, prepend: bool = False, *flags: HookList | None
) -> RemovableHandle:
    """Add a hook, and its number to those of `flags` that are given."""
    flagged = [flag for flag in flags if flag is not None]
    handle = RemovableHandle(hooks, extra_dict=flagged)
    hooks[handle.id] = hook
    for flag in flagged:
        flag[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def call(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``module.forward(*args, **kwargs)`` with the hooks around it."""
    args, kwargs = _call_pre_hooks(module, args, kwargs)
    called: set[int] = set()
    result = None
    try:
        gradients = GradientHooks.of(module)
        if gradients is not None:
            args = gradients.watch_inputs(args)
        result = module.forward(*args, **kwargs)
        for number, hook in _forward_hooks(module):
            called.add(number)
            if (replacement := _call_forward_hook(module, hook, args, kwargs, result)) is not None:
                result = replacement
        if gradients is not None:
            result = gradients.watch_outputs(result)
        _hook_last_node(module, result)
    except Exception:
        for number, hook in _forward_hooks(module):
            if hook.always_call and number not in called:
                result = _call_after_error(module, hook, args, kwargs, result)
        raise
    return result


def _call_pre_hooks(
    module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `forward`, after the hooks have seen them."""
    own = list(module._forward_pre_hooks.items())
    for number, hook in [(-1, hook) for hook in everywhere.functions("forward_pre")] + own:
        if number in module._forward_pre_hooks_with_kwargs:
            both = hook(module, args, kwargs)
            if both is not None:
                if not isinstance(both, tuple) or len(both) != 2:
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {both}."
                    )
                args, kwargs = both
        elif (replacement := hook(module, args)) is not None:
            args = replacement if isinstance(replacement, tuple) else (replacement,)
    return args, kwargs


def _forward_hooks(module: Module) -> list[tuple[int, GlobalHook]]:
    """The hooks to call after `forward`: those of every module first."""
    own = [
        (
            number,
            GlobalHook(
                "own",
                hook,
                number in module._forward_hooks_with_kwargs,
                number in module._forward_hooks_always_called,
            ),
        )
        for number, hook in module._forward_hooks.items()
    ]
    return everywhere.of("forward") + own


def _call_forward_hook(
    module: Module, hook: GlobalHook, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Any:
    if hook.with_kwargs:
        return hook.function(module, args, kwargs, result)
    return hook.function(module, args, result)


def _call_after_error(
    module: Module, hook: GlobalHook, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Any:
    try:
        replacement = _call_forward_hook(module, hook, args, kwargs, result)
    except Exception as error:
        kind = "module" if hook.kind == "own" else "global module"
        warnings.warn(
            f"{kind} forward hook with ``always_call=True`` raised an exception that was silenced "
            f"as another error was raised in forward: {error}",
            stacklevel=4,
        )
        return result
    return result if replacement is None else replacement


class BackwardHookFunction(Function):
    """The identity: its node is where the gradients of a module are seen."""

    @staticmethod
    def forward(*args: Any) -> Any:
        return args

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.mark_non_differentiable(*[arg for arg in inputs if not arg.requires_grad])

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        return args


class GradientHooks:
    """The full backward hooks during one call of a module: see Note [Gradients of a module]."""

    def __init__(self, module: Module, pre_hooks: list[Hook], hooks: list[Hook]) -> None:
        self.module = module
        self.pre_hooks = pre_hooks
        self.hooks = hooks
        self.inputs: list[int] | None = None  # the positions of the tensors, if they are watched
        self.input_count = 0
        self.grad_outputs: tuple[Any, ...] | None = None

    @staticmethod
    def of(module: Module) -> GradientHooks | None:
        """None for a module that has no such hooks."""
        pre_hooks = everywhere.functions("full_backward_pre")
        pre_hooks += module._backward_pre_hooks.values()
        hooks = everywhere.functions("full_backward")
        if module._is_full_backward_hook:
            hooks += module._backward_hooks.values()
        return GradientHooks(module, pre_hooks, hooks) if pre_hooks or hooks else None

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """`args`, the tensors passed through the identity."""
        watched, positions, node = _through_identity(args)
        self.input_count = len(args)
        if node is not None:
            self.inputs = positions
            node.register_hook(lambda grads, _: self._at_inputs(grads))
        return watched

    def watch_outputs(self, result: Any) -> Any:
        """`result`, the tensors passed through the identity."""
        outputs = result if isinstance(result, tuple) else (result,)
        watched, positions, node = _through_identity(outputs)
        if node is not None:
            count = len(outputs)
            node.register_hook(lambda _, grads: self._at_outputs(grads, positions, count))
        return watched if isinstance(result, tuple) else watched[0]

    def _at_outputs(self, grads: tuple[Any, ...], positions: list[int], count: int) -> Any:
        known = _spread(grads, positions, count)
        for hook in self.pre_hooks:
            if (replacement := hook(self.module, known)) is not None:
                known = self._checked(replacement, count, "pre hook", "grad_output")
        self.grad_outputs = known
        if self.inputs is None and self.hooks:
            self._call_without_inputs()
        return tuple(known[i] for i in positions)

    def _call_without_inputs(self) -> None:
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients. See "
            "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_full_backward_hook for more details.",
            stacklevel=5,
        )
        nothing = (None,) * self.input_count
        for hook in self.hooks:
            result = hook(self.module, nothing, self.grad_outputs)
            if result is not None and not (
                isinstance(result, tuple) and all(grad is None for grad in result)
            ):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self.grad_outputs = None

    def _at_inputs(self, grads: tuple[Any, ...]) -> Any:
        if self.grad_outputs is None:  # no gradient came through the outputs
            return None
        assert self.inputs is not None
        known = _spread(grads, self.inputs, self.input_count)
        for hook in self.hooks:
            replacement = hook(self.module, known, self.grad_outputs)
            if replacement is not None:
                known = self._checked(replacement, self.input_count, "hook", "grad_input")
        self.grad_outputs = None
        return tuple(known[i] for i in self.inputs)

    def _checked(self, grads: Any, count: int, hook: str, what: str) -> tuple[Any, ...]:
        listed = grads if isinstance(grads, tuple) else (grads,)
        if len(listed) != count:
            raise RuntimeError(
                f"Backward {hook} returned an invalid number of {what}, got {len(listed)}, but "
                f"expected {count}"
            )
        return listed


def _through_identity(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int], Node | None]:
    """`values` with the tensors passed through the identity, their positions, and its node."""
    positions = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not is_grad_enabled() or not any(values[i].requires_grad for i in positions):
        return values, positions, None
    passed = BackwardHookFunction.apply(*[values[i] for i in positions])
    watched = list(values)
    for position, tensor in zip(positions, passed, strict=True):
        watched[position] = tensor
    node = next(tensor.grad_fn for tensor in passed if tensor.requires_grad)
    # A named tuple keeps its type.
    make = getattr(type(values), "_make", tuple)
    return make(watched), positions, node


def _spread(grads: tuple[Any, ...], positions: list[int], count: int) -> tuple[Any, ...]:
    """Gradients at their positions among `count` values, None at the others."""
    spread: list[Any] = [None] * count
    for position, grad in zip(positions, grads, strict=True):
        spread[position] = grad
    return tuple(spread)


def _hook_last_node(module: Module, result: Any) -> None:
    """Register the hooks of the older kind with the node that made the (first) output."""
    hooks = everywhere.functions("backward")
    if module._is_full_backward_hook is False:
        hooks += module._backward_hooks.values()
    output = next(_tensors(result), None) if hooks else None
    if output is None or output.grad_fn is None:
        return
    for hook in hooks:
        output.grad_fn.register_hook(_bound(hook, module))
    warnings.warn(
        "Using a non-full backward hook when the forward contains multiple autograd Nodes is "
        "deprecated and will be removed in future versions: this hook sees the gradients of the "
        "last node only. Please use register_full_backward_hook instead.",
        FutureWarning,
        stacklevel=4,
    )


def _bound(hook: Hook, module: Module) -> Hook:
    return lambda grad_input, grad_output: hook(module, grad_input, grad_output)


def _tensors(result: Any) -> Iterator[Any]:
    """The tensors in a result of nested sequences and dictionaries."""
    if isinstance(result, Tensor):
        yield result
    elif isinstance(result, dict | tuple | list):
        for value in result.values() if isinstance(result, dict) else result:
            yield from _tensors(value)
