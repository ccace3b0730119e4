"""`torch.nn.attention`: how attention is computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, IntEnum
from typing import Any

from ..missing import missing
from ..ops.attention import FLASH_ATTENTION, MATH, allowed

__all__ = ["SDPBackend", "sdpa_kernel"]

__getattr__ = missing(__name__)


class SDPBackend(IntEnum):
    """PyTorch's ways to compute attention; MATH and FLASH_ATTENTION are those of a CPU."""

    ERROR = -1
    MATH = MATH
    FLASH_ATTENTION = FLASH_ATTENTION
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    __str__ = Enum.__str__


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Within it, `scaled_dot_product_attention` is computed by one of `backends` only.

    MATH records one node for each operation, FLASH_ATTENTION one for all, where the inputs suit it;
    where both are allowed, the latter is taken if it can. RuntimeError at the call where none can.

    >>> from gradfn import nn, ones
    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     nn.functional.scaled_dot_product_attention(*[ones(1, 1, 1, 1, requires_grad=True)] * 3)
    tensor([[[[1.]]]], grad_fn=<UnsafeViewBackward0>)
    """
    if not isinstance(backends, list | SDPBackend):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    before = allowed.set(frozenset(backends if isinstance(backends, list) else [backends]))
    try:
        yield
    finally:
        allowed.reset(before)
