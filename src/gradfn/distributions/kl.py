"""Kullback-Leibler divergences, by the types of both distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..ops.comparison import where
from ..ops.solvers import linalg_solve_triangular
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .log_normal import LogNormal
from .multivariate_normal import MultivariateNormal, squared_mahalanobis
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import euler_constant, softplus, sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

Rule = Callable[[Any, Any], Any]
_RULES: dict[tuple[type, type], Rule] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Rule], Rule]:
    """Register a function of (p, q) for `kl_divergence` of these classes and their subclasses."""
    if not (isinstance(type_p, type) and issubclass(type_p, Distribution)):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not (isinstance(type_q, type) and issubclass(type_q, Distribution)):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def decorator(rule: Rule) -> Rule:
        _RULES[type_p, type_q] = rule
        return rule

    return decorator


def kl_divergence(p: Any, q: Any) -> Any:
    """``∫ p(x) log(p(x) / q(x)) dx``, for each of the batch. NotImplementedError without a rule.

    >>> from gradfn import tensor
    >>> from gradfn.distributions import Normal
    >>> kl_divergence(Normal(tensor(0.0), 1.0), Normal(tensor(1.0), 1.0))
    tensor(0.5000)
    """
    found = _find(type(p), type(q))
    if found is None:
        raise NotImplementedError(
            "No KL(p || q) is implemented for p type "
            f"{type(p).__name__} and q type {type(q).__name__}"
        )
    return found(p, q)


def _find(type_p: type, type_q: type) -> Rule | None:
    """The rule of the nearest classes, those of p first."""
    for a in type_p.__mro__:
        for b in type_q.__mro__:
            if (a, b) in _RULES:
                return _RULES[a, b]
    return None


def _infinite(like: Any) -> Any:
    return like.new_full(tuple(like.shape), math.inf)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    t1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    t1 = where(q.probs == 0, math.inf, t1)
    t1 = where(p.probs == 0, 0.0, t1)
    t2 = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    t2 = where(q.probs == 1, math.inf, t2)
    return t1 + where(p.probs == 1, 0.0, t2)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if bool((q.total_count < p.total_count).any()):
        raise NotImplementedError("KL between Binomials where q.total_count < p.total_count")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return where(p.total_count > q.total_count, math.inf, kl)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms = where((q.probs == 0).expand_as(terms), math.inf, terms)
    return where((p.probs == 0).expand_as(terms), 0.0, terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    distance = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + distance - 1 - ratio.log())


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot "
            f"be computed: {tuple(p.event_shape)} and {tuple(q.event_shape)}"
        )
    half_log_dets = q._half_log_det - p._half_log_det
    solved = linalg_solve_triangular(
        q._unbroadcasted_scale_tril, p._unbroadcasted_scale_tril, upper=False
    )
    trace = solved.pow(2).sum((-2, -1))
    distance = squared_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    return half_log_dets + 0.5 * (trace + distance - p.event_shape[0])


@register_kl(LogNormal, LogNormal)
def _log_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    total_p = p.concentration1 + p.concentration0
    total_q = q.concentration1 + q.concentration0
    return (
        q.concentration1.lgamma()
        + q.concentration0.lgamma()
        + total_p.lgamma()
        - (p.concentration1.lgamma() + p.concentration0.lgamma() + total_q.lgamma())
        + (p.concentration1 - q.concentration1) * p.concentration1.digamma()
        + (p.concentration0 - q.concentration0) * p.concentration0.digamma()
        + (total_q - total_p) * total_p.digamma()
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    total_p, total_q = p.concentration.sum(-1), q.concentration.sum(-1)
    log_norms = (q.concentration.lgamma() - p.concentration.lgamma()).sum(-1)
    difference = p.concentration - q.concentration
    slopes = p.concentration.digamma() - total_p.digamma().unsqueeze(-1)
    return total_p.lgamma() - total_q.lgamma() + log_norms + (difference * slopes).sum(-1)


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    return (
        q.concentration * (p.rate / q.rate).log()
        + q.concentration.lgamma()
        - p.concentration.lgamma()
        + (p.concentration - q.concentration) * p.concentration.digamma()
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    together = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return together - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    mine, theirs = p.loc / q.scale, q.loc / q.scale
    t3 = (theirs - mine + (1 + ratio).lgamma()).exp()
    return -ratio.log() - theirs + mine + ratio * euler_constant + t3 - (1 + euler_constant)


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    scales, alphas = p.scale / q.scale, q.alpha / p.alpha
    kl = q.alpha * scales.log() - alphas.log() + alphas - 1
    return where(p.support.lower_bound < q.support.lower_bound, math.inf, kl)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    kl = ((q.high - q.low) / (p.high - p.low)).log()
    return where((q.low > p.low) | (q.high < p.high), math.inf, kl)


@register_kl(Uniform, Normal)
def _uniform_normal(p: Any, q: Any) -> Any:
    width = p.high - p.low
    off = (0.5 * (p.high + p.low - 2 * q.loc)).pow(2)
    log_ratio = (math.sqrt(math.pi * 2) * q.scale / width).log()
    return log_ratio + (width.pow(2) / 12 + off) / (2 * q.scale.pow(2))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    off = p.loc - q.loc
    ratio, standard = p.scale / q.scale, off / p.scale
    log_ratio = ratio.log()
    spread = math.sqrt(2 / math.pi) * p.scale * (-0.5 * standard.pow(2)).exp()
    return (
        -log_ratio
        + (spread + off * (math.sqrt(0.5) * standard).erf()) / q.scale
        - (0.5 * (1 + math.log(0.5 * math.pi)))
    )


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL between Independents of different numbers of dimensions")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL between distributions of different transforms")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Normal, Uniform)
@register_kl(Laplace, Uniform)
@register_kl(Exponential, Uniform)
@register_kl(Gamma, Uniform)
@register_kl(Cauchy, Uniform)
def _beyond(p: Any, q: Any) -> Any:
    """q gives no probability to some of what p does."""
    return _infinite(p.mean + q.low)


@register_kl(Poisson, Bernoulli)
@register_kl(Poisson, Binomial)
def _unbounded(p: Any, q: Any) -> Any:
    return _infinite(p.rate + q.probs)
