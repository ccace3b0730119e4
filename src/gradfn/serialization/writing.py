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
from ..device import device
from ..nn.parameter import Parameter
from ..raw.views import storage, storage_offset_of
from ..shapes import Size
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

    def __init__(self, file: Any) -> None:
        super().__init__(file, PROTOCOL)
        self.storages: dict[int, StorageReference] = {}

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, StorageReference):
            return None
        name = STORAGE_OF[dtypes.from_numpy(obj.array.dtype).name]
        return "storage", Name("torch", name), obj.key, "cpu", obj.array.size

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        name = obj if isinstance(obj, Name) else _torch_name(obj)
        if name is None:
            super().save(obj, save_persistent_id)
        else:
            self.write(pickle.GLOBAL + f"{name.module}\n{name.name}\n".encode())

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Parameter):
            data = Variable.wrap(obj._array)
            arguments: tuple[Any, ...] = data, obj.requires_grad, OrderedDict()
            return Name("torch._utils", "_rebuild_parameter"), arguments
        if isinstance(obj, Tensor):
            return Name("torch._utils", "_rebuild_tensor_v2"), self._parts(obj)
        if isinstance(obj, HookList):
            return OrderedDict, (list(obj.items()),)
        if isinstance(obj, Size):
            return Name("torch", "Size"), (tuple(obj),)
        if isinstance(obj, device):
            parts = (obj.type,) if obj.index is None else (obj.type, obj.index)
            return Name("torch", "device"), parts
        return NotImplemented

    def _parts(self, tensor: Any) -> tuple[Any, ...]:
        """What a tensor is rebuilt of."""
        if type(tensor) is not Tensor:
            raise NotImplementedError(
                f"saving a {type(tensor).__name__}, a subclass of Tensor, is not in gradfn yet: "
                "save as_subclass(Tensor)"
            )
        array = tensor._array
        memory = storage(array)
        known = self.storages.get(memory.__array_interface__["data"][0]) if memory.size else None
        if known is None or known.array.dtype != memory.dtype:
            known = StorageReference(str(len(self.storages)), memory)
            self.storages[memory.__array_interface__["data"][0] or -len(self.storages)] = known
        offset = storage_offset_of(array, memory) if array.size else 0
        return (
            known,
            offset,
            tuple(array.shape),
            tuple(tensor.stride()),
            tensor.requires_grad,
            OrderedDict(),
        )


def _torch_name(obj: Any) -> Name | None:
    """The name of something of gradfn's in PyTorch's terms; None for everything else."""
    if isinstance(obj, dtypes.dtype):
        return Name("torch", str(obj).removeprefix("torch."))
    if isinstance(obj, type | FunctionType):
        module = getattr(obj, "__module__", None) or ""
        if module == "gradfn" or module.startswith("gradfn."):
            return Name("torch" + module.removeprefix("gradfn"), obj.__qualname__)
    return None


def save(obj: Any, f: Any, pickle_protocol: int = PROTOCOL) -> None:
    """Write `obj`, a tensor or what holds tensors, to the file `f`: PyTorch's `torch.save`.

    `f` is a path or a file object opened for writing bytes. Tensors that share memory share it
    after loading. A file that was there is replaced only once the new one is complete.

    >>> import io
    >>> import gradfn
    >>> buffer = io.BytesIO()
    >>> save({"weight": gradfn.ones(2)}, buffer)
    >>> _ = buffer.seek(0)
    >>> gradfn.load(buffer)
    {'weight': tensor([1., 1.])}
    """
    if isinstance(f, str | os.PathLike):
        path = Path(f)
        if not path.parent.is_dir():
            raise RuntimeError(f"Parent directory {path.parent} does not exist.")
        with _replacing(path) as file:
            _write(obj, file, path.stem)
        return
    if not hasattr(f, "write"):
        raise AttributeError(
            f"expected 'f' to be string, path, or a file-like object with a 'write' attribute: it "
            f"is a {type(f).__name__}"
        )
    _write(obj, f, "archive")


def _write(obj: Any, file: Any, name: str) -> None:
    """One archive: the pickled object, and a record for each memory."""
    text = io.BytesIO()
    writer = Writer(text)
    writer.dump(obj)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _record(archive, f"{name}/data.pkl", text.getvalue())
        _record(archive, f"{name}/byteorder", b"little")
        for reference in writer.storages.values():
            little = reference.array.astype(reference.array.dtype.newbyteorder("<"), copy=False)
            _record(archive, f"{name}/data/{reference.key}", little.tobytes())
        _record(archive, f"{name}/version", b"3\n")


def _record(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name), data)  # of no time: the same object, the same bytes


@contextmanager
def _replacing(path: Path) -> Iterator[Any]:
    """A new file that takes the place of `path` when it is complete, and on disk."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            os.chmod(temporary, path.stat().st_mode & 0o777)
        else:
            os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
