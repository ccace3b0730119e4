"""Function transforms through what SciPy computes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn.autograd import gradcheck
from gradfn.func import grad, jacfwd, jacrev, jvp, vmap
from gradfn.scipy import directional_derivatives, gnvp, hvp, implicit, laplacian, odeint, quad

Tensor = gradfn.Tensor


@implicit(condition=lambda x, a: x**3 - a)
def cube_root(a: Tensor) -> Tensor:
    return gradfn.tensor(np.cbrt(a.numpy()))


def decayed(rate: Tensor) -> Tensor:
    t = gradfn.tensor([0.0, 2.0], dtype=gradfn.float64)
    y0, options = gradfn.ones_like(rate), {"method": "DOP853", "rtol": 1e-10, "atol": 1e-11}
    return odeint(lambda t, y, rate: -rate * y, y0, t, rate, **options)[1]  # type: ignore[no-any-return]


def integrated(rate: Tensor) -> Tensor:
    f: Any = lambda x, rate: (-rate * x).exp()  # noqa: E731
    return quad(f, 0, gradfn.inf, rate, epsrel=1e-12)  # type: ignore[no-any-return]


CLOSED: list[tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]] = [
    (cube_root, lambda a: a ** (1 / 3)),
    (decayed, lambda rate: (-2 * rate).exp()),
    (integrated, lambda rate: 1 / rate),
]
X = gradfn.tensor([0.7, 2.0], dtype=gradfn.float64)

each = pytest.mark.parametrize(("f", "closed"), CLOSED, ids=["implicit", "odeint", "quad"])


def twice(outer: Any, inner: Any) -> Any:
    return lambda f: outer(inner(f))


def assert_alike(transform: Any, f: Any, closed: Any) -> None:
    assert gradfn.allclose(transform(f)(X), transform(closed)(X), atol=1e-8)


@each
@pytest.mark.parametrize("outer", [jacfwd, jacrev])
@pytest.mark.parametrize("inner", [jacfwd, jacrev])
def test_second_derivatives_by_every_mode(f: Any, closed: Any, outer: Any, inner: Any) -> None:
    assert_alike(twice(outer, inner), f, closed)


@each
def test_tangents(f: Any, closed: Any) -> None:
    v = gradfn.tensor([1.0, -2.0], dtype=gradfn.float64)
    assert_alike(lambda f: lambda x: jvp(f, (x,), (v,))[1], f, closed)
    assert gradcheck(f, X.clone().requires_grad_(), check_forward_ad=True)


@each
def test_batches_of_gradients(f: Any, closed: Any) -> None:
    assert_alike(lambda f: vmap(twice(grad, grad)(f)), f, closed)


def test_batches_of_products() -> None:
    def f(x: Tensor) -> Tensor:
        return x.exp().prod()

    x, v = X.expand(3, 2) + gradfn.arange(3)[:, None], gradfn.ones(3, 2, dtype=gradfn.float64)
    for product in (
        lambda x, v: hvp(f, x, v),
        lambda x, v: gnvp(gradfn.exp, x, v),
        lambda x, v: directional_derivatives(f, x, v, order=2)[2],
        lambda x, v: laplacian(f, x) * v,
    ):
        singles = [product(a, b) for a, b in zip(x, v, strict=True)]
        assert gradfn.allclose(vmap(product)(x, v), gradfn.stack(singles))
