"""Products with Hessians and the operators of vector analysis in `gradfn.scipy`."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn.autograd import grad, gradcheck, gradgradcheck
from gradfn.autograd.functional import hessian, jacobian
from gradfn.scipy import curl, directional_derivatives, divergence, gnvp, hvp, laplacian, vhp


def random(*shape: int, requires_grad: bool = False) -> gradfn.Tensor:
    values = np.random.default_rng(len(shape)).uniform(0.5, 2, shape)
    return gradfn.tensor(values, requires_grad=requires_grad)


def f(x: gradfn.Tensor) -> gradfn.Tensor:
    return x.exp().sum() * x.square().sum()


X, V = random(4), gradfn.tensor([1.0, -2.0, 0.5, 3.0], dtype=gradfn.float64)


@pytest.mark.parametrize("product", [hvp, vhp])
def test_products_with_the_hessian(product: Callable[..., Any]) -> None:
    expected = hessian(f, X) @ V
    assert gradfn.allclose(product(f, X, V), expected)
    assert not product(f, X, V).requires_grad
    with gradfn.no_grad():
        assert gradfn.allclose(product(f, X.clone().requires_grad_(), V), expected)


def test_products_with_the_hessian_of_trees() -> None:
    def g(x: dict[str, Any], scale: float) -> gradfn.Tensor:
        return scale * x["a"].prod() * x["b"][0]

    x = {"a": random(2), "b": [gradfn.tensor(3.0)]}
    found = hvp(g, x, {"a": gradfn.zeros(2), "b": [gradfn.ones(())]}, args=(2.0,))
    assert gradfn.allclose(found["a"], 2 * x["a"].flip(0))
    assert found["b"][0].dtype == gradfn.float32 and found["b"][0] == 0


def test_products_are_differentiable_in_the_point_the_vector_and_parameters() -> None:
    x, v, w = (random(3, requires_grad=True) for _ in range(3))

    def product(x: gradfn.Tensor, v: gradfn.Tensor, w: gradfn.Tensor) -> gradfn.Tensor:
        return hvp(lambda x: (w * x**4).sum(), x, v)

    assert gradcheck(product, (x, v, w))
    assert gradgradcheck(product, (x, v, w))


def test_linear_functions_have_no_curvature() -> None:
    assert hvp(lambda x: x.sum(), X, V).eq(0).all()
    assert hvp(lambda x: gradfn.ones(()), X, V).eq(0).all()
    assert laplacian(lambda x: x.sum(), X) == 0
    assert laplacian(lambda x: gradfn.ones(()), X) == 0


def test_products_with_the_gauss_newton_matrix() -> None:
    weights = random(3, 4)

    def model(x: gradfn.Tensor) -> gradfn.Tensor:
        return (weights @ x).sin()

    def loss(y: gradfn.Tensor) -> gradfn.Tensor:
        return y.exp().sum()

    J = jacobian(model, X)
    assert gradfn.allclose(gnvp(model, X, V), J.T @ J @ V)
    H = hessian(loss, model(X))
    assert gradfn.allclose(gnvp(model, X, V, loss), J.T @ H @ J @ V)
    assert gradcheck(lambda x, v: gnvp(model, x, v, loss), (random(4, requires_grad=True), V))


def test_gauss_newton_products_of_trees() -> None:
    def model(x: tuple[gradfn.Tensor, ...]) -> dict[str, gradfn.Tensor]:
        return {"sum": x[0] + x[1].sum(), "product": x[0] * 2}

    x = (random(2), random(3))
    found = gnvp(model, x, (gradfn.ones_like(x[0]), gradfn.zeros_like(x[1])))
    assert gradfn.allclose(found[0], gradfn.full_like(x[0], 5.0))
    assert gradfn.allclose(found[1], gradfn.full_like(x[1], 2.0))


# Vector analysis


def test_the_laplacian_of_closed_forms() -> None:
    points = random(5, 3)
    radius = points.norm(dim=-1)
    assert gradfn.allclose(laplacian(lambda x: 1 / x.norm(dim=-1), points), 0 * radius, atol=1e-12)
    assert gradfn.allclose(laplacian(lambda x: x.norm(dim=-1) ** 2, points), 0 * radius + 6)
    one = laplacian(lambda x: x.norm() ** 3, points[0])
    assert one.shape == () and gradfn.allclose(one, 12 * radius[0])


@pytest.mark.parametrize("batch", [(), (4,), (2, 3), (0,)])
@pytest.mark.parametrize("components", [(), (1,), (2, 2), (0,)])
def test_shapes_of_laplacians(batch: tuple[int, ...], components: tuple[int, ...]) -> None:
    x, weights = random(*batch, 2), random(*components)

    def field(x: gradfn.Tensor) -> gradfn.Tensor:
        values = x.square().sum(-1).reshape(*batch, *(1 for _ in components))
        return values * weights

    found = laplacian(field, x)
    assert found.shape == (*batch, *components)
    assert gradfn.allclose(found, 4 * weights.expand(found.shape))


def test_divergence_and_curl_of_closed_forms() -> None:
    points = random(5, 3)
    matrix = gradfn.tensor([[1.0, 2, 3], [4, 5, 6], [7, 8, 10]], dtype=gradfn.float64)
    assert gradfn.allclose(divergence(lambda x: x @ matrix.T, points), 0 * points[:, 0] + 16)
    expected = gradfn.tensor([8.0 - 6, 3 - 7, 4 - 2], dtype=gradfn.float64)
    assert gradfn.allclose(curl(lambda x: x @ matrix.T, points), expected.expand(5, 3))

    def potential(x: gradfn.Tensor) -> gradfn.Tensor:
        (slope,) = grad(x.prod(-1).sum(), x, create_graph=True)
        return slope

    assert gradfn.allclose(curl(potential, points), 0 * points)

    def vortex(x: gradfn.Tensor) -> gradfn.Tensor:
        return gradfn.stack([-(x[..., 1] ** 3), x[..., 0] ** 3], -1)

    plane = random(4, 2)
    assert gradfn.allclose(divergence(vortex, plane), 0 * plane[:, 0])
    assert gradfn.allclose(curl(vortex, plane), 3 * plane.square().sum(-1))


def test_a_model_is_trained_through_its_laplacian() -> None:
    weight, x = random(3, requires_grad=True), random(6, 3)

    def residual(weight: gradfn.Tensor, x: gradfn.Tensor) -> gradfn.Tensor:
        return laplacian(lambda x: (x @ weight).sin(), x)

    expected = -weight.square().sum() * (x @ weight).sin()
    assert gradfn.allclose(residual(weight, x), expected)
    assert gradcheck(residual, (weight, x.requires_grad_()))


def test_points_and_values_must_fit() -> None:
    with pytest.raises(RuntimeError, match=r"a value for each of the points of shape \[4\]"):
        laplacian(lambda x: x.sum(), random(4, 2))
    with pytest.raises(RuntimeError, match=r"x must be one tensor of points"):
        laplacian(lambda x: x, random())
    with pytest.raises(RuntimeError, match=r"divergence is of vector fields.*\[4, 2\] of x.*\[4\]"):
        divergence(lambda x: x.sum(-1), random(4, 2))
    with pytest.raises(RuntimeError, match="curl is of fields in 2 or 3 dimensions"):
        curl(lambda x: x, random(4, 4))


# Directional derivatives


def test_directional_derivatives_are_taylor_coefficients() -> None:
    found = directional_derivatives(lambda x: x.exp().sum(), X, V, order=5)
    for order, derivative in enumerate(found):
        assert gradfn.allclose(derivative, (X.exp() * V**order).sum())


def test_directional_derivatives_of_trees() -> None:
    x = {"a": random(2), "z": gradfn.tensor([1 + 2j], dtype=gradfn.complex128)}
    v = {"a": gradfn.ones(2), "z": gradfn.tensor([1j])}
    value, slope, bend = directional_derivatives(
        lambda x: (x["a"] ** 2, x["z"] ** 2), x, v, order=2
    )
    assert gradfn.allclose(value[0], x["a"] ** 2)
    assert gradfn.allclose(slope[0], 2 * x["a"]) and gradfn.allclose(slope[1], 2j * x["z"])
    assert gradfn.allclose(bend[1], gradfn.full_like(x["z"], -2))
    third = directional_derivatives(lambda x: x**2, X, V, order=3)[3]
    assert third.shape == X.shape and third.eq(0).all()


def test_directional_derivatives_are_differentiable() -> None:
    x = random(3, requires_grad=True)
    assert gradcheck(lambda x: directional_derivatives(gradfn.sin, x, V[:3], order=2)[2], x)
    with pytest.raises(ValueError, match="cannot be negative"):
        directional_derivatives(gradfn.sin, X, V, order=-1)


def test_vectors_have_the_structure_and_shapes_of_the_point() -> None:
    for product in (hvp, gnvp, directional_derivatives):
        with pytest.raises(RuntimeError, match=r"v must have the shape \[4\] of x, but has \[3\]"):
            product(f, X, random(3))
        with pytest.raises(ValueError, match="v has the wrong structure"):
            product(lambda x: f(x["a"]), {"a": X}, X)
    with pytest.raises(RuntimeError, match=r"real scalar outputs, but f\(x\) has shape \[4\]"):
        hvp(lambda x: x, X, V)
    assert math.isfinite(hvp(f, X, V).sum().item())
