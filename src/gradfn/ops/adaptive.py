"""Pooling into a given number of parts, whatever the size of the input."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from .. import raw
from ..raw.resampling import averaging
from .declare import Function, op
from .extents import per_dim
from .views import squeeze, unsqueeze

__all__ = ["adaptive_avg_pool1d", "adaptive_max_pool1d"]

resample = op(
    "resample(self, matrices)",
    kernel=raw.resample,
    tangent="linear",
    self=lambda F, g, matrices: F.resample(g, [m.T for m in matrices]),
    doc="The last dimensions multiplied by sparse `matrices`.",
)


def _averagings(shape: Sequence[int], output_size: Sequence[int]) -> list[Any]:
    sizes = shape[-len(output_size) :]
    return [averaging(size, new) for size, new in zip(sizes, output_size, strict=True)]


def _adaptive(dims: int) -> Function:
    return op(
        f"adaptive_avg_pool{dims}d(self, output_size)",
        kernel=lambda self, output_size: raw.resample(self, _averagings(self.shape, output_size)),
        node=f"AdaptiveAvgPool{dims}DBackward0",
        refuses="biuc",
        tangent="linear",
        self=lambda F, g, self_shape, output_size: F.resample(
            g, [m.T for m in _averagings(self_shape, output_size)]
        ),
    )


def _adaptive_max_pool(dims: int) -> Function:
    return op(
        f"adaptive_max_pool{dims}d(self, output_size)",
        kernel=raw.adaptive_max_pool,
        node=f"AdaptiveMaxPool{dims}DBackward0",
        results=("result0", "result1"),
        refuses="biuc",
        tangent=lambda F, self_t, result1: (F.from_planes(self_t, result1, dims), None),
        self=lambda F, g_result0, self_shape, result1: F.to_planes(
            g_result0, result1, self_shape[-dims:]
        ),
    )


_AVG = {dims: _adaptive(dims) for dims in (2, 3)}
_MAX = {dims: _adaptive_max_pool(dims) for dims in (2, 3)}


def _adaptive_size(name: str, input: Any, output_size: Any, dims: int) -> tuple[int, ...]:
    """`output_size` for each dimension; None keeps the input's."""
    shape = input._array.shape
    if isinstance(output_size, Sequence):
        if len(shape) <= len(output_size) and dims > 1:
            raise ValueError(
                f"Input dimension should be at least {len(output_size) + 1} for the output size "
                f"{list(output_size)}; it is {len(shape)}"
            )
        if len(output_size) != dims:
            raise RuntimeError(f"{name}: output_size must be {dims} sizes, not {output_size}")
        pairs = zip(output_size, shape[-dims:], strict=False)
        made = tuple(size if new is None else index(new) for new, size in pairs)
    else:
        made = per_dim(output_size, dims, "")
    if len(shape) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {list(shape)}"
        )
    if min(made) < 0:
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received "
            f"{list(made)}"
        )
    if 0 in shape[-dims:]:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input "
            f"has sizes {list(shape)}"
        )
    return made


def _adaptive_mean(input: Any, output_size: tuple[int, ...]) -> Any:
    if set(output_size) == {1}:
        if input._array.dtype.kind in "biuc":
            raise NotImplementedError(
                f"adaptive average pooling is not implemented for '{input.dtype.scalar_name}'"
            )
        return input.mean(tuple(range(-1, -len(output_size) - 1, -1)), True)
    return _AVG[len(output_size)](input, output_size)


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """The means of `output_size` parts of the last dimension; see `adaptive_avg_pool2d`.

    >>> from gradfn import adaptive_avg_pool1d, tensor
    >>> adaptive_avg_pool1d(tensor([[1., 3., 2., 0.]]), 2)
    tensor([[2., 1.]])
    """
    size = _adaptive_size("adaptive_avg_pool1d", input, output_size, 1)
    return squeeze(_adaptive_mean(unsqueeze(input, -2), (1, *size)), -2)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """The means of ``output_size`` parts of the height and width of (N, C, H, W) or (C, H, W).

    Part i of n covers ``floor(i H / n)`` to ``ceil((i + 1) H / n)``; None as a size keeps the
    input's. RuntimeError for sizes that do not fit, NotImplementedError but for floating dtypes.

    >>> from gradfn import arange, nn
    >>> nn.functional.adaptive_avg_pool2d(arange(16.).view(1, 4, 4), (1, 2))
    tensor([[[6.5000, 8.5000]]])
    """
    size = _adaptive_size("adaptive_avg_pool2d", input, output_size, 2)
    return _adaptive_mean(input, size)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """The means of parts of the last three dimensions; see `adaptive_avg_pool2d`.

    >>> from gradfn import arange, nn
    >>> nn.functional.adaptive_avg_pool3d(arange(8.).view(1, 2, 2, 2), (1, 1, 2))
    tensor([[[[3., 4.]]]])
    """
    size = _adaptive_size("adaptive_avg_pool3d", input, output_size, 3)
    return _adaptive_mean(input, size)


def _adaptive_maximum(
    name: str, dims: int, input: Any, output_size: Any, return_indices: bool
) -> Any:
    size = _adaptive_size(name, input, output_size, dims)
    if dims == 1:  # in PyTorch, of two dimensions
        values, places = _MAX[2](unsqueeze(input, -2), (1, *size))
        values, places = squeeze(values, -2), squeeze(places, -2)
    else:
        values, places = _MAX[dims](input, size)
    return (values, places) if return_indices else values


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest of each of `output_size` parts of the last dimension.

    `return_indices` adds where they are. See `adaptive_avg_pool2d` for the parts.

    >>> from gradfn import nn, tensor
    >>> nn.functional.adaptive_max_pool1d(tensor([[1., 3., 2., 0.]]), 2)
    tensor([[3., 2.]])
    """
    return _adaptive_maximum("adaptive_max_pool1d", 1, input, output_size, return_indices)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest of each of ``output_size`` parts of the last two dimensions.

    `return_indices` adds where they are in the flat plane. See `adaptive_avg_pool2d` for the parts.

    >>> from gradfn import arange, nn
    >>> nn.functional.adaptive_max_pool2d(arange(16.).view(1, 4, 4), (1, 2))
    tensor([[[13., 15.]]])
    """
    return _adaptive_maximum("adaptive_max_pool2d", 2, input, output_size, return_indices)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest of each of ``output_size`` parts of the last three dimensions.

    `return_indices` adds where they are in the flat volume.

    >>> from gradfn import arange, nn
    >>> nn.functional.adaptive_max_pool3d(arange(8.).view(1, 2, 2, 2), 1)
    tensor([[[[7.]]]])
    """
    return _adaptive_maximum("adaptive_max_pool3d", 3, input, output_size, return_indices)


def adaptive_max_pool1d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> Any:
    """`adaptive_max_pool1d` with where each maximum is."""
    return _adaptive_maximum("adaptive_max_pool1d", 1, input, output_size, True)


def adaptive_max_pool2d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> Any:
    """`adaptive_max_pool2d` with where each maximum is."""
    return _adaptive_maximum("adaptive_max_pool2d", 2, input, output_size, True)


def adaptive_max_pool3d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> Any:
    """`adaptive_max_pool3d` with where each maximum is."""
    return _adaptive_maximum("adaptive_max_pool3d", 3, input, output_size, True)


METHODS = ""
