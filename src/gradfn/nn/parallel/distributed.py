"""`torch.nn.parallel.distributed`: refused by name."""

from __future__ import annotations

from typing import Any, NoReturn

from ...missing import missing
from ..modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """A module in several processes: NotImplementedError, for gradfn runs in one."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            "DistributedDataParallel is not in gradfn, which runs in one process"
        )


__getattr__ = missing(__name__)
