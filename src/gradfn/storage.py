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
