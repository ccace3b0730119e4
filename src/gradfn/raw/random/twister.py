"""The engine: MT19937 with PyTorch's seeding and PyTorch's state."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from operator import length_hint

import numpy as np
from numpy.typing import NDArray

from ..numbers import Array

# The state as PyTorch's get_state() lays it out; what is not named is always zero.
_STATE = np.dtype(
    {
        "names": ["seed", "left", "seeded", "next", "key", "normal", "normal_is_kept"],
        "formats": ["<u8", "<i4", "<i4", "<u8", ("<u8", 624), "<f8", "<i4"],
        "offsets": [0, 8, 12, 16, 24, 5024, 5040],
        "itemsize": 5056,
    }
)


class MersenneTwister:
    """MT19937 with a seed of 64 bits, of which it uses 32, and the spare normal of a pair.

    A draw is atomic; hold `lock` to make several draws atomic together.
    """

    def __init__(self, seed: int) -> None:
        self.lock = threading.RLock()
        self._bits = np.random.MT19937(0)
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Start anew from a seed in [0, 2^64)."""
        with self.lock:
            self.seed_value = seed
            self.kept_normal: float | None = None
            np.random.RandomState(self._bits).seed(seed & 0xFFFFFFFF)

    def bits32(self, n: int) -> Array:
        """The next n outputs, as uint64."""
        with self.lock:
            return self._bits.random_raw(n)

    def bits64(self, n: int) -> Array:
        """n pairs of outputs, the first of each in the high half."""
        high, low = self.bits32(2 * n).reshape(n, 2).T
        return (high << np.uint64(32)) | low

    def uniform32(self, n: int) -> Array:
        """n multiples of 2^-24 in [0, 1), as float32."""
        bits = self.bits32(n)
        bits &= np.uint64(0xFFFFFF)
        return np.multiply(bits.astype(np.float32), np.float32(2**-24))

    def uniform64(self, n: int) -> Array:
        """n multiples of 2^-53 in [0, 1), as float64."""
        bits = self.bits64(n)
        bits &= np.uint64(2**53 - 1)
        return np.multiply(bits, 2.0**-53)

    @contextmanager
    def one_at_a_time(self) -> Iterator[Callable[[], float]]:
        """A function that draws `uniform64` singly, from blocks whose rest is given back."""
        block, left, drawn = 1024, iter(()), 0

        def blocks() -> Iterator[Iterator[float]]:
            nonlocal left, drawn
            while True:
                left = iter(self.uniform64(block).tolist())
                drawn += block
                yield left

        with self.lock:
            start = self._bits.state
            yield chain.from_iterable(blocks()).__next__
            self._bits.state = start
            self._bits.random_raw(2 * (drawn - length_hint(left)), output=False)

    def pack(self) -> NDArray[np.uint8]:
        """The 5056 bytes that PyTorch's `get_state` gives in this state."""
        state = np.zeros((), _STATE)
        with self.lock:
            twister = self._bits.state["state"]
            seed, kept = self.seed_value, self.kept_normal
        key, position = twister["key"], twister["pos"]
        # PyTorch counts a state that has never been drawn from as position 0 with 1 left.
        undrawn = position == 624 and key[0] == seed & 0xFFFFFFFF
        state["seed"], state["key"], state["seeded"] = seed, key, True
        state["next"] = 0 if undrawn else position
        state["left"] = 1 if undrawn else 625 - position
        if kept is not None:
            state["normal"], state["normal_is_kept"] = kept, True
        return np.frombuffer(bytearray(state.tobytes()), np.uint8)

    def unpack(self, data: Array) -> None:
        """Take up a state that `pack`, or PyTorch's `get_state`, gave.

        Raises RuntimeError if data is not such a state.
        """
        if data.size != _STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.itemsize} but found the input "
                f"RNG state size to be {data.size}"
            )
        state = np.frombuffer(data.tobytes(), _STATE)[0]
        left, position = int(state["left"]), int(state["next"])
        if not state["seeded"] or not 0 < left <= 624 or position > 624:
            raise RuntimeError(
                "Invalid mt19937 state: it must be seeded, with 1 to 624 outputs left and a "
                f"position up to 624, but has {left} left and position {position}"
            )
        key = state["key"].astype(np.uint32)
        with self.lock:
            self.seed_value = int(state["seed"])
            self.kept_normal = float(state["normal"]) if state["normal_is_kept"] else None
            self._bits.state = {
                "bit_generator": "MT19937",
                "state": {"key": key, "pos": 624 if left == 1 else position},
            }
