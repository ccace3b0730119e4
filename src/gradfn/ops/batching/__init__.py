"""Operators on batches: what an open vmap level does in their place."""

from __future__ import annotations

from . import indexing, layers, matrices, reductions, views  # their rules
from .calls import apply

__all__ = ["apply", "indexing", "layers", "matrices", "reductions", "views"]
