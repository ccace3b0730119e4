"""Convolution layers of one, two and three dimensions, and their adjoints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ...creation import empty
from ...tensor import Tensor
from .. import functional, init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyLayer
from .module import Module

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]

Sizes = int | Sequence[int]

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def per_dimension(value: Any, dims: int) -> tuple[Any, ...]:
    """One value for each dimension."""
    return tuple(value) if isinstance(value, Sequence) else (value,) * dims


class _ConvNd(Module):
    """What all have: a weight (out, in / groups, *kernel), a bias (out), and how they move."""

    dims: ClassVar[int]
    transposed: ClassVar[bool] = False
    bias: Tensor | None
    weight: Any

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, padding, stride, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = per_dimension(kernel_size, self.dims)
        self.stride = per_dimension(stride, self.dims)
        self.padding = padding if isinstance(padding, str) else per_dimension(padding, self.dims)
        self.dilation = per_dimension(dilation, self.dims)
        self.groups = groups
        self.padding_mode = padding_mode
        self.output_padding = (0,) * self.dims
        self._reversed_padding_repeated_twice = self._borders()
        self.weight = Parameter(empty(self._weight_size(), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _weight_size(self) -> tuple[int, ...]:
        if self.transposed:
            return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    def _borders(self) -> list[int]:
        """The padding before and after each dimension, the last one first, as `pad` takes it."""
        if not isinstance(self.padding, str):
            return [p for p in reversed(self.padding) for _ in range(2)]
        if self.padding == "valid":
            return [0, 0] * self.dims
        totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        return [part for t in reversed(totals) for part in (t // 2, t - t // 2)]

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def _conv_forward(self, input: Tensor, weight: Any, bias: Any) -> Any:
        convolve = getattr(functional, f"conv{self.dims}d")
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            borders = self._reversed_padding_repeated_twice
            input, padding = functional.pad(input, borders, mode=self.padding_mode), 0
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Any:
        return self._conv_forward(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        plain = (0,) * self.dims
        if self.padding != plain:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self.dims:
            text += f", dilation={self.dilation}"
        if self.output_padding != plain:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


def _check(
    in_channels: int, out_channels: int, padding: Any, stride: Sizes, groups: int, mode: str
) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}"
            )
        strides = stride if isinstance(stride, Sequence) else [stride]
        if padding == "same" and any(s != 1 for s in strides):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if mode not in PADDING_MODES:
        raise ValueError(
            f"padding_mode must be one of {set(PADDING_MODES)}, but got padding_mode='{mode}'"
        )


class Conv1d(_ConvNd):
    """A convolution over (N, C, L) or (C, L): see `Conv2d`."""

    dims = 1


class Conv2d(_ConvNd):
    """``out[o] = bias[o] + sum over c of weight[o, c] ⋆ input[c]``: `torch.nn.Conv2d`.

    Shapes: (N, in_channels, H, W) or without N, to (N, out_channels, H', W') with
    ``H' = (H + 2 padding - dilation (kernel - 1) - 1) // stride + 1``. `padding` is a number, one
    for each dimension, "same" or "valid"; `padding_mode` what is there. Weight and bias start
    uniformly distributed within 1/√(in_channels / groups * kernel elements) of 0.

    >>> from gradfn import nn, ones
    >>> nn.Conv2d(3, 8, 3, padding=1)(ones(2, 3, 5, 5)).shape
    torch.Size([2, 8, 5, 5])
    """

    dims = 2


class Conv3d(_ConvNd):
    """A convolution over (N, C, D, H, W) or (C, D, H, W): see `Conv2d`."""

    dims = 3


class _ConvTransposeNd(_ConvNd):
    """The adjoint of a convolution: its weight is (in, out / groups, *kernel)."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {type(self).__name__}, not '
                f"{padding_mode}"
            )
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )
        self.output_padding = per_dimension(output_padding, self.dims)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Any:
        extra = self._extra(input, output_size)
        convolve = getattr(functional, f"conv_transpose{self.dims}d")
        return convolve(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            extra,
            self.groups,
            self.dilation,
        )

    def _extra(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """The output padding, or the one that gives `output_size`."""
        if output_size is None:
            return self.output_padding
        wanted, dims = list(output_size), self.dims
        if len(wanted) == input.dim():
            wanted = wanted[-dims:]
        if len(wanted) != dims:
            raise ValueError(
                f"ConvTranspose{dims}D: for {input.dim()}D input, output_size must have {dims} or "
                f"{input.dim()} elements (got {len(output_size)})"
            )
        least = [
            (size - 1) * s - 2 * p + d * (k - 1) + 1
            for size, s, p, d, k in zip(
                input.shape[-dims:],
                self.stride,
                self.padding,
                self.dilation,
                self.kernel_size,
                strict=True,
            )
        ]
        most = [low + s - 1 for low, s in zip(least, self.stride, strict=True)]
        if any(not a <= size <= b for a, size, b in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to "
                f"{most} (for an input of {list(input.shape[-dims:])})"
            )
        return tuple(size - low for size, low in zip(wanted, least, strict=True))


class ConvTranspose1d(_ConvTransposeNd):
    """The adjoint of a `Conv1d`, over (N, C, L) or (C, L): see `ConvTranspose2d`."""

    dims = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The adjoint of a convolution with the same numbers: `torch.nn.ConvTranspose2d`.

    Shapes: (N, in_channels, H, W) or without N, to (N, out_channels, H', W') with
    ``H' = (H - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1``; `forward`
    takes an `output_size` in place of the output padding.

    >>> from gradfn import nn, ones
    >>> nn.ConvTranspose2d(3, 8, 2, stride=2)(ones(2, 3, 5, 5)).shape
    torch.Size([2, 8, 10, 10])
    """

    dims = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The adjoint of a `Conv3d`, over (N, C, D, H, W) or (C, D, H, W): see `ConvTranspose2d`."""

    dims = 3


class _LazyConv(LazyLayer, _ConvNd):
    """A convolution with as many input channels as its first input has."""

    size_name = "in_channels"
    bias: Any

    def _stay_lazy(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _size_of(self, input: Tensor) -> int:
        alone, batch = self.dims + 1, self.dims + 2
        if input.dim() not in (alone, batch):
            raise RuntimeError(
                f"Expected {alone}D (unbatched) or {batch}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        channels = input.shape[input.dim() - alone]
        if channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        return channels

    def _materialize(self) -> None:
        self.weight.materialize(self._weight_size())
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))


class _LazyConvNd(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._stay_lazy(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConvNd, Conv1d):
    """A `Conv1d` with as many input channels as its first input has: `torch.nn.LazyConv1d`."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConvNd, Conv2d):
    """A `Conv2d` with as many input channels as its first input has: `torch.nn.LazyConv2d`.

    >>> from gradfn import nn, ones
    >>> layer = nn.LazyConv2d(8, 3)
    >>> layer(ones(1, 4, 5, 5)).shape, layer.in_channels
    (torch.Size([1, 8, 3, 3]), 4)
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConvNd, Conv3d):
    """A `Conv3d` with as many input channels as its first input has: `torch.nn.LazyConv3d`."""

    cls_to_become = Conv3d


class _LazyConvTransposeNd(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            0,
            0,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            False,
            dilation,
            padding_mode,
        )
        self._stay_lazy(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyConvTransposeNd, ConvTranspose1d):
    """A `ConvTranspose1d` with as many input channels as its first input has."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTransposeNd, ConvTranspose2d):
    """A `ConvTranspose2d` with as many input channels as its first input has."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTransposeNd, ConvTranspose3d):
    """A `ConvTranspose3d` with as many input channels as its first input has."""

    cls_to_become = ConvTranspose3d
