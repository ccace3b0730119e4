"""Timing statements: PyTorch's `torch.utils.benchmark`, its `Timer` and `Measurement`."""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..missing import missing

__all__ = ["Measurement", "Timer", "timer"]
__getattr__ = missing(__name__)

timer = timeit.default_timer
_UNITS = (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0))


@dataclass(repr=False)
class Measurement:
    """How long a statement took: `raw_times` in seconds, of `number_per_run` runs each."""

    number_per_run: int
    raw_times: list[float]
    title: str
    about: str
    num_threads: int = 1

    @property
    def times(self) -> list[float]:
        """The seconds that one run took, for each measurement."""
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        return statistics.mean(self.times)

    @property
    def iqr(self) -> float:
        """The distance between the quartiles."""
        first, third = self._quartiles()
        return third - first

    def _quartiles(self) -> tuple[float, float]:
        if len(self.raw_times) < 2:
            return self.median, self.median
        first, _, third = statistics.quantiles(self.times, n=4, method="inclusive")
        return first, third

    def __repr__(self) -> str:
        count = len(self.raw_times)
        several, threads = count > 1, "thread" if self.num_threads == 1 else "threads"
        lines = [f"<torch.utils.benchmark.utils.common.Measurement object at {hex(id(self))}>"]
        lines += filter(None, [self.title, self.about])
        unit, scale = _unit(self.median)
        lines.append(f"  {'Median: ' if several else ''}{self.median / scale:.2f} {unit}")
        if count >= 4:
            first, third = (time / scale for time in self._quartiles())
            lines.append(f"  IQR:    {third - first:.2f} {unit} ({first:.2f} to {third:.2f})")
        lines.append(
            f"  {count} measurement{'s' if several else ''}, {self.number_per_run} runs "
            f"{'per measurement' if several else ''}, {self.num_threads} {threads}"
        )
        return "\n".join(lines)


def _unit(seconds: float) -> tuple[str, float]:
    """The largest unit of time that `seconds` has one of, and its length."""
    return next((unit for unit in reversed(_UNITS) if seconds >= unit[1]), _UNITS[0])


class Timer:
    """Times the Python statement `stmt`, after `setup`, with the names of `globals`.

    >>> Timer("x + 1", globals={"x": 1}).timeit(10).number_per_run
    10
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = "python",
    ) -> None:
        if global_setup or language not in ("python", "py"):
            raise NotImplementedError("torch.utils.benchmark.Timer of C++ is not in gradfn")
        self._timer = timeit.Timer(stmt, setup, timer, globals)
        self.num_threads = num_threads
        title = label or stmt
        self._title = f"{title}: {sub_label}" if sub_label else title
        self._about = description or ("" if setup == "pass" else f"setup: {setup}")

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One measurement of `number` runs, after a few to warm up."""
        self._timer.timeit(max(number // 100, 2))
        return self._measured(number, [self._timer.timeit(number)])

    def blocked_autorange(
        self, callback: Callable[[int, float], None] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Measurements for `min_run_time` seconds in all, each long enough to be exact."""
        number = self._enough(min_run_time / 100)
        times: list[float] = []
        while not times or sum(times) < min_run_time:
            times.append(self._timed(number, callback))
        return self._measured(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], None] | None = None,
    ) -> Measurement:
        """Measurements until their `iqr` is below `threshold` times their median."""
        number = self._enough(min_run_time / 10)
        found = self._measured(number, [])
        while sum(found.raw_times) < max_run_time:
            found.raw_times.append(self._timed(number, callback))
            steady = len(found.raw_times) >= 4 and found.iqr < threshold * found.median
            if steady and sum(found.raw_times) >= min_run_time:
                break
        return found

    def _enough(self, seconds: float) -> int:
        """A number of runs that takes that long."""
        number = 1
        while self._timer.timeit(number) < seconds:
            number *= 10
        return number

    def _timed(self, number: int, callback: Callable[[int, float], None] | None) -> float:
        time = self._timer.timeit(number)
        if callback is not None:
            callback(number, time)
        return time

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._title, self._about, self.num_threads)
