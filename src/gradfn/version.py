"""`torch.version`: what was built with what. gradfn runs on NumPy alone, so nothing here is set."""

from __future__ import annotations

from .missing import missing

__getattr__ = missing(__name__)

__version__ = "0.1.0"
debug = False
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
