"""Normalisation over batches, layers, groups, instances and neighbouring channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import raw
from ..autograd.grad_mode import no_grad
from ..dtypes import float32
from .declare import op
from .padding import constant_pad_nd
from .pooling import avg_pool2d, avg_pool3d
from .reducing import plus
from .views import squeeze, unsqueeze

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "native_batch_norm",
    "native_group_norm",
    "native_layer_norm",
    "rms_norm",
]

_RESULTS = ("result0", "result1", "result2")  # the values, the means, the reciprocal deviations


def _through(
    direct: Any, centred: Any, rstd: Any, count: int, sums: tuple[Any, Any], by: tuple[Any, Any]
) -> Any:
    """The gradient in x of ``centred * rstd`` and, where they are used as well, of mean and rstd.

    `direct` is the gradient with mean and rstd fixed, `by` the gradients in these; `sums` are those
    of the result's gradient, and of it times `centred`, over `count` elements.
    """
    total, moment = sums
    moved = (by[0] - rstd * total) / count
    return direct + moved - centred * (rstd * rstd * rstd * (moment + by[1]) / count)


def _batch_gradients(
    F: Any, g_result0: Any, g_result1: Any, g_result2: Any, self: Any, weight: Any,
    self_shape: Any, result1: Any, result2: Any, training: bool, needs: Any,
) -> Any:  # fmt: skip
    axes = (0, *range(2, len(self_shape)))
    channels = (-1, *[1] * (len(self_shape) - 2))
    rstd, centred = result2.reshape(channels), self - result1.reshape(channels)
    total, moment = F.sum(g_result0, axes), F.sum(g_result0 * centred, axes)
    into_self = None
    if needs[0]:
        scale = rstd if weight is None else rstd * weight.reshape(channels)
        into_self = g_result0 * scale
        if training:
            scaled = (total, moment) if weight is None else (total * weight, moment * weight)
            sums = scaled[0].reshape(channels), scaled[1].reshape(channels)
            by = g_result1.reshape(channels), g_result2.reshape(channels)
            count = max(math.prod(self_shape) // max(result1.shape[0], 1), 1)
            into_self = _through(into_self, centred, rstd, count, sums, by)
    return into_self, moment * result2 if needs[1] else None, total if needs[2] else None


def _layer_gradients(
    F: Any, g_result0: Any, g_result1: Any, g_result2: Any, self: Any, weight: Any,
    self_shape: Any, result1: Any, result2: Any, normalized_shape: Any, needs: Any,
) -> Any:  # fmt: skip
    axes = tuple(range(-len(normalized_shape), 0))
    centred = self - result1
    into_self = None
    if needs[0]:
        g = g_result0 if weight is None else g_result0 * weight
        sums = F.sum(g, axes, True), F.sum(g * centred, axes, True)
        count, by = math.prod(normalized_shape), (g_result1, g_result2)
        into_self = _through(g * result2, centred, result2, count, sums, by)
    into_weight = g_result0 * centred * result2 if needs[1] else None
    return into_self, into_weight, g_result0 if needs[2] else None


def _group_gradients(
    F: Any, g_result0: Any, g_result1: Any, g_result2: Any, self: Any, weight: Any,
    self_shape: Any, result1: Any, result2: Any, group: int, needs: Any,
) -> Any:  # fmt: skip
    n, channels = self_shape[:2]
    rows, aside = (n, group, math.prod(self_shape[1:]) // group), (n, group, 1)
    centred, rstd = self.reshape(rows) - result1.reshape(aside), result2.reshape(aside)
    axes = (0, *range(2, len(self_shape)))
    into_self = None
    if needs[0]:
        g = g_result0
        if weight is not None:
            g = g * weight.reshape((channels, *[1] * (len(self_shape) - 2)))
        g = g.reshape(rows)
        sums = F.sum(g, (2,), True), F.sum(g * centred, (2,), True)
        by = g_result1.reshape(aside), g_result2.reshape(aside)
        into_self = _through(g * rstd, centred, rstd, max(rows[2], 1), sums, by)
        into_self = into_self.reshape(self_shape)
    into_weight = None
    if needs[1]:
        into_weight = F.sum(g_result0 * (centred * rstd).reshape(self_shape), axes)
    return into_self, into_weight, F.sum(g_result0, axes) if needs[2] else None


batch_norm_of = op(
    "native_batch_norm(self, weight: Optional, bias: Optional, running_mean, running_var, "
    "training, momentum, eps)",
    kernel=raw.native_batch_norm,
    results=_RESULTS,
    joint=_batch_gradients,
)
layer_norm_of = op(
    "native_layer_norm(self, normalized_shape, weight: Optional, bias: Optional, eps)",
    kernel=raw.native_layer_norm,
    results=_RESULTS,
    joint=_layer_gradients,
)
group_norm_of = op(
    "native_group_norm(self, weight: Optional, bias: Optional, group, eps)",
    kernel=raw.native_group_norm,
    results=_RESULTS,
    joint=_group_gradients,
)


def _refuse(name: str, input: Any, *others: Any) -> None:
    """Refuse dtypes without normalisation, and mixed ones but half with float32."""
    kind = input._array.dtype
    if kind.kind in "biuc":
        raise NotImplementedError(f"\"{name}\" not implemented for '{input.dtype.scalar_name}'")
    for other in others:
        if other is not None and other.dtype is not input.dtype:
            if kind.itemsize == 2 and other._array.dtype == np.float32:
                continue
            raise RuntimeError(
                "mixed dtype (CPU): all inputs must share same datatype; they are of "
                f"{input.dtype} and {other.dtype}"
            )


def native_batch_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, Any, Any]:
    """`batch_norm` with the means and reciprocal deviations (empty unless `training`)."""
    channels = input.shape[1] if input.ndim > 1 else 0
    named = {"running_mean": running_mean, "running_var": running_var}
    for name, given in {**named, "weight": weight, "bias": bias}.items():
        if given is not None and given.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {given.numel()}")
        if given is None and name in named and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
    _refuse("batch_norm", input, weight, bias, running_mean, running_var)
    running = [None if given is None else given._array for given in named.values()]
    values, mean, rstd = batch_norm_of(input, weight, bias, *running, bool(training), momentum, eps)
    if not training:
        mean = rstd = input.new_empty((0,))
    return values, mean.detach(), rstd.detach()


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` for each channel of (N, C, ...).

    In `training` the statistics are the batch's, and the running ones become ``(1 - momentum) *
    running + momentum * statistics``, with the unbiased variance, in place; else they are the
    running ones. ValueError for a single value per channel in training, RuntimeError for sizes and
    dtypes that do not fit. As `torch.nn.functional.batch_norm`.

    >>> from gradfn import nn, tensor
    >>> nn.functional.batch_norm(tensor([[1.], [3.]]), None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    if training:
        _check_count(input.shape)
    if not input.numel():
        values = input.clone()
        values = values if weight is None else values * weight[0]
        return values if bias is None else values + bias[0]
    return native_batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )[0]


def _check_count(shape: Sequence[int]) -> None:
    if math.prod((*shape[:1], *shape[2:])) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {shape}"
        )


def native_layer_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any, bias: Any, eps: float
) -> tuple[Any, Any, Any]:
    """`layer_norm` with the means and the reciprocal deviations."""
    shape = _check_shape(input, normalized_shape, weight, bias)
    _refuse("LayerNormKernelImpl", input, weight, bias)
    values, mean, rstd = layer_norm_of(input, shape, weight, bias, eps)
    return values, mean.detach(), rstd.detach()


def layer_norm(
    input: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, over the last dimensions together.

    These are of `normalized_shape`, as are `weight` and `bias`. RuntimeError where they do not fit.

    >>> from gradfn import layer_norm, tensor
    >>> layer_norm(tensor([1., 3.]), (2,))
    tensor([-1.0000,  1.0000])
    """
    return native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


def _check_shape(
    input: Any, normalized_shape: Sequence[int], weight: Any, bias: Any = None
) -> tuple[int, ...]:
    if not isinstance(normalized_shape, Sequence):
        raise TypeError(
            "layer_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
            f"{type(normalized_shape).__name__}"
        )
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and tuple(given.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(given.shape)} and normalized_shape = {list(shape)}"
            )
    if tuple(input.shape[-len(shape) :]) != shape:
        sizes = ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {sizes}], but "
            f"got input of size{list(input.shape)}"
        )
    return shape


def native_group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Any, Any, Any]:
    """`group_norm` of ``N * C * HxW`` elements, with the means and the reciprocal deviations."""
    _check_groups(input, group, weight, bias)
    _refuse("GroupNormKernelImpl", input, weight, bias)
    results: tuple[Any, Any, Any] = group_norm_of(input, weight, bias, group, eps)
    return results


def group_norm(
    input: Any,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:
    """The channels of (N, C, ...) in `num_groups` groups, each normalised by itself.

    `weight` and `bias` have an element for each channel. RuntimeError for what does not fit.

    >>> from gradfn import group_norm, tensor
    >>> group_norm(tensor([[1., 3., 0., 8.]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    if input.ndim < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    n, channels, *rest = input.shape
    return native_group_norm(input, weight, bias, n, channels, math.prod(rest), num_groups, eps)[0]


def _check_groups(input: Any, groups: int, weight: Any, bias: Any) -> None:
    if groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {groups}")
    channels = input.shape[1]
    if channels % groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(input.shape)} and num_groups={groups}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and tuple(given.shape) != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {list(given.shape)} and input of shape "
                f"{list(input.shape)}"
            )


def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel of each sample of (N, C, ...) normalised by itself: a batch_norm of N * C.

    Without `use_input_stats` the running statistics are used; else they follow the samples' means.

    >>> from gradfn import nn, tensor
    >>> nn.functional.instance_norm(tensor([[[1., 3.], [0., 8.]]]))
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {input.shape}"
        )
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    n, channels, *rest = input.shape
    weight, bias = (None if t is None else t.repeat(n) for t in (weight, bias))
    running = running_mean, running_var
    mean, var = (None if t is None else t.repeat(n) for t in running)
    values = native_batch_norm(
        input.contiguous().view(1, n * channels, *rest),
        weight, bias, mean, var, use_input_stats, momentum, eps,
    )[0]  # fmt: skip
    with no_grad():
        for kept, moved in zip(running, (mean, var), strict=True):
            if kept is not None and moved is not None and use_input_stats:
                kept.copy_(moved.view(n, channels).mean(0))
    return values.view(input.shape)


def rms_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None
) -> Any:
    """``x / sqrt(mean(x ** 2) + eps) * weight``, over the last dimensions together.

    `eps` is the dtype's by default.

    >>> from gradfn import rms_norm, tensor
    >>> rms_norm(tensor([1., 7.]), (2,))
    tensor([0.2000, 1.4000])
    """
    shape = _check_shape(input, normalized_shape, weight)
    kind = input._array.dtype
    if kind.kind in "biu":
        raise NotImplementedError(f"\"rms_norm\" not implemented for '{input.dtype.scalar_name}'")
    x = input.to(float32) if kind.itemsize == 2 else input
    if eps is None:
        eps = float(np.finfo(x._array.dtype).eps)
    square = (x**2).mean(tuple(range(-len(shape), 0)), keepdim=True)
    result = x * plus(square, eps).rsqrt()
    if weight is not None:
        result = result * weight
    return result if result.dtype is input.dtype else result.to(input.dtype)


def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """``x / (k + alpha * mean(x ** 2)) ** beta``, the mean over `size` neighbouring channels.

    As `torch.nn.functional.local_response_norm`.

    >>> from gradfn import ones
    >>> local_response_norm(ones(1, 1, 2), 1, alpha=1., beta=1.)
    tensor([[[0.5000, 0.5000]]])
    """
    if input.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)"
        )
    if not input.numel():
        return input
    around = size // 2, (size - 1) // 2
    squares: Any = input * input
    if input.ndim == 3:
        padded = constant_pad_nd(unsqueeze(squares, 1), (0, 0, *around))
        means: Any = squeeze(avg_pool2d(padded, (size, 1), 1), 1)
    else:
        planes = squares.view(len(input), 1, *input.shape[1:3], -1)
        padded = constant_pad_nd(planes, (0, 0, 0, 0, *around))
        means = squeeze(avg_pool3d(padded, (size, 1, 1), 1), 1).view(input.shape)
    return input / (means * alpha + k) ** beta


METHODS = ""
