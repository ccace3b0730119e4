"""`ExponentialFamily`: entropy by the derivative of the log normalizer."""

from __future__ import annotations

from typing import Any

from ..autograd.backward import grad
from .distribution import Distribution
from .utils import sum_rightmost


class ExponentialFamily(Distribution):
    """``p(x; θ) = exp(<t(x), η(θ)> - A(η) + k(x))``, with natural parameters η."""

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def entropy(self) -> Any:
        result = -self._mean_carrier_measure
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        log_normalizer = self._log_normalizer(*natural)
        slopes = grad(log_normalizer.sum(), natural, create_graph=True)
        result += log_normalizer
        for parameter, slope in zip(natural, slopes, strict=True):
            product = parameter * slope
            result -= sum_rightmost(product, len(self.event_shape))
        return result
