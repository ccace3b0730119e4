"""PyTorch's zip files into tensors, and what holds them."""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
import zlib
from collections import OrderedDict
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..device import device
from ..raw.numbers import Array
from ..storage import UntypedStorage
from .names import StorageType, any_name, is_trusted, safe_name


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
    you trust. `map_location` (a device, a dict of them, or a function of storage and location) says
    where tensors of other devices go: to the CPU. With `mmap` memories are read when they are used.
    RuntimeError for files that are truncated or corrupted, NotImplementedError for other formats.
    """
    if weights_only is None:
        weights_only = pickle_module is None
    elif weights_only and pickle_module is not None:
        raise RuntimeError(
            "Can not safely load weights when explicit pickle_module is specified: leave it out, "
            "or load with weights_only=False"
        )
    known = map_location is None or isinstance(map_location, dict | str | device)
    if not known and not callable(map_location):
        raise TypeError(
            "map_location must be a device, a string, a dict of them or a function, but is a "
            f"{type(map_location).__name__}"
        )
    options = Options(map_location, weights_only, pickle_load_args)
    if mmap and not isinstance(f, str | os.PathLike):
        raise ValueError("f must be a file path in order to use the mmap argument")
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return _read(file, options, str(f) if mmap else None)
    if not hasattr(f, "read"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'read' attribute: it is "
            f"a {type(f).__name__}"
        )
    whole = f if hasattr(f, "seek") and f.seekable() else io.BytesIO(f.read())
    return _read(whole, options, None)


class Options(NamedTuple):
    """How a file is to be read."""

    map_location: Any
    weights_only: bool
    unpickling: dict[str, Any]


def _read(file: Any, options: Options, mapped: str | None) -> Any:
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    if not magic:
        raise EOFError("Ran out of input: the file is empty")
    if magic[:2] != b"PK":
        raise _unknown(magic)
    try:
        with _opened(file) as archive:
            return Archive(archive, file, options, mapped).load()
    except zipfile.BadZipFile as error:
        raise RuntimeError(
            "PytorchStreamReader failed reading zip archive: the file is truncated or corrupted "
            f"({error})"
        ) from error


def _opened(file: Any) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except UnicodeDecodeError as error:
        raise zipfile.BadZipFile(f"a name in it is damaged: {error}") from error


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
        self, archive: zipfile.ZipFile, file: Any, options: Options, mapped: str | None
    ) -> None:
        self.archive, self.file, self.options, self.mapped = archive, file, options, mapped
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
        info = self.archive.getinfo(f"{self.prefix}/{name}")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise zipfile.BadZipFile(f"{name} is compressed by method {info.compress_type}")
        try:
            return self.archive.read(info)
        except (EOFError, ValueError, zlib.error) as error:  # where an offset is damaged
            raise zipfile.BadZipFile(f"{name}: {error!r}") from error

    def load(self) -> Any:
        if self.has("constants.pkl"):
            raise NotImplementedError(
                "this is a TorchScript archive, which gradfn does not run: save the state_dict"
            )
        text = io.BytesIO(self.record("data.pkl"))
        reader = (WeightsReader if self.options.weights_only else ObjectReader)(
            text, **self.options.unpickling
        )
        reader.archive = self
        return reader.load()

    def storage(self, kind: StorageType, key: str, location: str, size: int) -> Array:
        """The memory of number `key`; each is read once."""
        if key not in self.storages:
            memory = self._memory(f"data/{key}", kind.dtype.numpy, size)
            check_location(memory, location, self.options.map_location)
            self.storages[key] = memory
        return self.storages[key]

    def _memory(self, name: str, dtype: np.dtype[Any], size: int) -> Array:
        due = size * dtype.itemsize
        if self.mapped is not None and due and self.order == "<" and self._is_plain(name, due):
            return np.memmap(self.mapped, dtype, "c", self._offset(name), (size,)).view(np.ndarray)
        data = self.record(name)
        if len(data) != due:
            raise RuntimeError(
                f"PytorchStreamReader: the record {name} has {len(data)} bytes where {due} were "
                "expected: the file is corrupted"
            )
        stored = np.frombuffer(bytearray(data), dtype.newbyteorder(self.order))
        return stored.astype(dtype, copy=False)

    def _is_plain(self, name: str, size: int) -> bool:
        """Whether a record lies in the file as it is, in that many bytes."""
        if not self.has(name):
            return False
        info = self.archive.getinfo(f"{self.prefix}/{name}")
        return info.compress_type == zipfile.ZIP_STORED and info.file_size == size

    def _offset(self, name: str) -> int:
        """Where in the file the bytes of a record begin."""
        info = self.archive.getinfo(f"{self.prefix}/{name}")
        self.file.seek(info.header_offset)
        header = self.file.read(30)
        lengths = np.frombuffer(header[26:30], "<u2")
        return int(info.header_offset + 30 + lengths.sum())


def check_location(memory: Array, location: str, map_location: Any) -> None:
    """Let a memory of the device `location` be where `map_location` says: on the CPU.

    RuntimeError for any other device.
    """
    if isinstance(map_location, dict):
        location = map_location.get(location, location)
    elif isinstance(map_location, str | device):
        location = str(map_location)
    elif map_location is not None and map_location(UntypedStorage(memory), location) is not None:
        return
    kind = location.split(":")[0]
    if kind == "cuda":
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        )
    if kind != "cpu":
        raise RuntimeError(
            "don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
            f"{location}): gradfn has tensors on the CPU only"
        )


def stored(archive: Archive, pid: Any) -> Array:
    """The memory that a file refers to by ``("storage", class, key, location, size)``."""
    if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != "storage":
        raise pickle.UnpicklingError(f"Unknown typename for persistent_load: {pid!r}")
    _, kind, key, location, size = pid[:5]
    if not isinstance(kind, StorageType):
        raise pickle.UnpicklingError(f"a storage of {kind!r} is not in gradfn")
    return archive.storage(kind, key, location, size)


class ObjectReader(pickle.Unpickler):
    """Unpickles anything, PyTorch's classes and functions as gradfn's."""

    archive: Archive

    def find_class(self, module: str, name: str) -> Any:
        return any_name(module, name, super().find_class)

    def persistent_load(self, pid: Any) -> Any:
        return stored(self.archive, pid)


_Unpickler: Any = pickle._Unpickler
_REFUSED = b"".join(
    (
        *(pickle.INST, pickle.OBJ, pickle.NEWOBJ_EX, pickle.EXT1, pickle.EXT2, pickle.EXT4),
        *(pickle.NEXT_BUFFER, pickle.READONLY_BUFFER, pickle.BYTEARRAY8, pickle.PERSID),
    )
)


class WeightsReader(_Unpickler):  # type: ignore[misc]
    """Unpickles tensors and plain containers, and calls nothing but what `safe_name` allows.

    The pure Python unpickler, for its instructions can be restricted: state is set on ordered
    dicts and on objects of trusted classes only, never on the classes and functions themselves.
    """

    archive: Archive

    def load(self) -> Any:
        damage = AttributeError, EOFError, LookupError, TypeError, ValueError, struct.error
        try:
            return super().load()
        except damage as error:
            raise pickle.UnpicklingError(
                f"Weights only load failed: data.pkl is corrupted ({error!r})"
            ) from error

    def find_class(self, module: str, name: str) -> Any:
        return safe_name(module, name)

    def persistent_load(self, pid: Any) -> Any:
        return stored(self.archive, pid)

    def _refuse(self) -> None:
        raise pickle.UnpicklingError(
            "Weights only load failed. Unsupported operand: the file uses an instruction of pickle "
            "that weights do not need"
        )

    def _build(self) -> None:
        kind = type(self.stack[-2])
        if kind is not OrderedDict and not is_trusted(kind):
            raise pickle.UnpicklingError(
                "Weights only load failed. Can only build state of OrderedDict and of trusted "
                f"classes, but got {kind}"
            )
        self.load_build()

    def _new(self) -> None:
        kind = self.stack[-2]
        if kind is not OrderedDict and not is_trusted(kind):
            raise pickle.UnpicklingError(
                "Weights only load failed. Can only create new objects of OrderedDict and of "
                f"trusted classes, but got {kind}"
            )
        self.load_newobj()

    dispatch: ClassVar[dict[int, Any]] = {
        **_Unpickler.dispatch,
        **dict.fromkeys(_REFUSED, _refuse),
        pickle.BUILD[0]: _build,
        pickle.NEWOBJ[0]: _new,
    }
