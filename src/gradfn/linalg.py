"""Linear algebra, as `torch.linalg` has it."""

from __future__ import annotations

from .missing import missing
from .ops.contraction import multi_dot as multi_dot
from .ops.norms import linalg_norm as norm
from .ops.norms import matrix_norm as matrix_norm
from .ops.norms import vector_norm as vector_norm
from .ops.products import matmul as matmul

__all__ = ["matmul", "matrix_norm", "multi_dot", "norm", "vector_norm"]

__getattr__ = missing(__name__)
