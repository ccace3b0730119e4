"""Linear and bilinear layers."""

from __future__ import annotations

import math
from typing import Any

from ...creation import empty
from ...missing import missing
from ...tensor import Tensor
from .. import functional, init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyLayer
from .module import Module

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """The input, whatever the arguments of the constructor: `torch.nn.Identity`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """``input @ weight.T + bias``: `torch.nn.Linear`.

    Shapes: (..., in_features) to (..., out_features). Weight and bias start uniformly distributed
    within 1/√in_features of 0.

    >>> from gradfn import nn, ones
    >>> nn.Linear(3, 4)(ones(2, 3)).shape
    torch.Size([2, 4])
    """

    bias: Tensor | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = self.weight.shape[1]
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Any:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear`, under the name that the projection of attention has in PyTorch."""


class LazyLinear(LazyLayer, Linear):
    """A `Linear` with as many inputs as its first input has: `torch.nn.LazyLinear`."""

    cls_to_become = Linear
    size_name = "in_features"
    weight: Any
    bias: Any

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False)
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _size_of(self, input: Tensor) -> int:
        return input.shape[-1]

    def _materialize(self) -> None:
        self.weight.materialize((self.out_features, self.in_features))
        if self.bias is not None:
            self.bias.materialize((self.out_features,))


class Bilinear(Module):
    """``input1 @ weight[k] @ input2 + bias[k]`` for each k: `torch.nn.Bilinear`.

    Shapes: (..., in1_features) and (..., in2_features) to (..., out_features). Weight and bias
    start uniformly distributed within 1/√in1_features of 0.
    """

    bias: Tensor | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        bound = 1 / math.sqrt(self.weight.shape[1])
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Any:
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


__getattr__ = missing(__name__)
