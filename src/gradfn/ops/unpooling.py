"""The partial inverse of maximum pooling, and maximum pooling over windows placed at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import raw
from ..sampling import rand
from .checking import checked
from .declare import Function, op
from .extents import per_dim

__all__: list[str] = []


def _unpool(dims: int) -> Function:
    return op(
        f"max_unpool{dims}d(self, indices: Tensor, output_size)",
        kernel=raw.max_unpool,
        node=f"MaxUnpool{dims}DBackward0",
        refuses="biuc",
        tangent="linear",
        self=lambda F, g, indices: F.from_planes(g, indices, dims),
    )


def _fractional(dims: int) -> Function:
    return op(
        f"fractional_max_pool{dims}d(self, kernel_size, output_size, random_samples: Tensor)",
        kernel=raw.fractional_max_pool,
        node=f"FractionalMaxPool{dims}DBackward0",
        results=("result0", "result1"),
        refuses="biuc",
        tangent=lambda F, self_t, result1: (F.from_planes(self_t, result1, dims), None),
        self=lambda F, g_result0, self_shape, result1: F.to_planes(
            g_result0, result1, self_shape[-dims:]
        ),
    )


_UNPOOL = {dims: _unpool(dims) for dims in (2, 3)}
_FRACTIONAL = {dims: _fractional(dims) for dims in (2, 3)}


def _unpooled(
    dims: int,
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Any,
) -> Any:
    kernel = per_dim(kernel_size, dims, f"kernel_size must be {dims} sizes, not {kernel_size}")
    moves = kernel if stride is None else per_dim(stride, dims, f"stride must be {dims} sizes")
    sides = per_dim(padding, dims, f"padding must be {dims} sizes, not {padding}")
    sizes = input.shape[-dims:]
    default = tuple(
        (n - 1) * s + k - 2 * p for n, s, k, p in zip(sizes, moves, kernel, sides, strict=True)
    )
    made = default if output_size is None else _chosen(output_size, default, moves, dims)
    _check_unpool(dims, input, indices, made)
    if dims == 1:  # in PyTorch, of two dimensions
        return _UNPOOL[2](input.unsqueeze(-1), indices.unsqueeze(-1), (*made, 1)).squeeze(-1)
    return _UNPOOL[dims](input, indices, made)


def _chosen(
    output_size: Sequence[int], default: tuple[int, ...], stride: tuple[int, ...], dims: int
) -> tuple[int, ...]:
    """`output_size` without its batch and channels, within a stride of the `default`."""
    if len(output_size) == dims + 2:
        output_size = output_size[2:]
    if len(output_size) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it "
            f"has a length of '{len(output_size)}'"
        )
    for dim, (size, usual, step) in enumerate(zip(output_size, default, stride, strict=True)):
        if not usual - step < size < usual + step:
            raise ValueError(
                f'invalid output_size "{tuple(output_size)}" (dim {dim} must be between '
                f"{usual - step} and {usual + step})"
            )
    return tuple(output_size)


def _check_unpool(dims: int, input: Any, indices: Any, made: tuple[int, ...]) -> None:
    shape, known = list(input.shape), indices._array
    if known.dtype != int:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {indices.dtype.scalar_name}"
        )
    if len(shape) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got "
            f"a tensor with {len(shape)} dimensions."
        )
    if list(known.shape) != shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({shape}) but got "
            f"indices tensor with shape: {list(known.shape)}"
        )
    if 0 in shape[-dims - 1 :]:
        raise RuntimeError(
            f"max_unpooling{dims}d(): Expected input to have non-zero size for non-batch "
            f"dimensions, but got {shape}"
        )
    outside = (known < 0) | (known >= math.prod(made))
    if outside.any():
        raise RuntimeError(
            f"Found an invalid max index: {known[outside][0]} (output volumes are of size "
            f"{'x'.join(map(str, made))})"
        )


@checked
def max_unpool1d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """The partial inverse of `max_pool1d`; see `max_unpool2d`."""
    return _unpooled(1, input, indices, kernel_size, stride, padding, output_size)


@checked
def max_unpool2d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """The maxima of `max_pool2d` at their places `indices`, and zeros elsewhere.

    (N, C, H, W) or (C, H, W). The pooling that made them tells the size of the result up to
    `stride`: `output_size` says which it was. RuntimeError for indices and shapes that do not fit,
    ValueError for other sizes. As `torch.nn.functional.max_unpool2d`.

    >>> from gradfn import nn, tensor
    >>> nn.functional.max_unpool2d(tensor([[[5.0]]]), tensor([[[3]]]), 2)
    tensor([[[0., 0.],
             [0., 5.]]])
    """
    return _unpooled(2, input, indices, kernel_size, stride, padding, output_size)


@checked
def max_unpool3d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """The partial inverse of `max_pool3d`; see `max_unpool2d`."""
    return _unpooled(3, input, indices, kernel_size, stride, padding, output_size)


def _fractionally(
    dims: int,
    input: Any,
    kernel_size: Any,
    output_size: Any,
    output_ratio: Any,
    return_indices: bool,
    samples: Any,
) -> Any:
    name = f"fractional_max_pool{dims}d"
    if output_size is None and output_ratio is None:
        raise ValueError(
            f"{name} requires specifying either an output_size or an output_ratio: both are None"
        )
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, Sequence) else (output_ratio,) * dims
        sizes = input.shape[-dims:]
        output_size = tuple(int(n * ratio) for n, ratio in zip(sizes, ratios, strict=True))
    kernel, made = (
        per_dim(value, dims, f"{name}: {what} must either be a single Int or tuple of Ints")
        for what, value in (("kernel_size", kernel_size), ("output_size", output_size))
    )
    channels = input.size(-dims - 1)
    if samples is None:
        batch = 1 if input.ndim == dims + 1 else input.size(0)
        samples = rand(batch, channels, dims, dtype=input.dtype)
    _check_fractional(name, dims, input, kernel, made, samples)
    values, places = _FRACTIONAL[dims](input, kernel, made, samples)
    return (values, places) if return_indices else values


def _check_fractional(
    name: str,
    dims: int,
    input: Any,
    kernel: tuple[int, ...],
    made: tuple[int, ...],
    samples: Any,
) -> None:
    shape = list(input.shape)
    if len(shape) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {shape}"
        )
    if 0 in shape[-dims - 1 :]:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got"
            f"{shape} with dimension {shape.index(0)} being empty."
        )
    for which, size, k, count in zip(
        ("time", "height", "width")[-dims:], shape[-dims:], kernel, made, strict=True
    ):
        if count + k - 1 > size:
            raise RuntimeError(
                f"{name}(): pool {which} {k} too large relative to input {which} {size}: there "
                f"are to be {count} windows"
            )
    if samples.dtype is not input.dtype:
        raise RuntimeError(
            "Expect _random_samples to have the same dtype as input: they have "
            f"{samples.dtype} and {input.dtype}"
        )
    batch = 1 if len(shape) == dims + 1 else shape[0]
    if samples.ndim != 3 or samples.shape[0] < batch:
        raise RuntimeError(
            "Expect _random_samples.size(0) no less then input batch size: it has shape "
            f"{list(samples.shape)}, and the input {shape}"
        )
    if samples.shape[1] != shape[-dims - 1]:
        raise RuntimeError(
            "Expect _random_samples.size(1) equals to input channel size: they are "
            f"{samples.shape[1]} and {shape[-dims - 1]}"
        )
    if samples.shape[2] != dims:
        raise RuntimeError(
            f"Expect _random_samples.size(2) equals to {dims}, not {samples.shape[2]}"
        )


@checked
def fractional_max_pool2d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """The greatest element of each of `output_size` windows placed at random.

    (N, C, H, W) or (C, H, W); ``output_ratio`` says the size as a part of the input's. Windows
    start in steps of one of two neighbouring lengths, in an order that random numbers of the
    default generator choose for each channel. `return_indices` adds where the maxima are in their
    flat planes. ValueError without a size, RuntimeError for shapes that do not fit. As
    `torch.nn.functional.fractional_max_pool2d`.

    >>> from gradfn import arange, nn
    >>> nn.functional.fractional_max_pool2d(arange(16.0).view(1, 4, 4), 2, output_size=1)
    tensor([[[15.]]])
    """
    return _fractionally(
        2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


@checked
def fractional_max_pool3d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """`fractional_max_pool2d` for the last three dimensions."""
    return _fractionally(
        3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


def fractional_max_pool2d_with_indices(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """`fractional_max_pool2d` with where each maximum is."""
    return fractional_max_pool2d(
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )


def fractional_max_pool3d_with_indices(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """`fractional_max_pool3d` with where each maximum is."""
    return fractional_max_pool3d(
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )


METHODS = ""
