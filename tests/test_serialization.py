"""Saving and loading: PyTorch's files both ways, and nothing that a file asks for is executed."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn import nn, serialization

DTYPES = ["float64", "float32", "float16", "complex128", "complex64"]
DTYPES += ["int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool"]


def shared(torch: Any) -> Any:
    """Tensors of every kind and layout, some of one memory."""
    base = torch.arange(12.0).reshape(3, 4)
    marked, parameter = torch.ones(2), torch.nn.Parameter(torch.zeros(1))
    marked.note = parameter.note = {"a": 1}
    return {
        "marked": [marked, parameter],
        "views": [base, base.t(), base[1:, ::2], base[2, 3]],
        "dtypes": {name: torch.ones(2).to(getattr(torch, name)) for name in DTYPES},
        "empty": (torch.zeros(0, 3), torch.zeros(())),
        "leaf": torch.ones(2, requires_grad=True),
        "parameter": torch.nn.Parameter(torch.ones(2, 2)),
        "plain": OrderedDict(a=1, b=[2.5, None, True, "text", b"bytes", {1, 2}, 3 + 4j]),
        "torch": [torch.float16, torch.Size([2, 3]), torch.device("cpu"), torch.strided],
    }


def text(tree: Any) -> str:
    """Everything of a structure that can be compared."""
    if hasattr(tree, "requires_grad"):
        about = type(tree).__name__, str(tree.dtype), tuple(tree.shape), tree.stride()
        note = getattr(tree, "note", None)
        return f"{about} {tree.requires_grad} {tree.detach().tolist()} {note}"
    if isinstance(tree, dict):
        return f"{type(tree).__name__} { {k: text(v) for k, v in tree.items()} }"
    if isinstance(tree, list | tuple):
        return f"{type(tree).__name__} {[text(v) for v in tree]}"
    return str(tree)


def written(torch: Any, obj: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(obj, buffer)
    return buffer.getvalue()


def read(torch: Any, data: bytes, **options: Any) -> Any:
    return torch.load(io.BytesIO(data), **options)


def test_what_is_saved_is_loaded() -> None:
    tree = shared(gradfn)
    again = read(gradfn, written(gradfn, tree))
    assert text(again) == text(tree)
    again["views"][0][1, 0] = -1.0
    assert again["views"][1][0, 1] == -1.0
    assert written(gradfn, tree) == written(gradfn, tree)


def test_files_go_to_pytorch_and_back(oracle: ModuleType) -> None:
    tree = shared(gradfn)
    theirs = read(oracle, written(gradfn, tree))
    assert text(theirs) == text(shared(oracle))
    theirs["views"][0][1, 0] = -1.0
    assert theirs["views"][1][0, 1] == -1.0
    ours = read(gradfn, written(oracle, theirs))
    assert text(ours) == text(theirs)


def test_states_of_models_and_optimizers_go_to_pytorch_and_back(
    oracle: ModuleType, tmp_path: Path
) -> None:
    def build(torch: Any) -> tuple[Any, Any]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        model(torch.ones(2, 1, 4, 4)).sum().backward()
        optimizer.step()
        return model, optimizer

    mine, own = build(gradfn)
    model, optimizer = build(oracle)
    path = tmp_path / "state.pt"
    gradfn.save({"model": mine.state_dict(), "optimizer": own.state_dict()}, path)
    state = oracle.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    oracle.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    state = gradfn.load(path)
    assert state["model"]._metadata == mine.state_dict()._metadata
    mine.load_state_dict(state["model"])
    own.load_state_dict(state["optimizer"])
    for a, b in zip(mine.state_dict().values(), model.state_dict().values(), strict=True):
        assert np.array_equal(a.numpy(), b.numpy())


def test_whole_models_need_trust(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    gradfn.save(model, path)
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.nn\.modules\.container\.Sequential"):
        gradfn.load(path)
    again = gradfn.load(path, weights_only=False)
    x = gradfn.ones(1, 2)
    assert again(x).equal(model(x))
    with serialization.safe_globals([nn.Linear, nn.Sequential, nn.ReLU, set]):
        assert gradfn.load(path)(x).equal(model(x))
    assert not serialization.get_safe_globals()


class Malicious:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_nothing_is_executed(tmp_path: Path) -> None:
    evidence = tmp_path / "executed"
    data = written(gradfn, {"weight": gradfn.ones(1), "extra": Malicious(evidence)})
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        read(gradfn, data)
    assert not evidence.exists()


def archived(pickled: bytes) -> bytes:
    """A file around a pickle."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a/data.pkl", pickled)
        archive.writestr("a/version", "3\n")
    return buffer.getvalue()


HOSTILE = {
    "call": b'cos\nsystem\n(S"true"\ntR.',
    "instance": b'(S"true"\nios\nsystem\n.',
    "stack global": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
    "attribute of a class": b'ctorch\nSize\nN}S"__add__"\nI3\ns\x86b.',
    "attribute of a function": b'ctorch._utils\n_rebuild_tensor_v2\nN}S"a"\nI3\ns\x86b.',
    "attribute of a dtype": b'ctorch\nfloat32\nN}S"itemsize"\nI3\ns\x86b.',
    "new object": b"ctorch\nTensor\n)\x81.",
    "extension": b"\x82\x01.",
    "part of what is allowed": b"ctorch\nTensor.__init__\n.",
    "gradfn's own": b"cgradfn\nload\n.",
    "cut off": b"\x80\x02}",
    "no memory": b"\x80\x02(X\x07\x00\x00\x00storageK\x01tQ.",
}


@pytest.mark.parametrize("pickled", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pickles_are_refused(pickled: bytes) -> None:
    add = gradfn.Size.__add__
    with pytest.raises(pickle.UnpicklingError, match=r"Weights only load failed|Unknown typename"):
        read(gradfn, archived(pickled))
    assert gradfn.Size.__add__ is add
    assert not hasattr(serialization.names.rebuild_tensor, "a")


def test_one_memory_has_one_type() -> None:
    whole = gradfn.ones(2)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        written(gradfn, [whole, whole.view(gradfn.int32)])


def test_conjugates_are_resolved(oracle: ModuleType) -> None:
    z = oracle.tensor([1 + 2j, 3j])
    assert read(gradfn, written(oracle, z.conj())).tolist() == [1 - 2j, -3j]
    assert read(gradfn, written(oracle, z.conj().imag)).tolist() == [-2, -3]


def test_subclasses_need_trust() -> None:
    data = written(gradfn, gradfn.ones(2).as_subclass(Marked))
    with pytest.raises(pickle.UnpicklingError, match="Marked"):
        read(gradfn, data)
    with serialization.safe_globals([Marked]):
        assert type(read(gradfn, data)) is Marked
    assert type(read(gradfn, data, weights_only=False)) is Marked


class Marked(gradfn.Tensor):
    """A kind of tensor."""


def test_models_of_pytorch_are_read_whole(oracle: ModuleType) -> None:
    oracle.manual_seed(0)
    model = oracle.nn.Sequential(oracle.nn.Conv2d(1, 2, 3), oracle.nn.BatchNorm2d(2))
    again = read(gradfn, written(oracle, model), weights_only=False)
    assert repr(again) == repr(model)
    x = np.sin(np.arange(32, dtype=np.float32)).reshape(2, 1, 4, 4)
    theirs, ours = model(oracle.tensor(x)), again(gradfn.tensor(x))
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_memories_can_be_mapped(tmp_path: Path) -> None:
    path = tmp_path / "big.pt"
    gradfn.save({"a": gradfn.arange(1000.0), "b": gradfn.ones(3, dtype=gradfn.int8)}, path)
    mapped = gradfn.load(path, mmap=True)
    assert mapped["a"].equal(gradfn.arange(1000.0))
    mapped["a"].add_(1)
    assert gradfn.load(path)["a"].equal(gradfn.arange(1000.0))
    with zipfile.ZipFile(path) as plain, zipfile.ZipFile(tmp_path / "small.pt", "w", 8) as small:
        for name in plain.namelist():
            small.writestr(name, plain.read(name))
    assert gradfn.load(tmp_path / "small.pt", mmap=True)["a"].equal(gradfn.arange(1000.0))
    with pytest.raises(ValueError, match="f must be a file path"):
        gradfn.load(io.BytesIO(path.read_bytes()), mmap=True)


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    gradfn.save(gradfn.ones(2), path)
    before = path.read_bytes()
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        gradfn.save([gradfn.ones(3), lambda: None], path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["weights.pt"]
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
        gradfn.save(gradfn.ones(2), tmp_path / "no" / "weights.pt")


def test_an_interrupted_save_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "weights.pt"
    gradfn.save(gradfn.ones(2), path)

    def interrupt(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        gradfn.save(gradfn.zeros(2), path)
    assert gradfn.load(path).equal(gradfn.ones(2))
    assert [p.name for p in tmp_path.iterdir()] == ["weights.pt"]


def test_links_and_modes_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "weights.pt", tmp_path / "latest.pt"
    gradfn.save(1, path)
    path.chmod(0o640)
    link.symlink_to(path)
    gradfn.save(2, link)
    assert link.is_symlink()
    assert gradfn.load(path) == 2
    assert path.stat().st_mode & 0o777 == 0o640
    gradfn.save(3, "/dev/null")
    assert not Path("/dev/null").is_file()


# Damaged files


def test_truncated_files_are_named() -> None:
    data = written(gradfn, {"a": gradfn.arange(100.0)})
    for size in (0, 1, 3, 10, 100, len(data) // 2, len(data) - 30):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            read(gradfn, data[:size])


def changed(data: bytes, name: str, change: Callable[[bytes], bytes] | None) -> bytes:
    """The archive with one record changed, or left out."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for entry in old.namelist():
            record = old.read(entry)
            if not entry.endswith(name):
                new.writestr(entry, record)
            elif change is not None:
                new.writestr(entry, change(record))
    return buffer.getvalue()


def test_damaged_records_are_named() -> None:
    data = written(gradfn, {"a": gradfn.arange(10.0)})
    with pytest.raises(RuntimeError, match="failed locating file data/0"):
        read(gradfn, changed(data, "data/0", None))
    with pytest.raises(RuntimeError, match="has 36 bytes where 40 were expected"):
        read(gradfn, changed(data, "data/0", lambda record: record[:-4]))
    with pytest.raises(pickle.UnpicklingError):
        read(gradfn, changed(data, "data.pkl", lambda record: record[:20]))
    with pytest.raises(RuntimeError, match=r"failed locating file data\.pkl"):
        read(gradfn, changed(data, "data.pkl", None))


def test_damage_anywhere_is_named() -> None:
    data = written(gradfn, {"a": gradfn.arange(6.0), "p": nn.Parameter(gradfn.ones(2)), "b": [1]})
    random = np.random.default_rng(0)
    for _ in range(1000):
        damaged = bytearray(data)
        damaged[random.integers(len(data))] = random.integers(256)
        try:
            read(gradfn, bytes(damaged))
        except (RuntimeError, pickle.UnpicklingError) as error:
            assert str(error)  # NotImplementedError is a RuntimeError


def test_other_formats_are_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match=r"before 1\.6"):
        read(gradfn, pickle.dumps({"a": 1}, 2))
    with pytest.raises(pickle.UnpicklingError, match="invalid load key"):
        read(gradfn, b"something else")
    script = changed(written(gradfn, 1), "version", lambda record: record)
    buffer = io.BytesIO(script)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("archive/constants.pkl", b"")
    with pytest.raises(NotImplementedError, match="TorchScript"):
        read(gradfn, buffer.getvalue())
    with pytest.raises(AttributeError, match="'read' attribute"):
        gradfn.load(3)


def test_tensors_of_other_devices_need_a_map() -> None:
    data = changed(
        written(gradfn, gradfn.ones(2)),
        "data.pkl",
        lambda r: r.replace(b"\x03\x00\x00\x00cpu", b"\x06\x00\x00\x00cuda:0"),
    )
    with pytest.raises(RuntimeError, match="deserialize object on a CUDA device"):
        read(gradfn, data)
    for where in (
        "cpu",
        gradfn.device("cpu"),
        {"cuda:0": "cpu"},
        lambda storage, location: storage,
    ):
        assert read(gradfn, data, map_location=where).equal(gradfn.ones(2))
    for where in ("cuda", {"cuda:1": "cpu"}, lambda storage, location: None):
        with pytest.raises(RuntimeError, match="deserialize object on a CUDA device"):
            read(gradfn, data, map_location=where)
    with pytest.raises(RuntimeError, match=r"don't know how to restore .* \(tagged with meta\)"):
        read(gradfn, data, map_location="meta")
    with pytest.raises(TypeError, match="map_location must be"):
        read(gradfn, data, map_location=3)
    with pytest.raises(RuntimeError, match="explicit pickle_module"):
        read(gradfn, data, pickle_module=pickle, weights_only=True)


# safetensors


def test_safetensors_go_to_pytorch_and_back(oracle: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    from safetensors.torch import load_file, save_file

    from gradfn.utils import safetensors

    path = tmp_path / "weights.safetensors"
    tree = {"a": gradfn.arange(6.0).reshape(2, 3).t(), "b": gradfn.ones(2, dtype=gradfn.int64)}
    safetensors.save_file(tree, path)
    theirs = load_file(path)
    assert all(np.array_equal(theirs[name].numpy(), t.numpy()) for name, t in tree.items())
    save_file(theirs, path)
    ours = safetensors.load_file(path)
    assert all(ours[name].equal(t) for name, t in tree.items())
    assert safetensors.load(safetensors.save(tree))["a"].equal(tree["a"])
    scalar = {"s": gradfn.tensor(2.0), "h": gradfn.ones(1, 0, dtype=gradfn.bfloat16)}
    again = safetensors.load(safetensors.save(scalar))
    assert again["s"].shape == ()
    assert (again["h"].shape, again["h"].dtype) == ((1, 0), gradfn.bfloat16)
    with pytest.raises(ValueError, match="Key `x` is invalid"):
        safetensors.save({"x": 1})
    with pytest.raises(ValueError, match="Expected a dict"):
        safetensors.save([gradfn.ones(1)])  # type: ignore[arg-type]


PROGRAM = """
import torch
from safetensors.torch import load, load_file, save, save_file
tree = {"a": torch.arange(3.0), "b": torch.ones(2, 2, dtype=torch.int8), "c": torch.tensor(1.5)}
save_file(tree, PATH)
again = load_file(PATH)
again["a"].add_(1)
print(sorted(again.items()), sorted(load(save(tree)).items()), sorted(load_file(PATH).items()))
"""


def test_the_module_of_safetensors_for_torch_works_on_gradfn(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    program = PROGRAM.replace("PATH", repr(str(tmp_path / "x.safetensors")))
    ran = subprocess.run(
        [sys.executable, "-m", "gradfn", "run", "-c", program], capture_output=True, text=True
    )
    assert ran.stderr == ""
    b = "('b', tensor([[1, 1],\n        [1, 1]], dtype=torch.int8)), ('c', tensor(1.5000))]"
    first, second = "[('a', tensor([1., 2., 3.])), " + b, "[('a', tensor([0., 1., 2.])), " + b
    assert ran.stdout == f"{first} {second} {second}\n"


def test_storages_are_parts_of_files_and_of_storages(tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(16)))
    whole = gradfn.UntypedStorage.from_file(path, nbytes=16)
    part = whole[4:8]
    assert (part.tolist(), part.data_ptr() - whole.data_ptr()) == ([4, 5, 6, 7], 4)
    shared = gradfn.asarray(part, dtype=gradfn.uint8)
    shared[0] = 99
    assert whole[4] == 99
    assert path.read_bytes()[4] == 4
    gradfn.asarray(gradfn.UntypedStorage.from_file(path, True, 16), dtype=gradfn.uint8)[4] = 99
    assert path.read_bytes()[4] == 99
