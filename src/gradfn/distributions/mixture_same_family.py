"""`MixtureSameFamily`."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..ops.softmaxes import log_softmax
from ..shapes import Size
from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture whose components are the last batch dimension of one distribution.

    ``p(x) = Σ_k mixture.probs[k] component_k(x)``.
    """

    arg_constraints: dict[str, Any] = {}
    has_rsample = False

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an instance of torch.distributions."
                f"Categorical, but got {type(mixture_distribution).__name__}"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution need to be an instance of torch.distributions."
                f"Distribution, but got {type(component_distribution).__name__}"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        sizes = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if sizes[0] != sizes[1]:
            raise ValueError(
                f"`mixture_distribution component` ({sizes[0]}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({sizes[1]})"
            )
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(
            component_distribution.batch_shape[:-1],
            component_distribution.event_shape,
            validate_args=validate_args,
        )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        batch_shape = Size(batch_shape)
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        components = self._mixture_distribution.logits.shape[-1]
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._component_distribution = self._component_distribution.expand(
            (*batch_shape, components)
        )
        new._event_ndims = self._event_ndims
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of the component's index."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    def _weights(self) -> Any:
        probs = self._mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    @property
    def mean(self) -> Any:
        means = self._component_distribution.mean
        return (self._weights() * means).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Any:
        dim = -1 - self._event_ndims
        within = (self._weights() * self._component_distribution.variance).sum(dim)
        off = self._component_distribution.mean - self.mean.unsqueeze(dim)
        return within + (self._weights() * off.pow(2.0)).sum(dim)

    def cdf(self, x: Any) -> Any:
        values = self._component_distribution.cdf(self._pad(x))
        return (values * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Any) -> Any:
        if self._validate_args:
            self._validate_sample(x)
        log_components = self._component_distribution.log_prob(self._pad(x))
        log_weights = log_softmax(self._mixture_distribution.logits, dim=-1)
        return (log_components + log_weights).logsumexp(dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            sample_shape = Size(sample_shape)
            dim = len(sample_shape) + len(self.batch_shape)
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            index = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            wide = list(drawn.shape)
            wide[dim] = 1
            return drawn.gather(dim, index.expand(wide)).squeeze(dim)

    def _pad(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
        )
