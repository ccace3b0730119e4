"""`torch.backends.cudnn`: switches that programs set; they matter where cuDNN is available."""

from __future__ import annotations

from ..missing import missing

__getattr__ = missing(__name__)

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether gradfn computes with cuDNN: False."""
    return False


def version() -> int | None:
    """The version of cuDNN: None."""
    return None
