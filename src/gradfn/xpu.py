"""`torch.xpu` on a machine without: there is no such device."""

from __future__ import annotations

from .cuda import device_count as device_count
from .cuda import is_available as is_available
from .cuda import manual_seed as manual_seed
from .missing import missing

__getattr__ = missing(__name__)
