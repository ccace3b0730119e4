"""`Binomial`."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..ops.sampling import binomial
from ..ranges import arange
from . import constraints
from .by_probabilities import ByProbabilities
from .utils import broadcast_all

__all__ = ["Binomial"]


class Binomial(ByProbabilities):
    """The successes among `total_count` trials, each of probability `probs`."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits)
        name = "probs" if "probs" in self.__dict__ else "logits"
        self.total_count, self.__dict__[name] = broadcast_all(total_count, self._param)
        self.total_count = self.total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        log_ways = (
            (self.total_count + 1).lgamma()
            - (value + 1).lgamma()
            - (self.total_count - value + 1).lgamma()
        )
        logits = self.logits
        log_both_ways = (
            self.total_count * _above_zero(logits)
            + self.total_count * (-logits.abs()).exp().log1p()
        )
        return value * logits - log_both_ways + log_ways

    def entropy(self) -> Any:
        if not bool((self.total_count == self.total_count.max()).all()):
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        total = int(self.total_count.max().item())
        if not bool((self.total_count.min() == total).all()):
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `enumerate_support`."
            )
        values = arange(1 + total, dtype=self._param.dtype)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


def _above_zero(x: Any) -> Any:
    """``max(x, 0)``, with a derivative of 1/2 at 0."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2
