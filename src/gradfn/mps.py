"""`torch.mps` on a machine without: there is no such device."""

from __future__ import annotations

from .missing import missing

__getattr__ = missing(__name__)


def is_available() -> bool:
    """False: tensors are on the CPU."""
    return False


def device_count() -> int:
    """The number of devices, 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Seed the device's generator; without a device there is nothing to do."""
