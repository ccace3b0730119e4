"""Dropout: while training, elements or channels zeroed at random."""

from __future__ import annotations

from typing import Any

from ...missing import missing
from ...tensor import Tensor
from .. import functional
from .module import Module

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _DropoutNd(Module):
    """What all have: the probability `p` of a zero, and `inplace`. ValueError unless 0 ≤ p ≤ 1."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Elements zeroed with probability `p`, the others divided by ``1 - p``, while training.

    >>> from gradfn import nn, ones
    >>> nn.Dropout().eval()(ones(2))
    tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Any:
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """`Dropout` of whole channels: (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Any:
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """`Dropout` of whole channels: (N, C, H, W)."""

    def forward(self, input: Tensor) -> Any:
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """`Dropout` of whole channels: (N, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Any:
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance of what SELU gives."""

    def forward(self, input: Tensor) -> Any:
        return functional.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels."""

    def forward(self, input: Tensor) -> Any:
        return functional.feature_alpha_dropout(input, self.p, self.training)


__getattr__ = missing(__name__)
