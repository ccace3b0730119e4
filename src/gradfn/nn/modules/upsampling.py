"""Upsampling layers."""

from __future__ import annotations

from typing import Any

from ...tensor import Tensor
from .. import functional
from .module import Module

__all__ = [
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


class Upsample(Module):
    """Images of another size, by `nn.functional.interpolate`: `torch.nn.Upsample`.

    To `size`, or by `scale_factor`; see there for `mode` and `align_corners`.

    >>> from gradfn import nn, tensor
    >>> nn.Upsample(scale_factor=2)(tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(map(float, scale_factor))
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Any:
        return functional.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        by = f"size={self.size}"
        if self.scale_factor is not None:
            by = f"scale_factor={self.scale_factor}"
        return f"{by}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of images by the nearest pixel."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of images, bilinear with the corners aligned."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
