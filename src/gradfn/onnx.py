"""`torch.onnx` for programs that mention it: nothing is exported."""

from __future__ import annotations

from typing import Any, NoReturn

from .missing import missing


def export(*args: Any, **kwargs: Any) -> NoReturn:
    """NotImplementedError: gradfn has no ONNX exporter."""
    raise NotImplementedError("torch.onnx.export is not in gradfn: export with PyTorch")


def is_in_onnx_export() -> bool:
    """False: nothing is exported."""
    return False


__getattr__ = missing(__name__)
