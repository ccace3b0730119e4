"""Convolutions, and their adjoints, of one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import raw
from ..autograd.variable import Variable
from ..dtypes import from_numpy
from ..raw.convolving import Layout
from ..raw.numbers import c_type
from .declare import op
from .extents import per_dim
from .padding import constant_pad_nd
from .reducing import times
from .runtime import wrapped_number
from .views import squeeze, unsqueeze
from .windows import select, view_as_real

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
]

# Each of the three rows is the gradient of the others: see raw/convolving.py.


def _to_input(
    F: Any, g: Any, weight: Any, self_shape: Any, stride: Any, padding: Any, dilation: Any,
    transposed: Any, output_padding: Any, groups: Any,
) -> Any:  # fmt: skip
    setup = stride, padding, dilation, transposed, output_padding, groups
    return F.convolution_input(g, weight, self_shape, setup)


def _to_weight(
    F: Any, g: Any, self: Any, weight_shape: Any, stride: Any, padding: Any, dilation: Any,
    transposed: Any, output_padding: Any, groups: Any,
) -> Any:  # fmt: skip
    setup = stride, padding, dilation, transposed, output_padding, groups
    return F.convolution_weight(g, self, weight_shape, setup)


def _convolution_tangent(
    F: Any, self: Any, weight: Any, self_t: Any, weight_t: Any, bias_t: Any, stride: Any,
    padding: Any, dilation: Any, transposed: Any, output_padding: Any, groups: Any,
) -> Any:  # fmt: skip
    setup = stride, padding, dilation, transposed, output_padding, groups
    moved = F.convolution(self_t, weight, bias_t, *setup)
    return moved + F.convolution(self, weight_t, None, *setup)


convolution_of = op(
    "convolution(self, weight, bias: Optional, stride, padding, dilation, transposed, "
    "output_padding, groups)",
    kernel=raw.convolution,
    tangent=_convolution_tangent,
    self=_to_input,
    weight=_to_weight,
    bias=lambda F, g: F.sum(g, (0, *range(2, g.ndim))),
)
convolution_input = op(
    "convolution_input(grad, weight, shape, setup)",
    kernel=raw.convolution_input,
    node="ConvolutionBackwardBackward0",
    tangent="bilinear",
    grad=lambda F, g, weight, setup: F.convolution(g, weight, None, *setup),
    weight=lambda F, g, grad, weight_shape, setup: F.convolution_weight(
        grad, g, weight_shape, setup
    ),
    doc="The gradient of a convolution in its input, of `shape`, from that in its result.",
)
convolution_weight = op(
    "convolution_weight(grad, self, shape, setup)",
    kernel=raw.convolution_weight,
    node="ConvolutionBackwardBackward0",
    tangent="bilinear",
    grad=lambda F, g, self, setup: F.convolution(self, g, None, *setup),
    self=lambda F, g, grad, self_shape, setup: F.convolution_input(grad, g, self_shape, setup),
    doc="The gradient of a convolution in its weight, of `shape`, from that in its result.",
)


def convolution(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    """A convolution of batched input or, `transposed`, its adjoint; see `conv2d`."""
    if input.ndim != weight.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight "
            f"{list(weight.shape)}, but got {input.ndim}-dimensional input of size "
            f"{list(input.shape)} instead"
        )
    dims = weight.ndim - 2
    moves = _per_dim("stride", stride, dims)
    around = _per_dim("padding", padding, dims)
    layout = Layout(moves, around, _per_dim("dilation", dilation, dims), groups)
    extra = _per_dim("output_padding", output_padding, dims) if transposed else (0,) * dims
    _check_layout(layout, extra)
    _check(input, weight, bias, layout, transposed)
    _check_sizes(input.shape[2:], weight.shape[2:], layout, extra if transposed else None)

    def convolve(input: Any, weight: Any, bias: Any) -> Any:
        _check_dtypes(input, weight, bias)
        return convolution_of(input, weight, bias, *layout[:3], transposed, extra, groups)

    return _by_parts(convolve, input, weight, bias)


def _by_parts(convolve: Callable[..., Any], input: Any, weight: Any, bias: Any) -> Any:
    """`convolve`, of complex numbers as three convolutions of real ones (Gauss)."""
    if input._array.dtype.kind != "c" or weight._array.dtype.kind != "c":
        return convolve(input, weight, bias)
    (x, y), (u, v) = _parts(input), _parts(weight)
    b = c = None
    if bias is not None:
        b, c = _parts(bias)
    first, second = convolve(x, u, b), convolve(y, v, None)
    third = convolve(x + y, u + v, None if b is None else b + c)
    return first - second + times(third - first - second, wrapped_number(1j))


def _parts(tensor: Any) -> tuple[Any, Any]:
    pairs = view_as_real(tensor)
    return select(pairs, -1, 0), select(pairs, -1, 1)


def _per_dim(name: str, value: Any, dims: int) -> tuple[int, ...]:
    return per_dim(
        value,
        dims,
        f"expected {name} to be a single integer value or a list of {dims} values to match the "
        f"convolution dimensions, but got {name}={list(value) if hasattr(value, '__len__') else 0}",
    )


def _check_layout(layout: Layout, output_padding: tuple[int, ...]) -> None:
    if layout.groups <= 0:
        raise RuntimeError(f"non-positive groups is not supported: groups is {layout.groups}")
    if min(layout.padding) < 0:
        raise RuntimeError(f"negative padding is not supported: it is {list(layout.padding)}")
    if min(output_padding) < 0:
        raise RuntimeError(
            f"negative output_padding is not supported: it is {list(output_padding)}"
        )
    if min(layout.stride) <= 0:
        raise RuntimeError(f"non-positive stride is not supported: it is {list(layout.stride)}")
    if min(layout.dilation) <= 0:
        raise RuntimeError(f"dilation should be greater than zero, but got {list(layout.dilation)}")


def _check(input: Any, weight: Any, bias: Any, layout: Layout, transposed: bool) -> None:
    shape, groups = weight.shape, layout.groups
    given = f"Given transposed={int(transposed)}" if transposed else f"Given groups={groups}"
    if shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {list(shape)} instead"
        )
    if shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{list(shape)}] instead"
        )
    channels = shape[0] if transposed else shape[1] * groups
    if input.shape[1] != channels:
        raise RuntimeError(
            f"{given}, weight of size {list(shape)}, expected input{list(input.shape)} to have "
            f"{channels} channels, but got {input.shape[1]} channels instead"
        )
    made = shape[1] * groups if transposed else shape[0]
    if bias is not None and tuple(bias.shape) != (made,):
        given = f"{given}, weight" if transposed else "Given weight"
        raise RuntimeError(
            f"{given} of size {list(shape)}, expected bias to be 1-dimensional with {made} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )


def _by(sizes: Any) -> str:
    return "(" + " x ".join(map(str, sizes)) + ")"


def _check_sizes(
    sizes: Any, kernel: Any, layout: Layout, output_padding: tuple[int, ...] | None
) -> None:
    """Refuse results without elements; `output_padding` is that of a transposed convolution."""
    if output_padding is None:
        if min(layout.positions(sizes, kernel)) <= 0:
            padded = [n + 2 * p for n, p in zip(sizes, layout.padding, strict=True)]
            reach = [d * (k - 1) + 1 for k, d in zip(kernel, layout.dilation, strict=True)]
            raise RuntimeError(
                f"Calculated padded input size per channel: {_by(padded)}. Kernel size: "
                f"{_by(reach)}. Kernel size can't be greater than actual input size"
            )
        return
    pairs = zip(layout.stride, layout.dilation, output_padding, strict=True)
    if any(extra >= max(s, d) for s, d, extra in pairs):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got output_padding="
            f"{list(output_padding)}, stride={list(layout.stride)}, "
            f"dilation={list(layout.dilation)}"
        )
    made = [n + extra for n, extra in zip(layout.reach(sizes, kernel), output_padding, strict=True)]
    if min(made) <= 0:
        raise RuntimeError(
            f"Given input size per channel: {_by(sizes)}. Calculated output size per channel: "
            f"{_by(made)}. Output size is too small"
        )


def _check_dtypes(input: Any, weight: Any, bias: Any) -> None:
    if input.dtype is not weight.dtype:
        names = (from_numpy(t._array.dtype).scalar_name for t in (input, weight))
        raise RuntimeError("expected scalar type {} but found {}".format(*names))
    if bias is not None and bias.dtype is not input.dtype:
        raise RuntimeError(
            f"Input type ({c_type(input._array)}) and bias type ({c_type(bias._array)}) should be "
            "the same"
        )
    if input._array.dtype.kind == "b":
        raise NotImplementedError("\"slow_conv2d_cpu\" not implemented for 'Bool'")


def _batched(name: str, dims: int, input: Any, convolve: Callable[[Any], Any]) -> Any:
    """`convolve` of a batch; a single sample is made one, and its result a single one again."""
    if not isinstance(input, Variable):
        raise TypeError(f"{name}(): argument 'input' must be Tensor, not {type(input).__name__}")
    if input._array.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got "
            f"input of size: {list(input._array.shape)}"
        )
    if input._array.ndim == dims + 2:
        return convolve(input)
    return squeeze(convolve(unsqueeze(input, 0)), 0)


def _same_padding(
    input: Any, kernel: Any, stride: Any, dilation: Any
) -> tuple[Any, tuple[int, ...]]:
    """The padding that keeps the size; where it is uneven, `input` comes padded on one side."""
    dims = len(kernel)
    if any(s != 1 for s in _per_dim("stride", stride, dims)):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    spacing = _per_dim("dilation", dilation, dims)
    total = [d * (k - 1) for k, d in zip(kernel, spacing, strict=True)]
    if any(t % 2 for t in total):
        input = constant_pad_nd(input, [side for t in reversed(total) for side in (0, t % 2)])
    return input, tuple(t // 2 for t in total)


def _forward(
    dims: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    def convolve(batch: Any, weight: Any, bias: Any) -> Any:
        around = padding
        if padding == "same":
            batch, around = _same_padding(batch, weight.shape[2:], stride, dilation)
        elif padding == "valid":
            around = 0
        elif isinstance(padding, str):
            raise RuntimeError(f"Invalid padding string: {padding!r}; it is 'valid' or 'same'")
        return convolution(batch, weight, bias, stride, around, dilation, False, 0, groups)

    return _batched(
        f"conv{dims}d", dims, input, lambda batch: _by_parts(convolve, batch, weight, bias)
    )


def _transposed(
    dims: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    name = f"conv_transpose{dims}d"
    if isinstance(padding, str):
        raise TypeError(f"{name}(): argument 'padding' must be tuple of ints, not str")

    def convolve(batch: Any, weight: Any, bias: Any) -> Any:
        return convolution(
            batch, weight, bias, stride, padding, dilation, True, output_padding, groups
        )

    return _batched(name, dims, input, lambda batch: _by_parts(convolve, batch, weight, bias))


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The convolution of (N, C, L) with (O, C / groups, K), as `conv2d`.

    >>> from gradfn import conv1d, tensor
    >>> conv1d(tensor([[[1., 2., 4.]]]), tensor([[[-1., 1.]]]))
    tensor([[[1., 2.]]])
    """
    return _forward(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """``y[n, o, p] = bias[o] + sum over c, k of x[n, c, p stride + k dilation] * weight[o, c, k]``

    for `input` (N, C, H, W), or (C, H, W), and `weight` (O, C / groups, kH, kW). Zeros stand
    around the input: `padding` of them on each side, as many as keep its size (``"same"``) or
    none (``"valid"``). Each of the `groups` of input channels makes its own output channels.
    Needs memory for a block of windows besides its result: 1 MB, or one row's where that is more.
    RuntimeError for sizes, dtypes and groups that do not fit. As `torch.conv2d`.

    >>> from gradfn import conv2d, ones
    >>> conv2d(ones(1, 1, 3, 3), ones(1, 1, 2, 2))
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """
    return _forward(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The convolution of (N, C, D, H, W) with (O, C / groups, kD, kH, kW), as `conv2d`.

    >>> from gradfn import conv3d, ones
    >>> conv3d(ones(1, 1, 2, 2, 2), ones(1, 1, 2, 2, 2))
    tensor([[[[[8.]]]]])
    """
    return _forward(3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The adjoint of `conv1d`: (N, C, L) and (C, O / groups, K); see `conv_transpose2d`.

    >>> from gradfn import conv_transpose1d, tensor
    >>> conv_transpose1d(tensor([[[1., 2.]]]), tensor([[[-1., 1.]]]))
    tensor([[[-1., -1.,  2.]]])
    """
    return _transposed(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The adjoint of `conv2d` in its input: every element adds a scaled kernel to the result.

    `weight` is (C, O / groups, kH, kW). The result has ``(H - 1) * stride - 2 * padding +
    dilation * (kH - 1) + output_padding + 1`` rows. RuntimeError for what does not fit.

    >>> from gradfn import conv_transpose2d, ones
    >>> conv_transpose2d(ones(1, 1, 2, 2), ones(1, 1, 2, 2))
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """
    return _transposed(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The adjoint of `conv3d`: (N, C, D, H, W) and (C, O / groups, kD, kH, kW).

    >>> from gradfn import conv_transpose3d, ones
    >>> conv_transpose3d(ones(1, 1, 1, 1, 1), ones(1, 1, 1, 1, 2))
    tensor([[[[[1., 1.]]]]])
    """
    return _transposed(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


METHODS = ""
