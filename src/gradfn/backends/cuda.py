"""`torch.backends.cuda`: switches that programs set; they matter where there is a device."""

from __future__ import annotations

from types import SimpleNamespace

from ..missing import missing

__getattr__ = missing(__name__)

matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
)


def is_built() -> bool:
    """Whether gradfn can use such a device: False."""
    return False
