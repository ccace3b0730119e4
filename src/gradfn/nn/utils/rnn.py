"""Sequences of different lengths: padded to one tensor, or packed without padding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

from ...creation import empty_like, full
from ...creation import tensor as new_tensor
from ...missing import missing
from ...ops.joining import cat
from ...ranges import arange
from ...tensor import Tensor

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class _Packed(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(_Packed):
    """The elements of all sequences, step by step: `torch.nn.utils.rnn.PackedSequence`.

    `data` has first the first elements of all sequences, then the second ones, and so on;
    `batch_sizes` how many there are at each step. The sequences are sorted by length:
    `sorted_indices` is the order, `unsorted_indices` its inverse, None for one that was sorted.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Any = None,
        sorted_indices: Any = None,
        unsorted_indices: Any = None,
    ) -> Self:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert `data` as `Tensor.to` does."""
        return self._replace(data=self.data.to(*args, **kwargs))

    def double(self) -> Self:
        """Convert `data` to float64."""
        return self._replace(data=self.data.double())

    def float(self) -> Self:
        """Convert `data` to float32."""
        return self._replace(data=self.data.float())

    def cpu(self) -> Self:
        """The sequence itself: it is on the CPU."""
        return self

    @property
    def is_cuda(self) -> bool:
        """False."""
        return False


def invert_permutation(permutation: Any) -> Any:
    """The permutation that undoes `permutation`; None for None."""
    if permutation is None:
        return None
    inverse: Any = empty_like(permutation)
    inverse[permutation] = arange(permutation.numel())
    return inverse


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack the first `lengths` steps of `input`, (length, batch, ...) or (batch, length, ...).

    Raises RuntimeError for lengths that are not positive or not sorted, unless `enforce_sorted` is
    False.

    >>> from gradfn import tensor
    >>> pack_padded_sequence(tensor([[1, 4], [2, 0], [3, 0]]), [3, 1]).data
    tensor([1, 4, 2, 3])
    """
    sizes: Any = lengths if isinstance(lengths, Tensor) else new_tensor(lengths)
    order = None
    if not enforce_sorted:
        sizes, order = sizes.sort(descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    counts = sizes.tolist()
    sequence = input.transpose(0, 1) if batch_first else input
    _check_lengths(counts, sequence.shape[1])
    batch_sizes = [sum(count > step for count in counts) for step in range(counts[0])]
    data = cat([sequence[step, :batch] for step, batch in enumerate(batch_sizes)])
    return PackedSequence(data, new_tensor(batch_sizes), order)


def _check_lengths(lengths: list[int], batch: int) -> None:
    if len(lengths) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} "
            f"(batch_size={batch})"
        )
    if lengths != sorted(lengths, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You "
            "can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence."
        )
    if lengths[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:
    """The sequences as one tensor, (length, batch, ...) or (batch, length, ...), and their lengths.

    The inverse of `pack_padded_sequence`. `total_length` is at least the longest length.
    """
    data, sizes, _, inverse = sequence
    batch_sizes = sizes.tolist()
    longest = len(batch_sizes)
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but "
            f"got total_length={total_length} and max sequence length being {longest}"
        )
    shape = (total_length or longest, batch_sizes[0], *data.shape[1:])
    padded: Any = full(shape, padding_value, dtype=data.dtype)
    for step, part in enumerate(data.split(batch_sizes)):
        padded[step, : len(part)] = part
    lengths = new_tensor([sum(b > i for b in batch_sizes) for i in range(batch_sizes[0])])
    if batch_first:
        padded = padded.transpose(0, 1)
    if inverse is not None:
        padded = padded.index_select(0 if batch_first else 1, inverse)
        return padded, lengths.index_select(0, inverse)
    return padded, lengths


def pad_sequence(
    sequences: Iterable[Any],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:
    """Sequences (length, ...) as one tensor, (length, batch, ...) or (batch, length, ...).

    Raises RuntimeError for no sequences, and for another side than "left" and "right".

    >>> from gradfn import tensor
    >>> pad_sequence([tensor([1, 2]), tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    listed = list(sequences)
    if not listed:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    longest = max(len(sequence) for sequence in listed)
    shape = (len(listed), longest, *listed[0].shape[1:])
    padded: Any = full(shape, padding_value, dtype=listed[0].dtype)
    for number, sequence in enumerate(listed):
        start = longest - len(sequence) if padding_side == "left" else 0
        padded[number, start : start + len(sequence)] = sequence
    return padded if batch_first else padded.transpose(0, 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences in one tensor, cut to their lengths: the inverse of `pad_sequence`."""
    sequences = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [each[:length] for each, length in zip(sequences, lengths.tolist(), strict=True)]


def pack_sequence(sequences: list[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences (length, ...): see `pack_padded_sequence`."""
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The sequences, each for itself: the inverse of `pack_sequence`."""
    return unpad_sequence(
        *pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True
    )


__getattr__ = missing(__name__)
