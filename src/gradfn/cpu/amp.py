"""`torch.cpu.amp`: old names of `torch.amp`."""

from __future__ import annotations

from typing import Any

from .. import amp, dtypes
from ..amp.deprecation import warn_of_name
from ..missing import missing

__all__ = ["GradScaler", "autocast"]
__getattr__ = missing(__name__)


class autocast(amp.autocast):  # noqa: N801 - PyTorch's name
    """``amp.autocast("cpu", ...)``."""

    def __init__(
        self,
        enabled: bool = True,
        dtype: dtypes.dtype = dtypes.bfloat16,
        cache_enabled: bool = True,
    ) -> None:
        warn_of_name("cpu", "autocast")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``amp.GradScaler("cpu", ...)``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn_of_name("cpu", "GradScaler")
        super().__init__("cpu", *args, **kwargs)
