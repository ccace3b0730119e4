"""DataLoader: batches of a data set, in this process or by workers."""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.context import BaseContext
from typing import Any, Generic, Self, TypeVar

from ...random import Generator
from ._utils.collate import default_collate, default_convert
from ._utils.fetch import Fetch, from_iterable, from_map
from ._utils.worker import Exhausted, Failure, Restart, Workers, get_worker_info
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, drawn_seed

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T_co = TypeVar("T_co", covariant=True)
_FIXED = frozenset(
    {"batch_sampler", "batch_size", "dataset", "drop_last", "persistent_workers", "sampler"}
)


class DataLoader(Generic[T_co]):
    """Batches of the samples of `dataset`: `torch.utils.data.DataLoader`.

    In order, in a new random one for each pass (`shuffle`), or as `sampler` or `batch_sampler` say;
    `batch_size` None gives single samples. Samples become batches by `collate_fn`. With
    `num_workers` as many processes fetch, `prefetch_factor` batches ahead each; batches keep their
    order. `generator` draws shuffles and the workers' seeds, as PyTorch's would. `pin_memory` is
    accepted and changes nothing. ValueError for options that exclude each other.

    >>> from gradfn import arange
    >>> [batch.tolist() for batch in DataLoader(arange(5), batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = _context(multiprocessing_context, num_workers)
        self.generator = generator
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                    "and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        if sampler is None:
            sampler = self._default_sampler(bool(shuffle))
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self._told_length: int | None = None  # of an iterable data set, when asked
        self._kept: _MultiProcessingDataLoaderIter | None = None

    def _default_sampler(self, shuffle: bool) -> Any:
        if self._iterable:
            return _Endless()
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and "_kept" in vars(self):
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    def __iter__(self) -> _BaseDataLoaderIter:
        if not self.num_workers:
            return _SingleProcessDataLoaderIter(self)
        if not self.persistent_workers:
            return _MultiProcessingDataLoaderIter(self)
        if self._kept is None:
            self._kept = _MultiProcessingDataLoaderIter(self)
        else:
            self._kept.restart()
        return self._kept

    def _fetcher(self) -> Callable[[], Fetch]:
        """What makes the function that fetches a batch, here or in a worker."""
        batched = self.batch_sampler is not None
        make = from_iterable if self._iterable else from_map
        return functools.partial(make, self.dataset, batched, self.drop_last, self.collate_fn)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kept": None}

    def __len__(self) -> int:
        if not self._iterable:
            return len(self._index_sampler)
        self._told_length = count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class _Endless(Sampler[None]):
    """The sampler of iterable data sets, which have an end of their own."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class _BaseDataLoaderIter:
    """One pass over a loader."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._loader = loader
        self._indices = iter(loader._index_sampler)
        self._seed = drawn_seed(loader.generator)  # after an eager sampler has drawn
        self._yielded = 0

    def __iter__(self) -> Self:
        return self

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    def __next__(self) -> Any:
        batch = self._next()
        self._yielded += 1
        told = self._loader._told_length
        if told is not None and self._yielded > told:
            warnings.warn(
                f"Length of IterableDataset {self._loader.dataset} was reported to be {told} (when "
                f"accessing len(dataloader)), but {self._yielded} samples have been fetched.",
                stacklevel=2,
            )
        return batch

    def _next(self) -> Any:
        raise NotImplementedError


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """A pass in this process."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._fetch = loader._fetcher()()

    def _next(self) -> Any:
        return self._fetch(next(self._indices))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """A pass by workers, asked in turn, `prefetch_factor` batches ahead each."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._workers = Workers(
            loader.num_workers,
            loader._fetcher(),
            self._seed,
            loader.dataset,
            loader.worker_init_fn,
            loader.multiprocessing_context,
            loader.timeout,
        )
        self._end = weakref.finalize(self, self._workers.stop)
        self._begin()

    def restart(self) -> None:
        """Begin another pass, with the same workers."""
        for number in self._waiting:
            self._workers.answer(number)
        for number in range(self._loader.num_workers):
            self._workers.ask(number, Restart())
        self._indices = iter(self._loader._index_sampler)
        self._yielded = 0
        self._begin()

    def _begin(self) -> None:
        count = self._loader.num_workers
        self._active = set(range(count))
        self._turns = itertools.cycle(range(count))
        self._waiting: deque[int] = deque()  # the workers whose answers are due, in order
        assert self._loader.prefetch_factor is not None
        for _ in range(self._loader.prefetch_factor * count):
            self._ask()

    def _ask(self) -> None:
        """Ask the next worker that has samples left for the next batch, if there is one."""
        try:
            wanted = next(self._indices)
        except StopIteration:
            return
        for number in itertools.islice(self._turns, self._loader.num_workers):
            if number in self._active:
                self._workers.ask(number, (wanted,))
                self._waiting.append(number)
                return

    def _next(self) -> Any:
        while self._waiting:
            number = self._waiting.popleft()
            answer = self._workers.answer(number)
            if isinstance(answer, Exhausted):
                self._active.discard(number)
            self._ask()
            if isinstance(answer, Failure):
                answer.reraise()
            if not isinstance(answer, Exhausted):
                return answer
        if not self._loader.persistent_workers:
            self._end()
        raise StopIteration


def _check_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 "
            "to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _context(wanted: Any, num_workers: int) -> BaseContext | None:
    """The way to start processes that `wanted` says, by name or itself."""
    if wanted is None:
        return None
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > "
            f"0), but got num_workers={num_workers}"
        )
    if isinstance(wanted, str):
        known = multiprocessing.get_all_start_methods()
        if wanted not in known:
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{known!r}, but got multiprocessing_context={wanted!r}"
            )
        wanted = multiprocessing.get_context(wanted)
    if not isinstance(wanted, BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={wanted}"
        )
    return wanted


def _check_iterable(shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    named = (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler))
    for name, value in named:
        if value not in (None, False):
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )
