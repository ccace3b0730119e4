"""DataLoader: batches of a data set, in this process or by workers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from ...random import Generator
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, drawn_seed
from .worker import Workers, get_worker_info, in_order

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T_co = TypeVar("T_co", covariant=True)


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
        self.multiprocessing_context = multiprocessing_context
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
        self._kept: Workers | None = None

    def _default_sampler(self, shuffle: bool) -> Any:
        if self._iterable:
            return _Endless()
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self) -> Iterator[Any]:
        seed = drawn_seed(self.generator)
        indices = iter(self._index_sampler)
        if self.num_workers:
            return self._by_workers(indices, seed)
        return self._here(indices)

    def _fetcher(self) -> Callable[[], Callable[[Any], Any]]:
        """What makes the function that fetches a batch, here or in a worker."""
        batched = self.batch_sampler is not None
        make = _from_iterable if self._iterable else _by_number
        return functools.partial(make, self.dataset, batched, self.drop_last, self.collate_fn)

    def _here(self, indices: Iterator[Any]) -> Iterator[Any]:
        fetch = self._fetcher()()
        for wanted in indices:
            try:
                batch = fetch(wanted)
            except StopIteration:
                return
            yield batch

    def _by_workers(self, indices: Iterator[Any], seed: int) -> Iterator[Any]:
        assert self.prefetch_factor is not None
        workers = self._kept or Workers(
            self.num_workers,
            self._fetcher(),
            seed,
            self.dataset,
            self.worker_init_fn,
            self.multiprocessing_context,
            self.timeout,
        )
        keep = self.persistent_workers and not self._iterable
        self._kept = workers if keep else None
        finished = False
        try:
            yield from in_order(workers, indices, self.prefetch_factor, self._iterable)
            finished = True
        finally:
            if not keep or not finished:
                self._kept = None
                workers.stop()

    def __del__(self) -> None:
        kept = getattr(self, "_kept", None)
        if kept is not None:
            kept.stop()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kept": None}

    def __len__(self) -> int:
        if not self._iterable:
            return len(self._index_sampler)
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class _Endless(Sampler[None]):
    """The sampler of iterable data sets, which have an end of their own."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


def _by_number(
    dataset: Any, batched: bool, drop_last: bool, collate: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Fetches samples, or lists of them, by their numbers."""
    several = getattr(dataset, "__getitems__", None)

    def fetch(wanted: Any) -> Any:
        if not batched:
            return collate(dataset[wanted])
        if several:
            return collate(several(wanted))
        return collate([dataset[number] for number in wanted])

    return fetch


def _from_iterable(
    dataset: Iterable[Any], batched: bool, drop_last: bool, collate: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Fetches the next samples; StopIteration where there are none."""
    samples = iter(dataset)

    def fetch(wanted: Any) -> Any:
        if not batched:
            return collate(next(samples))
        batch = list(itertools.islice(samples, len(wanted)))
        if not batch or (drop_last and len(batch) < len(wanted)):
            raise StopIteration
        return collate(batch)

    return fetch


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


def _check_iterable(shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    named = (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler))
    for name, value in named:
        if value not in (None, False):
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )
