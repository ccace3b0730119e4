"""PyTorch's zip files into tensors, and what holds them."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from typing import Any, Literal

import numpy as np

from ..raw.numbers import Array
from .names import StorageType, any_name, safe_name


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save`, or PyTorch's, wrote to the file `f`: `torch.load`.

    By default only tensors and plain containers are read: a file that asks for anything else is
    refused with UnpicklingError, and nothing is executed; see `add_safe_globals`. With
    ``weights_only=False`` anything is unpickled, which runs what the file says: only for files that
    you trust. `map_location` must say "cpu" for tensors of other devices. With `mmap` memories are
    read when they are used. RuntimeError for files that are truncated, corrupted or of another
    format.
    """
    if mmap and not isinstance(f, str | os.PathLike):
        raise ValueError("f must be a file path in order to use the mmap argument")
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return _read(file, map_location, weights_only is not False, str(f) if mmap else None)
    if not hasattr(f, "read"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'read' attribute: it is "
            f"a {type(f).__name__}"
        )
    whole = f if hasattr(f, "seek") and f.seekable() else io.BytesIO(f.read())
    return _read(whole, map_location, weights_only is not False, None)


def _read(file: Any, map_location: Any, weights_only: bool, mapped: str | None) -> Any:
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    if not magic:
        raise EOFError("Ran out of input: the file is empty")
    if magic[:2] != b"PK":
        raise _unknown(magic)
    try:
        with zipfile.ZipFile(file) as archive:
            return Archive(archive, file, map_location, weights_only, mapped).load()
    except zipfile.BadZipFile as error:
        raise RuntimeError(
            "PytorchStreamReader failed reading zip archive: the file is truncated or corrupted "
            f"({error})"
        ) from error


def _unknown(magic: bytes) -> Exception:
    if magic[:1] == b"\x80":
        return NotImplementedError(
            "this file is of the format that PyTorch wrote before 1.6 (or a plain pickle), which "
            "is not in gradfn: load it with PyTorch, and save it anew"
        )
    return pickle.UnpicklingError(
        f"invalid load key, {magic[:1]!r}: this is no file that torch.save has written"
    )


class Archive:
    """The records of one file, under the name that all of them begin with."""

    def __init__(
        self,
        archive: zipfile.ZipFile,
        file: Any,
        map_location: Any,
        weights_only: bool,
        mapped: str | None,
    ) -> None:
        self.archive, self.file = archive, file
        self.map_location, self.weights_only, self.mapped = map_location, weights_only, mapped
        names = archive.namelist()
        if not names:
            raise RuntimeError("PytorchStreamReader failed reading zip archive: it is empty")
        self.prefix = names[0].split("/")[0]
        self.names = set(names)
        self.storages: dict[str, Array] = {}
        order = self.record("byteorder") if self.has("byteorder") else b"little"
        self.order: Literal["<", ">"] = ">" if order == b"big" else "<"

    def has(self, name: str) -> bool:
        return f"{self.prefix}/{name}" in self.names

    def record(self, name: str) -> bytes:
        """The bytes of a record; RuntimeError where it is missing or damaged."""
        if not self.has(name):
            raise RuntimeError(
                f"PytorchStreamReader failed locating file {name}: file not found in the archive"
            )
        return self.archive.read(f"{self.prefix}/{name}")

    def load(self) -> Any:
        if self.has("constants.pkl"):
            raise NotImplementedError(
                "this is a TorchScript archive, which gradfn does not run: save the state_dict"
            )
        try:
            return _Reader(self, io.BytesIO(self.record("data.pkl"))).load()
        except (EOFError, IndexError, ValueError, UnicodeDecodeError) as error:
            raise pickle.UnpicklingError(f"data.pkl is corrupted: {error}") from error

    def storage(self, kind: StorageType, key: str, location: str, size: int) -> Array:
        """The memory of number `key`; each is read once."""
        if key not in self.storages:
            self._check_location(location)
            dtype = kind.dtype or np.dtype(np.uint8)
            self.storages[key] = self._memory(f"data/{key}", dtype, size)
        return self.storages[key]

    def _memory(self, name: str, dtype: np.dtype[Any], size: int) -> Array:
        due = size * dtype.itemsize
        if self.mapped is not None and due and self.order == "<":
            return np.memmap(self.mapped, dtype, "c", self._offset(name), (size,)).view(np.ndarray)
        data = self.record(name)
        if len(data) != due:
            raise RuntimeError(
                f"PytorchStreamReader: the record {name} has {len(data)} bytes where {due} were "
                "expected: the file is corrupted"
            )
        stored = np.frombuffer(bytearray(data), dtype.newbyteorder(self.order))
        return stored.astype(dtype, copy=False)

    def _offset(self, name: str) -> int:
        """Where in the file the bytes of a record begin."""
        info = self.archive.getinfo(f"{self.prefix}/{name}")
        self.file.seek(info.header_offset)
        header = self.file.read(30)
        lengths = np.frombuffer(header[26:30], "<u2")
        return int(info.header_offset + 30 + lengths.sum())

    def _check_location(self, location: str) -> None:
        if location == "cpu" or self.map_location is not None:
            return
        kind = location.split(":")[0]
        raise RuntimeError(
            f"Attempting to deserialize object on a {kind.upper()} device but "
            f"torch.{kind}.is_available() is False. If you are running on a CPU-only machine, "
            "please use torch.load with map_location=torch.device('cpu') to map your storages to "
            "the CPU."
        )


class _Reader(pickle.Unpickler):
    def __init__(self, archive: Archive, file: Any) -> None:
        super().__init__(file)
        self.archive = archive

    def find_class(self, module: str, name: str) -> Any:
        if self.archive.weights_only:
            return safe_name(module, name)
        return any_name(module, name, super().find_class)

    def persistent_load(self, pid: Any) -> Any:
        if not isinstance(pid, tuple) or pid[0] != "storage":
            raise pickle.UnpicklingError(f"Unknown typename for persistent_load: {pid!r}")
        _, kind, key, location, size = pid[:5]
        if not isinstance(kind, StorageType):
            raise pickle.UnpicklingError(f"a storage of {kind!r} is not in gradfn")
        return self.archive.storage(kind, key, location, size)
