"""Optimizer: parameter groups, state, hooks; and the loop over parameters."""

from __future__ import annotations

import copy
import functools
import itertools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from ..autograd.grad_mode import enable_grad, get_mode, no_grad
from ..autograd.hooks import RemovableHandle
from ..autograd.variable import Variable
from .state import Required, hook_handle, packed, required, restored

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

Closure = Callable[[], Any]
Group = dict[str, Any]
ParamsT = Any  # tensors, (name, tensor) pairs, or dicts of groups

_global_pre: OrderedDict[int, Any] = OrderedDict()
_global_post: OrderedDict[int, Any] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of every optimizer."""
    return hook_handle(_global_pre, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of every optimizer."""
    return hook_handle(_global_post, hook)


class Optimizer:
    """What all optimizers share: ``torch.optim.Optimizer``.

    `params` are tensors, named tensors ``(name, tensor)``, or dicts that give groups of them
    options of their own; `defaults` are the options of the others. Subclasses define `step`.

    >>> import gradfn
    >>> x = gradfn.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = gradfn.optim.SGD([x], lr=0.1)
    >>> (x**2).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([ 0.8000, -1.6000], requires_grad=True)
    """

    state: defaultdict[Any, Any]
    param_groups: list[Group]
    _step_supports_amp_scaling = False

    def __init__(self, params: ParamsT, defaults: Group) -> None:
        self.defaults = defaults
        self._make_hooks()
        self._patch_step()
        if isinstance(params, Variable):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {type(params).__module__}.{type(params).__name__}"
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    def _make_hooks(self) -> None:
        self._optimizer_step_pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self._optimizer_step_post_hooks: OrderedDict[int, Any] = OrderedDict()
        self._optimizer_state_dict_pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self._optimizer_state_dict_post_hooks: OrderedDict[int, Any] = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self._optimizer_load_state_dict_post_hooks: OrderedDict[int, Any] = OrderedDict()

    def _patch_step(self) -> None:
        """Let every `step` of the class, whoever wrote it, call the hooks around it."""
        step = type(self).step
        if not getattr(step, "hooked", False):
            type(self).step = _with_hooks(step)  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._make_hooks()
        self._patch_step()

    def __repr__(self) -> str:
        text = type(self).__name__ + " ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            options = sorted(key for key in group if key != "params")
            text += "".join(f"    {key}: {group[key]}\n" for key in options)
        return text + ")"

    def add_param_group(self, param_group: Group) -> None:
        """Another group of parameters, with options of its own.

        TypeError for what is no tensor, ValueError for tensors that are not leaves, are in a group
        already, or lack an option.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Variable):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead."
            )
        params = list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        if names and len(names) != len(params):
            raise TypeError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        if names:
            params = [p for _, p in params]
            param_group["param_names"] = names
        param_group["params"] = params
        for param in params:
            self._check_param(param)
        for name, default in self.defaults.items():
            if isinstance(default, Required) and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            param_group.setdefault(name, default)
        if len({id(p) for p in params}) < len(params):
            raise ValueError(
                "some parameters appear more than once in the parameter group: each must appear "
                "once"
            )
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        if self.param_groups and ("param_names" in param_group) != (
            "param_names" in self.param_groups[0]
        ):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                "with names to the optimizer whose other groups have none, or the reverse"
            )
        self.param_groups.append(param_group)

    def _check_param(self, param: Any) -> None:
        if not isinstance(param, Variable):
            raise TypeError(
                "optimizer can only optimize Tensors, but one of the params is "
                f"{type(param).__module__}.{type(param).__name__}"
            )
        if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
            raise ValueError(
                "can't optimize a non-leaf Tensor: this one was made by "
                f"{type(param.grad_fn).__name__}"
            )

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero in place."""
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none or param._grad is None:
                    param._grad = None
                    continue
                if param._grad.grad_fn is not None:
                    param._grad.detach_()
                else:
                    param._grad.requires_grad_(False)
                param._grad.zero_()

    def step(self, closure: Closure | None = None) -> Any:
        """Update the parameters; `closure`, where given, computes the loss anew. To be defined."""
        raise NotImplementedError(f"{type(self).__name__} does not define step()")

    # Hooks.

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; it may return both anew."""
        return hook_handle(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return hook_handle(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict`."""
        return hook_handle(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after `state_dict`; it may return another one."""
        return hook_handle(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before `load_state_dict`."""
        return hook_handle(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after `load_state_dict`."""
        return hook_handle(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # State.

    def state_dict(self) -> dict[str, Any]:
        """The state and the groups, with numbers in the place of parameters, as PyTorch's."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        result = packed(self.state, self.param_groups)
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a `state_dict`; ValueError where its groups are of other sizes."""
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        state, groups = restored(copy.deepcopy(state_dict), self.param_groups)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(step)
    def run(*args: Any, **kwargs: Any) -> Any:
        self = args[0]
        before = itertools.chain(_global_pre.values(), self._optimizer_step_pre_hooks.values())
        for hook in before:
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise RuntimeError(
                    f"{run} must return None or a tuple of (new_args, new_kwargs), but got "
                    f"{changed}."
                )
            args, kwargs = changed
        result = step(*args, **kwargs)
        after = itertools.chain(self._optimizer_step_post_hooks.values(), _global_post.values())
        for hook in after:
            hook(self, args, kwargs)
        return result

    run.hooked = True  # type: ignore[attr-defined]
    return run


class Elementwise(Optimizer):
    """Optimizers that update each parameter by a formula of it, its gradient and its state.

    `update` is written once, for arrays and for tensors: augmented assignment writes in place, and
    `F` has the functions. It gets arrays, and so makes no tensors on its way, except where the
    updates are to be `differentiable`.
    """

    _step_supports_amp_scaling = True
    by_parts: ClassVar[bool] = True  # complex numbers are optimized as pairs of real ones

    def initial(self, p: Any, group: Group) -> dict[str, Any]:
        """The state of a parameter before its first step."""
        return {}

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        """One step of the parameter `p` with gradient `g` and state `s`, by the options `o`."""
        raise NotImplementedError

    def step(self, closure: Closure | None = None) -> Any:
        """Update the parameters by their gradients; returns what `closure`, if given, returns."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            options = _with_numbers(group)
            if group.get("differentiable") and get_mode().grad:
                self._step_on_tensors(group, options)
            else:
                self._step_on_arrays(group, options)
        return loss

    def _pairs(self, group: Group) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
        """The parameters that have a gradient, with it and their state."""
        for p in group["params"]:
            grad = p._grad
            if grad is None:
                continue
            state = self.state.get(p)
            if not state:
                with no_grad():
                    state = self.initial(p, group)
            yield p, grad, state
            if state:
                self.state[p] = state

    def _step_on_arrays(self, group: Group, options: Group) -> None:
        with np.errstate(all="ignore"):
            for p, grad, state in self._pairs(group):
                arrays = {k: v._array if isinstance(v, Variable) else v for k, v in state.items()}
                values, gradient = p._array, grad._array
                if self.by_parts and values.dtype.kind == "c":
                    values, gradient = _as_pairs(values), _as_pairs(gradient)
                    arrays = {k: _as_pairs(v) for k, v in arrays.items()}
                given = dict(arrays)
                self.update(np, values, gradient, arrays, options)
                p.memory().write(f"{type(self).__name__}.step")
                for name, value in arrays.items():
                    if value is not given.get(name):
                        state[name] = self._kept(value, p)

    def _kept(self, value: Any, p: Any) -> Any:
        """Something that an update has put into the state."""
        if not isinstance(value, np.ndarray | np.generic):
            return value
        value = np.asarray(value)  # what is computed of 0-d arrays are scalars
        whole = p._array.dtype if self.by_parts and p._array.dtype.kind == "c" else value.dtype
        return Variable.wrap(value.view(whole)[..., 0] if whole is not value.dtype else value)

    def _step_on_tensors(self, group: Group, options: Group) -> None:
        from .. import ops

        for p, grad, state in self._pairs(group):
            values, gradient = p, grad
            if self.by_parts and p.is_complex():
                values, gradient = ops.view_as_real(p), ops.view_as_real(grad)
            self.update(ops, values, gradient, state, options)


def _as_pairs(value: Any) -> Any:
    """Complex numbers as pairs of real ones, in the same memory."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "c":
        return value
    real = value.real.dtype
    if value.flags.c_contiguous:
        return value.reshape(-1).view(real).reshape(*value.shape, 2)
    strides = (*value.strides, real.itemsize)
    return np.lib.stride_tricks.as_strided(value.real, (*value.shape, 2), strides)


def _with_numbers(group: Group) -> Group:
    """The options, with numbers in the place of 0-d tensors unless these are differentiated."""
    if group.get("differentiable"):
        return group
    return {name: _number(value) for name, value in group.items() if name != "params"}


def _number(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_number, value))
    return value._array.item() if isinstance(value, Variable) else value


def check_options(name: str, options: Iterable[tuple[str, Any, bool]]) -> None:
    """ValueError for the first option that is not valid."""
    for what, value, valid in options:
        if not valid:
            raise ValueError(f"Invalid {what}: {value}, in {name}")


__all__ += ["Elementwise", "ParamsT", "check_options", "required"]
