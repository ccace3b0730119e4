"""The memory under tensors, as bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .device import cpu, device
from .raw.numbers import Array
from .raw.strided import address, owner


class UntypedStorage:
    """The bytes that a tensor and its views share: ``torch.UntypedStorage``.

    >>> import gradfn
    >>> t = gradfn.zeros(4)
    >>> t[1:].untyped_storage().nbytes(), t[1:].untyped_storage().data_ptr() == t.data_ptr()
    (16, True)
    """

    def __init__(self, array: Array) -> None:
        self._owner = owner(array)

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first `nbytes` bytes of a file, read when used; writes reach it if `shared`."""
        return cls(np.memmap(filename, np.uint8, "r+" if shared else "c", shape=(nbytes,)))

    @property
    def device(self) -> device:
        return cpu

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._owner.nbytes

    size = __len__ = nbytes

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def data_ptr(self) -> int:
        """The address of the first byte; 0 where there is none."""
        return address(self._owner) if self._owner.size else 0

    def untyped(self) -> UntypedStorage:
        """Itself."""
        return self

    def _bytes(self) -> Array:
        return self._owner.ravel("K").view(np.uint8)

    def __getitem__(self, index: Any) -> Any:
        """One byte as a number, or a storage of some of the same bytes."""
        chosen = self._bytes()[index]
        if not isinstance(index, slice):
            return chosen.tolist()
        part = object.__new__(UntypedStorage)
        part._owner = chosen
        return part

    def __dlpack__(self, **options: Any) -> Any:
        return self._bytes().__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._bytes().__dlpack_device__()

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        values: list[int] = self._bytes().tolist()
        return values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._owner is other._owner

    def __hash__(self) -> int:
        return id(self._owner)

    def __repr__(self) -> str:
        lines = "".join(f" {byte}\n" for byte in self)
        return f"{lines}[torch.storage.UntypedStorage(device=cpu) of size {self.nbytes()}]"


class TypedStorage:
    """The elements in the memory that a tensor and its views share: ``torch.TypedStorage``.

    >>> import gradfn
    >>> memory = TypedStorage(gradfn.arange(3))
    >>> memory[1] = 7
    >>> memory.tolist(), memory.dtype
    ([0, 7, 2], torch.int64)
    """

    def __init__(self, tensor: Any) -> None:
        self._untyped = UntypedStorage(tensor._array)
        self.dtype = tensor.dtype

    @property
    def device(self) -> device:
        return cpu

    def _elements(self) -> Array:
        elements: Array = self._untyped._bytes().view(self.dtype.numpy)
        return elements

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return self._untyped

    def size(self) -> int:
        """The number of elements."""
        return len(self._elements())

    __len__ = size

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._untyped.nbytes()

    def element_size(self) -> int:
        """The bytes of one element."""
        return self._elements().itemsize

    def data_ptr(self) -> int:
        """The address of the first element; 0 where there is none."""
        return self._untyped.data_ptr()

    def __getitem__(self, index: int) -> Any:
        return self._elements()[self._checked(index)].item()

    def __setitem__(self, index: int, value: Any) -> None:
        self._elements()[self._checked(index)] = value

    def _checked(self, index: int) -> int:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not -self.size() <= index < self.size():
            raise IndexError(f"index {index} out of range for storage of size {self.size()}")
        return index

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        self._elements()[...] = value
        return self

    def tolist(self) -> list[Any]:
        """The elements as numbers."""
        values: list[Any] = self._elements().tolist()
        return values

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedStorage) and self._untyped == other._untyped

    def __hash__(self) -> int:
        return hash(self._untyped)

    def __repr__(self) -> str:
        lines = "".join(f" {element}\n" for element in self)
        kind = f"dtype={self.dtype}, device=cpu"
        return f"{lines}[torch.storage.TypedStorage({kind}) of size {self.size()}]"
