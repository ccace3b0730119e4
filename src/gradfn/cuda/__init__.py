"""`torch.cuda` on a machine without: questions are answered, and work for a device is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ..missing import missing
from . import amp as amp

__getattr__ = missing(__name__)


def is_available() -> bool:
    """False: tensors are on the CPU.

    >>> is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialize."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no device."""
    return False


def device_count() -> int:
    """The number of devices, 0."""
    return 0


def get_arch_list() -> list[str]:
    """The architectures that there are kernels for: none."""
    return []


def manual_seed(seed: int) -> None:
    """Seed the generator of the current device; without one there is nothing to do."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all devices, of which there are none."""


def get_rng_state_all() -> list[Any]:
    """The states of the generators of all devices, of which there are none."""
    return []


def empty_cache() -> None:
    """Give back what the devices' allocators hold, which is nothing."""


def memory_allocated(device: Any = None) -> int:
    """The bytes that tensors take on a device, 0."""
    return 0


memory_reserved = max_memory_allocated = max_memory_reserved = memory_allocated


def _refused(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise AssertionError(
            f"Torch not compiled with CUDA enabled: cuda.{name}() needs a device, and gradfn's "
            "tensors are on the CPU. Ask cuda.is_available() first."
        )

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


current_device = _refused("current_device")
current_stream = _refused("current_stream")
get_device_capability = _refused("get_device_capability")
get_device_name = _refused("get_device_name")
get_device_properties = _refused("get_device_properties")
get_rng_state = _refused("get_rng_state")
init = _refused("init")
mem_get_info = _refused("mem_get_info")
set_device = _refused("set_device")
synchronize = _refused("synchronize")
