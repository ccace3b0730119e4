"""`torch.cpu`: questions about the one device that there is."""

from __future__ import annotations

from typing import Any

from ..missing import missing
from . import amp as amp

__all__ = ["amp", "current_device", "device_count", "is_available", "is_initialized", "synchronize"]
__getattr__ = missing(__name__)


def is_available() -> bool:
    """True.

    >>> is_available()
    True
    """
    return True


def is_initialized() -> bool:
    """True: there is nothing to initialize."""
    return True


def device_count() -> int:
    """The number of devices, 1."""
    return 1


def current_device() -> str:
    """The name of the device."""
    return "cpu"


def set_device(device: Any) -> None:
    """Choose the device, of which there is one."""


def synchronize(device: Any = None) -> None:
    """Wait for the device, which runs nothing in the background."""
