"""`torch.backends.mkldnn`."""

from __future__ import annotations

from ..missing import missing

__getattr__ = missing(__name__)

enabled = True  # programs set it; it matters where oneDNN is available


def is_available() -> bool:
    """Whether gradfn computes with oneDNN: False."""
    return False
