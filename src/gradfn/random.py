"""The random number generator: PyTorch's numbers for PyTorch's seeds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any

from .autograd.variable import Variable
from .device import cpu
from .device import device as Device
from .missing import missing
from .raw.numbers import Array
from .raw.random import MersenneTwister

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = [
    "Generator",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

__getattr__ = missing(__name__)


class Generator(MersenneTwister):
    """A source of random numbers with a state of its own: `torch.Generator`.

    Samplers that are given none use `default_generator`. A generator may be shared by threads,
    copied and pickled; its state can be exchanged with PyTorch's.

    >>> generator = Generator().manual_seed(-1)
    >>> generator.initial_seed()
    18446744073709551615
    """

    def __init__(self, device: Device | str = "cpu") -> None:
        """Seeded with PyTorch's 67280421310721. Raises RuntimeError if device is not the CPU."""
        if Device(device) != cpu:
            raise RuntimeError(f"Cannot get a generator for {device}: the only device is cpu")
        super().__init__(67280421310721)

    @property
    def device(self) -> Device:
        return cpu

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

    def get_state(self) -> Tensor:
        """The state in 5056 bytes, PyTorch's own, as a uint8 tensor."""
        state: Tensor = Variable.wrap(self.pack())
        return state

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state; TypeError for what is no uint8 tensor, RuntimeError for others."""
        if not isinstance(new_state, Variable) or new_state._array.dtype != "uint8":
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        self.unpack(new_state._array)
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


def get_rng_state() -> Tensor:
    """The state of `default_generator`, in 5056 bytes: `torch.get_rng_state`."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Let `default_generator` continue from a state: `torch.set_rng_state`."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **options: Any) -> Iterator[None]:
    """Give the state of `default_generator` back at the end of a `with` block, if `enabled`."""
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
