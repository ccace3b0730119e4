"""Letting saved tensors be written to: they are copied just before."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from ..raw.strided import address
from .grad_mode import ModeChange, get_mode
from .memory import Memory
from .variable import Variable


class _Handle:
    """Stands for a saved tensor at one version; lives as long as some node saves it."""


class SavedCopies:
    """What nodes have saved within `allow_mutation_on_saved_tensors`.

    `tid_to_weakhandle` finds the handle of a tensor at its present version, `original` the tensor
    that a handle stands for, and `cloned` the copy that took its place when it was written to.
    """

    def __init__(self) -> None:
        self.tid_to_weakhandle: WeakValueDictionary[tuple[Any, ...], _Handle] = (
            WeakValueDictionary()
        )
        self.original: WeakKeyDictionary[_Handle, Any] = WeakKeyDictionary()
        self.cloned: WeakKeyDictionary[_Handle, Any] = WeakKeyDictionary()

    def pack(self, tensor: Any) -> _Handle:
        array, memory = tensor._array, tensor.memory()
        key = (id(memory), memory.version, address(array), array.shape, array.strides)
        handle = self.tid_to_weakhandle.get(key)
        if handle is None:
            self.tid_to_weakhandle[key] = handle = _Handle()
            self.original[handle] = tensor
        return handle

    def unpack(self, handle: _Handle) -> Any:
        assert get_mode().copies is self, (
            "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which "
            "the graph was originally recorded."
        )
        return self.cloned[handle] if handle in self.cloned else self.original[handle]

    def clear(self) -> None:
        """Let go of everything: the context is over."""
        self.tid_to_weakhandle.clear()
        self.original.clear()
        self.cloned.clear()

    def before_write(self, memory: Memory) -> None:
        """Copy what is saved of `memory`, which is about to be written to."""
        for handle, tensor in list(self.original.items()):
            if tensor._memory is memory:
                self.cloned[handle] = Variable.wrap(tensor._array.copy())
                del self.original[handle]


class allow_mutation_on_saved_tensors:  # noqa: N801 - PyTorch's name
    """Within it, tensors that nodes have saved may be changed in place: they are copied before.

    The backward pass must run within the same context. RuntimeError where contexts nest.

    >>> import gradfn
    >>> with allow_mutation_on_saved_tensors():
    ...     x = gradfn.ones(2, requires_grad=True)
    ...     y = x.clone()
    ...     loss = (y * y).sum()
    ...     _ = y.mul_(10)
    ...     loss.backward()
    >>> x.grad
    tensor([2., 2.])
    """

    def __enter__(self) -> SavedCopies:
        mode = get_mode()
        if mode.copies is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        self._copies = copies = SavedCopies()
        hooks = (*mode.saved_hooks, (copies.pack, copies.unpack))
        self._change = ModeChange(copies=copies, saved_hooks=hooks)
        self._change.__enter__()
        return copies

    def __exit__(self, *exc: object) -> None:
        self._change.__exit__()
        self._copies.clear()
