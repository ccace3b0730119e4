"""The random number generator: PyTorch's numbers for PyTorch's seeds."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

from .raw.random import Array, MersenneTwister


class Generator(MersenneTwister):
    """A source of random numbers with a state of its own: `torch.Generator`.

    Samplers that are given none use `default_generator`. A generator may be shared by threads,
    copied and pickled; its state can be exchanged with PyTorch's.

    >>> generator = Generator().manual_seed(-1)
    >>> generator.initial_seed()
    18446744073709551615
    """

    def __init__(self, device: object = "cpu") -> None:
        """Seeded with PyTorch's 67280421310721. Raises RuntimeError if device is not the CPU."""
        if str(device) != "cpu":
            raise RuntimeError(f"Cannot get a generator for {device}: the only device is cpu")
        super().__init__(67280421310721)

    @property
    def device(self) -> str:
        return "cpu"

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from a seed of 64 bits; a negative one counts back from 2^64.

        Raises RuntimeError if seed is no integer, ValueError if it is not in [-2^63, 2^64).
        """
        if isinstance(seed, bool) or not isinstance(seed, Integral):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError(
                f"Overflow when unpacking long long: the seed {seed} is not in [-2^63, 2^64)"
            )
        self.reseed(int(seed) % 2**64)
        return self

    def seed(self) -> int:
        """Start anew from a seed of the operating system's, and return it."""
        seed = int.from_bytes(os.urandom(8))
        self.reseed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed of the latest start, in [0, 2^64)."""
        return self.seed_value

    def get_state(self) -> Array:
        """The state in 5056 bytes, PyTorch's own."""
        return self.pack()

    def set_state(self, state: Array) -> Generator:
        """Continue from a state, gradfn's or PyTorch's. Raises RuntimeError if it is none."""
        self.unpack(state)
        return self

    def clone_state(self) -> Generator:
        """A new generator in the same state."""
        return Generator().set_state(self.get_state())

    def __getstate__(self) -> Array:
        return self.pack()

    def __setstate__(self, state: Array) -> None:
        Generator.__init__(self)
        self.unpack(state)


default_generator = Generator()
default_generator.seed()


def manual_seed(seed: Any) -> Generator:
    """Seed `default_generator` with int(seed) and return it: `torch.manual_seed`."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed `default_generator` from the operating system: `torch.seed`."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of `default_generator`: `torch.initial_seed`."""
    return default_generator.initial_seed()
