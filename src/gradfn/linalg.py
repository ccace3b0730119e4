"""Linear algebra, as `torch.linalg` has it."""

from __future__ import annotations

from .missing import missing
from .ops.norms import linalg_norm as norm
from .ops.norms import matrix_norm as matrix_norm
from .ops.norms import vector_norm as vector_norm

__all__ = ["matrix_norm", "norm", "vector_norm"]

__getattr__ = missing(__name__)
