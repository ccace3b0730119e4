"""Factorisations of matrices, with their derivatives.

A factorisation that is unique only where some numbers differ, as singular vectors are where the
singular values do, has a gradient of NaN or infinity where they coincide, as in PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import raw
from ..autograd.batching import all_values
from ..autograd.grad_mode import get_mode
from ..raw.decompositions import INDEFINITE, ZERO_PIVOT
from ..raw.matrices import check_info, check_square
from . import return_types
from .checking import checked
from .declare import op
from .out import with_out

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["cholesky", "lu", "lu_unpack", "qr", "svd"]


def adjoint_of(matrix: Any) -> Any:
    """The conjugate transpose of matrices, arrays or tensors."""
    return matrix.mT.conj()


def columns_from(F: Any, matrix: Any, start: int, end: int) -> Any:
    """The columns from `start` to `end`."""
    return F.slice_dim(matrix, -1, start, end)


def _identity(F: Any, x: Any) -> Any:
    """Identity matrices with a row for each item along the last dimension of `x`."""
    return F.diag_embed(F.zeros_like(x) + 1)


def _gaps(F: Any, x: Any) -> Any:
    """``x[j] - x[i]``, with ones on the diagonal."""
    return F.unsqueeze(x, -2) - F.unsqueeze(x, -1) + _identity(F, x)


def is_complex(x: Any) -> bool:
    return bool(getattr(x, "_array", x).dtype.kind == "c")


def _cholesky_gradient(F: Any, g: Any, L: Any, upper: bool) -> Any:
    """``L^-H phi(L^H g) L^-1``; phi takes half of the lower triangle and mirrors it."""
    if upper:
        L, g = adjoint_of(L), adjoint_of(g)
    product = adjoint_of(L) @ g
    mirrored = (F.tril(product) + adjoint_of(F.tril(product, -1))) / 2
    half = F.linalg_solve_triangular(adjoint_of(L), mirrored, upper=True)
    return F.linalg_solve_triangular(L, half, upper=False, left=False)


def _cholesky_tangent(F: Any, L: Any, self_t: Any, upper: bool) -> Any:
    if upper:
        return adjoint_of(_cholesky_tangent(F, adjoint_of(L), self_t, False))
    half = F.linalg_solve_triangular(L, self_t, upper=False)
    product = F.linalg_solve_triangular(adjoint_of(L), half, upper=True, left=False)
    return L @ ((F.tril(product) + F.tril(product, -1)) / 2)


linalg_cholesky_ex = op(
    "linalg_cholesky_ex(self, *, upper=False, check_errors=False)",
    kernel=raw.linalg_cholesky_ex,
    results=return_types.linalg_cholesky_ex,
    self=lambda F, g_L, L, upper: _cholesky_gradient(F, g_L, L, upper),
    tangent=lambda F, self_t, L, upper: (_cholesky_tangent(F, L, self_t, upper), None),
    doc="""`linalg.cholesky` and, for each matrix, 0 or the order of a minor that is not positive.

    >>> import gradfn
    >>> gradfn.linalg.cholesky_ex(-gradfn.eye(2)).info
    tensor(1, dtype=torch.int32)
    """,
)
cholesky = op(
    "cholesky(self, upper=False)",
    kernel=raw.cholesky,
    self=lambda F, g, result, upper: _cholesky_gradient(F, g, result, upper),
    tangent=lambda F, self_t, result, upper: _cholesky_tangent(F, result, self_t, upper),
    doc="""`linalg.cholesky` under its older name.

    >>> import gradfn
    >>> gradfn.cholesky(gradfn.tensor([[4.0]]))
    tensor([[2.]])
    """,
)


@with_out
def linalg_cholesky(input: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangular L in ``A = L L^H`` for Hermitian positive-definite matrices (..., n, n).

    With `upper`, the U in ``A = U^H U``. LinAlgError for other matrices, as far as one triangle
    of them tells. As `torch.linalg.cholesky`.

    >>> import gradfn
    >>> gradfn.linalg.cholesky(gradfn.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    L, info = linalg_cholesky_ex(input, upper=upper)
    check_info("linalg.cholesky", all_values(info._array), INDEFINITE)
    return L  # type: ignore[no-any-return]


def _qr_gradient(F: Any, g: Any, Q: Any, R: Any, mode: str) -> Any:
    """With ``dA R^-1 = dQ + Q dR R^-1``, where R keeps a real diagonal."""
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use linalg.qr(A, mode='reduced') if you are going to differentiate through "
            "linalg.qr."
        )
    rows, columns = Q.shape[-2], R.shape[-1]
    if mode == "complete" and rows > columns:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols: "
            f"the matrices are {rows} by {columns}."
        )
    g_Q, g_R = g
    if rows >= columns:
        return _tall_qr_gradient(F, g_Q, g_R, Q, R)
    if g_R is None:
        rest = F.zeros_like(columns_from(F, R, rows, columns))
        return F.cat([_tall_qr_gradient(F, g_Q, None, Q, columns_from(F, R, 0, rows)), rest], -1)
    left, right = columns_from(F, R, 0, rows), columns_from(F, R, rows, columns)
    g_left, g_right = columns_from(F, g_R, 0, rows), columns_from(F, g_R, rows, columns)
    through_Q = Q @ right @ adjoint_of(g_right)
    g_Q = through_Q if g_Q is None else g_Q + through_Q
    return F.cat([_tall_qr_gradient(F, g_Q, g_left, Q, left), Q @ g_right], -1)


def _tall_qr_gradient(F: Any, g_Q: Any, g_R: Any, Q: Any, R: Any) -> Any:
    x = None if g_Q is None else adjoint_of(Q) @ g_Q
    y = None if g_R is None else g_R @ adjoint_of(R)
    below = 0 if x is None else x - adjoint_of(x)
    below = below if y is None else below + adjoint_of(y)
    inner = F.tril(below, -1)
    diagonal = 0
    if x is not None:
        d = F.diagonal(x, 0, -2, -1)
        diagonal, inner = d - d.conj(), inner - x
    if y is not None:
        d = F.diagonal(y, 0, -2, -1)
        diagonal, inner = diagonal + d + d.conj(), inner + F.triu(y, 1)
    projected = Q @ (inner + F.diag_embed(diagonal / 2))
    if g_Q is not None:
        projected = projected + g_Q
    return F.linalg_solve_triangular(adjoint_of(R), projected, upper=False, left=False)


qr_of = op(
    "linalg_qr(A, kind='reduced')",
    kernel=raw.linalg_qr,
    results=return_types.linalg_qr,
    A=lambda F, g, Q, R, kind: _qr_gradient(F, g, Q, R, kind),
)


@with_out
def linalg_qr(A: Tensor, mode: str = "reduced") -> Any:
    """``A = Q R`` with orthonormal columns in Q and an upper triangular R.

    Of matrices (..., m, n), ``mode="reduced"`` gives the first min(m, n) columns of Q,
    ``"complete"`` all m, ``"r"`` R alone. As `torch.linalg.qr`; RuntimeError where there is no
    derivative.

    >>> import gradfn
    >>> gradfn.linalg.qr(gradfn.tensor([[3.0], [4.0]])).R
    tensor([[-5.]])
    """
    return qr_of(A, mode)


@with_out
def qr(input: Tensor, some: bool = True) -> Any:
    """`linalg.qr` under its older name: ``mode="complete"`` where not `some`.

    >>> import gradfn
    >>> gradfn.qr(gradfn.ones(3, 2), some=False).Q.shape
    torch.Size([3, 3])
    """
    return return_types.qr(linalg_qr(input, "reduced" if some else "complete"))


def _check_phases(who: str, turns: Any, depends: str) -> None:
    """Raise where a loss depends on the phases of complex vectors, which are arbitrary: `turns`
    has imaginary parts, by which it changes with the phases."""
    array = all_values(getattr(turns, "_array", turns))
    if array.dtype.kind == "c" and np.any(np.abs(array.imag) > 1e-2):
        raise RuntimeError(
            f"{who} in the complex case are specified up to multiplication by e^{{i phi}}. The "
            f"specified loss function depends on this {depends} ill-defined."
        )


def _svd_gradient(F: Any, g: Any, U: Any, S: Any, Vh: Any) -> Any:
    g_U, g_S, g_Vh = g
    size = S.shape[-1]
    rows, columns = U.shape[-2], Vh.shape[-1]
    if U.shape[-1] > size:
        U = columns_from(F, U, 0, size)
        g_U = None if g_U is None else columns_from(F, g_U, 0, size)
    if Vh.shape[-2] > size:
        Vh = F.slice_dim(Vh, -2, 0, size)
        g_Vh = None if g_Vh is None else F.slice_dim(g_Vh, -2, 0, size)
    if g_U is None and g_Vh is None:
        return (U * F.unsqueeze(g_S, -2)) @ Vh
    across, down = F.unsqueeze(S, -2), F.unsqueeze(S, -1)
    inner = _svd_inner(F, g_U, g_S, g_Vh, U, S, Vh)
    gradient = U @ inner @ Vh
    if g_U is not None and rows > size:
        scaled = g_U / across
        gradient = gradient + (scaled - U @ (adjoint_of(U) @ scaled)) @ Vh
    if g_Vh is not None and columns > size:
        scaled = g_Vh / down
        gradient = gradient + U @ (scaled - (scaled @ adjoint_of(Vh)) @ Vh)
    return gradient


def _svd_inner(F: Any, g_U: Any, g_S: Any, g_Vh: Any, U: Any, S: Any, Vh: Any) -> Any:
    """The gradient for ``U^H A V``, from the rotations of the singular vectors and from S."""
    across, down = F.unsqueeze(S, -2), F.unsqueeze(S, -1)
    gaps = (across - down) * (across + down) + _identity(F, S)
    x = 0 if g_U is None else adjoint_of(U) @ g_U
    y = 0 if g_Vh is None else Vh @ adjoint_of(g_Vh)
    inner = 0
    if g_U is not None:
        inner = _skew(F, x) / gaps * across
    if g_Vh is not None:
        inner = inner + down * (_skew(F, y) / gaps)
    total = F.diagonal(x + y, 0, -2, -1)
    _check_phases("svd_backward: The singular vectors", total, "phase term, making it")
    diagonal = g_S
    if g_U is not None and is_complex(x):
        d = F.diagonal(x, 0, -2, -1)
        turned = (d - d.conj()) / (2 * S)
        diagonal = turned if g_S is None else turned + g_S
    return inner if diagonal is None else inner + F.diag_embed(diagonal)


def _skew(F: Any, x: Any) -> Any:
    """``x - x^H`` without its diagonal."""
    difference = x - adjoint_of(x)
    return F.tril(difference, -1) + F.triu(difference, 1)


linalg_svd_of = op(
    "linalg_svd(A, full_matrices=True, compute_uv=True, *, driver=None)",
    kernel=raw.linalg_svd,
    results=return_types.linalg_svd,
    A=_svd_gradient,
)


@with_out
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """``A = U diag(S) Vh`` with orthonormal columns in U and rows in Vh, S from the largest down.

    Of matrices (..., m, n), U has m columns and Vh n rows, or min(m, n) where not `full_matrices`.
    As `torch.linalg.svd`. Gradients through U and Vh are finite where the singular values differ
    and are not zero, and a loss must not depend on the signs (or phases) of the vectors.
    LinAlgError for NaN and infinities.

    >>> import gradfn
    >>> gradfn.linalg.svd(gradfn.tensor([[3.0, 0.0], [0.0, 4.0]])).S
    tensor([4., 3.])
    """
    return linalg_svd_of(A, full_matrices, driver=driver)


@with_out
@checked
def linalg_svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values of matrices, from the largest down, as `torch.linalg.svdvals`.

    >>> import gradfn
    >>> gradfn.linalg.svdvals(gradfn.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor([4., 3.])
    """
    mode = get_mode()
    vectors = mode.intercept is not None or (mode.grad and A.requires_grad)
    return linalg_svd_of(A, False, vectors, driver=driver)[1]  # type: ignore[no-any-return]


@with_out
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """`linalg.svd` under its older name, with V instead of its adjoint.

    >>> import gradfn
    >>> gradfn.svd(gradfn.ones(2, 3)).V.shape
    torch.Size([3, 2])
    """
    if input.dim() < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {input.dim()} "
            "dimensions instead"
        )
    if compute_uv:
        U, S, Vh = linalg_svd_of(input, not some)
        return return_types.svd((U, S, Vh.mH))
    *batch, rows, columns = input.shape
    empty = input.detach()
    U, V = (empty.new_zeros((*batch, n, n)) for n in (rows, columns))
    return return_types.svd((U, linalg_svdvals(input), V))


def _eigh_gradient(F: Any, g: Any, eigenvalues: Any, eigenvectors: Any) -> Any:
    g_values, g_vectors = g
    V = eigenvectors
    if g_vectors is None:
        return (V * F.unsqueeze(g_values, -2)) @ adjoint_of(V)
    inner = adjoint_of(V) @ g_vectors
    turns = F.diagonal(inner, 0, -2, -1)
    _check_phases("linalg_eigh_backward: The eigenvectors", turns, "quantity, so it is")
    off = _skew(F, inner) / (2 * _gaps(F, eigenvalues))
    inner = off if g_values is None else off + F.diag_embed(g_values)
    return V @ inner @ adjoint_of(V)


linalg_eigh = op(
    "linalg_eigh(self, UPLO='L')",
    kernel=raw.linalg_eigh,
    results=return_types.linalg_eigh,
    self=_eigh_gradient,
    doc="""The eigenvalues, from the smallest up, and eigenvectors of Hermitian (..., n, n).

    ``A = V diag(L) V^H``. Only the lower triangle is read, or the upper for ``UPLO="U"``. As
    `torch.linalg.eigh`. Gradients through the eigenvectors are finite where the eigenvalues
    differ, and a loss must not depend on the signs (or phases) of the vectors.

    >>> import gradfn
    >>> gradfn.linalg.eigh(gradfn.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    tensor([1., 2.])
    """,
)


@with_out
def linalg_eigvalsh(input: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of Hermitian matrices, from the smallest up, as `torch.linalg.eigvalsh`.

    >>> import gradfn
    >>> gradfn.linalg.eigvalsh(gradfn.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor([1., 2.])
    """
    return linalg_eigh(input, UPLO)[0]  # type: ignore[no-any-return]


def _eig_gradient(F: Any, g: Any, eigenvalues: Any, eigenvectors: Any) -> Any:
    """With ``dA V = dV diag(L) + V dL - ...``, the eigenvectors keeping their length."""
    g_values, g_vectors = g
    V = eigenvectors
    if g_vectors is None:
        inner = F.unsqueeze(g_values, -1) * adjoint_of(V)
        return F.linalg_solve(adjoint_of(V), inner)
    inner = adjoint_of(V) @ g_vectors
    diagonal = F.diagonal(inner, 0, -2, -1)
    _check_phases("linalg_eig_backward: The eigenvectors", diagonal, "quantity, so it is")
    along = (diagonal + diagonal.conj()) / 2
    inner = inner - adjoint_of(V) @ (V * F.unsqueeze(along, -2))
    off = (F.tril(inner, -1) + F.triu(inner, 1)) / _gaps(F, eigenvalues).conj()
    inner = off if g_values is None else off + F.diag_embed(g_values)
    return F.linalg_solve(adjoint_of(V), inner @ adjoint_of(V))


linalg_eig = op(
    "linalg_eig(self)",
    kernel=raw.linalg_eig,
    results=return_types.linalg_eig,
    self=_eig_gradient,
    doc="""The complex eigenvalues and eigenvectors of matrices (..., n, n): ``A V = V diag(L)``.

    As `torch.linalg.eig`, in LAPACK's order and scale: the columns of V have length 1. Gradients
    are finite where the eigenvalues differ, and a loss must not depend on the phases of the
    vectors. RuntimeError for NaN and infinities.

    >>> import gradfn
    >>> gradfn.linalg.eig(gradfn.tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    tensor([0.+1.j, 0.-1.j])
    """,
)


@with_out
@checked
def linalg_eigvals(input: Tensor) -> Tensor:
    """The complex eigenvalues of matrices, as `torch.linalg.eigvals`.

    >>> import gradfn
    >>> gradfn.linalg.eigvals(gradfn.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    tensor([0.+1.j, 0.-1.j])
    """
    check_square("linalg.eigvals", input._array)
    return linalg_eig(input)[0]  # type: ignore[no-any-return]


def _lu_gradient(F: Any, g_L: Any, g_U: Any, P: Any, L: Any, U: Any) -> Any:
    """The gradient for A in ``A = P L U``; zeros stand for a gradient that has not come."""
    rows, columns = L.shape[-2], U.shape[-1]
    size = L.shape[-1]
    if columns > size:  # the columns of A and U on the right are free of L's shape
        right = columns_from(F, U, size, columns)
        U = columns_from(F, U, 0, size)
        g_right, g_U = columns_from(F, g_U, size, columns), columns_from(F, g_U, 0, size)
        g_right = F.linalg_solve_triangular(adjoint_of(L), g_right, upper=True, unitriangular=True)
        return P @ F.cat(
            [_square_lu_gradient(F, g_L - g_right @ adjoint_of(right), g_U, L, U), g_right], -1
        )
    if rows > size:
        below, L = F.slice_dim(L, -2, size, rows), F.slice_dim(L, -2, 0, size)
        g_below, g_L = F.slice_dim(g_L, -2, size, rows), F.slice_dim(g_L, -2, 0, size)
        g_below = F.linalg_solve_triangular(adjoint_of(U), g_below, upper=False, left=False)
        top = _square_lu_gradient(F, g_L, g_U - adjoint_of(below) @ g_below, L, U)
        return P @ F.cat([top, g_below], -2)
    return P @ _square_lu_gradient(F, g_L, g_U, L, U)


def _square_lu_gradient(F: Any, g_L: Any, g_U: Any, L: Any, U: Any) -> Any:
    inner = F.tril(adjoint_of(L) @ g_L, -1) + F.triu(g_U @ adjoint_of(U))
    half = F.linalg_solve_triangular(adjoint_of(U), inner, upper=False, left=False)
    return F.linalg_solve_triangular(adjoint_of(L), half, upper=True, unitriangular=True)


def _packed_lu_gradient(F: Any, g: Any, LU: Any, pivots: Any) -> Any:
    P, L, U = F.lu_unpack(LU, pivots)
    size = L.shape[-1]
    g_L = F.tril(columns_from(F, g, 0, size), -1)
    return _lu_gradient(F, g_L, F.triu(F.slice_dim(g, -2, 0, size)), P, L, U)


linalg_lu_factor_ex = op(
    "linalg_lu_factor_ex(A, *, pivot=True, check_errors=False)",
    kernel=raw.linalg_lu_factor_ex,
    results=return_types.linalg_lu_factor_ex,
    A=lambda F, g_LU, LU, pivots: _packed_lu_gradient(F, g_LU, LU, pivots),
    doc="""`linalg.lu_factor` and, for each matrix, 0 or which number on the diagonal of U is 0.

    >>> import gradfn
    >>> gradfn.linalg.lu_factor_ex(gradfn.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """,
)
linalg_lu = op(
    "linalg_lu(A, *, pivot=True)",
    kernel=raw.linalg_lu,
    results=return_types.linalg_lu,
    constants=("P",),
    A=lambda F, g_L, g_U, P, L, U: _lu_gradient(F, g_L, g_U, P, L, U),
    doc="""``A = P L U``: a permutation, a lower triangle with a unit diagonal, an upper triangle.

    Of matrices (..., m, n), L has min(m, n) columns and U as many rows. As `torch.linalg.lu`.

    >>> import gradfn
    >>> gradfn.linalg.lu(gradfn.tensor([[1.0, 2.0], [4.0, 4.0]])).L
    tensor([[1.0000, 0.0000],
            [0.2500, 1.0000]])
    """,
)


def _unpack_gradient(F: Any, g: Any, L: Any, U: Any, LU_data_shape: Any) -> Any:
    _, g_L, g_U = g
    size = min(LU_data_shape[-2:])
    total = None
    if g_L is not None:
        total = F.slice_backward(F.tril(g_L, -1), LU_data_shape, -1, 0, size, 1)
    if g_U is not None:
        part = F.slice_backward(F.triu(g_U), LU_data_shape, -2, 0, size, 1)
        total = part if total is None else total + part
    return total


lu_unpack = op(
    "lu_unpack(LU_data, LU_pivots: Mask, unpack_data=True, unpack_pivots=True)",
    kernel=raw.lu_unpack,
    results=return_types.lu_unpack,
    constants=("P",),
    LU_data=lambda F, g, LU_data_shape: _unpack_gradient(F, g, None, None, LU_data_shape),
    doc="""The P, L and U in what `linalg.lu_factor` gives, as `torch.lu_unpack`.

    >>> import gradfn
    >>> gradfn.lu_unpack(*gradfn.linalg.lu_factor(gradfn.tensor([[1.0, 2.0], [4.0, 4.0]]))).U
    tensor([[4., 4.],
            [0., 1.]])
    """,
)


@with_out
def linalg_lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """L and U of ``A = P L U`` in one matrix, and P as row exchanges counted from 1.

    As `torch.linalg.lu_factor`. RuntimeError where U has a zero on its diagonal.

    >>> import gradfn
    >>> gradfn.linalg.lu_factor(gradfn.tensor([[1.0, 2.0], [4.0, 4.0]])).pivots
    tensor([2, 2], dtype=torch.int32)
    """
    LU, pivots, info = linalg_lu_factor_ex(A, pivot=pivot)
    check_info("torch.linalg.lu_factor", all_values(info._array), ZERO_PIVOT, RuntimeError)
    return return_types.linalg_lu_factor((LU, pivots))


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """`linalg.lu_factor` under its older name, which does not mind zeros on the diagonal.

    >>> import gradfn
    >>> gradfn.lu(gradfn.zeros(2, 2))[1]
    tensor([1, 2], dtype=torch.int32)
    """
    LU, pivots, info = linalg_lu_factor_ex(A, pivot=pivot)
    return return_types.lu_with_info((LU, pivots, info)) if get_infos else (LU, pivots)


METHODS = "cholesky lu qr svd"
