"""Normalisation of layers, groups and neighbouring channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...creation import empty
from ...tensor import Tensor
from .. import functional, init
from ..parameter import Parameter
from .module import Module

__all__ = ["GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LayerNorm(Module):
    """``(x - mean) / √(var + eps) * weight + bias`` over the last dimensions: `torch.nn.LayerNorm`.

    `normalized_shape` is their shape, and that of weight (1 at first) and bias (0), which there are
    if `elementwise_affine`, and `bias`. Ba et al. (2016).

    >>> from gradfn import nn, tensor
    >>> nn.LayerNorm(2, elementwise_affine=False)(tensor([[1.0, 3.0]]))
    tensor([[-1.0000,  1.0000]])
    """

    weight: Any
    bias: Any

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, there in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            value = empty(self.normalized_shape, device=device, dtype=dtype) if there else None
            self.register_parameter(name, None if value is None else Parameter(value))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1 and bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Any:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


def _shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


class RMSNorm(Module):
    """``x / √(mean of x² + eps) * weight`` over the last dimensions: `torch.nn.RMSNorm`.

    `eps` is by default the spacing of the dtype. Zhang and Sennrich (2019).
    """

    weight: Any

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(empty(self.normalized_shape, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Any:
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """``(x - mean) / √(var + eps) * weight + bias`` over groups of channels: `torch.nn.GroupNorm`.

    (N, num_channels, ...), `num_groups` of them; weight (1 at first) and bias (0) by channel. Wu
    and He (2018).
    """

    weight: Any
    bias: Any

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, there in (("weight", affine), ("bias", affine and bias)):
            value = empty(num_channels, device=device, dtype=dtype) if there else None
            self.register_parameter(name, None if value is None else Parameter(value))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1 and bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Any:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """``x / (k + alpha * mean of x² over size channels around)^beta``. Krizhevsky et al. (2012)."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Any:
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
