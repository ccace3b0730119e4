"""Normalisation over batches, with running statistics."""

from __future__ import annotations

from typing import Any, ClassVar

from ...creation import empty, ones, tensor, zeros
from ...dtypes import int64
from ...tensor import Tensor
from .. import functional, init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .lazy import LazyLayer
from .module import Module

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


class _NormBase(Module):
    """What all have: weight and bias by channel if `affine`, and running statistics if tracked."""

    _version = 2  # since when the number of batches is counted
    ranks: ClassVar[tuple[int, ...]]
    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, there in (("weight", affine), ("bias", affine and bias)):
            if there:
                given = empty(num_features, device=device, dtype=dtype)
                self.register_parameter(name, Parameter(given))
            else:
                self.register_parameter(name, None)
        tracked = track_running_stats
        options = {"device": device, "dtype": dtype}
        self.register_buffer("running_mean", zeros(num_features, **options) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **options) if tracked else None)
        batches = tensor(0, dtype=int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", batches)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Let the running statistics be those of no batch: mean 0, variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, and no running statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self.ranks:
            expected = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        *rest: Any,
    ) -> None:
        version = local_metadata.get("version")
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats:
            known = self.num_batches_tracked
            state_dict.setdefault(key, tensor(0, dtype=int64) if known is None else known)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Any:
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean of all batches
                momentum = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        keeps = not self.training or self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if keeps else None,
            self.running_var if keeps else None,
            self.weight,
            self.bias,
            by_batch,
            momentum,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """`BatchNorm2d` over (N, C) or (N, C, L)."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """``(x - mean) / √(var + eps) * weight + bias`` for each channel: `torch.nn.BatchNorm2d`.

    (N, C, H, W). While training the statistics are those of the batch, which move the running ones
    by `momentum` (None: their mean so far); else they are the running ones. Ioffe and Szegedy
    (2015).

    >>> from gradfn import nn, ones
    >>> nn.BatchNorm2d(3).eval()(ones(1, 3, 1, 1)).flatten()
    tensor([1.0000, 1.0000, 1.0000], grad_fn=<ViewBackward0>)
    """

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """`BatchNorm2d` over (N, C, D, H, W)."""

    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """`BatchNorm2d` over (N, C, ...): with one process, there is nothing to synchronise."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """`module` with each batch normalisation within it as a `SyncBatchNorm`."""
        result = module
        if isinstance(module, _BatchNorm):
            result = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            result.weight, result.bias = module.weight, module.bias
            result.running_mean, result.running_var = module.running_mean, module.running_var
            result.num_batches_tracked = module.num_batches_tracked
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


class LazyNormBase(LazyLayer, _NormBase):
    """A normalisation of as many channels as its first input has."""

    size_name = "num_features"

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        options = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**options)
            if bias:
                self.bias = UninitializedParameter(**options)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**options)
            self.running_var = UninitializedBuffer(**options)
            self.num_batches_tracked = tensor(0, dtype=int64, device=device)

    def _materialize(self) -> None:
        for values in (self.weight, self.bias, self.running_mean, self.running_var):
            if values is not None:
                values.materialize((self.num_features,))


class LazyBatchNorm1d(LazyNormBase, BatchNorm1d):
    """A `BatchNorm1d` of as many channels as its first input has: `torch.nn.LazyBatchNorm1d`."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(LazyNormBase, BatchNorm2d):
    """A `BatchNorm2d` of as many channels as its first input has: `torch.nn.LazyBatchNorm2d`."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(LazyNormBase, BatchNorm3d):
    """A `BatchNorm3d` of as many channels as its first input has: `torch.nn.LazyBatchNorm3d`."""

    cls_to_become = BatchNorm3d
