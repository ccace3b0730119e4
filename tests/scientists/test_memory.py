"""What `gradfn.scipy` computes is freed as soon as nothing refers to it."""

import gc
import weakref
from collections.abc import Callable, Iterator

import pytest

import gradfn
from gradfn.scipy import fixed_point, hvp, implicit, minimize, odeint, quad, sparse_jacobian

Tensor = gradfn.Tensor

ROOT = implicit(gradfn.sqrt, condition=lambda x, a: x * x - a)
MINIMUM = implicit(gradfn.sqrt, objective=lambda x, a: (x * x - a).square().sum())


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    "compute",
    [
        ROOT,
        MINIMUM,
        lambda a: odeint(lambda t, y, a: -a * y, gradfn.ones(2), gradfn.arange(3.0), a),
        lambda a: odeint(
            lambda t, y, a: -a * y, gradfn.ones(2), gradfn.arange(3.0), a, method="Radau"
        ),
        lambda a: quad(lambda x, a: (a * x).cos(), 0, 1, a),
        lambda a: fixed_point(lambda x, a: (a * x).cos(), gradfn.ones(()), a),
    ],
)
def test_graphs_are_freed(compute: Callable[[Tensor], Tensor], create_graph: bool) -> None:
    a = gradfn.tensor(0.8, requires_grad=True)
    result = compute(a)
    (slope,) = gradfn.autograd.grad(result.sum(), a, create_graph=create_graph)
    nodes = [weakref.ref(result.grad_fn), weakref.ref(result.grad_fn.what)]
    del result, slope
    assert [node() for node in nodes] == [None, None]


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("method", ["BFGS", "trust-ncg", "trust-exact"])
def test_minimising_leaves_nothing_behind(method: str) -> None:
    for _ in range(2):  # the first time modules are imported and operators compiled
        gc.collect()
        minimize(lambda x: (x**4).sum(), gradfn.ones(3), method=method)
        hvp(lambda x: (x**4).sum(), gradfn.ones(3), gradfn.ones(3))
        sparse_jacobian(lambda x: x**4, gradfn.ones(3))
    assert gc.collect() == 0
