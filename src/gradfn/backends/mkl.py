"""`torch.backends.mkl`."""

from __future__ import annotations

from ..missing import missing

__getattr__ = missing(__name__)


def is_available() -> bool:
    """Whether gradfn computes with MKL: False."""
    return False
