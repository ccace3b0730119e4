"""Sparse Jacobians and Hessians, colourings and linear operators of `gradfn.scipy`."""

from collections.abc import Callable
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import cg, eigsh, lsqr, svds

import gradfn
from gradfn.autograd.functional import hessian, jacobian
from gradfn.scipy import (
    color_hessian,
    color_jacobian,
    hessian_operator,
    hessian_sparsity,
    jacobian_operator,
    jacobian_sparsity,
    ravel,
    sparse_hessian,
    sparse_jacobian,
)


def random(*shape: int) -> gradfn.Tensor:
    return gradfn.tensor(np.random.default_rng(0).uniform(0.5, 2, shape))


@st.composite
def patterns(draw: st.DrawFn, square: bool = False) -> Any:
    rows = draw(st.integers(0, 8))
    columns = rows if square else draw(st.integers(0, 8))
    seed, density = draw(st.integers(0, 2**32 - 1)), draw(st.floats(0, 1))
    return np.random.default_rng(seed).random((rows, columns)) < density


@given(patterns())
def test_columns_or_rows_of_one_colour_have_nothing_in_common(pattern: Any) -> None:
    coloring = color_jacobian(pattern)
    lines = pattern if coloring.by == "columns" else pattern.T
    for color in range(coloring.passes):
        assert (lines[:, coloring.colors == color].sum(axis=1) <= 1).all()
    assert coloring.passes <= min(pattern.shape)


@given(patterns(square=True))
def test_star_colourings(pattern: Any) -> None:
    pattern = pattern | pattern.T
    coloring = color_hessian(pattern)
    colors, edges = coloring.colors, pattern & ~np.eye(len(pattern), dtype=bool)
    assert all(colors[i] != colors[j] for i, j in np.argwhere(edges))
    for path in permutations(range(len(pattern)), 4) if len(pattern) <= 6 else ():
        if all(edges[i, j] for i, j in pairwise(path)):
            assert len(set(colors[list(path)])) >= 3


@given(patterns())
def test_a_linear_map_is_found_again(pattern: Any) -> None:
    matrix = np.where(pattern, np.random.default_rng(1).uniform(1, 2, pattern.shape), 0.0)
    x = gradfn.zeros(pattern.shape[1], dtype=gradfn.float64)
    found = sparse_jacobian(gradfn.tensor(matrix).mv, x, pattern)
    np.testing.assert_allclose(found.toarray(), matrix)


@given(patterns(square=True))
def test_a_quadratic_form_is_found_again(pattern: Any) -> None:
    values = np.random.default_rng(1).uniform(1, 2, pattern.shape)
    matrix = np.where(pattern | pattern.T, values + values.T, 0.0)
    x = gradfn.ones(len(pattern), dtype=gradfn.float64)
    half = gradfn.tensor(matrix) / 2
    found = sparse_hessian(lambda x: x @ half @ x + x.sum(), x, pattern | pattern.T)
    np.testing.assert_allclose(found.toarray(), matrix)


def chain(x: gradfn.Tensor) -> gradfn.Tensor:
    """Residuals of a discretised boundary value problem."""
    return x[2:] - 2 * x[1:-1] + x[:-2] - x[1:-1].exp() / 100


def test_the_pattern_is_detected() -> None:
    x = random(12)
    found = sparse_jacobian(chain, x)
    assert found.nnz == 30
    np.testing.assert_allclose(found.toarray(), jacobian(chain, x).numpy())
    coloring = color_jacobian(jacobian_sparsity(chain, x))
    assert coloring.passes == 3
    y = random(12) + 1
    expected = jacobian(chain, y).numpy()
    np.testing.assert_allclose(sparse_jacobian(chain, y, coloring).toarray(), expected)


def test_the_pattern_of_a_hessian_is_detected() -> None:
    def f(x: gradfn.Tensor) -> gradfn.Tensor:
        return chain(x).square().sum() + x[0] ** 4

    x = random(12)
    found = sparse_hessian(f, x)
    np.testing.assert_allclose(found.toarray(), hessian(f, x).numpy(), atol=1e-12)
    assert hessian_sparsity(f, x).nnz == found.nnz == 12 + 2 * 11 + 2 * 10
    assert color_hessian(hessian_sparsity(f, x)).passes <= 5


def test_entries_that_happen_to_be_zero_are_detected_at_points_around() -> None:
    x = gradfn.zeros(3, dtype=gradfn.float64)
    assert jacobian_sparsity(lambda x: x**3, x, points=1).nnz == 0
    assert jacobian_sparsity(lambda x: x**3, x).nnz == 3
    assert hessian_sparsity(lambda x: (x**3).sum(), x).nnz == 3


def test_trees_and_complex_numbers_are_in_the_coordinates_of_ravel() -> None:
    x = {"a": random(2), "z": gradfn.tensor([1 + 2j])}
    found = sparse_jacobian(lambda x: [x["z"] ** 2, x["a"].flip(0)], x).toarray()
    np.testing.assert_allclose(
        found, [[0, 0, 2, -4], [0, 0, 4, 2], [0, 1, 0, 0], [1, 0, 0, 0]], rtol=1e-6
    )
    vector, unravel = ravel(x)
    assert vector.tolist() == [*x["a"].tolist(), 1.0, 2.0]
    assert unravel(vector)["z"].dtype == gradfn.complex64


def test_patterns_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 2\), but the Jacobian of \(3, 3\)"):
        sparse_jacobian(lambda x: x, random(3), np.eye(2))
    with pytest.raises(ValueError, match="must be symmetric"):
        sparse_hessian(lambda x: x.sum(), random(2), [[1, 1], [0, 1]])
    with pytest.raises(RuntimeError, match="real scalar"):
        sparse_hessian(lambda x: x, random(2), np.eye(2))


# Linear operators


def test_the_jacobian_as_an_operator() -> None:
    weights = random(4, 3)

    def f(x: gradfn.Tensor) -> gradfn.Tensor:
        return (weights @ x).sin()

    x = random(3)
    J, dense = jacobian_operator(f, x), jacobian(f, x).numpy()
    assert J.shape == (4, 3)
    np.testing.assert_allclose(J @ np.eye(3), dense)
    np.testing.assert_allclose(J.T @ np.eye(4), dense.T)
    np.testing.assert_allclose(J.matvec([[1], [2], [3]]), dense @ [[1], [2], [3]])
    singular = svds(J, k=2, return_singular_vectors=False)
    np.testing.assert_allclose(np.sort(singular), np.linalg.svd(dense)[1][1::-1])
    b = np.arange(4.0)
    np.testing.assert_allclose(lsqr(J, b)[0], np.linalg.lstsq(dense, b)[0], rtol=1e-5)


def test_the_hessian_as_an_operator() -> None:
    def f(x: list[gradfn.Tensor]) -> gradfn.Tensor:
        return (x[0].exp().sum() + x[1] ** 2) * x[0].square().sum()

    x = [random(3), random(1)[0]]
    H = hessian_operator(f, x)
    flat = gradfn.cat([x[0], x[1][None]])
    dense = hessian(lambda flat: f([flat[:3], flat[3]]), flat).numpy()
    np.testing.assert_allclose(H @ np.eye(4), dense)
    assert eigsh(H, k=1, return_eigenvectors=False) == pytest.approx(np.linalg.eigvalsh(dense)[-1])
    H = hessian_operator(lambda x: x.exp().sum() + x.sum() ** 2, x[0])
    found, info = cg(H, np.ones(3), rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(H @ found, np.ones(3))


@pytest.mark.parametrize("operator", [hessian_operator, sparse_hessian])
def test_hessians_of_what_has_none(operator: Callable[..., Any]) -> None:
    with pytest.raises(RuntimeError, match="does not depend on x"):
        operator(lambda x: gradfn.zeros(()), random(2))
    linear = operator(lambda x: x.sum(), random(2))
    np.testing.assert_array_equal(linear @ np.eye(2), np.zeros((2, 2)))


def test_more_rows_than_one_chunk() -> None:
    x = random(150)
    J = jacobian_operator(lambda x: x.cumsum(0) ** 2, x)
    lower = np.tril(np.ones((150, 150)))
    np.testing.assert_allclose(J.T @ np.eye(150), (2 * (lower @ x.numpy())[:, None] * lower).T)
