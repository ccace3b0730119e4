"""SparseAdam, which needs sparse gradients."""

from __future__ import annotations

from typing import Any

from .optimizer import Optimizer

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for sparse gradients, which gradfn does not have: NotImplementedError."""

    def __init__(self, params: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "SparseAdam is for sparse gradients, which are not in gradfn: use Adam"
        )
