"""Random tensors: for one seed, those of PyTorch; their graphs, generators and errors."""

from __future__ import annotations

from types import ModuleType

import pytest

import gradfn
from parity import described, evaluate, not_mkl

DRAWN = [
    "torch.rand(5), torch.rand((2, 3)), torch.rand(size=(1,)), torch.rand(())",
    "torch.rand(3, dtype=torch.float64), torch.rand(2, dtype=torch.complex64)",
    "torch.randn(5), torch.randn(17), torch.randn(2, dtype=torch.complex64)",
    "torch.randint(10, (5,)), torch.randint(-3, 3, (2, 2)), torch.randint(high=3, size=(2,))",
    "torch.randint(3, (2,), dtype=torch.float32), torch.randint(low=1, high=9, size=(4,))",
    "torch.randperm(7), torch.randperm(3, dtype=torch.float32)",
    "torch.rand_like(torch.ones(2, 3).t()), torch.randn_like(torch.ones(4, 5).t())",
    "torch.randint_like(torch.ones(3), 5), torch.randint_like(torch.ones(3), 5, 9)",
    "torch.rand(2, 2, requires_grad=True)",
    "torch.normal(0.0, 2.0, (3,)), torch.normal(1, 2, size=(3,))",
    "torch.normal(torch.arange(3.0), 2.0), torch.normal(torch.arange(3.0))",
    "torch.normal(1.0, torch.arange(1.0, 4)), torch.normal(torch.zeros(2, 1), torch.ones(3))",
    "torch.bernoulli(torch.full((6,), 0.5)), torch.full((3,), 0.5).bernoulli()",
    "torch.ones(2, 3).multinomial(4, True)",
    "torch.poisson(torch.full((5,), 3.0))",
    "torch.empty(5).uniform_(), torch.empty(5).uniform_(-1, 1), torch.empty(3).uniform_(to=3.0)",
    "torch.empty(5).normal_(), torch.empty(5).normal_(1, 2), torch.empty(20).normal_(std=3.0)",
    "torch.empty(3, 4).t().uniform_(), torch.empty(3, 7).t().normal_()",
    "torch.empty(5).random_(), torch.empty(5).random_(9), torch.empty(5).random_(3, 6)",
    "torch.empty(4, dtype=torch.int64).random_(), torch.empty(4, dtype=torch.bool).random_()",
    "torch.empty(2, 3).bernoulli_(torch.tensor([0.1, 0.5, 0.9]))",
    "torch.empty(3).geometric_(0.3), torch.empty(3).cauchy_(), torch.empty(3).log_normal_()",
    "torch.rand(2), torch.set_rng_state(torch.get_rng_state()), torch.rand(2)",
    "torch.initial_seed(), torch.manual_seed(-1).initial_seed()",
    "torch.rand(2, generator=torch.Generator().manual_seed(3)), torch.rand(2)",
]

DRAWN_FROM_MKL_ON_INTEL = [
    "torch.ones(5).bernoulli(0.4), torch.empty(5).bernoulli_(), torch.empty(5).bernoulli_(0.2)",
    "torch.empty(3).exponential_(), torch.empty(3).exponential_(2.0)",
    "torch.multinomial(torch.tensor([1.0, 2, 3]), 2)",
]

GRAPHS = [
    f"(torch.ones(3, requires_grad=True) * 2).{call}.grad_fn.name()"
    for call in (
        *("uniform_()", "normal_()", "exponential_()", "geometric_(0.5)", "cauchy_()"),
        *("log_normal_()", "random_()", "random_(5)", "random_(2, 5)", "bernoulli_()"),
        *("bernoulli_(torch.ones(3))", "mul(0).bernoulli()"),
    )
] + [
    "torch.normal(torch.zeros(2, requires_grad=True), 1.0).grad_fn.name()",
    "torch.normal(1.0, torch.ones(2, requires_grad=True)).grad_fn.name()",
    "torch.normal(torch.zeros(2), torch.ones(2, requires_grad=True)).grad_fn.name()",
    "torch.poisson(torch.ones(2, requires_grad=True)).grad_fn.name()",
    "torch.multinomial(torch.ones(2, requires_grad=True), 1).grad_fn",
]

ERRORS: list[tuple[str, type[Exception], str]] = [
    ("torch.rand()", TypeError, "rand() missing 1 required positional arguments"),
    ("torch.rand(2, dtype=torch.int64)", NotImplementedError, '"check_uniform_bounds" not implem'),
    ("torch.randint(3, 5)", TypeError, "randint(): argument 'size' (position 2) must be tuple of"),
    ("torch.randint(3, 3, (2,))", RuntimeError, "random_ expects 'from' to be less than 'to'"),
    ("torch.randint(3.5, (2,))", TypeError, "randint(): argument 'high' must be int, not float"),
    ("torch.randperm(2.5)", TypeError, "randperm(): argument 'n' (position 1) must be int"),
    ("torch.normal(0.0, 1.0)", TypeError, "normal() received an invalid combination of arguments"),
    ("torch.normal(torch.zeros(2), -1.0)", RuntimeError, "normal expects std >= 0.0, but found"),
    ("torch.normal(torch.zeros(2), -torch.ones(2))", RuntimeError, "normal expects all elements"),
    ("torch.normal(torch.zeros(2), torch.ones(3))", RuntimeError, "The size of tensor a (2) must"),
    ("torch.multinomial(torch.ones(3), 4)", RuntimeError, "cannot sample n_sample > prob_dist.si"),
    ("torch.ones(1, requires_grad=True).uniform_()", RuntimeError, "a leaf Variable that requires"),
    ("torch.set_rng_state(3)", TypeError, "expected a torch.ByteTensor, but got int"),
]


@pytest.fixture(autouse=True)
def seeded() -> None:
    gradfn.manual_seed(0)


@pytest.mark.parametrize("expression", [*DRAWN, *GRAPHS, *(e for e, *_ in ERRORS)])
def test_parity(oracle: ModuleType, expression: str) -> None:
    oracle.manual_seed(0)
    assert described(expression, gradfn) == described(expression, oracle)


@not_mkl
@pytest.mark.parametrize("expression", DRAWN_FROM_MKL_ON_INTEL)
def test_parity_without_mkl(oracle: ModuleType, expression: str) -> None:
    test_parity(oracle, expression)


@pytest.mark.parametrize(("expression", "error", "phrase"), ERRORS)
def test_errors(expression: str, error: type[Exception], phrase: str) -> None:
    with pytest.raises(error) as caught:
        evaluate(expression, gradfn)
    assert str(caught.value).startswith(phrase)


def test_a_seed_repeats_itself() -> None:
    first = gradfn.rand(3)
    gradfn.manual_seed(0)
    assert gradfn.rand(3).tolist() == first.tolist()
    assert repr(first) == "tensor([0.4963, 0.7682, 0.0885])"


def test_a_generator_leaves_the_default_one_alone() -> None:
    state = gradfn.get_rng_state()
    gradfn.rand(3, generator=gradfn.Generator())
    assert gradfn.get_rng_state().tolist() == state.tolist()
    with pytest.raises(TypeError, match=r"^argument 'generator' must be torch.Generator, not int"):
        gradfn.rand(3, generator=3)


def test_fork_gives_the_state_back() -> None:
    with gradfn.random.fork_rng():
        inside = gradfn.rand(2)
    assert gradfn.rand(2).tolist() == inside.tolist()


def test_gradients_of_what_was_overwritten_are_zero() -> None:
    x = gradfn.ones(3, requires_grad=True)
    (x * 2).uniform_().sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_results_are_written_where_out_says() -> None:
    out = gradfn.empty(2, dtype=gradfn.int64)
    assert gradfn.multinomial(gradfn.tensor([0.0, 1.0]), 2, True, out=out) is out
    assert out.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match=r"^multinomial expects Long tensor out, got: Float"):
        gradfn.multinomial(gradfn.ones(2), 2, True, out=gradfn.empty(2))
    with pytest.raises(RuntimeError, match=r"don't support automatic differentiation"):
        gradfn.bernoulli(gradfn.ones(2), out=gradfn.ones(2, requires_grad=True))
