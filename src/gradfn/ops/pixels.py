"""Channels as pixels, windows as columns, and back."""

from __future__ import annotations

import math
from typing import Any

from .. import raw
from .checking import checked
from .declare import op
from .extents import per_dim

__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


def _folded(call: Any) -> Any:
    """Batches of examples (N, ...) as one batch, for vmap."""
    x = call.front("self")
    return call.run(self=x.flatten(0, 1)).unflatten(0, x.shape[:2])


shuffled = op(
    "pixel_shuffle(self, upscale_factor)",
    kernel=raw.pixel_shuffle,
    tangent="linear",
    batch="trailing",
    self=lambda F, g, upscale_factor: F.pixel_unshuffle(g, upscale_factor),
)
unshuffled = op(
    "pixel_unshuffle(self, downscale_factor)",
    kernel=raw.pixel_unshuffle,
    tangent="linear",
    batch="trailing",
    self=lambda F, g, downscale_factor: F.pixel_shuffle(g, downscale_factor),
)
dealt = op(
    "channel_shuffle(self, groups)",
    kernel=raw.channel_shuffle,
    tangent="linear",
    batch=_folded,
    self=lambda F, g, self_shape, groups: F.channel_shuffle(g, self_shape[1] // groups),
)
im2col = op(
    "im2col(self, kernel_size, dilation, padding, stride)",
    kernel=raw.im2col,
    node="Im2ColBackward0",
    tangent="linear",
    batch="trailing",
    self=lambda F, g, self_shape, kernel_size, dilation, padding, stride: F.col2im(
        g, self_shape[-2:], kernel_size, dilation, padding, stride
    ),
)
col2im = op(
    "col2im(self, output_size, kernel_size, dilation, padding, stride)",
    kernel=raw.col2im,
    node="Col2ImBackward0",
    tangent="linear",
    batch="trailing",
    self=lambda F, g, kernel_size, dilation, padding, stride: F.im2col(
        g, kernel_size, dilation, padding, stride
    ),
)


@checked
def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """(..., C r², H, W) as (..., C, H r, W r), as `torch.nn.functional.pixel_shuffle`.

    RuntimeError where r² does not divide the channels.

    >>> from gradfn import arange, pixel_shuffle
    >>> pixel_shuffle(arange(4).reshape(4, 1, 1), 2)
    tensor([[[0, 1],
             [2, 3]]])
    """
    _check("pixel_shuffle", input, "upscale_factor", upscale_factor)
    if input.shape[-3] % (upscale_factor * upscale_factor) != 0:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={input.shape[-3]} is not divisible by "
            f"{upscale_factor**2}"
        )
    return shuffled(input, upscale_factor)


@checked
def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """(..., C, H r, W r) as (..., C r², H, W): the reverse of `pixel_shuffle`.

    >>> from gradfn import arange, pixel_unshuffle
    >>> pixel_unshuffle(arange(4).reshape(1, 2, 2), 2).flatten()
    tensor([0, 1, 2, 3])
    """
    _check("pixel_unshuffle", input, "downscale_factor", downscale_factor)
    for dim, what in ((-2, "height"), (-1, "width")):
        if input.shape[dim] % downscale_factor != 0:
            raise RuntimeError(
                f"pixel_unshuffle expects {what} to be divisible by downscale_factor, but "
                f"input.size({dim})={input.shape[dim]} is not divisible by {downscale_factor}"
            )
    return unshuffled(input, downscale_factor)


def _check(name: str, input: Any, word: str, factor: int) -> None:
    if input.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with "
            f"{input.ndim} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {word}, but got {factor}")


@checked
def channel_shuffle(input: Any, groups: int) -> Any:
    """Channels (N, groups * C, ...) dealt out: the first of each group, then the second ones.

    RuntimeError where `groups` does not divide the channels. Zhang et al. (2018).
    """
    if input.ndim <= 2:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {input.shape}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if input.shape[1] % groups != 0:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {input.shape[1]} channels and "
            f"{groups} groups."
        )
    return dealt(input, groups)


@checked
def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """The windows of images as columns: `torch.nn.functional.unfold`.

    (N, C, H, W) to (N, C * kernel elements, windows), or both without N. RuntimeError where no
    window fits.

    >>> from gradfn import arange, nn
    >>> nn.functional.unfold(arange(4.0).reshape(1, 1, 2, 2), (1, 2))
    tensor([[[0., 2.],
             [1., 3.]]])
    """
    setup = _setup(kernel_size, dilation, padding, stride)
    if input.ndim not in (3, 4) or 0 in input.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    kernel, dilations, paddings, strides = setup
    counts = [
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, d, p, s in zip(
            input.shape[-2:], kernel, dilations, paddings, strides, strict=True
        )
    ]
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(input.shape[-2:])}, kernel_size={kernel}, "
            f"dilation={dilations}, padding={paddings}, calculated shape of the array of sliding "
            f"blocks as {tuple(counts)}, but its components must be at least one."
        )
    return im2col(input, *setup)


@checked
def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """Columns added up to images of `output_size`: `torch.nn.functional.fold`, adjoint of `unfold`.

    (N, C * kernel elements, windows) to (N, C, *output_size), or both without N.

    >>> from gradfn import nn, ones
    >>> nn.functional.fold(ones(1, 2, 2), (1, 3), (1, 2))
    tensor([[[[1., 2., 1.]]]])
    """
    setup = _setup(kernel_size, dilation, padding, stride)
    size = per_dim(output_size, 2, f"output_size must be one or two ints: it is {output_size}")
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    kernel, dilations, paddings, strides = setup
    elements = math.prod(kernel)
    if input.shape[-2] % elements != 0:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={input.shape[-2]} and kernel_size={kernel}."
        )
    counts = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(size, kernel, dilations, paddings, strides, strict=True)
    ]
    if math.prod(counts) != input.shape[-1] or min(counts) < 1:
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={dilations}, "
            f"padding={paddings}, stride={strides}, expected size of input's dimension 2 to match "
            f"the calculated number of sliding blocks {counts[0]} * {counts[1]} = "
            f"{math.prod(counts)}, but got input.size(2)={input.shape[-1]}."
        )
    return col2im(input, size, *setup)


def _setup(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> list[tuple[int, ...]]:
    named = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    made = []
    for name, value in named.items():
        sizes = per_dim(value, 2, f"{name} must be one or two ints: it is {value}")
        if min(sizes) < (0 if name == "padding" else 1):
            least = "non-negative" if name == "padding" else "greater than zero"
            raise RuntimeError(f"{name} should be {least}, but got {name}: {sizes}")
        made.append(sizes)
    return made


METHODS = ""
