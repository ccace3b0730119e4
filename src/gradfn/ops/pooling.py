"""Pooling: one value for each window of the last dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import raw
from ..autograd.variable import Variable
from ..raw.pooling import windows_of
from .activation import relu_functional as relu
from .checking import checked
from .declare import Function, op
from .extents import per_dim
from .views import squeeze, unsqueeze

__all__ = [
    "avg_pool1d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool3d",
]

# Picking elements of flat planes, and adding to them, are each other's adjoints.

to_planes = op(
    "to_planes(self, index: Tensor, sizes)",
    kernel=raw.to_planes,
    tangent="linear",
    self=lambda F, g, index, sizes: F.from_planes(g, index, len(sizes)),
    doc="Zeros of `sizes` in the last dimensions, with `input` added at the flat places `index`.",
)
from_planes = op(
    "from_planes(self, index: Tensor, dims)",
    kernel=raw.from_planes,
    tangent="linear",
    self=lambda F, g, index, self_shape, dims: F.to_planes(g, index, self_shape[-dims:]),
    doc="What is at the flat places `index` of the last `dims` dimensions.",
)


def _max_pool(dims: int) -> Function:
    return op(
        f"max_pool{dims}d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)",
        kernel=raw.max_pool,
        node=f"MaxPool{dims}DWithIndicesBackward0",
        results=("result0", "result1"),
        refuses="bc",
        tangent=lambda F, self_t, result1: (F.from_planes(self_t, result1, dims), None),
        self=lambda F, g_result0, self_shape, result1: F.to_planes(
            g_result0, result1, self_shape[-dims:]
        ),
    )


def _mean_gradient(
    F: Any, g: Any, self_shape: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: Any,
    count_include_pad: Any, divisor_override: Any,
) -> Any:  # fmt: skip
    setup = kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    return F.avg_pool_backward(g, self_shape[-len(kernel_size) :], *setup)


def _avg_pool(dims: int) -> Function:
    return op(
        f"avg_pool{dims}d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, "
        "divisor_override)",
        kernel=raw.avg_pool,
        node=f"AvgPool{dims}DBackward0",
        refuses="bc",
        tangent="linear",
        self=_mean_gradient,
    )


_MAX = {dims: _max_pool(dims) for dims in (2, 3)}
_AVG = {dims: _avg_pool(dims) for dims in (2, 3)}


def avg_pool(input: Any, kernel_size: tuple[int, ...], *setup: Any) -> Any:
    """The row for as many dimensions as `kernel_size` has."""
    return _AVG[len(kernel_size)](input, kernel_size, *setup)


def _mean_of_gradient(
    F: Any, g: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: Any,
    count_include_pad: Any, divisor_override: Any,
) -> Any:  # fmt: skip
    setup = stride, padding, ceil_mode, count_include_pad, divisor_override
    return F.avg_pool(g, kernel_size, *setup)


avg_pool_backward = op(
    "avg_pool_backward(grad, sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, "
    "divisor_override)",
    kernel=raw.avg_pool_backward,
    tangent="linear",
    grad=_mean_of_gradient,
    doc="The adjoint of an average pooling, of `sizes` in the last dimensions.",
)

_NUMBERS = {1: "one", 2: "two", 3: "three"}


def _extents(name: str, argument: str, value: Any, dims: int) -> tuple[int, ...]:
    return per_dim(
        value,
        dims,
        f"{name}: {argument} must either be a single int, or a tuple of {_NUMBERS[dims]} ints; it "
        f"is {value}",
    )


def _setup(
    name: str, dims: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool,
) -> list[tuple[int, ...]]:  # fmt: skip
    """The sizes of the windows for each dimension, checked against the input."""
    if not isinstance(input, Variable):
        raise TypeError(f"{name}(): argument 'input' must be Tensor, not {type(input).__name__}")
    shape = input._array.shape
    if len(shape) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input; this "
            f"one has shape {list(shape)}"
        )
    kernel = _extents(name, "kernel_size", kernel_size, dims)
    missing = stride is None or (isinstance(stride, Sequence) and not len(stride))
    moves = kernel if missing else _extents(name, "stride", stride, dims)
    sizes = [kernel, moves]
    sizes += [_extents(name, "padding", padding, dims), _extents(name, "dilation", dilation, dims)]
    _check_windows(shape, dims, sizes, ceil_mode)
    return sizes


def _check_windows(
    shape: Sequence[int], dims: int, sizes: list[tuple[int, ...]], ceil_mode: bool
) -> None:
    kernel, stride, padding, dilation = sizes
    if min(stride) == 0:
        raise RuntimeError(f"stride should not be zero: it is {list(stride)}")
    if min(stride) < 0 or min(kernel) <= 0:
        raise RuntimeError(
            "kernel size and stride should be greater than zero, but they are "
            f"{list(kernel)} and {list(stride)}"
        )
    if min(dilation) <= 0:
        raise RuntimeError(f"dilation should be greater than zero, but got {list(dilation)}")
    if min(padding) < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {min(padding)}")
    for k, p, d in zip(kernel, padding, dilation, strict=True):
        if p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={k} and dilation={d}"
            )
    if 0 in shape[-dims - 1 :]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch "
            f"size for input, but got:{list(shape)}"
        )
    counts = windows_of(shape[-dims:], kernel, stride, padding, dilation, ceil_mode).counts
    if min(counts) < 1:
        channels = shape[-dims - 1]
        given = "x".join(map(str, (channels, *shape[-dims:])))
        made = "x".join(map(str, (channels, *counts)))
        raise RuntimeError(
            f"Given input size: ({given}). Calculated output size: ({made}). Output size is too "
            "small"
        )


def _max(
    name: str, dims: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool, return_indices: bool,
) -> Any:  # fmt: skip
    sizes = _setup(name, dims, input, kernel_size, stride, padding, dilation, ceil_mode)
    if dims == 1:  # in PyTorch, of two dimensions
        sizes = [(fill, *given) for fill, given in zip((1, 1, 0, 1), sizes, strict=True)]
        values, places = _MAX[2](unsqueeze(input, -2), *sizes, ceil_mode)
        values, places = squeeze(values, -2), squeeze(places, -2)
    else:
        values, places = _MAX[dims](input, *sizes, ceil_mode)
    return (values, places) if return_indices else values


def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The greatest element of each window of the last dimension; see `max_pool2d`.

    >>> from gradfn import max_pool1d, tensor
    >>> max_pool1d(tensor([[1., 3., 2., 0.]]), 2)
    tensor([[3., 2.]])
    """
    setup = kernel_size, stride, padding, dilation, ceil_mode, return_indices
    return _max("max_pool1d", 1, input, *setup)


def max_pool1d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool1d` with where each maximum is."""
    return _max("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The greatest element of each window of (C, H, W) or (N, C, H, W).

    Windows of `kernel_size`, its elements `dilation` apart, stand `stride` apart (by default next
    to one another); `padding` counts as minus infinity. `ceil_mode` adds windows that reach beyond
    the end. `return_indices` adds where the maxima are in their flat planes, for `max_unpool2d`.
    The gradient goes to the maximum, to the first of several. RuntimeError for windows that do not
    fit. As `torch.nn.functional.max_pool2d`.

    >>> from gradfn import arange, max_pool2d
    >>> max_pool2d(arange(16.).view(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    setup = kernel_size, stride, padding, dilation, ceil_mode, return_indices
    return _max("max_pool2d", 2, input, *setup)


def max_pool2d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool2d` with where each maximum is."""
    return _max("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The greatest element of each window of (C, D, H, W) or (N, C, D, H, W); see `max_pool2d`.

    >>> from gradfn import arange, max_pool3d
    >>> max_pool3d(arange(8.).view(1, 2, 2, 2), 2)
    tensor([[[[7.]]]])
    """
    setup = kernel_size, stride, padding, dilation, ceil_mode, return_indices
    return _max("max_pool3d", 3, input, *setup)


def max_pool3d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool3d` with where each maximum is."""
    return _max("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def _avg(
    name: str, dims: int, input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    sizes = _setup(name, dims, input, kernel_size, stride, padding, 1, ceil_mode)[:3]
    if input._array.dtype.kind in "iu" and input._array.dtype != int:
        raise NotImplementedError(f"\"{name}\" not implemented for '{input.dtype.scalar_name}'")
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    options = ceil_mode, count_include_pad, divisor_override
    if dims == 1:  # in PyTorch, of two dimensions
        sizes = [(fill, *given) for fill, given in zip((1, 1, 0), sizes, strict=True)]
        return squeeze(avg_pool(unsqueeze(input, -2), sizes[0], *sizes[1:], *options), -2)
    return avg_pool(input, sizes[0], *sizes[1:], *options)


def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The mean of each window of the last dimension; see `avg_pool2d`.

    >>> from gradfn import avg_pool1d, tensor
    >>> avg_pool1d(tensor([[1., 3., 2., 0.]]), 2)
    tensor([[2., 1.]])
    """
    return _avg("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window of (C, H, W) or (N, C, H, W).

    Windows of `kernel_size` stand `stride` apart, by default next to one another. Zeros of the
    `padding` count as elements with `count_include_pad`; `divisor_override` divides instead of the
    number of elements. RuntimeError for windows that do not fit.

    >>> from gradfn import arange, nn
    >>> nn.functional.avg_pool2d(arange(16.).view(1, 4, 4), 2)
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """
    setup = stride, padding, ceil_mode, count_include_pad, divisor_override
    return _avg("avg_pool2d", 2, input, kernel_size, *setup)


def avg_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window of (C, D, H, W) or (N, C, D, H, W); see `avg_pool2d`.

    >>> from gradfn import arange, nn
    >>> nn.functional.avg_pool3d(arange(8.).view(1, 2, 2, 2), 2)
    tensor([[[[3.5000]]]])
    """
    setup = stride, padding, ceil_mode, count_include_pad, divisor_override
    return _avg("avg_pool3d", 3, input, kernel_size, *setup)


def _lp(
    name: str,
    dims: int,
    input: Any,
    norm_type: float,
    kernel_size: Any,
    stride: Any,
    ceil_mode: bool,
) -> Any:
    """The mean of ``x^p`` times the number of elements, to the power of 1 / p."""
    kernel = _extents(name, "kernel_size", kernel_size, dims)
    mean = (avg_pool1d, avg_pool2d, avg_pool3d)[dims - 1]
    means = mean(input.pow(norm_type), kernel, stride, 0, ceil_mode)
    return (means.sign() * relu(means.abs())).mul(math.prod(kernel)).pow(1.0 / norm_type)


@checked
def lp_pool1d(
    input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """``(sum of x^p)^(1/p)`` over each window of the last dimension; see `lp_pool2d`."""
    return _lp("lp_pool1d", 1, input, norm_type, kernel_size, stride, ceil_mode)


@checked
def lp_pool2d(
    input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """``(sum of x^p)^(1/p)`` over each window: `torch.nn.functional.lp_pool2d`.

    (N, C, H, W) or (C, H, W); p is `norm_type`, and the sum counts as 0 where it is negative.

    >>> from gradfn import nn, tensor
    >>> nn.functional.lp_pool2d(tensor([[[3.0, 4.0]]]), 2.0, (1, 2))
    tensor([[[5.]]])
    """
    return _lp("lp_pool2d", 2, input, norm_type, kernel_size, stride, ceil_mode)


@checked
def lp_pool3d(
    input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """``(sum of x^p)^(1/p)`` over each window of the last three dimensions; see `lp_pool2d`."""
    return _lp("lp_pool3d", 3, input, norm_type, kernel_size, stride, ceil_mode)


METHODS = ""
