"""`torch.accelerator`: there is none."""

from __future__ import annotations

from .cuda import device_count as device_count
from .cuda import is_available as is_available
from .missing import missing

__getattr__ = missing(__name__)


def current_accelerator(check_available: bool = False) -> None:
    """The device that stands for the accelerators of this machine: None."""
