"""Tensors, and what holds them, into PyTorch's zip files."""

from __future__ import annotations

import io
import os
import pickle
import tempfile
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from .. import dtypes
from ..autograd.hooks import HookList
from ..autograd.variable import Variable
from ..device import device, layout
from ..nn.parameter import Parameter
from ..raw.numbers import Array
from ..raw.strided import address
from ..raw.views import storage, storage_offset_of
from ..shapes import Size
from ..storage import UntypedStorage
from ..tensor import Tensor
from .names import STORAGE_OF

PROTOCOL = 2


class Name:
    """A class or function of PyTorch's, written as its name."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, *args: Any) -> Any:  # pickle asks that what rebuilds an object be callable
        raise TypeError(f"{self.module}.{self.name} is only a name")


class StorageReference:
    """The memory of a tensor, written to a record of its own."""

    def __init__(self, key: str, array: np.ndarray[Any, Any]) -> None:
        self.key, self.array = key, array


_Pickler: Any = pickle._Pickler


class Writer(_Pickler):  # type: ignore[misc]
    """Pickles objects as PyTorch does, and collects the memories of their tensors.

    The pure Python pickler, for it lets names be written that nothing here has.
    """

    def __init__(self, file: Any, protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: dict[int, StorageReference] = {}

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, StorageReference):
            return None
        array = obj.array
        name = STORAGE_OF.get(dtypes.from_numpy(array.dtype).name)
        if name is None:
            return "storage", Name("torch.storage", "UntypedStorage"), obj.key, "cpu", array.nbytes
        return "storage", Name("torch", name), obj.key, "cpu", array.size

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        name = obj if isinstance(obj, Name) else _torch_name(obj)
        if name is None:
            super().save(obj, save_persistent_id)
        else:
            self.write(pickle.GLOBAL + f"{name.module}\n{name.name}\n".encode())

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Parameter):
            arguments = Variable.wrap(obj._array), obj.requires_grad, _no_hooks()
            state = _attributes(obj)
            if state:
                return Name("torch._utils", "_rebuild_parameter_with_state"), (*arguments, state)
            return Name("torch._utils", "_rebuild_parameter"), arguments
        if isinstance(obj, Tensor):
            made, parts, state = *self._parts(obj), _attributes(obj)
            if type(obj) is Tensor and not state:
                return made, parts
            return Name("torch._tensor", "_rebuild_from_type_v2"), (made, type(obj), parts, state)
        if isinstance(obj, HookList):
            return OrderedDict, (list(obj.items()),)
        if isinstance(obj, layout):
            return Name("torch.serialization", "_get_layout"), (repr(obj),)
        if isinstance(obj, UntypedStorage):
            raise NotImplementedError("saving a storage is not in gradfn: save a tensor over it")
        if isinstance(obj, Size):
            return Name("torch", "Size"), (tuple(obj),)
        if isinstance(obj, device):
            parts = (obj.type,) if obj.index is None else (obj.type, obj.index)
            return Name("torch", "device"), parts
        return NotImplemented

    def _parts(self, tensor: Any) -> tuple[Name, tuple[Any, ...]]:
        """The function that rebuilds a tensor, and its arguments."""
        array = tensor._array
        memory = storage(array)
        reference = self._reference(memory)
        offset = storage_offset_of(array, memory) if array.size else 0
        parts = (
            reference,
            offset,
            tuple(array.shape),
            tuple(tensor.stride()),
            tensor.requires_grad,
            _no_hooks(),
        )
        if tensor.dtype.name in STORAGE_OF:
            return Name("torch._utils", "_rebuild_tensor_v2"), parts
        return Name("torch._utils", "_rebuild_tensor_v3"), (*parts, tensor.dtype)

    def _reference(self, memory: Array) -> StorageReference:
        """The one reference to a memory; empty ones have nothing to share."""
        number = len(self.storages)
        where = address(memory) if memory.size else -1 - number
        known = self.storages.setdefault(where, StorageReference(str(number), memory))
        if known.array.dtype != memory.dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                f"types: {known.array.dtype} and {memory.dtype}; clone() one of them"
            )
        return known


def _no_hooks() -> OrderedDict[str, Any]:
    """What a file says of the hooks of a tensor: hooks are not saved."""
    return OrderedDict()


def _attributes(tensor: Any) -> dict[str, Any]:
    """What a user has set on a tensor; the engine's own begins with an underscore."""
    return {name: value for name, value in vars(tensor).items() if not name.startswith("_")}


def _torch_name(obj: Any) -> Name | None:
    """The name of something of gradfn's in PyTorch's terms; None for everything else."""
    if isinstance(obj, dtypes.dtype):
        return Name("torch", str(obj).removeprefix("torch."))
    if isinstance(obj, type | FunctionType):
        module = getattr(obj, "__module__", None) or ""
        if module == "gradfn" or module.startswith("gradfn."):
            return Name("torch" + module.removeprefix("gradfn"), obj.__qualname__)
    return None


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write `obj`, a tensor or what holds tensors, to the file `f`: PyTorch's `torch.save`.

    `f` is a path or a file object opened for writing bytes. Tensors that share memory share it
    after loading. A file that was there is replaced only once the new one is complete.
    `pickle_module` is accepted, and Python's own is used.

    >>> import io
    >>> import gradfn
    >>> buffer = io.BytesIO()
    >>> save({"weight": gradfn.ones(2)}, buffer)
    >>> _ = buffer.seek(0)
    >>> gradfn.load(buffer)
    {'weight': tensor([1., 1.])}
    """
    if not _use_new_zipfile_serialization:
        raise NotImplementedError("writing the format that PyTorch had before 1.6 is not in gradfn")
    if isinstance(f, str | os.PathLike):
        with _replacing(os.fspath(f)) as file:
            _write(obj, file, Path(f).stem, pickle_protocol)
        return
    if not hasattr(f, "write"):
        raise AttributeError(
            f"expected 'f' to be string, path, or a file-like object with a 'write' attribute: it "
            f"is a {type(f).__name__}"
        )
    _write(obj, f, "archive", pickle_protocol)


def _write(obj: Any, file: Any, name: str, protocol: int) -> None:
    """One archive: the pickled object, and a record for each memory."""
    text = io.BytesIO()
    writer = Writer(text, protocol)
    writer.dump(obj)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _record(archive, f"{name}/data.pkl", text.getvalue())
        _record(archive, f"{name}/byteorder", b"little")
        for reference in writer.storages.values():
            little = reference.array.astype(reference.array.dtype.newbyteorder("<"), copy=False)
            _record(archive, f"{name}/data/{reference.key}", little.view(np.uint8).data)
        _record(archive, f"{name}/version", b"3\n")


def _record(archive: zipfile.ZipFile, name: str, data: Any) -> None:
    archive.writestr(zipfile.ZipInfo(name), data)  # of no time: the same object, the same bytes


@contextmanager
def _replacing(name: str) -> Iterator[Any]:
    """A new file that takes the place of the one called `name` when it is complete, and on disk."""
    path = Path(os.path.realpath(name))
    if not path.parent.is_dir():
        raise RuntimeError(f"Parent directory {Path(name).parent} does not exist.")
    if path.exists() and not path.is_file():  # such as /dev/stdout, which nothing can replace
        with open(path, "wb") as file:
            yield file
        return
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
