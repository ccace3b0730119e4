"""PyTorch's old private vmap, which some programs and tests still call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .func import vmap


def _vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    allow_none_pass_through: bool = False,
) -> Callable[..., Any]:
    """`gradfn.func.vmap`."""
    return vmap(func, in_dims, out_dims)
