"""Factorisations of matrices: LAPACK, through NumPy where that has batches."""

from __future__ import annotations

import numpy as np

from ..dtypes import FLOAT, from_numpy
from .matrices import (
    Array,
    check_fraction,
    check_info,
    check_lapack,
    check_matrices,
    check_square,
    column_major,
    empty_columns,
    lapack,
    matrices,
)

__all__ = [
    "cholesky",
    "geqrf",
    "linalg_cholesky_ex",
    "linalg_eig",
    "linalg_eigh",
    "linalg_householder_product",
    "linalg_lu",
    "linalg_lu_factor_ex",
    "linalg_matrix_exp",
    "linalg_qr",
    "linalg_svd",
    "lu_unpack",
    "ormqr",
]

INDEFINITE = (
    "The factorization could not be completed because the input is not positive-definite (the "
    "leading minor of order {info} is not positive-definite)."
)
ZERO_PIVOT = (
    "U[{info},{info}] is zero and using it on lu_solve would result in a division by zero. If you "
    "still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
    "linalg.lu_factor_ex(A, pivot)"
)


def linalg_cholesky_ex(
    self: Array, *, upper: bool = False, check_errors: bool = False
) -> tuple[Array, Array]:
    check_fraction("linalg.cholesky", self, half=True)
    check_square("linalg.cholesky", self)
    L, info = _cholesky(self, upper)
    if check_errors:
        check_info("linalg.cholesky_ex", info, INDEFINITE)
    return L, info


def cholesky(self: Array, upper: bool = False) -> Array:
    check_square("cholesky", self)
    L, info = _cholesky(self, upper)
    check_info("cholesky", info, INDEFINITE)
    return L


def _cholesky(self: Array, upper: bool) -> tuple[Array, Array]:
    check_lapack("cholesky_cpu", self)
    info = np.zeros(self.shape[:-2], np.int32)
    try:
        L = np.linalg.cholesky(self, upper=upper)
    except np.linalg.LinAlgError:
        L = np.empty_like(self)
        potrf = lapack("potrf", self)
        for where in np.ndindex(info.shape):
            L[where], info[where] = potrf(self[where], lower=not upper, clean=True)
    return column_major(L), info


def linalg_qr(A: Array, kind: str = "reduced") -> tuple[Array, Array]:
    check_matrices("linalg.qr", A)
    check_fraction("linalg.qr", A, half=True)
    check_lapack("geqrf_cpu", A)
    if kind == "r":
        return np.zeros(0, A.dtype), column_major(np.asarray(np.linalg.qr(A, "r")))
    if kind not in ("reduced", "complete"):
        raise RuntimeError(
            f"qr received unrecognized mode '{kind}' but expected one of 'reduced' (default), 'r', "
            "or 'complete'"
        )
    Q, R = np.linalg.qr(A, kind)  # type: ignore[call-overload]
    return column_major(Q), column_major(R)


def linalg_svd(
    A: Array, full_matrices: bool = True, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Array, Array, Array]:
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            f"cuSOLVER backend, but it is {driver!r} and the tensor is on the CPU."
        )
    check_matrices("linalg.svd", A)
    check_fraction("linalg.svd", A, half=True)
    check_lapack("linalg_svd_cpu", A)
    try:
        if not compute_uv:
            empty = np.zeros(0, A.dtype)
            return empty, np.linalg.svd(A, compute_uv=False), empty
        U, S, Vh = np.linalg.svd(A, full_matrices)
    except np.linalg.LinAlgError:
        check_info("linalg.svd", _not_finite(A), NOT_FINITE)
        raise
    return column_major(U), S, column_major(Vh)


NOT_FINITE = (
    "The algorithm failed to converge because the input matrix contained non-finite values."
)


def _not_finite(A: Array) -> Array:
    """Which matrices hold NaN or infinities."""
    return np.asarray(~np.isfinite(A).all((-2, -1)))


def linalg_eigh(A: Array, UPLO: str = "L") -> tuple[Array, Array]:
    check_square("linalg.eigh", A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    check_lapack("linalg_eigh_cpu", A)
    bad = _not_finite(A)
    if bad.any():
        A = np.where(bad[..., None, None], 0, A)
    eigenvalues, eigenvectors = np.linalg.eigh(A, "U" if UPLO.upper() == "U" else "L")
    if bad.any():
        eigenvalues[bad], eigenvectors[bad] = np.nan, np.nan
    return eigenvalues, column_major(eigenvectors)


def linalg_eig(self: Array) -> tuple[Array, Array]:
    own = from_numpy(self.dtype)
    if own.category < FLOAT:
        raise RuntimeError(f"Unknown Complex ScalarType for {own.scalar_name}")
    check_square("linalg.eig", self)
    check_lapack("linalg_eig_out_cpu", self)
    if _not_finite(self).any():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    eigenvalues, eigenvectors = np.linalg.eig(self)
    dtype = own.to_complex().numpy
    return eigenvalues.astype(dtype), column_major(eigenvectors.astype(dtype))


def linalg_lu_factor_ex(
    A: Array, *, pivot: bool = True, check_errors: bool = False
) -> tuple[Array, Array, Array]:
    """L and U in one matrix, the row that each row was exchanged with (counted from 1), and the
    first zero on the diagonal of U."""
    if A.ndim < 2:
        raise RuntimeError(
            "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(A.shape)} instead"
        )
    check_lapack("lu_cpu", A)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    LU = empty_columns(*A.shape, dtype=A.dtype)
    batch, size = A.shape[:-2], min(A.shape[-2:])
    pivots = np.empty((*batch, size), np.int32)
    pivots[...] = np.arange(1, size + 1)
    info = np.zeros(batch, np.int32)
    if LU.size:
        getrf = lapack("getrf", A)
        for where in np.ndindex(batch):
            LU[where], swaps, info[where] = getrf(A[where])
            pivots[where] = swaps + 1
    if check_errors:
        check_info("torch.linalg.lu_factor_ex", info, ZERO_PIVOT, RuntimeError)
    return LU, pivots, info


def lu_unpack(
    LU_data: Array, LU_pivots: Array, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Array, Array, Array]:
    _check_pivots(LU_data, LU_pivots)
    nothing = np.zeros(0, LU_data.dtype)
    rows, columns = LU_data.shape[-2:]
    size = min(rows, columns)
    P, L, U = nothing, nothing, nothing
    if unpack_pivots:
        P = np.zeros((*LU_data.shape[:-2], rows, rows), LU_data.dtype)
        for swaps, permuted in matrices(LU_pivots, P, core=(1, 2)):
            order = np.arange(rows)
            for i, other in enumerate(swaps - 1):
                order[[i, other]] = order[[other, i]]
            permuted[order, np.arange(rows)] = 1
    if unpack_data:
        identity = np.eye(rows, size, dtype=LU_data.dtype)
        L = np.asarray(np.tril(LU_data[..., :, :size], -1) + identity)
        U = np.triu(LU_data[..., :size, :])
    return P, L, U


def _check_pivots(LU: Array, pivots: Array) -> None:
    if pivots.dtype != np.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
            f"dtype, not {from_numpy(pivots.dtype)}.\nNote: this function is intended to be used "
            "with the output produced by torch.linalg.lu_factor"
        )
    if pivots.size and not 1 <= pivots.min() <= pivots.max() <= LU.shape[-2]:
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?"
        )


def linalg_lu(A: Array, *, pivot: bool = True) -> tuple[Array, Array, Array]:
    if A.ndim < 2:
        raise RuntimeError(
            "linalg.lu: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(A.shape)} instead"
        )
    LU, pivots, _ = linalg_lu_factor_ex(A, pivot=pivot)
    return lu_unpack(LU, pivots)


def linalg_matrix_exp(self: Array) -> Array:
    check_square("linalg.matrix_exp", self)
    check_fraction("linalg.matrix_exp", self, half=True)
    if not self.size:
        return self.copy()
    from scipy.linalg import expm

    wide = self if self.dtype.char in "fdFD" else self.astype(np.float32)
    return np.asarray(expm(wide), self.dtype)


def geqrf(self: Array) -> tuple[Array, Array]:
    """The reflectors of the QR factorisation, below R, and their factors."""
    if self.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_lapack("geqrf_cpu", self)
    a = column_major(self).copy("K")
    tau = np.zeros((*self.shape[:-2], min(self.shape[-2:])), self.dtype)
    if tau.size:
        function = lapack("geqrf", self)
        for where in np.ndindex(self.shape[:-2]):
            a[where], tau[where], *_ = function(self[where])
    return a, tau


def linalg_householder_product(input: Array, tau: Array) -> Array:
    _check_reflectors("torch.linalg.householder_product", input, tau)
    rows, columns = input.shape[-2:]
    if rows < columns:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
            f"input.shape[-1], but they are {rows} and {columns}"
        )
    check_lapack("orgqr_cpu", input)
    result = empty_columns(*input.shape, dtype=input.dtype)
    if not result.size:
        return result
    if not tau.shape[-1]:
        result[...] = np.eye(rows, columns)
        return result
    complex = input.dtype.kind == "c"
    function = lapack("ungqr" if complex else "orgqr", input)
    for where in np.ndindex(input.shape[:-2]):
        result[where] = function(input[where], tau[where])[0]
    return result


def ormqr(
    self: Array, input2: Array, input3: Array, left: bool = True, transpose: bool = False
) -> Array:
    """The product of `input3` and the whole orthogonal matrix of the reflectors."""
    _check_reflectors("torch.ormqr", self, input2)
    dim = -2 if left else -1
    if input3.ndim < 2 or input3.shape[dim] != self.shape[-2]:
        raise RuntimeError(
            f"torch.ormqr: other.shape[{dim}] must be equal to input.shape[-2], but the shapes are "
            f"{list(input3.shape)} and {list(self.shape)}"
        )
    check_lapack("ormqr_cpu", self)
    result = empty_columns(*input3.shape, dtype=input3.dtype)
    if not (result.size and input2.size):
        result[...] = input3
        return result
    complex = self.dtype.kind == "c"
    function = lapack("unmqr" if complex else "ormqr", self)
    side, adjoint = "L" if left else "R", ("C" if complex else "T") if transpose else "N"
    for a, tau, c, product in matrices(self, input2, input3, result, core=(2, 1, 2, 2)):
        a = a[:, : tau.shape[0]]
        work = max(1, 64 * max(c.shape))
        product[...] = function(side, adjoint, a, tau, c, work)[0]
    return result


def _check_reflectors(name: str, input: Array, tau: Array) -> None:
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if tau.shape[-1] > input.shape[-1]:
        raise RuntimeError(
            f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1], but they are "
            f"{input.shape[-1]} and {tau.shape[-1]}"
        )
    if input.ndim - tau.ndim != 1 or input.shape[:-2] != tau.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to those of input, but they are "
            f"{list(tau.shape[:-1])} and {list(input.shape[:-2])}"
        )
    if tau.dtype != input.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {from_numpy(tau.dtype).scalar_name} does not match input dtype "
            f"{from_numpy(input.dtype).scalar_name}"
        )
