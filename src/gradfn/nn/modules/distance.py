"""Similarities and distances of vectors."""

from __future__ import annotations

from typing import Any

from ...missing import missing
from ...tensor import Tensor
from .. import functional
from .module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """The `p`-norm of ``x1 - x2 + eps`` over the last dimension: `torch.nn.PairwiseDistance`.

    >>> from gradfn import nn, tensor
    >>> nn.PairwiseDistance()(tensor([[3., 4.]]), tensor([[0., 0.]]))
    tensor([5.0000])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Any:
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along `dim`: `torch.nn.CosineSimilarity`.

    >>> from gradfn import nn, tensor
    >>> nn.CosineSimilarity()(tensor([[1., 0.]]), tensor([[2., 0.]]))
    tensor([1.])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Any:
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)


__getattr__ = missing(__name__)
