"""Linear systems, inverses and determinants: LAPACK, through NumPy where that has batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import from_numpy
from ..shapes import broadcast_shapes
from .decompositions import linalg_lu_factor_ex
from .matrices import (
    Array,
    broadcast_batches,
    check_fraction,
    check_info,
    check_lapack,
    check_square,
    check_system,
    column_major,
    empty_columns,
    lapack,
    matrices,
)

__all__ = [
    "cholesky_inverse",
    "cholesky_solve",
    "cofactors",
    "cofactors_tangent",
    "linalg_det",
    "linalg_inv",
    "linalg_inv_ex",
    "linalg_lstsq",
    "linalg_lu_solve",
    "linalg_pinv",
    "linalg_slogdet",
    "linalg_solve",
    "linalg_solve_ex",
    "linalg_solve_triangular",
    "triangular_solve",
]

SINGULAR = (
    "The diagonal element {info} is zero, the inversion could not be completed because the input "
    "matrix is singular."
)
UNSOLVABLE = "The solver failed because the input matrix is singular."
DEFICIENT = (
    "The least squares solution could not be computed because the input matrix does not have full "
    "rank (error code: {info})."
)
DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def is_vector(A: Array, B: Array) -> bool:
    """Whether ``solve(A, B)`` takes `B` as a vector or a batch of vectors, not of matrices."""
    return np.ndim(B) == 1 or (A.ndim - 1 == np.ndim(B) and B.shape == A.shape[:-1])


def linalg_solve_ex(
    A: Array, B: Array, *, left: bool = True, check_errors: bool = False
) -> tuple[Array, Array]:
    check_fraction("linalg.solve", A, half=True)
    check_square("linalg.solve", A)
    if A.dtype != B.dtype:
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{from_numpy(A.dtype).scalar_name} and B of type {from_numpy(B.dtype).scalar_name} "
            "instead"
        )
    vector = is_vector(A, B)
    if vector:
        B = B[..., None]
    check_system("linalg.solve", A, B, left)
    check_lapack("lu_cpu", A)
    broadcast_shapes(B.shape[:-2], A.shape[:-2])
    info = np.zeros(A.shape[:-2], np.int32)
    try:
        X = np.linalg.solve(A, B) if left else np.linalg.solve(A.mT, B.mT).mT
    except np.linalg.LinAlgError:
        LU, pivots, info = linalg_lu_factor_ex(A)
        X = linalg_lu_solve(LU, pivots, B, left=left)
    if check_errors:
        check_info("torch.linalg.solve_ex", info, UNSOLVABLE)
    X = X[..., 0] if vector else column_major(X) if left else np.ascontiguousarray(X)
    return X, info


def linalg_solve(A: Array, B: Array, *, left: bool = True) -> Array:
    X, info = linalg_solve_ex(A, B, left=left)
    check_info("torch.linalg.solve", info, UNSOLVABLE)
    return X


def linalg_inv_ex(A: Array, *, check_errors: bool = False) -> tuple[Array, Array]:
    check_fraction("linalg.inv", A)
    check_square("linalg.inv", A)
    info = np.zeros(A.shape[:-2], np.int32)
    try:
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        LU, pivots, info = linalg_lu_factor_ex(A)
        identity = np.broadcast_to(np.eye(A.shape[-1], dtype=A.dtype), A.shape)
        inverse = linalg_lu_solve(LU, pivots, identity)
    if check_errors:
        check_info("linalg.inv_ex", info, SINGULAR)
    return column_major(inverse), info


def linalg_inv(A: Array) -> Array:
    inverse, info = linalg_inv_ex(A)
    check_info("linalg.inv", info, SINGULAR)
    return inverse


def linalg_det(A: Array) -> Array:
    check_fraction("linalg.det", A, half=True)
    check_square("linalg.det", A)
    LU, pivots, _ = linalg_lu_factor_ex(A)
    diagonal = np.diagonal(LU, axis1=-2, axis2=-1)
    swaps = np.count_nonzero(pivots != np.arange(1, A.shape[-1] + 1), axis=-1)
    product = np.multiply.reduce(diagonal, -1, out=...)
    signs = np.where(swaps % 2, -1, 1).astype(A.dtype)
    return np.multiply(product, signs, out=...)  # type: ignore[no-any-return]


def linalg_slogdet(A: Array) -> tuple[Array, Array]:
    check_fraction("linalg.slogdet", A)
    check_square("linalg.slogdet", A)
    sign, logabsdet = map(np.asarray, np.linalg.slogdet(A))
    return np.where(np.isnan(sign), np.zeros_like(sign), sign), logabsdet


def cofactors(self: Array) -> Array:
    """The derivatives of the determinant of `self` in its entries.

    With ``self = U diag(s) Vh`` they are ``det(U) det(Vh) conj(U) diag(q) conj(Vh)``, where
    ``q[i]`` is the product of all but the i-th of `s`: nothing is divided by.
    """
    U, s, Vh = np.linalg.svd(self)
    q = _product_without(s)[..., None, :]
    factor = (np.linalg.det(U) * np.linalg.det(Vh))[..., None, None]
    return np.asarray(factor * ((U * q) @ Vh).conj(), self.dtype)


def cofactors_tangent(self: Array, direction: Array) -> Array:
    """The derivative of `cofactors` at `self` in a direction.

    At ``diag(s)`` it is ``diag(Q @ diagonal(E)) - Q * E.T``, where ``Q[i, j]`` is the product of
    all but the i-th and the j-th of `s`.
    """
    U, s, Vh = np.linalg.svd(self)
    size = s.shape[-1]
    identity = np.eye(size, dtype=s.dtype)
    rows = np.where(identity, 1, np.broadcast_to(s[..., None, :], (*s.shape, size)))
    Q = np.where(identity, 0, _product_without(rows))  # row i: products without the i-th
    E = U.conj().mT @ direction @ Vh.conj().mT
    diagonal = np.diagonal(E, axis1=-2, axis2=-1)
    inner = (Q @ diagonal[..., None]) * identity - Q * E.mT
    factor = (np.linalg.det(U) * np.linalg.det(Vh))[..., None, None]
    return np.asarray(factor * (U.conj() @ inner @ Vh.conj()), self.dtype)


def _product_without(s: Array) -> Array:
    """For each number along the last axis, the product of all the others."""
    ones = np.ones((*s.shape[:-1], 1), s.dtype)
    before = np.multiply.accumulate(np.concatenate([ones, s[..., :-1]], -1), -1)
    after = np.multiply.accumulate(np.concatenate([ones, s[..., :0:-1]], -1), -1)[..., ::-1]
    return np.asarray((before * after)[..., : s.shape[-1]])


def solve_by_triangle(
    A: Array, B: Array, upper: bool, left: bool = True, unit: bool = False, adjoint: bool = False
) -> Array:
    """The X in ``A X = B`` (``X A = B`` where not `left`), or with the adjoint of `A`.

    A zero on the diagonal of the triangle gives infinities.
    """
    from scipy.linalg import get_blas_funcs

    A, B = broadcast_batches(A, B, core=(2, 2))
    X = empty_columns(*B.shape, dtype=B.dtype)
    if not X.size:
        return X
    trsm = get_blas_funcs("trsm", (A, B))
    flags = {"side": not left, "lower": not upper, "trans_a": 2 * adjoint, "diag": unit}
    for a, b, x in matrices(A, B, X, core=(2, 2, 2)):
        x[...] = trsm(1, a, b, **flags)
    return X


def linalg_solve_triangular(
    A: Array, B: Array, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Array:
    check_system("linalg.solve_triangular", A, B, left)
    broadcast_shapes(B.shape[:-2], A.shape[:-2])
    check_lapack("triangular_solve_cpu", A)
    return solve_by_triangle(A, B, upper, left, unitriangular)


def triangular_solve(
    self: Array,
    A: Array,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[Array, Array]:
    _check_old_system("triangular_solve", self, A)
    check_lapack("triangular_solve_cpu", A)
    B = np.broadcast_to(self, (*broadcast_shapes(self.shape[:-2], A.shape[:-2]), *self.shape[-2:]))
    coefficient = A.mT if transpose else A
    X = solve_by_triangle(coefficient, B, upper is not transpose, True, unitriangular)
    return X, column_major(np.broadcast_to(A, (*X.shape[:-2], *A.shape[-2:])).copy())


def _check_old_system(name: str, b: Array, A: Array) -> None:
    for argument, array in (("b", b), ("A", A)):
        if array.ndim < 2:
            prefix = "torch.triangular_solve: Expected " if name == "triangular_solve" else ""
            verb = "to have" if prefix else "should have"
            raise RuntimeError(
                f"{prefix}{argument} {verb} at least 2 dimensions, but "
                f"{'it ' if prefix else ''}has {array.ndim} dimensions instead"
            )
    check_square("", A)
    if A.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {A.shape[-1]} by "
            f"{A.shape[-1]} but each b matrix is {b.shape[-2]} by {b.shape[-1]}"
        )
    if A.dtype != b.dtype:
        raise RuntimeError(
            "Expected b and A to have the same dtype, but found b of type "
            f"{from_numpy(b.dtype).scalar_name} and A of type {from_numpy(A.dtype).scalar_name} "
            "instead."
        )


def cholesky_solve(self: Array, input2: Array, upper: bool = False) -> Array:
    """The X in ``L L^H X = self`` (or ``U^H U``), where `input2` is the factor."""
    _check_old_system("cholesky_solve", self, input2)
    check_lapack("cholesky_solve_cpu", self)
    half = solve_by_triangle(input2, self, upper, adjoint=upper)
    return solve_by_triangle(input2, half, upper, adjoint=not upper)


def cholesky_inverse(self: Array, upper: bool = False) -> Array:
    check_square("cholesky_inverse", self)
    check_lapack("cholesky_inverse_out_cpu", self)
    zero = np.diagonal(self, axis1=-2, axis2=-1) == 0
    info = np.where(zero.any(-1), zero.argmax(-1) + 1, 0) if zero.size else np.zeros(())
    check_info("cholesky_inverse", np.asarray(info), SINGULAR)
    identity = np.broadcast_to(np.eye(self.shape[-1], dtype=self.dtype), self.shape)
    return cholesky_solve(identity, self, upper)


def linalg_lu_solve(
    LU: Array, pivots: Array, B: Array, *, left: bool = True, adjoint: bool = False
) -> Array:
    check_system("linalg.lu_solve", LU, B, left)
    if pivots.dtype != np.int32:
        raise RuntimeError(
            "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32, not "
            f"{from_numpy(pivots.dtype)}"
        )
    check_lapack("lu_solve_cpu", LU)
    if not left:  # X A = B is A^H X^H = B^H
        B = B.conj().mT
        return linalg_lu_solve(LU, pivots, B, adjoint=not adjoint).conj().mT
    LU, pivots, B = broadcast_batches(LU, pivots, B, core=(2, 1, 2))
    if adjoint:
        half = solve_by_triangle(LU, B, True, adjoint=True)
        return _swap_rows(
            solve_by_triangle(LU, half, False, unit=True, adjoint=True), pivots, undo=True
        )
    half = solve_by_triangle(LU, _swap_rows(column_major(B).copy("K"), pivots), False, unit=True)
    return solve_by_triangle(LU, half, True)


def _swap_rows(B: Array, pivots: Array, undo: bool = False) -> Array:
    """`B` after the row exchanges of `pivots`, made in place; `undo` takes them backwards."""
    for b, swaps in matrices(B, pivots, core=(2, 1)):
        for i, other in list(enumerate(swaps - 1))[:: -1 if undo else 1]:
            if i != other:
                b[[i, other]] = b[[other, i]]
    return B


def linalg_pinv(A: Array, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Array:
    """The pseudoinverse from the singular values larger than ``max(atol, rtol * largest)``."""
    own = from_numpy(A.dtype).scalar_name
    if A.ndim < 2 or A.dtype.char not in "fdFD":
        raise RuntimeError(
            f"linalg.pinv({own}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions "
            "of float, double, cfloat or cdouble types"
        )
    if hermitian:
        check_square("linalg.eigh", A)
    if not A.size:
        return np.zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]), A.dtype)
    U, s, Vh = np.linalg.svd(A, full_matrices=False, hermitian=hermitian)
    cutoff = tolerance(A, s, atol, rtol)
    kept = s > cutoff[..., None]
    reciprocal = np.where(kept, 1 / np.where(kept, s, 1), 0).astype(s.dtype)
    return np.asarray((Vh.conj().mT * reciprocal[..., None, :]) @ U.conj().mT)


def tolerance(A: Array, s: Array, atol: Any, rtol: Any) -> Array:
    """Up to where the singular values `s` of `A` count as zero."""
    default = 0 if atol is not None else max(A.shape[-2:]) * np.finfo(s.dtype).eps
    relative = s.max(-1) * (default if rtol is None else rtol)
    absolute = 0 if atol is None else atol
    return np.maximum(absolute, relative, out=...)  # type: ignore[no-any-return]


def linalg_lstsq(
    self: Array, b: Array, rcond: float | None = None, *, driver: str | None = None
) -> tuple[Array, Array, Array, Array]:
    _check_least_squares(self, b, driver)
    driver = driver or "gelsy"
    vector = is_vector(self, b)
    if vector:
        b = b[..., None]
    self, b = broadcast_batches(self, b, core=(2, 2))
    *batch, rows, columns = self.shape
    real = self.real.dtype
    X = empty_columns(*batch, columns, b.shape[-1], dtype=self.dtype)
    rank, info = np.zeros(batch, np.int64), np.zeros(batch, np.int32)
    s = np.zeros((*batch, min(rows, columns)), real)
    cut = max(rows, columns) * np.finfo(real).eps if rcond is None else rcond
    if not self.size:
        X[...] = 0
    else:
        for where in np.ndindex(*batch):
            solved = _least_squares(self[where], b[where], cut, driver)
            X[where], rank[where], s[where], info[where] = solved
    check_info("torch.linalg.lstsq", info, DEFICIENT)
    full = driver == "gels" or (driver != "gelsy" and bool((rank == columns).all()))
    known = full and rows > columns and self.size
    residuals = np.square(np.abs(b - self @ X)).sum(-2) if known else np.zeros(0)
    return (
        np.asarray(X[..., 0] if vector else X),
        np.asarray(residuals, real),
        np.zeros(0, np.int64) if driver == "gels" else rank,
        s if driver in ("gelsd", "gelss") else np.zeros(0, real),
    )


def _least_squares(a: Array, b: Array, cut: float, driver: str) -> tuple[Array, int, Any, int]:
    """The solution for one matrix, its rank, singular values, and LAPACK's verdict."""
    if driver == "gels":
        _, x, info = lapack("gels", a, b)(a, _padded(b, a.shape[1]))
        return x[: a.shape[1]], 0, 0, info
    from scipy.linalg import lstsq

    x, _, rank, s = lstsq(a, b, cut, check_finite=False, lapack_driver=driver)
    return x, rank, 0 if s is None else s, 0


def _padded(b: Array, rows: int) -> Array:
    """`b` with zero rows below, so that a solution of `rows` rows fits in its place."""
    missing = max(rows - b.shape[0], 0)
    return np.concatenate([b, np.zeros((missing, b.shape[1]), b.dtype)])


def _check_least_squares(self: Array, b: Array, driver: str | None) -> None:
    name = "torch.linalg.lstsq"
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    dim = -1 if is_vector(self, b) else -2
    if self.shape[-2] != b.shape[dim]:
        raise RuntimeError(
            f"{name}: input.size(-2) should match other.size({dim}), but they are "
            f"{self.shape[-2]} and {b.shape[dim]}"
        )
    if self.dtype != b.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{from_numpy(self.dtype).scalar_name} and other's dtype "
            f"{from_numpy(b.dtype).scalar_name}"
        )
    if driver not in (None, *DRIVERS):
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of ({', '.join(DRIVERS)}), not {driver!r}"
        )
    if self.dtype.char not in "fdFD":
        raise RuntimeError(
            "This function doesn't handle types other than float and double, but the matrices "
            f"are {from_numpy(self.dtype)}"
        )
