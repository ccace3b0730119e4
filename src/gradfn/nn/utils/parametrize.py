"""Parametrizations: parameters and buffers computed from others by modules.

Note [Parametrized classes]: a module with parametrized tensors is of a subclass of its class, made
for it, in which each of these tensors is a property: reading it runs the parametrizations, writing
it their right inverses. The tensors that are learned are in ``module.parametrizations``.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ...autograd.grad_mode import no_grad
from ...missing import missing
from ...tensor import Tensor
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache: ContextVar[dict[tuple[int, str], Any] | None] = ContextVar(
    "gradfn_parametrized_tensors", default=None
)


@contextmanager
def cached() -> Iterator[None]:
    """Within it, each parametrized tensor is computed once, when it is first read.

    >>> from gradfn import nn
    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    >>> with cached():
    ...     layer.weight is layer.weight
    True
    """
    if _cache.get() is not None:
        yield
        return
    before = _cache.set({})
    try:
        yield
    finally:
        _cache.reset(before)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in the order in which they are applied.

    What they are applied to is the attribute `original`, or `original0`, `original1`, ... where the
    right inverse of the first one gives several tensors. Raises ValueError where the tensor that
    is computed would have another shape or dtype than `original`, unless `unsafe`.
    """

    original: Any

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            value = original
            for module in reversed(list(self)):
                value = _inverse(module, value)
        self.is_tensor = isinstance(value, Tensor)
        self.ntensors = 1 if self.is_tensor else len(_sequence(value))
        if self.is_tensor:
            if value.dtype is not dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype: it is "
                    f"{dtype}, and would become {value.dtype}"
                )
            with no_grad():
                original.set_(value)
            _register(self, "original", original)
        else:
            for number, part in enumerate(value):
                _register(self, f"original{number}", _alike(original, part, number))
        if not unsafe:
            _check_result(self(), shape, dtype)

    def original_names(self) -> list[str]:
        """The names of what the first parametrization is applied to."""
        if self.is_tensor:
            return ["original"]
        return [f"original{number}" for number in range(self.ntensors)]

    def originals(self) -> list[Any]:
        """What the first parametrization is applied to."""
        return [getattr(self, name) for name in self.original_names()]

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals to what gives `value`, by the right inverses of all."""
        with no_grad():
            given: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                given = module.right_inverse(given)
            if self.is_tensor:
                if not isinstance(given, Tensor):
                    raise ValueError(
                        f"`right_inverse` should return a tensor. Got {type(given).__name__}"
                    )
                given = [given]
            parts = _sequence(given)
            if len(parts) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(parts)}."
                )
            for original, part in zip(self.originals(), parts, strict=True):
                if part.dtype is not original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {part.dtype} while "
                        f"`original` has dtype {original.dtype}"
                    )
                original.set_(part)

    def forward(self) -> Any:
        """The tensor that is computed."""
        first, *others = self
        result = first(*self.originals())
        for module in others:
            result = module(result)
        return result


def _inverse(module: Any, value: Any) -> Any:
    """`value` through the right inverse of `module`, where there is one."""
    try:
        return module.right_inverse(value) if hasattr(module, "right_inverse") else value
    except NotImplementedError:
        return value


def _sequence(value: Any) -> Any:
    if not isinstance(value, Sequence):
        kind = type(value).__name__
        raise ValueError(
            f"'right_inverse' must return a Tensor or a Sequence of tensors. Got {kind}"
        )
    return value


def _alike(original: Any, part: Any, number: int) -> Any:
    """A part of what takes the place of `original`: a parameter if that is one."""
    if not isinstance(part, Tensor):
        raise ValueError(
            "'right_inverse' must return a Tensor or a Sequence of tensors. Got element "
            f"{number} of the sequence with type {type(part).__name__}."
        )
    if isinstance(original, Parameter):
        part = Parameter(part, original.requires_grad)
    return part.requires_grad_(original.requires_grad)


def _check_result(result: Any, shape: Any, dtype: Any) -> None:
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for what, before, after in (("dtype", dtype, result.dtype), ("shape", shape, result.shape)):
        if before != after:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless "
                f"`unsafe` flag is enabled.\nunparametrized {what}: {before}\n"
                f"parametrized {what}: {after}"
            )


def _register(module: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _getstate(self: Module) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(): save that, "
        "and load it into a module with the same parametrizations."
    )


def _deepcopy(self: Module, memo: dict[int, Any]) -> Any:
    if id(self) not in memo:
        replica = memo[id(self)] = object.__new__(type(self))
        vars(replica).update(copy.deepcopy(vars(self), memo))
    return memo[id(self)]


def _computed(name: str) -> property:
    """The property that stands for the parametrized tensor `name`."""

    def read(self: Any) -> Any:
        cache, key = _cache.get(), (id(self), name)
        if cache is None:
            return self.parametrizations[name]()
        if key not in cache:
            cache[key] = self.parametrizations[name]()
        return cache[key]

    def write(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


def _set_class(module: Module) -> None:
    """See Note [Parametrized classes]."""
    kind: Any = type_before_parametrizations(module)
    names = module.parametrizations.keys()
    namespace: dict[str, Any] = {name: _computed(name) for name in names}
    namespace["__getstate__"] = _getstate
    if not hasattr(kind, "__deepcopy__"):
        namespace["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), namespace)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let ``parametrization(original)`` be the parameter or buffer `tensor_name` from now on.

    `original` is what is learned. Where the parametrization has a `right_inverse`, it starts as the
    right inverse of the tensor, and assigning to the attribute sets it. One more on the same tensor
    is applied to the result of those before. Returns the module. ValueError where there is no such
    tensor and where its shape or dtype would change, unless `unsafe`.

    >>> from gradfn import nn
    >>> class Symmetric(nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        known: Any = module.parametrizations[tensor_name]
        if not unsafe:
            _check_next(getattr(module, tensor_name), parametrization)
        known.append(parametrization)
        known.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            module.parametrizations = ModuleDict()
        module.parametrizations[tensor_name] = made
        _set_class(module)
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _check_next(before: Any, parametrization: Any) -> None:
    """ValueError unless the next parametrization keeps the shape and dtype of the tensor."""
    after = parametrization(before)
    _check_result(after, before.shape, before.dtype)
    if hasattr(parametrization, "right_inverse"):
        inverse = parametrization.right_inverse(after)
        if not isinstance(inverse, Tensor):
            raise ValueError(
                f"parametrization.right_inverse must return a tensor. Got: {type(inverse).__name__}"
            )
        _check_result(inverse, before.shape, before.dtype)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the tensor `tensor_name` of the module, or any, is parametrized."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Undo `register_parametrization`: the tensor keeps its value, or becomes the original again.

    Returns the module. ValueError where the tensor is not parametrized, and where it is to become
    the original and there are several.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    known: Any = module.parametrizations[tensor_name]
    if not known.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    value: Any = getattr(module, tensor_name)
    if not known.is_tensor:
        tensor = Parameter(value) if value.requires_grad else value
    else:
        tensor = known.original
        if leave_parametrized:
            with no_grad():
                tensor.set_(value)
    del module.parametrizations[tensor_name]
    _set_class(module)
    if not is_parametrized(module):
        module.__class__ = type(module).__bases__[0]
        del module.parametrizations
    _register(module, tensor_name, tensor)
    return module


def type_before_parametrizations(module: Module) -> type[Any]:
    """The class of the module, without its parametrizations."""
    return type(module).__bases__[0] if _is_parametrized_class(type(module)) else type(module)


def _is_parametrized_class(kind: type[Any]) -> bool:
    return vars(kind).get("__getstate__") is _getstate


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give `to_module` the parametrizations of `from_module`, of one tensor or of all, and the
    tensors that they are applied to. Returns `to_module`."""
    if not is_parametrized(from_module):
        return to_module
    sources = from_module.parametrizations
    for name in sources.keys() if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source: Any = sources[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        for original in source.original_names():
            setattr(target, original, getattr(source, original))
    return to_module


__getattr__ = missing(__name__)
