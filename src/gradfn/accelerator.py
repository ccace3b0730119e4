"""`torch.accelerator`: there is none."""

from __future__ import annotations

from .missing import missing

__getattr__ = missing(__name__)


def is_available() -> bool:
    """False: tensors are on the CPU."""
    return False


def current_accelerator(check_available: bool = False) -> None:
    """The device that stands for the accelerators of this machine: None."""


def device_count() -> int:
    """The number of devices, 0."""
    return 0
