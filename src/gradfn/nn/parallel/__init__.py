"""`torch.nn.parallel`: on one CPU, a module by itself."""

from __future__ import annotations

from typing import Any

from ...missing import missing
from ..modules.module import Module
from .distributed import DistributedDataParallel as DistributedDataParallel


class DataParallel(Module):
    """A module spread over GPUs, of which there are none: it is called as it is.

    `torch.nn.DataParallel`, as PyTorch has it without GPUs; the module is its ``module``.
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """``module(*inputs)``: there are no GPUs to spread it over."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*given, **(module_kwargs or {}))


__getattr__ = missing(__name__)
