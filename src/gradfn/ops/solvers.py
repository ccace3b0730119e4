"""Linear systems and inverses, with their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import raw
from ..autograd.batching import all_values
from ..raw.matrices import check_info
from ..raw.solvers import SINGULAR, UNSOLVABLE, is_vector
from . import return_types
from .declare import op
from .decompositions import adjoint_of
from .out import with_out

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "cholesky_inverse",
    "cholesky_solve",
    "inverse",
    "lu_solve",
    "pinverse",
    "triangular_solve",
]


def _solve_gradients(
    F: Any, g: Any, A: Any, B_shape: Any, result: Any, left: bool, needs: Any
) -> tuple[Any, Any]:
    """``g_B = A^-H g`` and ``g_A = -g_B X^H``; mirrored where not `left`."""
    (g_X, _), X = g, result
    vector = len(B_shape) == 1 or (A.ndim - 1 == len(B_shape) and B_shape == A.shape[:-1])
    if vector:
        g_X, X = F.unsqueeze(g_X, -1), F.unsqueeze(X, -1)
    g_B = F.linalg_solve(adjoint_of(A), g_X, left=left)
    g_A = None
    if needs[0]:
        g_A = -(g_B @ adjoint_of(X)) if left else -(adjoint_of(X) @ g_B)
    return g_A, F.squeeze(g_B, -1) if vector else g_B


def _solve_tangent(F: Any, A: Any, A_t: Any, B_t: Any, B_shape: Any, result: Any, left: Any) -> Any:
    X, vector = result, len(B_shape) == 1 or B_shape == A.shape[:-1]
    if vector:
        X, B_t = F.unsqueeze(X, -1), F.unsqueeze(B_t, -1)
    X_t = F.linalg_solve(A, B_t - (A_t @ X if left else X @ A_t), left=left)
    return (F.squeeze(X_t, -1) if vector else X_t), None


linalg_solve_ex = op(
    "linalg_solve_ex(A: Tensor, B: Tensor, *, left=True, check_errors=False)",
    kernel=raw.linalg_solve_ex,
    results=return_types.linalg_solve_ex,
    joint=_solve_gradients,
    tangent=_solve_tangent,
    doc="""`linalg.solve` and, for each matrix, 0 or which pivot is zero in a singular one.

    >>> import gradfn
    >>> gradfn.linalg.solve_ex(gradfn.zeros(2, 2), gradfn.ones(2)).info
    tensor(1, dtype=torch.int32)
    """,
)


@with_out
def linalg_solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The X in ``A X = B``, or in ``X A = B`` where not `left`, as `torch.linalg.solve`.

    Shapes: `A` (..., n, n), `B` (..., n, k) or (..., k, n), or vectors (n) or (..., n) with the
    batch of `A`; batches are broadcast. LinAlgError where a matrix is singular.

    >>> import gradfn
    >>> gradfn.linalg.solve(gradfn.tensor([[2.0, 0.0], [0.0, 4.0]]), gradfn.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    X, info = linalg_solve_ex(A, B, left=left)
    check_info("torch.linalg.solve", all_values(info._array), UNSOLVABLE)
    return X  # type: ignore[no-any-return]


linalg_inv_ex = op(
    "linalg_inv_ex(A, *, check_errors=False)",
    kernel=raw.linalg_inv_ex,
    results=return_types.linalg_inv_ex,
    A=lambda g_inverse, inverse: -(adjoint_of(inverse) @ g_inverse @ adjoint_of(inverse)),
    tangent=lambda A_t, inverse: (-(inverse @ A_t @ inverse), None),
    doc="""`linalg.inv` and, for each matrix, 0 or which pivot is zero in a singular one.

    >>> import gradfn
    >>> gradfn.linalg.inv_ex(gradfn.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """,
)


@with_out
def linalg_inv(A: Tensor) -> Tensor:
    """The inverses of matrices (..., n, n), as `torch.linalg.inv`; LinAlgError for singular ones.

    >>> import gradfn
    >>> gradfn.linalg.inv(gradfn.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    inverse, info = linalg_inv_ex(A)
    check_info("linalg.inv", all_values(info._array), SINGULAR)
    return inverse  # type: ignore[no-any-return]


@with_out
def inverse(input: Tensor) -> Tensor:
    """`linalg.inv`.

    >>> import gradfn
    >>> gradfn.inverse(gradfn.tensor([[4.0]]))
    tensor([[0.2500]])
    """
    return linalg_inv(input)


def _triangle_gradients(
    F: Any, g: Any, self: Any, result: Any, upper: Any, left: Any, unitriangular: Any, needs: Any
) -> tuple[Any, Any]:
    g_B = F.linalg_solve_triangular(
        adjoint_of(self), g, upper=not upper, left=left, unitriangular=unitriangular
    )
    if not needs[0]:
        return None, g_B
    g_A = -(g_B @ adjoint_of(result)) if left else -(adjoint_of(result) @ g_B)
    return _triangle(F, g_A, upper, unitriangular), g_B


def _triangle(F: Any, x: Any, upper: bool, unitriangular: bool) -> Any:
    return F.triu(x, int(unitriangular)) if upper else F.tril(x, -int(unitriangular))


def _triangle_tangent(
    F: Any, self: Any, self_t: Any, B_t: Any, result: Any, upper: Any, left: Any, unitriangular: Any
) -> Any:
    A_t = _triangle(F, self_t, upper, unitriangular)
    rest = B_t - (A_t @ result if left else result @ A_t)
    return F.linalg_solve_triangular(
        self, rest, upper=upper, left=left, unitriangular=unitriangular
    )


linalg_solve_triangular = op(
    "linalg_solve_triangular(self, B: Tensor, *, upper, left=True, unitriangular=False)",
    kernel=raw.linalg_solve_triangular,
    joint=_triangle_gradients,
    tangent=_triangle_tangent,
    doc="""`linalg.solve` for matrices of which one triangle is read, as the whole.

    With `unitriangular` the diagonal counts as ones. Zeros on it give infinities. As
    `torch.linalg.solve_triangular`.

    >>> import gradfn
    >>> A = gradfn.tensor([[2.0, 1.0], [0.0, 1.0]])
    >>> gradfn.linalg.solve_triangular(A, gradfn.tensor([[4.0], [2.0]]), upper=True)
    tensor([[1.],
            [2.]])
    """,
)


def _old_triangle_gradients(
    F: Any, g: Any, A: Any, solution: Any, upper: Any, transpose: Any, unitriangular: Any
) -> tuple[Any, Any]:
    g_X, g_A = g
    g_B = None
    if g_X is not None:
        coefficient = A.conj() if transpose else adjoint_of(A)
        g_B = F.linalg_solve_triangular(
            coefficient, g_X, upper=upper is bool(transpose), unitriangular=unitriangular
        )
        part = -(solution.conj() @ g_B.mT) if transpose else -(g_B @ adjoint_of(solution))
        part = _triangle(F, part, upper, unitriangular)
        g_A = part if g_A is None else g_A + part
    return g_B, g_A


triangular_solve = op(
    "triangular_solve(self: Tensor, A: Tensor, upper=True, transpose=False, unitriangular=False)",
    kernel=raw.triangular_solve,
    results=return_types.triangular_solve,
    joint=_old_triangle_gradients,
    doc="""`linalg.solve_triangular` under its older name, its arguments exchanged.

    With `transpose`, solves with the transpose of `A`. Also gives a copy of `A`.

    >>> import gradfn
    >>> gradfn.triangular_solve(gradfn.ones(1, 1), gradfn.tensor([[2.0]])).solution
    tensor([[0.5000]])
    """,
)


def _cholesky_solve_gradients(
    F: Any, g: Any, input2: Any, result: Any, upper: bool, needs: Any
) -> tuple[Any, Any]:
    g_B = F.cholesky_solve(g, input2, upper)
    if not needs[1]:
        return g_B, None
    half = g_B @ adjoint_of(result)
    both = half + adjoint_of(half)
    return g_B, -(input2 @ both if upper else both @ input2)


cholesky_solve = op(
    "cholesky_solve(self: Tensor, input2: Tensor, upper=False)",
    kernel=raw.cholesky_solve,
    joint=_cholesky_solve_gradients,
    doc="""The X in ``L L^H X = input`` for a triangle L, `input2`; ``U^H U`` where `upper`.

    Shapes: `input` (..., n, k), `input2` (..., n, n). As `torch.cholesky_solve`.

    >>> import gradfn
    >>> gradfn.cholesky_solve(gradfn.ones(1, 1), gradfn.tensor([[2.0]]))
    tensor([[0.2500]])
    """,
)


def _cholesky_inverse_gradient(F: Any, g: Any, self: Any, result: Any, upper: bool) -> Any:
    both = result @ (g + adjoint_of(g)) @ result
    return -(self @ both if upper else both @ self)


cholesky_inverse = op(
    "cholesky_inverse(self, upper=False)",
    kernel=raw.cholesky_inverse,
    self=_cholesky_inverse_gradient,
    doc="""The inverse of ``L L^H`` for a triangle L, of ``U^H U`` where `upper`.

    As `torch.cholesky_inverse`; LinAlgError for zeros on the diagonal.

    >>> import gradfn
    >>> gradfn.cholesky_inverse(gradfn.tensor([[2.0]]))
    tensor([[0.2500]])
    """,
)


def _lu_solve_gradient(
    F: Any, g: Any, LU: Any, pivots: Any, result: Any, left: bool, adjoint: bool
) -> Any:
    """As of `solve`, with the gradient of ``A = P L U`` carried on to L and U."""
    g_B = F.linalg_lu_solve(LU, pivots, g, left=left, adjoint=not adjoint)
    P, L, U = F.lu_unpack(LU, pivots)
    first, second = (result, g_B) if adjoint else (g_B, result)
    g_A = -(first @ adjoint_of(second)) if left else -(adjoint_of(second) @ first)
    inner = P.mT @ g_A
    return F.tril(inner @ adjoint_of(U), -1) + F.triu(adjoint_of(L) @ inner)


linalg_lu_solve = op(
    "linalg_lu_solve(LU, pivots: Tensor, B, *, left=True, adjoint=False)",
    kernel=raw.linalg_lu_solve,
    LU=_lu_solve_gradient,
    B=lambda F, g, LU, pivots, left, adjoint: F.linalg_lu_solve(
        LU, pivots, g, left=left, adjoint=not adjoint
    ),
    doc="""`linalg.solve` from the results of `linalg.lu_factor`; for ``A^H`` where `adjoint`.

    As `torch.linalg.lu_solve`.

    >>> import gradfn
    >>> gradfn.linalg.lu_solve(*gradfn.linalg.lu_factor(2 * gradfn.eye(1)), gradfn.ones(1, 1))
    tensor([[0.5000]])
    """,
)


@with_out
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """`linalg.lu_solve` under its older name, its arguments exchanged.

    >>> import gradfn
    >>> gradfn.lu_solve(gradfn.ones(1, 1), *gradfn.linalg.lu_factor(2 * gradfn.eye(1)))
    tensor([[0.5000]])
    """
    return linalg_lu_solve(LU_data, LU_pivots, input)


def _pinv_gradient(F: Any, g: Any, A: Any, P: Any) -> Any:
    """Of Golub and Pereyra's derivative of the pseudoinverse P where the rank stays the same."""
    P_H, g_H = adjoint_of(P), adjoint_of(g)
    inside = -(P_H @ g @ P_H)
    right = g_H @ P @ P_H
    left = P_H @ P @ g_H
    return inside + (right - A @ (P @ right)) + (left - (left @ P) @ A)


linalg_pinv_of = op(
    "linalg_pinv(self, atol=None, rtol=None, hermitian=False)",
    kernel=raw.linalg_pinv,
    self=lambda F, g, self, result: _pinv_gradient(F, g, self, result),
)


@with_out
def linalg_pinv(
    input: Tensor,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """The pseudoinverse of matrices (..., m, n), of shape (..., n, m), as `torch.linalg.pinv`.

    Singular values up to ``max(atol, rtol * largest)`` count as zero; `rtol` is by default
    ``max(m, n)`` times the spacing of the dtype, or 0 with `atol`. `rcond` is an older name of it.
    `hermitian` reads one triangle of Hermitian matrices. The gradient is that at fixed rank.

    >>> import gradfn
    >>> gradfn.linalg.pinv(gradfn.tensor([[2.0, 0.0]]))
    tensor([[0.5000],
            [0.0000]])
    """
    relative = rtol if rcond is None else rcond
    atol, relative = (getattr(x, "_array", x) for x in (atol, relative))
    return linalg_pinv_of(input, atol, relative, hermitian)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """`linalg.pinv` under its older name.

    >>> import gradfn
    >>> gradfn.pinverse(gradfn.tensor([[4.0]]))
    tensor([[0.2500]])
    """
    return linalg_pinv(input, rcond)


def _lstsq_gradients(
    F: Any, g: Any, self: Any, b: Any, solution: Any, needs: Any
) -> tuple[Any, Any]:
    """Through the pseudoinverse for the solution; the residuals are at their least in it."""
    g_X, g_residuals, _, _ = g
    vector = b.ndim < solution.ndim or is_vector(self, b)
    X = F.unsqueeze(solution, -1) if vector else solution
    B = F.unsqueeze(b, -1) if vector else b
    g_A = g_B = None
    if g_X is not None:
        g_X = F.unsqueeze(g_X, -1) if vector else g_X
        P = F.linalg_pinv(self)
        g_B = adjoint_of(P) @ g_X
        g_A = _pinv_gradient(F, g_X @ adjoint_of(B), self, P) if needs[0] else None
    if g_residuals is not None and 0 not in g_residuals.shape:
        rest = 2 * (self @ X - B) * F.unsqueeze(g_residuals, -2)
        g_B = -rest if g_B is None else g_B - rest
        through = rest @ adjoint_of(X)
        g_A = through if g_A is None else g_A + through
    return g_A, F.squeeze(g_B, -1) if vector and g_B is not None else g_B


linalg_lstsq = op(
    "linalg_lstsq(self: Tensor, b: Tensor, rcond=None, *, driver=None)",
    kernel=raw.linalg_lstsq,
    results=return_types.linalg_lstsq,
    constants=("singular_values",),
    joint=_lstsq_gradients,
    doc="""The X for which ``A X - B`` is least, its squares summed, for matrices A (..., m, n).

    Also the sums of squares where the driver finds a full rank and m > n, the rank, and the
    singular values; what LAPACK's driver (``"gelsy"`` or "gels", "gelsd", "gelss") does not tell
    is empty. As `torch.linalg.lstsq`. LinAlgError where "gels" meets a deficient rank.

    >>> import gradfn
    >>> gradfn.linalg.lstsq(gradfn.ones(2, 1), gradfn.tensor([[1.0], [3.0]])).solution
    tensor([[2.]])
    """,
)


METHODS = "cholesky_inverse cholesky_solve inverse lu_solve pinverse triangular_solve"
