"""Pooling layers: the greatest, the mean or the norm of windows."""

from __future__ import annotations

from typing import Any, ClassVar

from ...tensor import Tensor
from .. import functional
from .conv import Sizes, per_dimension
from .module import Module

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _MaxPoolNd(Module):
    """The greatest element of each window, and with `return_indices` where it is."""

    dims: ClassVar[int]

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        pool = getattr(functional, f"max_pool{self.dims}d")
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The greatest element of windows of (N, C, L) or (C, L): see `MaxPool2d`."""

    dims = 1


class MaxPool2d(_MaxPoolNd):
    """The greatest element of windows of (N, C, H, W) or (C, H, W): `torch.nn.MaxPool2d`.

    >>> from gradfn import arange, nn
    >>> nn.MaxPool2d(2)(arange(8.0).reshape(1, 2, 4))
    tensor([[[5., 7.]]])
    """

    dims = 2


class MaxPool3d(_MaxPoolNd):
    """The greatest element of windows of (N, C, D, H, W) or without N: see `MaxPool2d`."""

    dims = 3


class AvgPool1d(Module):
    """The mean of windows of (N, C, L) or (C, L): see `AvgPool2d`."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = per_dimension(kernel_size, 1)
        self.stride = self.kernel_size if stride is None else per_dimension(stride, 1)
        self.padding = per_dimension(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Any:
        return functional.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPoolNd(Module):
    dims: ClassVar[int]

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Any:
        return getattr(functional, f"avg_pool{self.dims}d")(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPoolNd):
    """The mean of windows of (N, C, H, W) or (C, H, W): `torch.nn.AvgPool2d`.

    >>> from gradfn import arange, nn
    >>> nn.AvgPool2d(2)(arange(8.0).reshape(1, 2, 4))
    tensor([[[2.5000, 4.5000]]])
    """

    dims = 2


class AvgPool3d(_AvgPoolNd):
    """The mean of windows of (N, C, D, H, W) or without N: see `AvgPool2d`."""

    dims = 3


class _LPPoolNd(Module):
    dims: ClassVar[int]

    def __init__(
        self,
        norm_type: float,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        pool = getattr(functional, f"lp_pool{self.dims}d")
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """``(sum of x^p)^(1/p)`` over windows of (N, C, L) or (C, L)."""

    dims = 1


class LPPool2d(_LPPoolNd):
    """``(sum of x^p)^(1/p)`` over windows of (N, C, H, W) or (C, H, W)."""

    dims = 2


class LPPool3d(_LPPoolNd):
    """``(sum of x^p)^(1/p)`` over windows of (N, C, D, H, W) or without N."""

    dims = 3


class _AdaptiveAvgPoolNd(Module):
    """Means over as many windows as `output_size` says; None keeps a dimension."""

    dims: ClassVar[int]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Any:
        return getattr(functional, f"adaptive_avg_pool{self.dims}d")(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means of (N, C, L) to (N, C, output_size)."""

    dims = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means of (N, C, H, W) to (N, C, *output_size): `torch.nn.AdaptiveAvgPool2d`.

    >>> from gradfn import arange, nn
    >>> nn.AdaptiveAvgPool2d(1)(arange(8.0).reshape(1, 2, 4))
    tensor([[[3.5000]]])
    """

    dims = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means of (N, C, D, H, W) to (N, C, *output_size)."""

    dims = 3


class _AdaptiveMaxPoolNd(Module):
    """The greatest elements of as many windows as `output_size` says."""

    dims: ClassVar[int]

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        pool = getattr(functional, f"adaptive_max_pool{self.dims}d")
        return pool(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The greatest elements of (N, C, L) as (N, C, output_size)."""

    dims = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The greatest elements of (N, C, H, W) as (N, C, *output_size)."""

    dims = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The greatest elements of (N, C, D, H, W) as (N, C, *output_size)."""

    dims = 3


class _MaxUnpoolNd(Module):
    """Puts pooled elements back to where they came from."""

    dims: ClassVar[int]

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = per_dimension(kernel_size, self.dims)
        self.stride = per_dimension(kernel_size if stride is None else stride, self.dims)
        self.padding = per_dimension(padding, self.dims)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Any:
        unpool = getattr(functional, f"max_unpool{self.dims}d")
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """The inverse of `MaxPool1d`: see `functional.max_unpool1d`."""

    dims = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """The inverse of `MaxPool2d`, zeros between the maxima: see `functional.max_unpool2d`.

    >>> from gradfn import nn, arange
    >>> pooled, indices = nn.MaxPool2d(2, return_indices=True)(arange(4.0).reshape(1, 2, 2))
    >>> nn.MaxUnpool2d(2)(pooled, indices)
    tensor([[[0., 0.],
             [0., 3.]]])
    """

    dims = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """The inverse of `MaxPool3d`: see `functional.max_unpool3d`."""

    dims = 3


class _FractionalMaxPoolNd(Module):
    """The greatest elements of windows at random places."""

    dims: ClassVar[int]

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if output_ratio is not None:
            output_ratio = per_dimension(output_ratio, self.dims)
            if not all(0 < ratio < 1 for ratio in output_ratio):
                shown = output_ratio[0] if len(set(output_ratio)) == 1 else output_ratio
                raise ValueError(f"output_ratio must be between 0 and 1 (got {shown})")
        self.kernel_size = per_dimension(kernel_size, self.dims)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else per_dimension(output_size, self.dims)
        self.output_ratio = output_ratio

    def forward(self, input: Tensor) -> Any:
        pool = getattr(functional, f"fractional_max_pool{self.dims}d")
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """`functional.fractional_max_pool2d`. ValueError unless one of the output's size and its ratio
    to the input's is given."""

    dims = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """`functional.fractional_max_pool3d`: see `FractionalMaxPool2d`."""

    dims = 3
