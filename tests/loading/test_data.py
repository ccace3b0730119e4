"""Data sets, samplers and loaders: PyTorch's batches, in its order, for the same seed."""

from __future__ import annotations

import collections
import multiprocessing
import os
import random
import time
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
        list(d.DataLoader(d.StackDataset(a=range(3), b=d.Subset([5, 6, 7], [2, 0, 1])), 2)),
    ],
    "rows of a part": lambda t, d: list(
        d.DataLoader(d.Subset(d.TensorDataset(t.arange(24).reshape(6, 4).T), [3, 1, 2]), 2)
    ),
    "kept attributes": lambda t, d: d.default_collate([collections.defaultdict(int, a=1)] * 2),
    "an eager sampler": lambda t, d: list(
        d.DataLoader(range(5), None, sampler=_Eager(lambda: t.randperm(5).tolist()))
    ),
    "when is drawn": lambda t, d: _interleaved(t, d.DataLoader(range(9), 2, True)),
    "when workers draw": lambda t, d: _interleaved(
        t, d.DataLoader(range(9), 2, True, num_workers=2)
    ),
    "when lasting workers draw": lambda t, d: _interleaved(
        t, d.DataLoader(range(9), 2, True, num_workers=1, persistent_workers=True)
    ),
    "what workers draw": lambda t, d: list(
        d.DataLoader(_Draws(t), num_workers=2, collate_fn=_plain_batch)
    ),
}


class _Eager(NamedTuple):
    """A sampler that draws when it is asked for an iterator."""

    draw: Any

    def __iter__(self) -> Any:
        return iter(self.draw())


class _Draws(NamedTuple):
    """What a worker draws from each generator that it has."""

    torch: Any

    def __getitem__(self, index: int) -> Any:
        return self.torch.rand(1).item(), random.random(), np.random.rand()

    def __len__(self) -> int:
        return 4


def _plain_batch(batch: Any) -> Any:
    return batch


def _interleaved(t: Any, loader: Any) -> list[Any]:
    """The batches of two passes, and random numbers drawn in between."""
    found = []
    for _ in range(2):
        batches = iter(loader)
        found.append(t.rand(1))
        found.append(next(batches))
        found.append(t.rand(1))
        found.extend(batches)
    return found


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_batches_are_pytorchs(oracle: ModuleType, program: Program) -> None:
    from torch.utils import data as theirs

    gradfn.manual_seed(3)
    oracle.manual_seed(3)
    assert plain(program(gradfn, data)) == plain(program(oracle, theirs))
    assert gradfn.rand(1).item() == oracle.rand(1).item()


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
    with pytest.raises(
        RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly"
    ):
        list(data.DataLoader(Exit(), num_workers=1))


def test_leaving_a_pass_ends_the_workers() -> None:
    before = set(multiprocessing.active_children())
    for batch in data.DataLoader(Squares(50), num_workers=2):
        assert batch.item() == 0
        break
    assert set(multiprocessing.active_children()) <= before


def test_a_stream_needs_no_batches() -> None:
    loader = data.DataLoader(Stream(), None, num_workers=2)
    assert list(loader) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    lasting = data.DataLoader(Stream(), 3, num_workers=2, persistent_workers=True)
    passes = [gradfn.cat(list(lasting)).tolist() for _ in range(2)]
    assert passes == [[0, 2, 4, 1, 3, 5, 6, 8, 7]] * 2


def test_requests_and_answers_longer_than_a_pipe_do_not_wait_for_each_other() -> None:
    found = list(data.DataLoader(Squares(200_000), 50_000, num_workers=2))
    assert [len(batch) for batch in found] == [50_000] * 4


class Wide(data.Dataset[Any]):
    """Samples that fill a pipe."""

    def __getitem__(self, index: int) -> Any:
        return gradfn.full((100_000,), index)

    def __len__(self) -> int:
        return 20


def test_leaving_does_not_wait_for_batches_that_nobody_takes() -> None:
    before = set(multiprocessing.active_children())
    start = time.monotonic()
    batches = iter(data.DataLoader(Wide(), num_workers=2))
    assert next(batches)[0, 0] == 0
    del batches
    assert time.monotonic() - start < 4
    assert set(multiprocessing.active_children()) <= before


def test_a_pass_goes_on_after_an_error() -> None:
    batches = iter(data.DataLoader(Squares(4, broken=1), num_workers=2))
    assert next(batches).item() == 0
    with pytest.raises(KeyError, match="no such square"):
        next(batches)
    assert [batch.item() for batch in batches] == [4, 9]


def test_lasting_workers_begin_anew_in_the_middle_of_a_pass() -> None:
    loader = data.DataLoader(Squares(5), num_workers=2, persistent_workers=True)
    first = iter(loader)
    next(first)
    assert [batch.item() for batch in loader] == [0, 1, 4, 9, 16]


def test_a_batch_of_rows_is_that_of_the_samples() -> None:
    for x in (gradfn.arange(12.0).reshape(4, 3), gradfn.arange(4), gradfn.ones(4, 0)):
        rows = data.TensorDataset(x, x > 1)
        (batch,) = data.DataLoader(rows, sampler=[2, 0, 2], batch_size=3)
        expected = data.default_collate([rows[i] for i in (2, 0, 2)])
        assert type(batch) is list
        assert plain(batch) == plain(expected)
        assert batch[0].untyped_storage() != x.untyped_storage()
    grown = data.TensorDataset(gradfn.ones(3, requires_grad=True))
    assert next(iter(data.DataLoader(grown)))[0].grad_fn.name() == "StackBackward0"


def test_a_stream_longer_than_it_said_is_told() -> None:
    class Short(Stream):
        def __len__(self) -> int:
            return 8

    loader = data.DataLoader(Short(), 1)
    assert sum(len(batch) for batch in loader) == 9
    assert len(loader) == 8
    with pytest.warns(UserWarning, match=r"Length of IterableDataset .* was reported to be 8"):
        list(loader)


def test_what_was_said_is_fixed() -> None:
    loader = data.DataLoader([1, 2])
    with pytest.raises(ValueError, match="batch_size attribute should not be set after"):
        loader.batch_size = 3
    loader.collate_fn = tuple
    assert list(loader) == [(1,), (2,)]


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
    "context": (
        ValueError,
        lambda: data.DataLoader([1], num_workers=1, multiprocessing_context="thread"),
        "specify a valid start method",
    ),
    "context alone": (
        ValueError,
        lambda: data.DataLoader([1], multiprocessing_context="fork"),
        "can only be used with multi-process loading",
    ),
    "nothing to shuffle": (
        ValueError,
        lambda: data.DataLoader([], shuffle=True),
        "num_samples should be a positive integer value, but got num_samples=0",
    ),
    "no stream": (TypeError, lambda: data.IterableDataset(), "abstract class IterableDataset"),
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
    "samples": (ValueError, lambda: data.RandomSampler([1], num_samples=-1), "positive"),
}


@pytest.mark.parametrize(("kind", "call", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named(kind: type[Exception], call: Callable[[], Any], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
