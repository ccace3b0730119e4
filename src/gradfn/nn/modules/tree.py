"""Walking the tree of modules: parameters, buffers and submodules with their dotted names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...tensor import Tensor
from ..parameter import Parameter

if TYPE_CHECKING:
    from .module import Module


def named_modules(
    self: Module, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
) -> Iterator[tuple[str, Module]]:
    """The module itself, as `prefix`, and all below it, each once unless told otherwise.

    >>> from gradfn import nn
    >>> [name for name, _ in nn.Sequential(nn.Identity(), nn.Identity()).named_modules()]
    ['', '0', '1']
    """
    if memo is None:
        memo = set()
    if self in memo:
        return
    if remove_duplicate:
        memo.add(self)
    yield prefix, self
    for name, module in self._modules.items():
        if module is not None:
            below = f"{prefix}.{name}" if prefix else name
            yield from module.named_modules(memo, below, remove_duplicate)


def modules(self: Module, remove_duplicate: bool = True) -> Iterator[Module]:
    """The module itself and all below it."""
    for _, module in self.named_modules(remove_duplicate=remove_duplicate):
        yield module


def named_children(self: Module) -> Iterator[tuple[str, Module]]:
    """The modules right below this one, each once."""
    memo = set()
    for name, module in self._modules.items():
        if module is not None and module not in memo:
            memo.add(module)
            yield name, module


def children(self: Module) -> Iterator[Module]:
    """The modules right below this one, each once."""
    for _, module in self.named_children():
        yield module


def named_members(
    self: Module,
    get_members_fn: Callable[[Module], Iterable[tuple[str, Any]]],
    prefix: str = "",
    recurse: bool = True,
    remove_duplicate: bool = True,
) -> Iterator[tuple[str, Any]]:
    """What `get_members_fn` gives for each module of the tree, with dotted names."""
    memo = set()
    tree = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
    for path, module in tree if recurse else [(prefix, self)]:
        for name, member in get_members_fn(module):
            if member is None or member in memo:
                continue
            if remove_duplicate:
                memo.add(member)
            yield (f"{path}.{name}" if path else name), member


def named_parameters(
    self: Module, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
) -> Iterator[tuple[str, Parameter]]:
    """The parameters of the module and, if `recurse`, of all below it, each once."""
    members = self._named_members(
        lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
    )
    yield from members


def parameters(self: Module, recurse: bool = True) -> Iterator[Parameter]:
    """The parameters of the module and, if `recurse`, of all below it, each once."""
    for _, parameter in self.named_parameters(recurse=recurse):
        yield parameter


def named_buffers(
    self: Module, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
) -> Iterator[tuple[str, Tensor]]:
    """The buffers of the module and, if `recurse`, of all below it, each once."""
    members = self._named_members(
        lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
    )
    yield from members


def buffers(self: Module, recurse: bool = True) -> Iterator[Tensor]:
    """The buffers of the module and, if `recurse`, of all below it, each once."""
    for _, buffer in self.named_buffers(recurse=recurse):
        yield buffer


def get_parameter(self: Module, target: str) -> Parameter:
    """The parameter with the dotted name `target`; AttributeError where there is none."""
    path, _, name = target.rpartition(".")
    parameter = member(self.get_submodule(path), name)
    if not isinstance(parameter, Parameter):
        raise AttributeError(f"`{name}` is not an nn.Parameter")
    return parameter


def get_buffer(self: Module, target: str) -> Tensor:
    """The buffer with the dotted name `target`; AttributeError where there is none."""
    path, _, name = target.rpartition(".")
    module = self.get_submodule(path)
    buffer: Tensor = member(module, name)
    if name not in module._buffers:
        raise AttributeError(f"`{name}` is not a buffer")
    return buffer


def member(module: Module, name: str) -> Any:
    """The attribute `name`, or an error in the words of the functions that take dotted names."""
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    return getattr(module, name)
