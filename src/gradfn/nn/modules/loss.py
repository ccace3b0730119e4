"""Losses: functions of `nn.functional` as modules.

`reduction` is "mean", "sum" or "none"; `size_average` and `reduce` are PyTorch's older words for
it. The functions say what is computed, and which errors are raised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...missing import missing
from ...ops.reducing import choose
from ...tensor import Tensor
from .. import functional
from .distance import PairwiseDistance
from .module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _Loss(Module):
    """A loss with a reduction."""

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.reduction = choose(reduction, size_average, reduce)


class _WeightedLoss(_Loss):
    """A loss with weights, which belong to the state of the module."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss):
    """`functional.l1_loss`: the absolute difference."""

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """`functional.mse_loss`: the squared difference.

    >>> from gradfn import nn, tensor
    >>> nn.MSELoss()(tensor([1., 2.]), tensor([0., 4.]))
    tensor(2.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """`functional.smooth_l1_loss`: squared below `beta`, linear above."""

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """`functional.huber_loss`: squared below `delta`, linear above."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class SoftMarginLoss(_Loss):
    """`functional.soft_margin_loss`, for targets 1 and -1."""

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.soft_margin_loss(input, target, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """`functional.nll_loss`: of log-probabilities and class numbers."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class NLLLoss2d(NLLLoss):
    """PyTorch's older name for `NLLLoss` of images."""


class CrossEntropyLoss(_WeightedLoss):
    """`functional.cross_entropy`: of scores, and class numbers or probabilities.

    >>> from gradfn import nn, tensor
    >>> nn.CrossEntropyLoss()(tensor([[0., 0.]]), tensor([1]))
    tensor(0.6931)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class BCELoss(_WeightedLoss):
    """`functional.binary_cross_entropy`: of probabilities."""

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.binary_cross_entropy(
            input, target, weight=self.weight, reduction=self.reduction
        )


class BCEWithLogitsLoss(_WeightedLoss):
    """`functional.binary_cross_entropy_with_logits`."""

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """`functional.multilabel_soft_margin_loss`."""

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )


class MultiLabelMarginLoss(_Loss):
    """`functional.multilabel_margin_loss`: of scores and lists of class numbers."""

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """`functional.multi_margin_loss`. ValueError unless p is 1 or 2 and weights are a vector."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"only p == 1 and p == 2 supported, not {p}")
        if weight is not None and weight.ndim != 1:
            raise ValueError(
                "MultiMarginLoss: expected weight to be None or 1D tensor, got "
                f"{weight.ndim}D instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


class KLDivLoss(_Loss):
    """`functional.kl_div`: of log-probabilities and probabilities."""

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.kl_div(
            input, target, reduction=self.reduction, log_target=self.log_target
        )


class PoissonNLLLoss(_Loss):
    """`functional.poisson_nll_loss`: of rates, or their logarithms, and counts."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Any:
        return functional.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    """`functional.gaussian_nll_loss`: of means, values and variances."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Any:
        return functional.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class _MarginLoss(_Loss):
    """A loss with a margin."""

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class HingeEmbeddingLoss(_MarginLoss):
    """`functional.hinge_embedding_loss`: of distances, and targets 1 and -1."""

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return functional.hinge_embedding_loss(
            input, target, margin=self.margin, reduction=self.reduction
        )


class CosineEmbeddingLoss(_MarginLoss):
    """`functional.cosine_embedding_loss`: of pairs of vectors, and targets 1 and -1."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Any:
        return functional.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class MarginRankingLoss(_MarginLoss):
    """`functional.margin_ranking_loss`: of pairs of scores, and targets 1 and -1."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Any:
        return functional.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class TripletMarginLoss(_Loss):
    """`functional.triplet_margin_loss`. ValueError unless the margin is positive."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = _positive(self, margin)
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Any:
        return functional.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`functional.triplet_margin_with_distance_loss`. ValueError unless the margin is positive."""

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.distance_function = distance_function or PairwiseDistance()
        self.margin = _positive(self, margin)
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Any:
        return functional.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


def _positive(loss: Module, margin: float) -> float:
    if margin <= 0:
        raise ValueError(
            f"{type(loss).__name__}: expected margin to be greater than 0, got {margin} instead"
        )
    return margin


__getattr__ = missing(__name__)


class CTCLoss(_Loss):
    """`functional.ctc_loss`: of sequences of labels whose alignment is not known."""

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any
    ) -> Any:
        return functional.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
