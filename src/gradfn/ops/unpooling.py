"""Undoing max pooling, and max pooling of windows at random places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import raw
from ..autograd.node import Array
from .checking import checked
from .declare import Function, op
from .extents import per_dim
from .views import squeeze, unsqueeze

__all__: list[str] = []


def _max_unpool(dims: int) -> Function:
    return op(
        f"max_unpool{dims}d(self, indices: Tensor, output_size)",
        kernel=raw.max_unpool,
        node=f"MaxUnpool{dims}DBackward0",
        tangent="linear",
        batch="trailing",
        self=lambda F, g, indices: F.from_planes(g, indices, dims),
    )


def _fractional_max_pool(dims: int) -> Function:
    return op(
        f"fractional_max_pool{dims}d(self, kernel_size, output_size, samples: Tensor)",
        kernel=raw.fractional_max_pool,
        node=f"FractionalMaxPool{dims}DBackward0",
        results=("result0", "result1"),
        batch=lambda call: call.run(**{name: call.front(name) for name in call.tensors}),
        tangent=lambda F, self_t, result1: (F.from_planes(self_t, result1, dims), None),
        self=lambda F, g_result0, self_shape, result1: F.to_planes(
            g_result0, result1, self_shape[-dims:]
        ),
    )


_UNPOOL = {dims: _max_unpool(dims) for dims in (2, 3)}
_FRACTIONAL = {dims: _fractional_max_pool(dims) for dims in (2, 3)}


def _unpooled_size(
    input: Any, dims: int, kernel: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[int, ...]:
    """The sizes that were pooled, as far as the pooled sizes tell, or those given."""
    sizes = input.shape[-dims:]
    natural = [
        (n - 1) * s + k - 2 * p for n, k, s, p in zip(sizes, kernel, stride, padding, strict=True)
    ]
    if output_size is None:
        return tuple(natural)
    if len(output_size) == dims + 2:
        output_size = output_size[2:]
    if len(output_size) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it "
            f"has a length of '{len(output_size)}'"
        )
    for d, (given, due, step) in enumerate(zip(output_size, natural, stride, strict=True)):
        if not due - step < given < due + step:
            raise ValueError(
                f'invalid output_size "{tuple(output_size)}" (dim {d} must be between '
                f"{due - step} and {due + step})"
            )
    return tuple(output_size)


def _unpooled(
    dims: int, input: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any, output: Any
) -> Any:
    name = f"max_unpool{dims}d"
    kernel = per_dim(kernel_size, dims, f"{name}: kernel_size does not fit: {kernel_size}")
    moves = kernel if stride is None else per_dim(stride, dims, f"{name}: stride: {stride}")
    borders = per_dim(padding, dims, f"{name}: padding: {padding}")
    size = _unpooled_size(input, dims, kernel, moves, borders, output)
    if str(indices.dtype) != "torch.int64":
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {indices.dtype.scalar_name}"
        )
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got "
            f"a tensor with {input.ndim} dimensions."
        )
    if indices.shape != input.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    if dims == 1:  # in PyTorch, of two dimensions
        made = _UNPOOL[2](unsqueeze(input, -1), unsqueeze(indices, -1), (*size, 1))
        return squeeze(made, -1)
    return _UNPOOL[dims](input, indices, size)


@checked
def max_unpool1d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Sequence[int] | None = None,
) -> Any:
    """The inverse of `max_pool1d`, zeros between the maxima; see `max_unpool2d`.

    >>> from gradfn import nn, tensor
    >>> pooled, indices = nn.functional.max_pool1d(tensor([[1., 3., 4., 2.]]), 2,
    ...                                            return_indices=True)
    >>> max_unpool1d(pooled, indices, 2)
    tensor([[0., 3., 4., 0.]])
    """
    return _unpooled(1, input, indices, kernel_size, stride, padding, output_size)


@checked
def max_unpool2d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Sequence[int] | None = None,
) -> Any:
    """Zeros with the elements of `input` where `max_pool2d` with `return_indices` found them.

    `output_size` chooses among the sizes that pool to that of `input`. RuntimeError for indices
    that do not fit, ValueError for sizes. As `torch.nn.functional.max_unpool2d`.
    """
    return _unpooled(2, input, indices, kernel_size, stride, padding, output_size)


@checked
def max_unpool3d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Sequence[int] | None = None,
) -> Any:
    """The inverse of `max_pool3d`; see `max_unpool2d`."""
    return _unpooled(3, input, indices, kernel_size, stride, padding, output_size)


def _fractional(
    dims: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any
) -> tuple[Any, Any]:
    name = f"fractional_max_pool{dims}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    kernel = per_dim(kernel_size, dims, f"{name}: kernel_size does not fit: {kernel_size}")
    if input.ndim not in (dims + 1, dims + 2):
        raise IndexError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {input.ndim}D"
        )
    sizes = input.shape[-dims:]
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, Sequence) else [output_ratio] * dims
        counts = tuple(int(n * ratio) for n, ratio in zip(sizes, ratios, strict=True))
    else:
        counts = per_dim(output_size, dims, f"{name}: output_size does not fit: {output_size}")
    for size, k, count in zip(sizes, kernel, counts, strict=True):
        if count + k - 1 + (dims == 3) > size:  # the last window of volumes has to have room
            raise RuntimeError(
                f"{name}(): pool size {k} too large relative to input size {size} for {count} "
                "windows"
            )
    lead = input.shape[:-dims]
    if samples is None:
        samples = input.detach().new_empty((*lead, dims)).uniform_()
    else:
        samples = samples.reshape(*lead, dims)
    # The plane's samples are for its last dimension first, but for three dimensions.
    ordered = samples.flip(-1) if dims == 2 else samples
    made: tuple[Array, Array] = _FRACTIONAL[dims](input, kernel, counts, ordered)
    return made


@checked
def fractional_max_pool2d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """The greatest elements of windows whose places are random: (C, H, W) or (N, C, H, W).

    There are `output_size` windows, or `output_ratio` times the size of the input. ValueError
    where neither is given, RuntimeError for windows that do not fit. Graham, "Fractional
    Max-Pooling" (2014); as `torch.nn.functional.fractional_max_pool2d`.

    >>> from gradfn import arange
    >>> fractional_max_pool2d(arange(16.0).reshape(1, 4, 4), 2, output_size=1)
    tensor([[[15.]]])
    """
    setup = kernel_size, output_size, output_ratio, _random_samples
    values, indices = _fractional(2, input, *setup)
    return (values, indices) if return_indices else values


@checked
def fractional_max_pool3d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """The same for (C, D, H, W) or (N, C, D, H, W): see `fractional_max_pool2d`."""
    setup = kernel_size, output_size, output_ratio, _random_samples
    values, indices = _fractional(3, input, *setup)
    return (values, indices) if return_indices else values


METHODS = ""
