"""Data sets, samplers and loaders: PyTorch's batches, in its order, for the same seed."""

from __future__ import annotations

import collections
import os
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradfn
from gradfn.utils import data


class Pair(NamedTuple):
    a: Any
    b: Any


def plain(value: Any) -> Any:
    """Tensors as their type, dtype and numbers; containers with their types."""
    if hasattr(value, "requires_grad"):
        return "tensor", str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [plain(item) for item in value]
    return value


Program = Callable[[Any, Any], Any]  # of a library and its module of data

PROGRAMS: dict[str, Program] = {
    "shuffled": lambda t, d: [
        list(d.DataLoader(d.TensorDataset(t.arange(10), t.ones(10)), 3, shuffle=True))
        for _ in range(2)
    ],
    "in order": lambda t, d: list(d.DataLoader(range(7), batch_size=3, drop_last=True)),
    "no batches": lambda t, d: list(d.DataLoader([np.float32(1), np.ones(2)], batch_size=None)),
    "generator": lambda t, d: list(
        d.DataLoader(range(9), 2, True, generator=t.Generator().manual_seed(7))
    ),
    "replacement": lambda t, d: list(d.RandomSampler(range(5), True, 70)),
    "more than there are": lambda t, d: list(d.RandomSampler(range(5), num_samples=12)),
    "weights": lambda t, d: list(d.WeightedRandomSampler([0.1, 0.9, 3.0], 20)),
    "subset": lambda t, d: list(d.SubsetRandomSampler([3, 1, 4, 1, 5])),
    "split": lambda t, d: [list(s.indices) for s in d.random_split(range(10), [0.55, 0.3, 0.15])],
    "sizes": lambda t, d: [list(s) for s in d.random_split(range(10, 20), [3, 7])],
    "after a pass": lambda t, d: [list(d.DataLoader(range(4), 2)), t.rand(2)],
    "distributed": lambda t, d: [
        list(d.distributed.DistributedSampler(range(10), 3, rank)) for rank in range(3)
    ],
    "batches of containers": lambda t, d: d.default_collate(
        [{"x": (t.ones(2), 1), "y": [1.5, "a"], "z": np.arange(2)}] * 3
    ),
    "named tuples": lambda t, d: d.default_collate([Pair(1, 2.0), Pair(3, 4.0)]),
    "ordered": lambda t, d: d.default_collate([collections.OrderedDict(b=1, a=True)] * 2),
    "converted": lambda t, d: d.default_convert([np.ones(2), {"a": (np.int64(3), "s")}, 4]),
    "concatenated": lambda t, d: [
        (d.TensorDataset(t.arange(3)) + d.TensorDataset(t.arange(3) * 10))[i] for i in (0, 4, -1)
    ],
    "stacked": lambda t, d: [
        d.StackDataset(range(3), [5, 6, 7])[1],
        d.StackDataset(a=range(3), b=[5, 6, 7])[2],
    ],
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_batches_are_pytorchs(oracle: ModuleType, program: Program) -> None:
    from torch.utils import data as theirs

    gradfn.manual_seed(3)
    oracle.manual_seed(3)
    assert plain(program(gradfn, data)) == plain(program(oracle, theirs))


# Workers


class Squares(data.Dataset[Any]):
    """Squares; one of them cannot be had."""

    def __init__(self, size: int, broken: int = -1) -> None:
        self.size, self.broken = size, broken

    def __getitem__(self, index: int) -> Any:
        if index == self.broken:
            raise KeyError("no such square")
        return gradfn.tensor(index * index)

    def __len__(self) -> int:
        return self.size


class Stream(data.IterableDataset[Any]):
    """Numbers, shared out among the workers."""

    def __iter__(self) -> Iterator[int]:
        info = data.get_worker_info()
        step, start = (1, 0) if info is None else (info.num_workers, info.id)
        return iter(range(start, 9, step))


class Draws(data.Dataset[Any]):
    """What random numbers a worker draws."""

    def __getitem__(self, index: int) -> Any:
        return gradfn.rand(1)

    def __len__(self) -> int:
        return 4


class Exit(data.Dataset[Any]):
    """Ends the process that asks."""

    def __getitem__(self, index: int) -> Any:
        os._exit(3)

    def __len__(self) -> int:
        return 4


def test_workers_keep_the_order() -> None:
    for count in (1, 2, 3):
        loader = data.DataLoader(Squares(11), 2, num_workers=count)
        assert gradfn.cat(list(loader)).equal(gradfn.arange(11) ** 2)
        assert gradfn.cat(list(loader)).equal(gradfn.arange(11) ** 2)


def test_workers_share_a_stream() -> None:
    found = gradfn.cat(list(data.DataLoader(Stream(), 2, num_workers=2)))
    assert sorted(found.tolist()) == list(range(9))
    assert gradfn.cat(list(data.DataLoader(Stream(), 4))).tolist() == list(range(9))


def test_workers_draw_by_the_seed_of_the_loader() -> None:
    def drawn() -> Any:
        generator = gradfn.Generator().manual_seed(1)
        return gradfn.cat(list(data.DataLoader(Draws(), num_workers=2, generator=generator)))

    first = drawn()
    assert drawn().equal(first)
    assert first.unique().numel() == 4


def test_workers_may_stay() -> None:
    loader = data.DataLoader(Squares(4), num_workers=1, persistent_workers=True)
    first = list(loader)
    kept = loader._kept
    assert kept is not None
    assert list(loader) == first
    assert loader._kept is kept


def test_errors_of_workers_come_with_their_traceback() -> None:
    loader = data.DataLoader(Squares(6, broken=3), num_workers=2)
    with pytest.raises(KeyError, match="Caught KeyError in DataLoader worker process 1") as error:
        list(loader)
    assert "no such square" in str(error.value)
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid \d+\) exited unexpectedly"):
        list(data.DataLoader(Exit(), num_workers=1))


def test_leaving_a_pass_ends_the_workers() -> None:
    import multiprocessing

    for batch in data.DataLoader(Squares(50), num_workers=2):
        assert batch.item() == 0
        break
    assert not multiprocessing.active_children()


# Mistakes


MISTAKES: dict[str, tuple[type[Exception], Callable[[], Any], str]] = {
    "both": (
        ValueError,
        lambda: data.DataLoader([1], shuffle=True, sampler=[0]),
        "sampler option is mutually exclusive with shuffle",
    ),
    "batch sampler": (
        ValueError,
        lambda: data.DataLoader([1], 2, batch_sampler=[[0]]),
        "batch_sampler option is mutually exclusive",
    ),
    "drop": (ValueError, lambda: data.DataLoader([1], None, drop_last=True), "batch_size=None"),
    "workers": (ValueError, lambda: data.DataLoader([1], num_workers=-1), "non-negative"),
    "stream": (ValueError, lambda: data.DataLoader(Stream(), shuffle=True), "unspecified shuffle"),
    "lengths": (ValueError, lambda: data.random_split([1, 2], [3]), "does not equal the length"),
    "tensors": (
        AssertionError,
        lambda: data.TensorDataset(gradfn.ones(2), gradfn.ones(3)),
        "Size mismatch",
    ),
    "objects": (
        TypeError,
        lambda: data.default_collate([object()]),
        "default_collate: batch must contain tensors",
    ),
    "sizes": (
        RuntimeError,
        lambda: data.default_collate([[1], [1, 2]]),
        "each element in list of batch should be of equal size",
    ),
    "samples": (ValueError, lambda: data.RandomSampler([1], num_samples=-1), "non-negative"),
}


@pytest.mark.parametrize(("kind", "call", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named(kind: type[Exception], call: Callable[[], Any], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
