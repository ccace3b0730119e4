"""The state of modules: `state_dict` and `load_state_dict`."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ...autograd.grad_mode import no_grad
from ...autograd.hooks import RemovableHandle
from ...queries import typename
from ...tensor import Tensor
from ..parameter import Parameter, is_lazy

if TYPE_CHECKING:
    from .module import Module

Hook = Callable[..., Any]

EXTRA = "_extra_state"  # the key of what `get_extra_state` gives


class _IncompatibleKeys(NamedTuple):
    """The names in which a state and a module differ."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


def state_dict(
    self: Module,
    *args: Any,
    destination: Any = None,
    prefix: str = "",
    keep_vars: bool = False,
) -> Any:
    """The parameters and persistent buffers by name, detached unless `keep_vars`.

    They share their memory with the module's. They are added to `destination`, if it is given,
    under `prefix`. The three by position, in this order, is PyTorch's older form.

    >>> from gradfn import nn
    >>> list(nn.Linear(2, 3).state_dict())
    ['weight', 'bias']
    """
    if args:
        warnings.warn(
            "Positional args are being deprecated, use kwargs instead: destination, prefix and "
            "keep_vars.",
            FutureWarning,
            stacklevel=2,
        )
        by_name: list[Any] = [destination, prefix, keep_vars]
        destination, prefix, keep_vars = [*args, *by_name[len(args) :]]
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    local_metadata = {"version": self._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local_metadata
    for hook in self._state_dict_pre_hooks.values():
        hook(self, prefix, keep_vars)
    self._save_to_state_dict(destination, prefix, keep_vars)
    for name, module in self._modules.items():
        if module is not None:
            module.state_dict(
                destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
            )
    for hook in self._state_dict_hooks.values():
        result = hook(self, destination, prefix, local_metadata)
        if result is not None:
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = result
    return destination


def save_to_state_dict(self: Module, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Add the module's own state, without that of its submodules, to `destination`."""
    for name, tensor in persistent(self):
        as_it_is = keep_vars or is_lazy(tensor)
        destination[prefix + name] = tensor if as_it_is else tensor.detach()
    if has_extra_state(self):
        destination[prefix + EXTRA] = self.get_extra_state()


def persistent(module: Module) -> Iterator[tuple[str, Any]]:
    """The module's own parameters and buffers that belong to its state."""
    for name, tensor in [*module._parameters.items(), *module._buffers.items()]:
        if tensor is not None and name not in module._non_persistent_buffers_set:
            yield name, tensor


def has_extra_state(module: Module) -> bool:
    """Whether the class says what else belongs to the state."""
    return type(module).get_extra_state is not get_extra_state


def load_state_dict(
    self: Module, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
) -> _IncompatibleKeys:
    """Copy a state into the parameters and buffers of the same names; or `assign` its tensors.

    Returns the names that are missing and those that are unexpected. Raises RuntimeError, which
    tells of all differences at once, where shapes differ and, if `strict`, where names do;
    TypeError where `state_dict` is no mapping.
    """
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    loading = _Loading(getattr(state_dict, "_metadata", {}), assign)
    loading.load(self, OrderedDict(state_dict), "")
    keys = loading.keys
    errors = [*_differences(keys), *loading.errors] if strict else loading.errors
    if errors:
        problems = "\n\t".join(errors)
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{problems}"
        )
    return keys


def _differences(keys: _IncompatibleKeys) -> Iterator[str]:
    for kind, names in (("Missing", keys.missing_keys), ("Unexpected", keys.unexpected_keys)):
        if names:
            listed = ", ".join(f'"{name}"' for name in names)
            yield f"{kind} key(s) in state_dict: {listed}. "


class _Loading:
    """One call of `load_state_dict`, and what it finds on the way."""

    def __init__(self, metadata: dict[str, dict[str, Any]], assign: bool) -> None:
        self.metadata = metadata
        self.assign = assign
        self.keys = _IncompatibleKeys([], [])
        self.errors: list[str] = []

    def load(self, module: Module, state: Mapping[str, Any], prefix: str) -> None:
        local_metadata = dict(self.metadata.get(prefix[:-1], {}))
        if self.assign:
            local_metadata["assign_to_params_buffers"] = True
        module._load_from_state_dict(state, prefix, local_metadata, True, *self.keys, self.errors)
        for name, child in module._modules.items():
            if child is not None:
                start = f"{prefix}{name}."
                self.load(child, {k: v for k, v in state.items() if k.startswith(start)}, start)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, self.keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected "
                    "to return new values: change the incompatible keys in place."
                )


def load_from_state_dict(
    self: Module,
    state_dict: Any,
    prefix: str,
    local_metadata: dict[str, Any],
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    error_msgs: list[str],
) -> None:
    """Load the module's own state; names and errors go to the lists."""
    for hook in self._load_state_dict_pre_hooks.values():
        hook(
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
        )
    assign = local_metadata.get("assign_to_params_buffers", False)
    own = dict(persistent(self))
    for name, tensor in own.items():
        key = prefix + name
        if key in state_dict:
            error = _load_tensor(self, name, tensor, key, state_dict[key], assign)
            if error is not None:
                error_msgs.append(error)
        elif strict:
            missing_keys.append(key)
    extra = prefix + EXTRA
    if not has_extra_state(self):
        if strict and extra in state_dict:
            unexpected_keys.append(extra)
    elif extra in state_dict:
        self.set_extra_state(state_dict[extra])
    elif strict:
        missing_keys.append(extra)
    if strict:
        unexpected_keys += _unexpected(self, state_dict, prefix, own)


def _unexpected(
    module: Module, state_dict: Mapping[str, Any], prefix: str, own: Mapping[str, Any]
) -> Iterator[str]:
    """The keys that neither the module nor one of its submodules has a place for."""
    for key in state_dict:
        if key.startswith(prefix) and key != prefix + EXTRA:
            name, dot, _ = key[len(prefix) :].partition(".")
            if name not in (module._modules if dot else own):
                yield key


def _load_tensor(
    module: Module, name: str, tensor: Any, key: str, value: Any, assign: bool
) -> str | None:
    """Copy or assign `value` to the parameter or buffer `name`; returns what is wrong with it."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(value)}"
        )
    if is_lazy(tensor) and is_lazy(value):
        return None
    if tensor.ndim == 0 and value.ndim == 1:  # PyTorch 0.3 saved numbers as vectors
        value = value.select(0, 0)
    if tensor.shape != value.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {tensor.shape}."
        )
    try:
        with no_grad():
            if assign:
                setattr(module, name, _assignable(tensor, value))
            else:
                tensor.copy_(value)
    except Exception as error:  # reported with all others
        return (
            f'While copying the parameter named "{key}", whose dimensions in the model are '
            f"{tensor.shape} and whose dimensions in the checkpoint are {value.shape}, an "
            f"exception occurred : {error.args}."
        )
    return None


def _assignable(tensor: Any, value: Any) -> Any:
    """`value` as what stands in for `tensor`."""
    if not isinstance(tensor, Parameter):
        return value
    if isinstance(value, Parameter):
        return value.requires_grad_(tensor.requires_grad)
    return Parameter(value, requires_grad=tensor.requires_grad)


def register_state_dict_pre_hook(self: Module, hook: Hook) -> RemovableHandle:
    """Call ``hook(module, prefix, keep_vars)`` before `state_dict` collects."""
    return self._state_dict_pre_hooks.add(hook)


def register_state_dict_post_hook(self: Module, hook: Hook) -> RemovableHandle:
    """Call ``hook(module, state_dict, prefix, local_metadata)`` after `state_dict`; it may change
    the state in place."""
    hook._from_public_api = True  # type: ignore[attr-defined]  # as PyTorch marks them
    return self._state_dict_hooks.add(hook)


def register_state_dict_hook(self: Module, hook: Hook) -> RemovableHandle:
    """PyTorch's private form of `register_state_dict_post_hook`: it may return another state."""
    if getattr(hook, "_from_public_api", False):
        raise RuntimeError(
            "Cannot register the same function as the state dict post hook that was previously "
            "registered via register_state_dict_post_hook"
        )
    return self._state_dict_hooks.add(hook)


def register_load_state_dict_pre_hook(self: Module, hook: Hook) -> RemovableHandle:
    """Before a state is loaded, call ``hook(module, state_dict, prefix, local_metadata, strict,
    missing_keys, unexpected_keys, error_msgs)``, which may change any of them in place."""
    return register_private_load_pre_hook(self, hook, with_module=True)


def register_private_load_pre_hook(
    self: Module, hook: Hook, with_module: bool = False
) -> RemovableHandle:
    """PyTorch's private form: without the module as first argument, unless `with_module`."""
    bound = functools.partial(hook, self) if with_module else hook
    return self._load_state_dict_pre_hooks.add(bound)


def register_load_state_dict_post_hook(self: Module, hook: Hook) -> RemovableHandle:
    """Call ``hook(module, incompatible_keys)`` after a state was loaded; it may change the lists
    of names in place."""
    return self._load_state_dict_post_hooks.add(hook)


def get_extra_state(self: Module) -> Any:
    """What belongs to the state apart from tensors. To be overridden, with `set_extra_state`."""
    raise RuntimeError(
        "Reached a code path in Module.get_extra_state() that should never be called: "
        f"{typename(self)} does not override it."
    )


def set_extra_state(self: Module, state: Any) -> None:
    """Take over what `get_extra_state` gave. To be overridden."""
    raise RuntimeError(
        "Reached a code path in Module.set_extra_state() that should never be called: "
        f"{typename(self)} does not override it."
    )
