"""`torch.cuda.amp`: old names of `torch.amp`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import amp, dtypes
from ..amp.deprecation import warn_of_name
from ..missing import missing

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
__getattr__ = missing(__name__)


class autocast(amp.autocast):  # noqa: N801 - PyTorch's name
    """``amp.autocast("cuda", ...)``, which is disabled: there is no such device."""

    def __init__(
        self,
        enabled: bool = True,
        dtype: dtypes.dtype = dtypes.float16,
        cache_enabled: bool = True,
    ) -> None:
        warn_of_name("cuda", "autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``amp.GradScaler("cuda", ...)``, which is disabled: there is no such device."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn_of_name("cuda", "GradScaler")
        super().__init__("cuda", *args, **kwargs)


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, cast_inputs: dtypes.dtype | None = None
) -> Any:
    """``amp.custom_fwd(device_type="cuda")``."""
    warn_of_name("cuda", "custom_fwd")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any] | None = None) -> Any:
    """``amp.custom_bwd(device_type="cuda")``."""
    warn_of_name("cuda", "custom_bwd")
    return amp.custom_bwd(bwd, device_type="cuda")
