"""Layers fused with the batch normalisation that follows them, for evaluation."""

from __future__ import annotations

import copy
from typing import Any

from ...creation import ones_like, zeros_like
from ...missing import missing
from ...ops.powers import rsqrt
from ..parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of the convolution that gives what ``bn(conv(x))`` gives.

    Both must be in evaluation mode, with running statistics: AssertionError else. `transpose` says
    that the convolution is a transposed one.

    >>> from gradfn import allclose, nn, rand
    >>> conv, bn, x = nn.Conv2d(1, 2, 3).eval(), nn.BatchNorm2d(2).eval(), rand(1, 1, 4, 4)
    >>> allclose(fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-6)
    True
    """
    fused = _copied(conv, bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, *_statistics(bn), transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any,
    conv_b: Any,
    bn_rm: Any,
    bn_rv: Any,
    bn_eps: float,
    bn_w: Any,
    bn_b: Any,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of the fused convolution: see `fuse_conv_bn_eval`."""
    channels = [1] * conv_w.dim()
    channels[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, channels, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of the linear layer that gives what ``bn(linear(x))`` gives.

    As `fuse_conv_bn_eval`; AssertionError where the numbers of features differ.
    """
    fused = _copied(linear, bn)
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, *_statistics(bn))
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Parameter, Parameter]:
    """The weight and bias of the fused linear layer: see `fuse_linear_bn_eval`."""
    return _fused(linear_w, linear_b, [-1, 1], bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _copied(layer: Any, bn: Any) -> Any:
    """A copy of `layer`, if both are such as can be fused."""
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    return copy.deepcopy(layer)


def _statistics(bn: Any) -> tuple[Any, Any, float, Any, Any]:
    return bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias


def _fused(
    weight: Any, bias: Any, outputs: list[int], mean: Any, var: Any, eps: float, scale: Any,
    shift: Any,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """``scale * (weight @ x + bias - mean) / √(var + eps) + shift`` as a weight and a bias.

    `outputs` is the shape of a number for each output beside the weight.
    """
    old = zeros_like(mean) if bias is None else bias
    scale = ones_like(mean) if scale is None else scale
    shift = zeros_like(mean) if shift is None else shift
    factor = scale * rsqrt(var + eps)
    new_weight = (weight * factor.reshape(outputs)).to(weight.dtype)
    new_bias = ((old - mean) * factor + shift).to(old.dtype)
    return Parameter(new_weight, weight.requires_grad), Parameter(new_bias, old.requires_grad)


__getattr__ = missing(__name__)
