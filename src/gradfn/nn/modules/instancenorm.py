"""Normalisation of each channel of each sample."""

from __future__ import annotations

from typing import Any

from ...missing import missing
from ...tensor import Tensor
from .. import functional
from .batchnorm import LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def forward(self, input: Tensor) -> Any:
        self._check_input_dim(input)
        alone, dim = self.ranks[0], input.dim() - self.ranks[0]
        if input.shape[dim] != self.num_features and self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), "
                f"but got: {input.shape[dim]}."
            )
        if input.dim() == alone:  # without the dimension of the batch
            return self._normalised(input.unsqueeze(0)).squeeze(0)
        return self._normalised(input)

    def _normalised(self, input: Any) -> Any:
        return functional.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """`InstanceNorm2d` over (N, C, L) or (C, L)."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """``(x - mean) / √(var + eps)`` for each channel of each sample: (N, C, H, W) or (C, H, W).

    `torch.nn.InstanceNorm2d`. Ulyanov et al. (2016).
    """

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """`InstanceNorm2d` over (N, C, D, H, W) or (C, D, H, W)."""

    ranks = (4, 5)


class LazyInstanceNorm1d(LazyNormBase, InstanceNorm1d):
    """An `InstanceNorm1d` of as many channels as its first input, (N, C, L), has."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(LazyNormBase, InstanceNorm2d):
    """An `InstanceNorm2d` of as many channels as its first input, (N, C, H, W), has."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(LazyNormBase, InstanceNorm3d):
    """An `InstanceNorm3d` of as many channels as its first input, (N, C, D, H, W), has."""

    cls_to_become = InstanceNorm3d


__getattr__ = missing(__name__)
