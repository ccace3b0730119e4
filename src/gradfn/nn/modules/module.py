"""Module: what has parameters, buffers and submodules, and computes something from them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

from ... import dtypes
from ...autograd.grad_mode import no_grad
from ...autograd.hooks import HookList
from ...creation import empty_like
from ...device import check_device
from ...missing import missing
from ...queries import typename
from ...tensor import Tensor
from ..parameter import Buffer, Parameter
from . import hooks, state, tree
from .hooks import everywhere, registered
from .hooks import register_module_backward_hook as register_module_backward_hook
from .hooks import (
    register_module_buffer_registration_hook as register_module_buffer_registration_hook,
)
from .hooks import register_module_forward_hook as register_module_forward_hook
from .hooks import register_module_forward_pre_hook as register_module_forward_pre_hook
from .hooks import register_module_full_backward_hook as register_module_full_backward_hook
from .hooks import register_module_full_backward_pre_hook as register_module_full_backward_pre_hook
from .hooks import (
    register_module_module_registration_hook as register_module_module_registration_hook,
)
from .hooks import (
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)

__all__ = ["Module"]

# The attributes that every module has; their names are PyTorch's.
_ATTRIBUTES: dict[str, Callable[[], Any]] = {
    "training": lambda: True,
    "_parameters": dict,
    "_buffers": dict,
    "_non_persistent_buffers_set": set,
    "_backward_pre_hooks": HookList,
    "_backward_hooks": HookList,
    "_is_full_backward_hook": lambda: None,
    "_forward_hooks": HookList,
    "_forward_hooks_with_kwargs": HookList,
    "_forward_hooks_always_called": HookList,
    "_forward_pre_hooks": HookList,
    "_forward_pre_hooks_with_kwargs": HookList,
    "_state_dict_hooks": HookList,
    "_state_dict_pre_hooks": HookList,
    "_load_state_dict_pre_hooks": HookList,
    "_load_state_dict_post_hooks": HookList,
    "_modules": dict,
}


def _forward(self: Module, *input: Any) -> Any:
    """Compute the output. To be overridden."""
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


class Module:
    """A part of a neural network: `torch.nn.Module`.

    A subclass calls ``super().__init__()``, then assigns parameters, buffers and other modules to
    attributes, and defines `forward`. Calling the module runs `forward`, with the hooks around it.

    >>> from gradfn import nn, ones
    >>> class Scale(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = nn.Parameter(ones(2))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(ones(2))
    tensor([1., 1.], grad_fn=<MulBackward0>)
    """

    dump_patches: ClassVar[bool] = False
    call_super_init: ClassVar[bool] = False
    _version: int = 1  # of the layout of the state

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _backward_pre_hooks: HookList
    _backward_hooks: HookList
    _is_full_backward_hook: bool | None
    _forward_hooks: HookList
    _forward_hooks_with_kwargs: HookList
    _forward_hooks_always_called: HookList
    _forward_pre_hooks: HookList
    _forward_pre_hooks_with_kwargs: HookList
    _state_dict_hooks: HookList
    _state_dict_pre_hooks: HookList
    _load_state_dict_pre_hooks: HookList
    _load_state_dict_post_hooks: HookList
    _modules: dict[str, Module | None]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            if kwargs:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                    f"'{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but "
                    f"{len(args) + 1} were given"
                )
        vars(self).update((name, make()) for name, make in _ATTRIBUTES.items())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    forward: Callable[..., Any] = _forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or everywhere
        ):
            return hooks.call(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        vars(self).update(attributes)
        for name, make in _ATTRIBUTES.items():
            known = vars(self).get(name)
            if known is None:  # an older version did not have it
                vars(self)[name] = make()
            elif make is HookList and not isinstance(known, HookList):  # PyTorch wrote it
                vars(self)[name] = HookList(known)

    def __getattr__(self, name: str) -> Any:
        for kind in ("_parameters", "_buffers", "_modules"):
            members = vars(self).get(kind)
            if members and name in members:
                return members[name]
        raise AttributeError(
            f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            self._initialized("parameters")
            self._make_room(name, self._parameters)
            self.register_parameter(name, value)
        elif name in vars(self).get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._initialized("module")
            self._make_room(name, self._modules)
            self._modules[name] = registered("module", self, name, value)
        elif name in vars(self).get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            self._modules[name] = registered("module", self, name, value)
        elif isinstance(value, Buffer) or name in vars(self).get("_buffers", ()):
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def _initialized(self, kind: str) -> None:
        if "_modules" not in vars(self):
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")

    def _make_room(self, name: str, mine: dict[str, Any]) -> None:
        """Take `name` away from all kinds of attributes but `mine`."""
        if name in mine:
            return
        for kind in (vars(self), self._parameters, self._buffers, self._modules):
            kind.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _set_buffer(self, name: str, value: Any) -> None:
        self._initialized("buffer")
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' "
                "(torch.nn.Buffer, torch.Tensor or None expected)"
            )
        if isinstance(value, Buffer):
            persistent = value.persistent
        else:
            persistent = name not in self._non_persistent_buffers_set
        self.register_buffer(name, value, persistent)

    def __delattr__(self, name: str) -> None:
        for kind in (self._parameters, self._buffers, self._modules):
            if name in kind:
                del kind[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = [*super().__dir__(), *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, which is then an attribute; None keeps the place of one."""
        self._initialized("parameter")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}': it is the result of "
                f"{param.grad_fn.name()}. Model parameters must be created explicitly; compute "
                "the value of another one in the 'forward' method."
            )
        if param is not None:
            param = registered("parameter", self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no parameter; not to `state_dict` unless `persistent`."""
        self._initialized("buffer")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = registered("buffer", self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule, which is then an attribute; None keeps the place of one."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = registered("module", self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """Another name for `add_module`."""
        self.add_module(name, module)

    def _check_name(self, kind: str, name: Any, taken: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if not name:
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in taken:
            raise KeyError(f"attribute '{name}' already exists")

    register_forward_pre_hook = hooks.register_forward_pre_hook
    register_forward_hook = hooks.register_forward_hook
    register_full_backward_pre_hook = hooks.register_full_backward_pre_hook
    register_full_backward_hook = hooks.register_full_backward_hook
    register_backward_hook = hooks.register_backward_hook

    state_dict = state.state_dict
    load_state_dict = state.load_state_dict
    _save_to_state_dict = state.save_to_state_dict
    _load_from_state_dict = state.load_from_state_dict
    get_extra_state = state.get_extra_state
    set_extra_state = state.set_extra_state
    register_state_dict_pre_hook = state.register_state_dict_pre_hook
    register_state_dict_post_hook = state.register_state_dict_post_hook
    _register_state_dict_hook = state.register_state_dict_hook
    register_load_state_dict_pre_hook = state.register_load_state_dict_pre_hook
    _register_load_state_dict_pre_hook = state.register_private_load_pre_hook
    register_load_state_dict_post_hook = state.register_load_state_dict_post_hook

    named_modules = tree.named_modules
    modules = tree.modules
    named_children = tree.named_children
    children = tree.children
    _named_members = tree.named_members
    named_parameters = tree.named_parameters
    parameters = tree.parameters
    named_buffers = tree.named_buffers
    buffers = tree.buffers
    get_parameter = tree.get_parameter
    get_buffer = tree.get_buffer

    def get_submodule(self, target: str) -> Module:
        """The module with the dotted name `target`; AttributeError where there is none."""
        module = self
        for name in target.split(".") if target else []:
            module = tree.member(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` in the place of the one with the dotted name `target`.

        If `strict`, there must be one already. Raises ValueError for what is no module or no
        name, AttributeError where the place is not one of a module.
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if (strict or hasattr(parent, name)) and not isinstance(tree.member(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call ``fn(module)`` for all modules below this one, and then for itself."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Replace the data of parameters, their gradients, and buffers by what `fn` makes of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        with no_grad():
            for parameter in self._parameters.values():
                if parameter is not None:
                    parameter.data = fn(parameter)
                    if parameter.grad is not None:
                        parameter.grad.data = fn(parameter.grad)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert the parameters and buffers in place: ``to(dtype)``, ``to(device)``, and so on.

        Takes what `Tensor.to` takes. A dtype applies to floating-point and complex ones; raises
        TypeError for other dtypes, and what `Tensor.to` raises for devices that are not there.
        """
        device, dtype, options = _conversion(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype}"
            )
        if dtype is not None and dtype.is_complex:
            warnings.warn(
                "Complex modules are a new feature under active development whose design may "
                "change, and some modules might not work as expected when using complex tensors "
                "as parameters or buffers.",
                stacklevel=2,
            )

        def convert(tensor: Any) -> Any:
            inexact = tensor.is_floating_point() or tensor.is_complex()
            return tensor.to(device, dtype if inexact else None, **options)

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Give the parameters and buffers new memory, with arbitrary values."""
        check_device(device)
        return self._apply(empty_like, recurse)

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype, in place."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self) -> Self:
        """Convert the floating-point parameters and buffers to float32, in place."""
        return self._to_float(dtypes.float32)

    def double(self) -> Self:
        """Convert the floating-point parameters and buffers to float64, in place."""
        return self._to_float(dtypes.float64)

    def half(self) -> Self:
        """Convert the floating-point parameters and buffers to float16, in place."""
        return self._to_float(dtypes.float16)

    def bfloat16(self) -> Self:
        """Convert the floating-point parameters and buffers to bfloat16, in place."""
        return self._to_float(dtypes.bfloat16)

    def _to_float(self, dtype: dtypes.dtype) -> Self:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def cpu(self) -> Self:
        """The module itself: it is on the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Raise AssertionError: gradfn has no CUDA."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def share_memory(self) -> Self:
        """The module itself: processes do not share tensors."""
        return self._apply(lambda tensor: tensor.share_memory_())

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Leave the module as it is: there is no compiler."""

    def train(self, mode: bool = True) -> Self:
        """Set `training` here and below: what modules such as Dropout depend on."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say for all parameters whether gradients are wanted, in place."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
                continue
            if parameter.grad.grad_fn is not None:
                parameter.grad.detach_()
            else:
                parameter.grad.requires_grad_(False)
            parameter.grad.zero_()

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What is printed of the module itself, between the parentheses. To be overridden."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        if not self._modules and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        children = (f"({name}): {module!r}" for name, module in self._modules.items())
        return block(self._get_name(), [*lines, *map(indented, children)])


def _conversion(*args: Any, **kwargs: Any) -> tuple[Any, dtypes.dtype | None, dict[str, Any]]:
    """The device, the dtype and the options in the arguments of `Module.to`."""
    options = {"memory_format": kwargs.pop("memory_format", None)}
    if args and isinstance(args[0], Tensor):
        return None, args[0].dtype, options
    if args and isinstance(args[0], dtypes.dtype):
        return None, args[0], options
    device = args[0] if args else kwargs.pop("device", None)
    dtype = args[1] if len(args) > 1 else kwargs.pop("dtype", None)
    kwargs.pop("non_blocking", None)
    return device, dtype, options | kwargs


def indented(text: str) -> str:
    """`text` with all lines but the first indented, as modules print what is in them."""
    return text.replace("\n", "\n  ")


def block(name: str, lines: list[str]) -> str:
    """A module's name and, in parentheses on lines of their own, what belongs to it."""
    if not lines:
        return f"{name}()"
    return "\n  ".join([f"{name}(", *lines]) + "\n)"


__getattr__ = missing(__name__)
