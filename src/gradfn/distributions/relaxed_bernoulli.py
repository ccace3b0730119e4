"""The relaxation of `Bernoulli`: Maddison et al. 2017, Jang et al. 2017."""

from __future__ import annotations

from typing import Any

from ..sampling import rand
from . import constraints
from .by_probabilities import ByProbabilities
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import clamp_probs, log_of

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(ByProbabilities):
    """The log-odds of a `RelaxedBernoulli`: a logistic number over the temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.temperature = self.temperature
        return new

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        uniforms = clamp_probs(rand(tuple(shape), dtype=probs.dtype))
        noise = uniforms.log() - (-uniforms).log1p()
        return (noise + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = self._beside(self.logits, value)
        difference = logits - value.mul(self.temperature)
        return log_of(self.temperature) + difference - 2 * difference.exp().log1p()


class OfTemperature(TransformedDistribution):
    """A relaxation as a transform of its log-odds or log-probabilities."""

    has_rsample = True
    base_dist: Any

    @property
    def temperature(self) -> Any:
        """How soft values are: near 0 they are discrete."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The logits of the discrete distribution."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The probabilities of the discrete distribution."""
        return self.base_dist.probs


class RelaxedBernoulli(OfTemperature):
    """Numbers in (0, 1) that become those of a `Bernoulli` as the temperature falls to 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(RelaxedBernoulli, _instance))
