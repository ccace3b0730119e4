"""Determinants, with the derivatives that they have at singular matrices too."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import raw
from ..autograd.batching import all_values
from ..raw.matrices import check_fraction, check_square
from . import return_types
from .checking import checked
from .comparison import where
from .declare import op
from .decompositions import is_complex
from .formulas import no_derivative
from .transcendental import log

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["det", "logdet", "slogdet"]

cofactors = op(
    "cofactors(self)",
    kernel=raw.cofactors,
    self=lambda F, g, self: F.cofactors_tangent(self, g.conj()).conj(),
    tangent=lambda F, self, self_t: F.cofactors_tangent(self, self_t),
)
cofactors_tangent = op(
    "cofactors_tangent(self, direction)",
    kernel=raw.cofactors_tangent,
    self=no_derivative("cofactors_tangent"),
    direction=lambda F, g, self: F.cofactors_tangent(self, g.conj()).conj(),
)


def _log_derivative(F: Any, A: Any, det: Any) -> Any:
    """The derivative of ``log det A``, the transposed inverse; infinite where `A` is singular."""
    if np.all(all_values(getattr(det, "_array", det))):
        return F.linalg_inv(A).mT
    return F.cofactors(A) / _at_matrices(F, F.linalg_det(A))


def _at_matrices(F: Any, x: Any) -> Any:
    """A number for each matrix, shaped to multiply it."""
    return F.unsqueeze(F.unsqueeze(x, -1), -1)


def _cofactors(F: Any, A: Any, det: Any) -> Any:
    """The derivative of ``det A``; `cofactors` is for where the inverse would tell little."""
    if A.shape[-1] == 1:
        return F.zeros_like(A) + 1
    array, found = (all_values(getattr(x, "_array", x)) for x in (A, det))
    bound = np.sqrt(np.square(np.abs(array)).sum(-1)).prod(-1)  # Hadamard's, for the determinant
    rounding = array.shape[-1] * np.finfo(array.dtype).eps
    if np.all(np.abs(found) > rounding * bound):
        return F.linalg_inv(A).mT * _at_matrices(F, det)
    return F.cofactors(A)


def _det_gradient(F: Any, g: Any, A: Any, result: Any) -> Any:
    if not A.shape[-1]:
        return F.zeros_like(A)
    return _at_matrices(F, g) * _cofactors(F, A, result).conj()


linalg_det = op(
    "linalg_det(A)",
    kernel=raw.linalg_det,
    A=_det_gradient,
    tangent=lambda F, A, A_t, result: F.sum(_cofactors(F, A, result) * A_t, (-2, -1)),
    doc="""The determinants of matrices (..., n, n), as `torch.linalg.det`.

    The gradient is that of the polynomial in the entries, at singular matrices too: the cofactors.

    >>> import gradfn
    >>> gradfn.linalg.det(gradfn.tensor([[2.0, 1.0], [0.0, 4.0]]))
    tensor(8.)
    """,
)
det = linalg_det


def _slogdet_gradient(F: Any, g: Any, A: Any, sign: Any) -> Any:
    g_sign, g_logabsdet = g
    factor = g_logabsdet
    if g_sign is not None and is_complex(sign):
        turn = sign.conj() * g_sign  # only the turn of a complex sign has a derivative
        turn = (turn - turn.conj()) / 2
        factor = turn if factor is None else factor + turn
    if factor is None:
        return None
    return _at_matrices(F, factor) * _log_derivative(F, A, sign).conj()


def _slogdet_tangent(F: Any, A: Any, A_t: Any, sign: Any) -> Any:
    moved = F.sum(_log_derivative(F, A, sign) * A_t, (-2, -1))
    return sign * (moved - moved.conj()) / 2, (moved + moved.conj()) / 2


linalg_slogdet = op(
    "linalg_slogdet(A)",
    kernel=raw.linalg_slogdet,
    results=return_types.linalg_slogdet,
    A=_slogdet_gradient,
    tangent=_slogdet_tangent,
    doc="""The sign of the determinants of matrices (..., n, n), and the logarithm of their size.

    As `torch.linalg.slogdet`: 0 and -inf for a singular matrix, a number of size 1 as the sign of
    a complex determinant.

    >>> import gradfn
    >>> gradfn.linalg.slogdet(gradfn.eye(2))
    torch.return_types.linalg_slogdet(
    sign=tensor(1.),
    logabsdet=tensor(0.))
    """,
)


def slogdet(input: Tensor) -> Any:
    """`linalg.slogdet`.

    >>> import gradfn
    >>> gradfn.slogdet(gradfn.eye(2)).logabsdet
    tensor(0.)
    """
    return return_types.slogdet(linalg_slogdet(input))


@checked
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinants of matrices (..., n, n); NaN for negative ones.

    >>> import gradfn
    >>> gradfn.logdet(gradfn.eye(2))
    tensor(0.)
    """
    check_fraction("logdet", input._array)
    check_square("logdet", input._array)
    sign, logabsdet = linalg_slogdet(input)
    if input.is_complex():
        return log(sign) + logabsdet  # type: ignore[no-any-return]
    return where(sign == -1, math.nan, logabsdet)  # type: ignore[no-any-return]


METHODS = "det logdet slogdet"
