"""Distributions beside PyTorch's: samples of one seed, densities, moments, gradients, texts."""

from __future__ import annotations

import math
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn import distributions
from parity import not_mkl

A, B, C = "[0.5, 2.0, 3.5]", "[1.5, 0.25, 4.0]", "[0.2, 0.5, 0.9]"
SQUARE = "[[2.0, 0.3], [0.3, 1.0]]"
TRIANGLE = "[[1.4, 0.0], [0.2, 0.9]]"

# name: its call, whose tensors are leaves; a value; whether it has a distribution function.
CASES: dict[str, tuple[str, str, bool]] = {
    "Normal": (f"Normal(t({A}), t({B}))", A, True),
    "Normal of numbers": ("Normal(0.5, 2)", "0.25", True),
    "Uniform": (f"Uniform(t([0.0, 1.0, -2.0]), t({B}) + 3)", "[0.5, 2.0, -1.0]", True),
    "Bernoulli": (f"Bernoulli(t({C}))", "[0.0, 1.0, 1.0]", False),
    "Bernoulli of logits": (f"Bernoulli(logits=t({A}))", "[0.0, 1.0, 1.0]", False),
    "Categorical": (f"Categorical(t([{A}, {B}]))", "[2, 0]", False),
    "Categorical of logits": (f"Categorical(logits=t({A}))", "1", False),
    "OneHotCategorical": (f"OneHotCategorical(t({A}))", "[0.0, 1.0, 0.0]", False),
    "OneHotCategoricalStraightThrough": (
        f"OneHotCategoricalStraightThrough(t({A}))",
        "[0.0, 1.0, 0.0]",
        False,
    ),
    "Gamma": (f"Gamma(t({A}), t({B}))", A, True),
    "Chi2": (f"Chi2(t({A}))", A, True),
    "Exponential": (f"Exponential(t({B}))", A, True),
    "Laplace": (f"Laplace(t({A}), t({B}))", B, True),
    "Cauchy": (f"Cauchy(t({A}), t({B}))", B, True),
    "Geometric": (f"Geometric(t({C}))", "[0.0, 1.0, 2.0]", False),
    "Poisson": (f"Poisson(t({A}))", "[0.0, 1.0, 5.0]", False),
    "Dirichlet": (f"Dirichlet(t([{A}, {B}]))", "[0.25, 0.25, 0.5]", False),
    "Beta": (f"Beta(t({A}), t({B}))", C, False),
    "LogNormal": (f"LogNormal(t({A}), t({B}))", B, True),
    "HalfNormal": (f"HalfNormal(t({B}))", A, True),
    "HalfCauchy": (f"HalfCauchy(t({B}))", A, True),
    "Gumbel": (f"Gumbel(t({A}), t({B}))", "[0.5, 2.2, 0.9]", True),
    "Weibull": (f"Weibull(t({A}), t({B}))", C, True),
    "Pareto": (f"Pareto(t({C}), t({B}) + 2)", A, True),
    "StudentT": (f"StudentT(t({A}), t({B}), t({B}))", C, False),
    "MultivariateNormal": (f"MultivariateNormal(t([0.5, 1.0]), t({SQUARE}))", "[1.0, 2.0]", False),
    "MultivariateNormal of precision": (
        f"MultivariateNormal(t([0.5, 1.0]), precision_matrix=t({SQUARE}))",
        "[1.0, 2.0]",
        False,
    ),
    "MultivariateNormal of factor": (
        f"MultivariateNormal(t([[0.5, 1.0], [0.0, 1.0]]), scale_tril=t({TRIANGLE}))",
        "[1.0, 2.0]",
        False,
    ),
    "Multinomial": (f"Multinomial(5, t({A}))", "[1.0, 2.0, 2.0]", False),
    "Binomial": (f"Binomial(6, t({C}))", "[0.0, 3.0, 6.0]", False),
    "NegativeBinomial": (f"NegativeBinomial(3, t({C}))", "[0.0, 3.0, 6.0]", False),
    "RelaxedBernoulli": (f"RelaxedBernoulli(torch.tensor(0.5), t({C}))", "[0.1, 0.3, 0.6]", False),
    "RelaxedOneHotCategorical": (
        f"RelaxedOneHotCategorical(torch.tensor(0.5), t({A}))",
        "[0.25, 0.25, 0.5]",
        False,
    ),
    "LogisticNormal": (f"LogisticNormal(t({A}), t({B}))", "[0.1, 0.2, 0.3, 0.4]", False),
    "Independent": (f"Independent(Normal(t([{A}, {B}]), t({B})), 1)", A, False),
    "TransformedDistribution": (
        f"TransformedDistribution(Normal(t({A}), t({B})), [transforms.AffineTransform(1.0, 2.0), "
        "transforms.SigmoidTransform()])",
        C,
        True,
    ),
    "MixtureSameFamily": (
        f"MixtureSameFamily(Categorical(t({A})), Normal(t({A}), t({B})))",
        "0.5",
        True,
    ),
    "MixtureSameFamily of vectors": (
        f"MixtureSameFamily(Categorical(t({A})), Independent(Normal(t([{A}, {B}, {C}]), "
        f"t({B})), 1))",
        A,
        False,
    ),
}


def build(torch: Any, text: str) -> tuple[Any, list[Any]]:
    """The distribution that `text` makes, and the leaves it makes it from."""
    leaves: list[Any] = []

    def leaf(values: Any) -> Any:
        leaves.append(torch.tensor(values, requires_grad=True))
        return leaves[-1]

    names = dict(vars(torch.distributions)) | {"t": leaf, "torch": torch}
    return eval(text, names), leaves


def numbers(value: Any) -> Any:
    return None if value is None else value.detach().numpy()


def outcome(compute: Any) -> Any:
    """What `compute` gives, or the type of its refusal."""
    try:
        return numbers(compute())
    except NotImplementedError:
        return "NotImplementedError"


def compare(found: Any, wanted: Any, what: str, rtol: float = 2e-5) -> None:
    if isinstance(wanted, str) or isinstance(found, str) or wanted is None:
        assert found == wanted, what
    else:
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-6, err_msg=what)


each = pytest.mark.parametrize("name", CASES)


@each
def test_moments_densities_and_texts_are_pytorchs(oracle: ModuleType, name: str) -> None:
    call, value, has_cdf = CASES[name]
    mine, theirs = (build(torch, call)[0] for torch in (gradfn, oracle))
    assert repr(mine) == repr(theirs)
    for field in ("batch_shape", "event_shape", "has_rsample", "has_enumerate_support"):
        assert getattr(mine, field) == getattr(theirs, field), field
    assert repr(mine.support) == repr(theirs.support)
    for field in ("mean", "mode", "variance", "stddev"):
        compare(*(outcome(partial(getattr, d, field)) for d in (mine, theirs)), field)
    compare(*(outcome(d.entropy) for d in (mine, theirs)), "entropy")
    compare(
        *(outcome(lambda d=d: d.enumerate_support()) for d in (mine, theirs)), "enumerate_support"
    )
    point = eval(value)
    densities = [d.log_prob(t.tensor(point)) for d, t in ((mine, gradfn), (theirs, oracle))]
    compare(numbers(densities[0]), numbers(densities[1]), "log_prob")
    assert densities[0].dtype == gradfn.float32
    if has_cdf:
        pairs = ((mine, gradfn), (theirs, oracle))
        compare(*(outcome(lambda d=d, t=t: d.cdf(t.tensor(point))) for d, t in pairs), "cdf")
        compare(*(outcome(lambda d=d, t=t: d.icdf(t.tensor(0.25))) for d, t in pairs), "icdf")


@each
def test_gradients_of_densities_are_pytorchs(oracle: ModuleType, name: str) -> None:
    call, value, _ = CASES[name]
    found = []
    for torch in (gradfn, oracle):
        distribution, leaves = build(torch, call)
        log_prob = distribution.log_prob(torch.tensor(eval(value)))
        if leaves:
            log_prob.sum().backward()
        found.append([numbers(leaf.grad) for leaf in leaves])
    for mine, theirs in zip(*found, strict=True):
        compare(mine, theirs, name, rtol=1e-4)


def empty_sample(distribution: Any) -> Any:
    """The shape of no samples, or the type of the refusal."""
    try:
        return tuple(distribution.sample((0,)).shape)
    except RuntimeError as error:
        return type(error).__name__


@not_mkl
@each
def test_samples_are_pytorchs(oracle: ModuleType, name: str) -> None:
    call, _, _ = CASES[name]
    found = []
    for torch in (gradfn, oracle):
        distribution, leaves = build(torch, call)
        torch.manual_seed(5)
        drawn = [distribution.sample(), distribution.sample((4, 2))]
        assert not any(sample.requires_grad for sample in drawn)
        assert empty_sample(distribution) == empty_sample(build(oracle, call)[0])
        gradients: list[Any] = []
        if distribution.has_rsample:
            smooth = distribution.rsample((3,))
            drawn.append(smooth)
            if leaves:
                smooth.atan().sum().backward()
            gradients = [numbers(leaf.grad) for leaf in leaves]
        found.append([*map(numbers, drawn), *gradients])
    # The implicit gradients of PyTorch's gamma and Dirichlet numbers are right to two digits.
    rtol = 3e-2 if name in ("Gamma", "Chi2", "Dirichlet", "Beta", "StudentT") else 2e-4
    for mine, theirs in zip(*found, strict=True):
        compare(mine, theirs, name, rtol=rtol)


@each
def test_expanded_distributions_are_pytorchs(oracle: ModuleType, name: str) -> None:
    call, value, _ = CASES[name]
    found = []
    for torch in (gradfn, oracle):
        distribution, _ = build(torch, call)
        wide = distribution.expand((2, *distribution.batch_shape))
        torch.manual_seed(3)
        log_prob = numbers(wide.log_prob(torch.tensor(eval(value))))
        found.append((repr(wide), tuple(wide.batch_shape), log_prob, numbers(wide.sample((2,)))))
    mine, theirs = found
    assert mine[:2] == theirs[:2]
    compare(mine[2], theirs[2], "log_prob")


DIVERGENCES = [
    (f"Normal(t({A}), t({B}))", f"Normal(t({B}), t({A}))"),
    (f"Bernoulli(t({C}))", f"Bernoulli(logits=t({A}))"),
    (f"Categorical(t({A}))", f"Categorical(t({B}))"),
    (f"OneHotCategorical(t({A}))", f"OneHotCategorical(t({B}))"),
    (f"Binomial(4, t({C}))", f"Binomial(4, t({C}) / 2)"),
    (f"Beta(t({A}), t({B}))", f"Beta(t({B}), t({A}))"),
    (f"Gamma(t({A}), t({B}))", f"Gamma(t({B}), t({A}))"),
    (f"Dirichlet(t({A}))", f"Dirichlet(t({B}))"),
    (f"Exponential(t({A}))", f"Exponential(t({B}))"),
    (f"Poisson(t({A}))", f"Poisson(t({B}))"),
    (f"Geometric(t({C}))", f"Geometric(t({C}) / 2)"),
    (f"Laplace(t({A}), t({B}))", f"Laplace(t({B}), t({A}))"),
    (f"Cauchy(t({A}), t({B}))", f"Cauchy(t({B}), t({A}))"),
    (f"Gumbel(t({A}), t({B}))", f"Gumbel(t({B}), t({A}))"),
    (f"LogNormal(t({A}), t({B}))", f"LogNormal(t({B}), t({A}))"),
    (f"HalfNormal(t({A}))", f"HalfNormal(t({B}))"),
    (f"Pareto(t({B}), t({A}))", f"Pareto(t({A}), t({B}))"),
    ("Uniform(0.0, t([1.0, 3.0]))", "Uniform(-1.0, t(2.0))"),
    ("Uniform(0.0, t([1.0, 3.0]))", "Normal(t(0.5), t(2.0))"),
    (f"Normal(t({A}), t({B}))", f"Laplace(t({B}), t({A}))"),
    (f"Normal(t({A}), t({B}))", "Uniform(-1.0, 1.0)"),
    (
        f"MultivariateNormal(t([0.5, 1.0]), t({SQUARE}))",
        f"MultivariateNormal(t([0.0, 1.0]), scale_tril=t({TRIANGLE}))",
    ),
    (
        f"Independent(Normal(t([{A}]), t({B})), 1)",
        f"Independent(Normal(t([{B}]), t({A})), 1)",
    ),
]


@pytest.mark.parametrize(("p", "q"), DIVERGENCES, ids=lambda text: text[:12])
def test_divergences_are_pytorchs(oracle: ModuleType, p: str, q: str) -> None:
    found = []
    for torch in (gradfn, oracle):
        (first, leaves), (second, others) = build(torch, p), build(torch, q)
        divergence = torch.distributions.kl_divergence(first, second)
        if divergence.requires_grad:
            divergence.sum().backward()
        found.append([numbers(divergence), *(numbers(x.grad) for x in leaves + others)])
    for mine, theirs in zip(*found, strict=True):
        compare(mine, theirs, f"{p} || {q}", rtol=1e-4)


def test_divergences_without_a_rule_are_refused_by_name() -> None:
    p, q = distributions.Normal(0.0, 1.0), distributions.Bernoulli(0.5)
    with pytest.raises(NotImplementedError, match="p type Normal and q type Bernoulli"):
        distributions.kl_divergence(p, q)


TRANSFORMS = {
    "ExpTransform()": "[0.5, -1.0, 2.0]",
    "SigmoidTransform()": "[0.5, -1.0, 2.0]",
    "TanhTransform()": "[0.5, -1.0, 2.0]",
    "SoftplusTransform()": "[0.5, -1.0, 2.0]",
    "PowerTransform(torch.tensor(2.0))": "[0.5, 1.0, 2.0]",
    "AffineTransform(1.0, -2.0)": "[0.5, 1.0, 2.0]",
    "AffineTransform(1.0, torch.tensor([2.0, 3.0, 1.0]), event_dim=1)": "[0.5, 1.0, 2.0]",
    "ComposeTransform([ExpTransform(), AffineTransform(0.0, 3.0)])": "[0.5, 1.0, 2.0]",
    "IndependentTransform(ExpTransform(), 1)": "[0.5, 1.0, 2.0]",
    "StickBreakingTransform()": "[0.5, -1.0, 2.0]",
    "CorrCholeskyTransform()": "[0.5, -1.0, 0.25]",
    "ReshapeTransform((4,), (2, 2))": "[0.5, 1.0, 2.0, 3.0]",
    "CatTransform([ExpTransform(), SigmoidTransform()], dim=0, lengths=[1, 2])": "[0.5, 1.0, 2.0]",
    "StackTransform([ExpTransform(), TanhTransform()], dim=0)": "[0.5, 1.0]",
    "CumulativeDistributionTransform(Normal(0.0, 1.0))": "[0.5, 1.0]",
}


@pytest.mark.parametrize("call", TRANSFORMS)
def test_transforms_are_pytorchs(oracle: ModuleType, call: str) -> None:
    found = []
    for torch in (gradfn, oracle):
        names = dict(vars(torch.distributions)) | dict(vars(torch.distributions.transforms))
        transform = eval(call, names | {"torch": torch})
        x = torch.tensor(eval(TRANSFORMS[call]))
        y = transform(x)
        back = transform.inv(y)
        shapes = [tuple(transform.forward_shape(x.shape)), tuple(transform.inverse_shape(y.shape))]
        found.append(
            (
                [repr(transform), repr(transform.inv), transform.bijective, shapes],
                [numbers(v) for v in (y, back, transform.log_abs_det_jacobian(x, y))],
                [repr(transform.domain), repr(transform.codomain)],
            )
        )
    mine, theirs = found
    assert mine[0] == theirs[0]
    assert mine[2] == theirs[2]
    for a, b in zip(mine[1], theirs[1], strict=True):
        compare(a, b, call)


CONSTRAINTS = (
    "real",
    "positive",
    "nonnegative",
    "unit_interval",
    "simplex",
    "lower_cholesky",
    "corr_cholesky",
    "positive_definite",
    "real_vector",
    "greater_than(2.0)",
    "less_than(1.0)",
    "interval(-1.0,3.0)",
    "half_open_interval(0.0,2.0)",
)


@pytest.mark.parametrize("text", CONSTRAINTS)
def test_values_are_sent_onto_constraints_as_pytorch_does(oracle: ModuleType, text: str) -> None:
    found = []
    for torch in (gradfn, oracle):
        constraint = eval(text, dict(vars(torch.distributions.constraints)))
        x = torch.tensor([[0.5, -1.0, 2.0], [1.0, 0.0, -0.3], [0.1, 0.2, 0.3]])
        results = [repr(constraint), numbers(constraint.check(x)).tolist()]
        for registry in (torch.distributions.biject_to, torch.distributions.transform_to):
            results.append(outcome(lambda to=registry, c=constraint, x=x: to(c)(x)))
        found.append(results)
    assert found[0][:2] == found[1][:2]
    for mine, theirs in zip(found[0][2:], found[1][2:], strict=True):
        compare(mine, theirs, text)


REFUSED = {
    "Normal(0.0, -1.0)": "Expected parameter scale",
    "Normal(torch.tensor([0.0, float('nan')]), 1.0)": "Expected parameter loc",
    "Bernoulli(1.5)": "Expected parameter probs",
    "Bernoulli(0.5, 0.5)": "Either `probs` or `logits` must be specified, but not both.",
    "Categorical(torch.tensor(1.0))": "must be at least one-dimensional",
    "Categorical(logits=torch.tensor([0.0, float('nan')]))": "Expected parameter logits",
    "Uniform(2.0, 1.0)": "Expected parameter low|Uniform is not defined",
    "MultivariateNormal(torch.zeros(2))": "Exactly one of covariance_matrix",
    "MultivariateNormal(torch.zeros(2), torch.zeros(2, 2))": "Expected parameter covariance_matrix",
    "Independent(Normal(0.0, 1.0), 1)": "Expected reinterpreted_batch_ndims",
    "Normal(0.0, 1.0).log_prob(torch.tensor(float('nan')))": "Expected value argument",
    "Normal(0.0, 1.0).log_prob(1.0)": "The value argument to log_prob must be a Tensor",
    "Bernoulli(0.5).log_prob(torch.tensor(0.5))": "to be within the support",
    "Normal(torch.zeros(3), 1.0).log_prob(torch.zeros(2))": "Value is not broadcastable",
    "Dirichlet(torch.ones(3)).log_prob(torch.ones(2) / 2)": "The right-most size of value",
    "Normal('a', 1.0)": "Input arguments must all be instances of",
}


@pytest.mark.parametrize("call", REFUSED)
def test_bad_arguments_are_refused_in_pytorchs_words(oracle: ModuleType, call: str) -> None:
    for torch in (gradfn, oracle):
        with pytest.raises(ValueError, match=REFUSED[call]):
            eval(call, dict(vars(torch.distributions)) | {"torch": torch})


def test_validation_can_be_left_out() -> None:
    assert math.isnan(distributions.Normal(0.0, -1.0, validate_args=False).entropy().item())
    distributions.Distribution.set_default_validate_args(False)
    try:
        distributions.Normal(0.0, -1.0)
    finally:
        distributions.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="Expected parameter scale"):
        distributions.Normal(0.0, -1.0)


def test_samples_of_implicit_gradients_follow_their_quantiles() -> None:
    """Between neighbouring concentrations the same quantile moves by the gradient."""
    from scipy.special import gammainc, gammaincinv

    concentration = gradfn.tensor([0.3, 1.0, 5.0, 40.0], dtype=gradfn.float64, requires_grad=True)
    gradfn.manual_seed(0)
    drawn = distributions.Gamma(concentration, gradfn.ones(4, dtype=gradfn.float64)).rsample()
    (slope,) = gradfn.autograd.grad(drawn.sum(), concentration)
    alpha, x, step = concentration.detach().numpy(), drawn.detach().numpy(), 1e-4
    quantile = gammainc(alpha, x)
    moved = gammaincinv(alpha + step, quantile) - gammaincinv(alpha - step, quantile)
    np.testing.assert_allclose(slope.numpy(), moved / (2 * step), rtol=1e-4)


def test_a_cached_transform_gives_the_very_value_back() -> None:
    transform = distributions.transforms.ExpTransform(cache_size=1)
    x = gradfn.tensor([0.3, 0.7])
    assert transform.inv(transform(x)) is x
    assert distributions.transforms.ExpTransform().inv.inv is not None


def test_users_distributions_and_divergences_join_in() -> None:
    class Shifted(distributions.Normal):
        def __init__(self, loc: Any) -> None:
            super().__init__(loc, 1.0)

    @distributions.register_kl(Shifted, Shifted)
    def _constant(p: Any, q: Any) -> Any:
        return p.loc * 0 + 7.0

    p = Shifted(gradfn.tensor(0.0))
    assert distributions.kl_divergence(p, p).item() == 7.0
    assert distributions.kl_divergence(p, distributions.Normal(0.0, 1.0)).item() == 0.0
    with pytest.raises(NotImplementedError, match="must also define a custom"):
        p.expand((2,))


@not_mkl
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(3))
def test_rejection_samplers_are_pytorchs_to_the_last_unit(
    oracle: ModuleType, dtype: str, seed: int
) -> None:
    found = []
    for torch in (gradfn, oracle):
        torch.manual_seed(seed)
        kind = getattr(torch, dtype)
        shapes = torch.tensor([0.0, 0.01, 0.3, 1.0, 2.0, 30.0, 1000.0] * 5, dtype=kind)
        counts = torch.tensor([5.0, 20.0, 100.0, 1000.0, 0.0, 1.0] * 5, dtype=kind)
        chances = torch.tensor([0.1, 0.5, 0.7, 0.01, 0.3, 1.0] * 5, dtype=kind)
        draws = [
            torch._standard_gamma(shapes),
            torch.binomial(counts, chances),
            torch._sample_dirichlet(shapes[1:7].expand(3, 6)),
            torch.rand(1),
            torch.randn(1),
        ]
        found.append([numbers(drawn) for drawn in draws])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=4e-16)
