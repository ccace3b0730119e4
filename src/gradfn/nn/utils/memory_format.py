"""The layout in memory of the weights of convolutions."""

from __future__ import annotations

from typing import Any

from ...missing import missing
from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Lay out the weights of all two-dimensional convolutions of the module anew, in place."""
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Lay out the weights of all three-dimensional convolutions of the module anew, in place."""
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module: Any, kinds: tuple[type[Any], ...], memory_format: Any) -> Any:
    for layer in module.modules():
        if isinstance(layer, kinds):
            layer.weight.data = layer.weight.detach().clone(memory_format=memory_format)
    return module


__getattr__ = missing(__name__)
