"""The adaptive softmax: frequent classes by themselves, rare ones in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...missing import missing
from ...ops.extrema import argmax
from ...tensor import Tensor
from .. import functional
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """The log-probability of each target, and the mean of their negatives."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-softmax of many classes by frequency: `torch.nn.AdaptiveLogSoftmaxWithLoss`.

    The classes, sorted from frequent to rare, are cut at `cutoffs`. The `head` has those of the
    first part and one for each further cluster, whose own classes are scored by the `tail`, through
    ``in_features / div_value ** number`` features. Shapes: (N, in_features) and targets (N), or
    both without N. Raises ValueError for cutoffs that are not increasing numbers of classes,
    RuntimeError for targets that are no class. Grave et al. (2017).

    >>> from gradfn import nn, ones, tensor
    >>> layer = nn.AdaptiveLogSoftmaxWithLoss(8, 10, cutoffs=[4])
    >>> layer(ones(2, 8), tensor([0, 9])).output.shape
    torch.Size([2])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = _checked(cutoffs, n_classes)
        options = {"device": device, "dtype": dtype}
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for number, (low, high) in enumerate(pairwise(self.cutoffs), start=1):
            width = int(in_features // div_value**number)
            projection = Linear(in_features, width, bias=False, **options)
            self.tail.append(
                Sequential(projection, Linear(width, high - low, bias=False, **options))
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for projection, scores in self.tail:
            projection.reset_parameters()
            scores.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        alone = _check_shapes(input_, target_)
        input: Any = input_.unsqueeze(0) if alone else input_
        target: Any = target_.unsqueeze(0) if alone else target_
        inside = (target >= 0) & (target < self.n_classes)
        if not inside.all():
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        in_head, own = target.clone(), input.new_zeros(target.size(0))
        for number, (low, high) in enumerate(pairwise(self.cutoffs)):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            in_head[rows] = self.shortlist_size + number
            scores = functional.log_softmax(self.tail[number](input.index_select(0, rows)), dim=1)
            within = (target.index_select(0, rows) - low).unsqueeze(1)
            own.index_copy_(0, rows, scores.gather(1, within).squeeze(1))
        head = functional.log_softmax(self.head(input), dim=1)
        output = own + head.gather(1, in_head.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if alone else output, loss)

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        """The log-probabilities of all classes, given the scores of the head."""
        result = input.new_empty((head_output.size(0), self.n_classes))
        head: Any = functional.log_softmax(head_output, dim=1)
        first = self.shortlist_size
        result[:, :first] = head[:, :first]
        for number, (low, high) in enumerate(pairwise(self.cutoffs)):
            own = functional.log_softmax(self.tail[number](input), dim=1)
            result[:, low:high] = own + head[:, first + number].unsqueeze(1)
        return result

    def log_prob(self, input: Tensor) -> Any:
        """The log-probabilities of all classes, (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """The most probable class for each row: clusters are scored only where one of them may be
        the most probable."""
        scores: Any = self.head(input)
        best: Any = argmax(scores, dim=1)
        rare = best >= self.shortlist_size
        if rare.all():
            return argmax(self.log_prob(input), dim=1)
        if rare.any():
            full = self._get_full_log_prob(input[rare], scores[rare])
            best[rare] = argmax(full, dim=1)
        return best


def _checked(cutoffs: Sequence[int], n_classes: int) -> list[int]:
    listed = list(cutoffs)
    if not listed:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    increasing = listed == sorted(set(listed)) and listed[0] > 0 and listed[-1] < n_classes
    if not increasing or any(int(cut) != cut for cut in listed):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
            f"order, where each value is between 1 and n_classes-1: they are {listed}, with "
            f"{n_classes} classes"
        )
    return listed


def _check_shapes(input: Tensor, target: Tensor) -> bool:
    """Whether there is no batch; RuntimeError where the shapes do not fit."""
    if target.dim() > 1:
        raise RuntimeError(
            "0D or 1D target tensor expected, multi-target not supported: it has shape "
            f"{list(target.shape)}"
        )
    if target.dim() == 1 and input.shape[0] != target.shape[0]:
        raise RuntimeError(
            "Input and target should have the same size in the batch dimension: they have shapes "
            f"{list(input.shape)} and {list(target.shape)}"
        )
    if target.dim() == 0 and input.dim() != 1:
        raise RuntimeError(
            f"0D target tensor expects 1D input tensors, but found inputs with size {input.shape}"
        )
    return target.dim() == 0


__getattr__ = missing(__name__)
