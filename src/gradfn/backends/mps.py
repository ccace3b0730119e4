"""`torch.backends.mps`."""

from __future__ import annotations

from ..missing import missing

__getattr__ = missing(__name__)


def is_available() -> bool:
    """Whether there is a device of this kind: False."""
    return False


def is_built() -> bool:
    """Whether gradfn can use such a device: False."""
    return False
