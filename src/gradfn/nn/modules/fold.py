"""Windows of images as columns, and back."""

from __future__ import annotations

from typing import Any

from ...missing import missing
from ...tensor import Tensor
from .. import functional
from .module import Module

__all__ = ["Fold", "Unfold"]


class Fold(Module):
    """Columns, (N, C * kernel elements, L), as images that sum them: `torch.nn.Fold`.

    The adjoint of `Unfold`, to images of `output_size`: see `nn.functional.fold`.
    """

    def __init__(
        self,
        output_size: Any,
        kernel_size: Any,
        dilation: Any = 1,
        padding: Any = 0,
        stride: Any = 1,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Any:
        return functional.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        names = ("output_size", "kernel_size", "dilation", "padding", "stride")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class Unfold(Module):
    """The windows of images as columns, (N, C * kernel elements, L): `torch.nn.Unfold`.

    See `nn.functional.unfold`.

    >>> from gradfn import nn, ones
    >>> nn.Unfold(2)(ones(1, 3, 4, 4)).shape
    torch.Size([1, 12, 9])
    """

    def __init__(
        self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Any:
        return functional.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        names = ("kernel_size", "dilation", "padding", "stride")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


__getattr__ = missing(__name__)
