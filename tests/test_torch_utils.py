"""The smaller modules of `torch.utils` and around it: timing, processes, names that are refused."""

from __future__ import annotations

import os
import re
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import gradfn
from gradfn import hub, multiprocessing
from gradfn.utils import _pytree, benchmark, model_zoo


def shape(measurement: Any) -> str:
    """The text of a measurement without what differs from run to run."""
    return re.sub(r"0x[0-9a-f]+|\d+\.\d+|[mnu]?s\b", "_", repr(measurement))


def test_timers_print_as_pytorchs(oracle: ModuleType) -> None:
    from torch.utils import benchmark as theirs

    for options in (
        {"stmt": "x + 1", "setup": "x = 1"},
        {"stmt": "y", "globals": {"y": 2}, "label": "L", "sub_label": "S", "description": "D"},
        {"num_threads": 2},
    ):
        mine, other = benchmark.Timer(**options), theirs.Timer(**options)
        assert shape(mine.timeit(30)) == shape(other.timeit(30))


def test_a_measurement_is_of_single_runs(oracle: ModuleType) -> None:
    from torch.utils import benchmark as theirs

    times = [1e-5, 2e-5, 2.02e-5, 2.03e-5, 2.04e-5]
    mine = benchmark.Measurement(10, times, "x", "")
    other = theirs.Measurement(10, times, theirs.TaskSpec("x", "pass"))
    assert (mine.median, mine.mean, mine.times) == (other.median, other.mean, other.times)
    assert mine.iqr == pytest.approx(other.iqr)
    without_address = [repr(m).split("\n")[1:] for m in (mine, other)]
    assert without_address[0] == without_address[1]


def test_timers_run_long_enough() -> None:
    runs: list[int] = []
    timer = benchmark.Timer("pass")
    found = timer.blocked_autorange(lambda number, time: runs.append(number), min_run_time=0.01)
    assert sum(found.raw_times) >= 0.01
    assert runs == [found.number_per_run] * len(found.raw_times)
    steady = timer.adaptive_autorange(threshold=1.0)
    assert len(steady.raw_times) >= 4
    with pytest.raises(NotImplementedError, match=r"Timer of C\+\+"):
        benchmark.Timer("1;", language="c++")


class Point(NamedTuple):
    x: Any
    y: Any


TREES: list[Any] = [
    1,
    None,
    (),
    {},
    (1, [2, {"a": 3, "b": (4, None)}]),
    OrderedDict(b=1, a=[2]),
    defaultdict(list, {"x": 1}),
    deque([1, [2]], maxlen=3),
    Point(1, [2]),
]


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_structures_are_pytorchs(oracle: ModuleType, tree: Any) -> None:
    from torch.utils import _pytree as theirs

    leaves, spec = _pytree.tree_flatten(tree)
    their_leaves, their_spec = theirs.tree_flatten(tree)
    assert leaves == their_leaves
    assert str(spec) == str(their_spec)
    assert (spec.num_leaves, spec.num_nodes) == (their_spec.num_leaves, their_spec.num_nodes)
    again = _pytree.tree_unflatten(leaves, spec)
    assert (type(again), again) == (type(tree), tree)


PAIRS: list[tuple[Any, Any]] = [
    ({"a": 1, "b": 2}, {"b": 3, "a": 4}),
    ({"a": 1}, OrderedDict(a=2)),
    (defaultdict(int, a=1), {"a": 1}),
    (deque([1], 3), deque([1], 4)),
    ((1, [2]), (3, [4])),
    ({"a": 1}, {"b": 1}),
    ((1,), (1, 2)),
    ([1], (1,)),
]


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_structures_match_as_pytorchs(oracle: ModuleType, pair: tuple[Any, Any]) -> None:
    from torch.utils import _pytree as theirs

    def matched(tree_map: Any) -> Any:
        try:
            return tree_map(lambda a, b: (a, b), *pair)
        except ValueError as error:
            return str(error)

    assert matched(_pytree.tree_map) == matched(theirs.tree_map)


def write(number: int, folder: str, fails: int) -> None:
    if number == fails:
        raise ValueError("boom")
    with open(f"{folder}/{number}", "w") as file:
        file.write(str(gradfn.ones(2).sum().item()))


def leave(number: int) -> None:
    os._exit(3)


def test_processes_are_spawned_and_joined(tmp_path: Any) -> None:
    multiprocessing.spawn(write, (str(tmp_path), -1), nprocs=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]
    started = multiprocessing.spawn(write, (str(tmp_path), -1), nprocs=3, join=False)
    assert started is not None
    assert len(started.pids()) == 3
    while not started.join():
        pass
    assert (tmp_path / "2").read_text() == "2.0"


def test_failures_of_processes_are_raised(tmp_path: Any) -> None:
    with pytest.raises(
        multiprocessing.ProcessRaisedException, match=r"-- Process 1 terminated with"
    ) as raised:
        multiprocessing.spawn(write, (str(tmp_path), 1), nprocs=2, start_method="fork")
    assert "ValueError: boom" in str(raised.value)
    assert raised.value.error_index == 1
    with pytest.raises(multiprocessing.ProcessExitedException, match="exit code 3") as left:
        multiprocessing.spawn(leave, start_method="fork")
    assert left.value.exit_code == 3
    assert not multiprocessing.active_children()


REFUSED: dict[str, Callable[[], Any]] = {
    "torch.hub.load": lambda: hub.load("pytorch/vision", "resnet18"),
    "torch.hub.load_state_dict_from_url": lambda: model_zoo.load_url("https://example.org/a.pth"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_downloads_are_refused_by_name(name: str) -> None:
    with pytest.raises(NotImplementedError, match=f"{re.escape(name)} is not in gradfn"):
        REFUSED[name]()
