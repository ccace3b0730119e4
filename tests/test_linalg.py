"""Singular vectors, eigenvectors and singular matrices: what samples of one result cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from opdb.candidate import lib

Matrices = np.ndarray[Any, Any]


def drawn(*shape: int, dtype: str = "float64") -> Matrices:
    rng = np.random.default_rng(7)
    real = rng.normal(size=shape)
    return np.asarray(real + 1j * rng.normal(size=shape) if dtype[0] == "c" else real, dtype)


def leaf(values: Any) -> Any:
    return lib.tensor(values).requires_grad_()


def hermitian(A: Any) -> Any:
    return A + A.mH


def through_svd(A: Any, full: bool = False) -> list[Any]:
    """What does not depend on the phases of the singular vectors."""
    U, S, Vh = lib.linalg.svd(A, full_matrices=full)
    k = S.shape[-1]
    U, Vh = U[..., :k], Vh[..., :k, :]
    return [S, (U * S.unsqueeze(-2) ** 2) @ U.mH, U @ Vh, (Vh.mH * S.unsqueeze(-2)) @ Vh]


def through_eigh(A: Any) -> list[Any]:
    L, V = lib.linalg.eigh(hermitian(A))
    return [L, (V * L.unsqueeze(-2) ** 3) @ V.mH]


def through_eig(A: Any) -> list[Any]:
    L, V = lib.linalg.eig(A)
    return [L, V.abs(), (V * L.unsqueeze(-2) ** 2) @ lib.linalg.inv(V)]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (through_svd, (3, 3)),
        (through_svd, (4, 2)),
        (through_svd, (2, 2, 3)),
        (lambda A: through_svd(A, full=True), (3, 2)),
        (through_eigh, (3, 3)),
        (through_eigh, (2, 2, 2)),
        (through_eig, (3, 3)),
    ],
)
def test_vectors(function: Callable[[Any], Any], shape: tuple[int, ...], dtype: str) -> None:
    A = leaf(drawn(*shape, dtype=dtype))
    assert lib.autograd.gradcheck(lambda A: tuple(function(A)), A)
    assert lib.autograd.gradgradcheck(lambda A: tuple(function(A)), A)


def test_reconstructions() -> None:
    A = lib.tensor(drawn(2, 4, 3, dtype="complex128"))
    U, S, Vh = lib.linalg.svd(A, full_matrices=False)
    Q, R = lib.linalg.qr(A)
    P, L, Upper = lib.linalg.lu(A)
    for product in ((U * S.unsqueeze(-2)) @ Vh, Q @ R, P @ L @ Upper):
        np.testing.assert_allclose(product.numpy(), A.numpy(), atol=1e-12)


@pytest.mark.parametrize(
    ("function", "who"),
    [
        (lambda A: lib.linalg.svd(A).U, "svd_backward: The singular vectors in the complex case"),
        (lambda A: lib.linalg.eigh(A)[1], "linalg_eigh_backward: The eigenvectors in the complex"),
        (lambda A: lib.linalg.eig(A)[1], "linalg_eig_backward: The eigenvectors in the complex"),
    ],
)
def test_a_loss_that_depends_on_phases_is_refused(function: Any, who: str) -> None:
    A = leaf(drawn(3, 3, dtype="complex128"))
    with pytest.raises(RuntimeError, match=who):
        function(hermitian(A)).imag.sum().backward()


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_det_is_a_polynomial_at_singular_matrices(rank: int, dtype: str) -> None:
    def by_minors(A: Any) -> Any:
        minors = [
            A[1, (j + 1) % 3] * A[2, (j + 2) % 3] - A[1, (j + 2) % 3] * A[2, (j + 1) % 3]
            for j in range(3)
        ]
        return sum(A[0, j] * minor for j, minor in enumerate(minors))

    values = drawn(3, rank, dtype=dtype) @ drawn(rank, 3, dtype=dtype)
    direction = lib.tensor(drawn(3, 3, dtype=dtype))
    found = []
    for det in (lib.linalg.det, by_minors):
        A = leaf(values)
        turned = det(A) * (0.5 + 1j) if dtype == "complex128" else det(A)
        (first,) = lib.autograd.grad(turned.real, A, create_graph=True)
        (second,) = lib.autograd.grad(first, A, direction)
        found.append([first.detach().numpy(), second.numpy()])
    for actual, expected in zip(*found, strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda L: L.inv(lib.tensor([[1.0, 2.0], [2.0, 4.0]])),
            "linalg.inv: The diagonal element 2 is zero, the inversion could not be completed "
            "because the input matrix is singular.",
        ),
        (
            lambda L: L.inv(lib.stack([lib.eye(2), lib.zeros(2, 2)])),
            "linalg.inv: (Batch element 1): The diagonal element 1 is zero, the inversion could "
            "not be completed because the input matrix is singular.",
        ),
        (
            lambda L: L.solve(lib.zeros(2, 2), lib.ones(2)),
            "torch.linalg.solve: The solver failed because the input matrix is singular.",
        ),
        (
            lambda L: L.cholesky(-lib.eye(2)),
            "linalg.cholesky: The factorization could not be completed because the input is not "
            "positive-definite (the leading minor of order 1 is not positive-definite).",
        ),
        (
            lambda L: L.svd(lib.tensor([[float("nan")]])),
            "linalg.svd: The algorithm failed to converge because the input matrix contained "
            "non-finite values.",
        ),
        (
            lambda L: L.lstsq(lib.tensor([[1.0, 0.0], [0.0, 0.0]]), lib.ones(2, 1), driver="gels"),
            "torch.linalg.lstsq: The least squares solution could not be computed because the "
            "input matrix does not have full rank (error code: 2).",
        ),
    ],
)
def test_matrices_without_a_result(call: Callable[[ModuleType], Any], message: str) -> None:
    with pytest.raises(lib.linalg.LinAlgError) as caught:
        call(lib.linalg)
    assert str(caught.value) == message
    assert isinstance(caught.value, RuntimeError)


def test_singular_matrices_of_a_batch_leave_the_others_alone() -> None:
    A = lib.stack([lib.eye(2) * 2, lib.zeros(2, 2)])
    inverse, info = lib.linalg.inv_ex(A)
    assert info.tolist() == [0, 1]
    np.testing.assert_array_equal(inverse[0].numpy(), np.eye(2) / 2)
    assert not np.isfinite(inverse[1].numpy()).any()


@pytest.mark.parametrize("order", ["nuc", 2, -2])
def test_spectral_norms(order: Any, oracle: ModuleType) -> None:
    values = drawn(2, 3, 4)
    A = leaf(values)
    norm = lib.linalg.matrix_norm(A, order, dim=(2, 0), keepdim=True)
    B = oracle.tensor(values, requires_grad=True)
    expected = oracle.linalg.matrix_norm(B, order, dim=(2, 0), keepdim=True)
    np.testing.assert_allclose(norm.detach().numpy(), expected.detach().numpy(), rtol=1e-12)
    norm.sum().backward()
    expected.sum().backward()
    np.testing.assert_allclose(A.grad.numpy(), B.grad.numpy(), rtol=1e-10)


def test_matrix_powers() -> None:
    A = lib.tensor([[1, 1], [0, 1]])
    assert lib.linalg.matrix_power(A, 6).tolist() == [[1, 6], [0, 1]]
    assert lib.linalg.matrix_power(A, 0).tolist() == [[1, 0], [0, 1]]
    B = leaf(drawn(2, 2))
    for n in (-2, 0, 1, 3, 5):
        assert lib.autograd.gradcheck(lambda B, n=n: lib.linalg.matrix_power(B, n), B)


def test_tensorsolve_and_tensorinv() -> None:
    A, B = lib.tensor(drawn(2, 3, 6)), lib.tensor(drawn(2, 3))
    X = lib.linalg.tensorsolve(A, B)
    np.testing.assert_allclose(lib.tensordot(A, X, 1).numpy(), B.numpy(), atol=1e-12)
    inverse = lib.linalg.tensorinv(A)
    np.testing.assert_allclose(lib.tensordot(inverse, B, 2).numpy(), X.numpy(), atol=1e-12)


def test_vander() -> None:
    x = lib.tensor([2, 3])
    assert lib.vander(x, 3).tolist() == [[4, 2, 1], [9, 3, 1]]
    assert lib.vander(x, 3, increasing=True).tolist() == [[1, 2, 4], [1, 3, 9]]
    assert lib.linalg.vander(x, N=3).tolist() == [[1, 2, 4], [1, 3, 9]]


def test_single_precision_stays_single() -> None:
    A = lib.tensor(drawn(3, 3, dtype="float32"))
    results = [lib.linalg.solve(A, A), lib.linalg.det(A), *lib.linalg.svd(A), *lib.linalg.qr(A)]
    results += [lib.linalg.matrix_exp(A), lib.linalg.pinv(A), lib.linalg.cond(A, 1)]
    assert {t.dtype for t in results} == {lib.float32}
    assert {t.dtype for t in (lib.fft.fft(A), lib.fft.rfft(A))} == {lib.complex64}


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (2, 5, 3)])
def test_low_rank_svd_draws_what_pytorch_draws(shape: tuple[int, ...], oracle: ModuleType) -> None:
    values, mean = drawn(*shape), drawn(shape[-1])
    found = []
    for torch in (lib, oracle):
        torch.manual_seed(3)
        U, S, V = torch.svd_lowrank(torch.tensor(values), q=2, niter=1, M=torch.tensor(mean))
        centred = torch.pca_lowrank(torch.tensor(values), q=2)[1]
        found.append([((U * S.unsqueeze(-2)) @ V.mH).numpy(), centred.numpy()])
    for actual, expected in zip(*found, strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-10)


@pytest.mark.parametrize("largest", [True, False, None])
def test_a_few_eigenvalues(largest: bool | None) -> None:
    a = lib.randn(2, 6, 6, dtype=lib.float64)
    a = (a @ a.mT).requires_grad_()
    b = lib.eye(6, dtype=lib.float64) * 2
    values, vectors = lib.lobpcg(a, 2, largest=largest)
    assert lib.allclose(a @ vectors, vectors * values.unsqueeze(-2))
    assert lib.allclose(lib.lobpcg(a, 2, B=b, largest=largest)[0] * 2, values)
    every = lib.linalg.eigvalsh(a)
    expected = every[:, :2] if largest is False else every.flip(-1)[:, :2]
    assert lib.allclose(values, expected)
    assert lib.autograd.gradcheck(lambda a: lib.lobpcg(a, 2, largest=largest)[0], a)
    with pytest.raises(ValueError, match="is smaller than 3 x the number of requested"):
        lib.lobpcg(a, 3)
