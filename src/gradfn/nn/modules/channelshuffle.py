"""Channels in another order."""

from __future__ import annotations

from typing import Any

from ...missing import missing
from ...tensor import Tensor
from .. import functional
from .module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Channels (N, groups * C, ...) dealt out: the first of each group, then the second ones."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Any:
        return functional.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"


__getattr__ = missing(__name__)
