"""A few singular values (by random projections: Halko, Martinsson, Tropp) or eigenvalues."""

from __future__ import annotations

from typing import Any

from .ops.decompositions import linalg_cholesky, linalg_eigh, linalg_qr, linalg_svd
from .ops.products import matmul
from .ops.solvers import linalg_solve_triangular
from .sampling import randn

__all__ = ["lobpcg", "pca_lowrank", "svd_lowrank"]


def _product(A: Any, B: Any, M: Any) -> Any:
    """``(A - M) B``."""
    return matmul(A, B) if M is None else matmul(A, B) - matmul(M, B)


def _basis(A: Any, M: Any, q: int, niter: int) -> Any:
    """`q` orthonormal columns that span nearly what the columns of ``A - M`` do."""
    Q = linalg_qr(_product(A, randn(A.shape[-1], q, dtype=A.dtype), M)).Q
    for _ in range(niter):
        Q = linalg_qr(_product(A.mH, Q, None if M is None else M.mH)).Q
        Q = linalg_qr(_product(A, Q, M)).Q
    return Q


def svd_lowrank(
    A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None
) -> tuple[Any, Any, Any]:
    """Nearly the `q` largest singular values of ``A - M``, with their vectors: U, S, V.

    Shapes: `A` (..., m, n), `M` as it or broadcast to it. More power iterations `niter` are
    nearer. Draws random numbers. As `torch.svd_lowrank`.

    >>> svd_lowrank(randn(4, 3), q=2)[1].shape
    torch.Size([2])
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    wide = A.shape[-2] < A.shape[-1]
    if M is not None:
        M = M.broadcast_to(A.shape)
    if wide:
        A, M = A.mH, None if M is None else M.mH
    Q = _basis(A, M, q, niter)
    B = matmul(Q.mH, A) if M is None else matmul(Q.mH, A) - matmul(Q.mH, M)
    U, S, Vh = linalg_svd(B, full_matrices=False)
    U, V = matmul(Q, U), Vh.mH
    return (V, S, U) if wide else (U, S, V)


def lobpcg(
    A: Any,
    k: int | None = None,
    B: Any = None,
    X: Any = None,
    n: int | None = None,
    iK: Any = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[Any, Any]:
    """The `k` largest (or smallest) eigenvalues of ``A x = λ B x``, and their eigenvectors.

    A and B (..., m, m) are symmetric, B positive-definite. They are found by a full decomposition,
    so that the arguments that steer PyTorch's iteration change nothing. ValueError where
    ``m < 3 k``, as there. PyTorch's `torch.lobpcg`.

    >>> from gradfn import diag, tensor
    >>> lobpcg(diag(tensor([1.0, 5.0, 3.0])), 1)[0]
    tensor([5.])
    """
    k = k if k is not None else 1 if X is None else X.shape[-1]
    size = A.shape[-1]
    if size < 3 * k:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={size}) is smaller "
            f"than 3 x the number of requested eigenpairs (={3 * k})"
        )
    symmetric: Any = (A + A.mH) / 2
    if B is None:
        values, vectors = linalg_eigh(symmetric)
    else:
        L = linalg_cholesky(B)
        half = linalg_solve_triangular(L, symmetric, upper=False)
        values, vectors = linalg_eigh(linalg_solve_triangular(L.mH, half, upper=True, left=False))
        vectors = linalg_solve_triangular(L.mH, vectors, upper=True)
    if largest is None or largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    return values[..., :k], vectors[..., :k]


def pca_lowrank(
    A: Any, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Any, Any, Any]:
    """`svd_lowrank` of the rows of `A` less their mean: principal components are columns of V.

    `q` is by default min(6, m, n). ValueError for a `q` or `niter` out of range. As
    `torch.pca_lowrank`.

    >>> pca_lowrank(randn(4, 3))[2].shape
    torch.Size([3, 3])
    """
    rows, columns = A.shape[-2:]
    q = min(6, rows, columns) if q is None else q
    if not 0 <= q <= min(rows, columns):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)="
            f"{min(rows, columns)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)
