"""The gradients of convolutions in their inputs and weights, each by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..missing import missing
from ..ops.convolving import convolution_input, convolution_weight
from ..shapes import Size
from .modules.conv import per_dimension

__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]


def _setup(
    input_size: Sequence[int],
    weight_size: Sequence[int],
    grad: Any,
    dims: int,
    moves: tuple[Any, Any, Any],
    groups: int,
) -> tuple[Any, ...]:
    """How the convolution moves, if `grad` has the shape of its result."""
    if len(input_size) != dims + 2 or len(weight_size) != dims + 2:
        raise RuntimeError(
            f"Expected {dims + 2}-dimensional input for {dims + 2}-dimensional weight "
            f"{list(weight_size)}, but got {len(input_size)}-dimensional input of size "
            f"{list(input_size)} instead"
        )
    stride, padding, dilation = (per_dimension(each, dims) for each in moves)
    sizes = zip(input_size[2:], weight_size[2:], stride, padding, dilation, strict=True)
    windows = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in sizes]
    expected = [input_size[0], weight_size[0], *windows]
    if list(grad.shape) != expected:
        raise RuntimeError(
            f"Expected a tensor of dimension {dims + 2} and size {expected} as the gradient of the "
            f"result, but got {list(grad.shape)}"
        )
    return stride, padding, dilation, False, (0,) * dims, groups


def _input_gradient(dims: int) -> Callable[..., Any]:
    def gradient(
        input_size: Sequence[int],
        weight: Any,
        grad_output: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        moves = stride, padding, dilation
        setup = _setup(input_size, weight.shape, grad_output, dims, moves, groups)
        return convolution_input(grad_output, weight, Size(input_size), setup)

    gradient.__name__ = gradient.__qualname__ = f"conv{dims}d_input"
    gradient.__doc__ = (
        f"The gradient of `conv{dims}d` in its input, of `input_size`, from that in its result."
    )
    return gradient


def _weight_gradient(dims: int) -> Callable[..., Any]:
    def gradient(
        input: Any,
        weight_size: Sequence[int],
        grad_output: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        moves = stride, padding, dilation
        setup = _setup(input.shape, weight_size, grad_output, dims, moves, groups)
        return convolution_weight(grad_output, input, Size(weight_size), setup)

    gradient.__name__ = gradient.__qualname__ = f"conv{dims}d_weight"
    gradient.__doc__ = (
        f"The gradient of `conv{dims}d` in its weight, of `weight_size`, from that in its result."
    )
    return gradient


conv1d_input, conv2d_input, conv3d_input = map(_input_gradient, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_weight_gradient, (1, 2, 3))

__getattr__ = missing(__name__)
