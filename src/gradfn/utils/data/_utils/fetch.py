"""Fetching: from what a sampler says to a batch. Each function here makes one that does it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from ..dataset import Subset, TensorDataset
from .collate import default_collate

Fetch = Callable[[Any], Any]


def from_map(dataset: Any, batched: bool, drop_last: bool, collate: Callable[[Any], Any]) -> Fetch:
    """Fetches samples, or lists of them, by their numbers."""
    if not batched:
        return lambda number: collate(dataset[number])
    several = getattr(dataset, "__getitems__", None)

    def fetch(numbers: Any) -> Any:
        if collate is default_collate and (batch := rows(dataset, numbers)) is not None:
            return batch
        return collate(several(numbers) if several else [dataset[number] for number in numbers])

    return fetch


def rows(dataset: Any, numbers: Any) -> list[Any] | None:
    """The batch that `default_collate` makes of samples of a `TensorDataset`, by one indexing of
    each tensor; None of other data sets, and of tensors whose gradients are recorded."""
    while type(dataset) is Subset:
        numbers = [dataset.indices[number] for number in numbers]
        dataset = dataset.dataset
    if type(dataset) is not TensorDataset or not all(map(_is_plain, dataset.tensors)):
        return None
    return [tensor[list(numbers)] for tensor in dataset.tensors]


def _is_plain(tensor: Any) -> bool:
    return not tensor.requires_grad and tensor.is_contiguous()


def from_iterable(
    dataset: Iterable[Any], batched: bool, drop_last: bool, collate: Callable[[Any], Any]
) -> Fetch:
    """Fetches the next samples; StopIteration where there are none."""
    samples = iter(dataset)
    if not batched:
        return lambda _: collate(next(samples))

    def fetch(wanted: Any) -> Any:
        batch = list(itertools.islice(samples, len(wanted)))
        if not batch or (drop_last and len(batch) < len(wanted)):
            raise StopIteration
        return collate(batch)

    return fetch
