"""Products of Householder's reflectors ``H_i = I - tau_i v_i v_i^H``, as LAPACK stores them.

``v_i`` is zero above its place i, one there, and below it what column i of a matrix holds.
"""

from __future__ import annotations

from typing import Any

from .. import raw
from . import return_types
from .declare import op
from .decompositions import adjoint_of, columns_from
from .formulas import no_derivative

__all__ = ["geqrf", "orgqr", "ormqr"]


def _identity_like(F: Any, x: Any) -> Any:
    return F.tril(F.triu(F.zeros_like(x) + 1))


def _reflection_gradients(
    F: Any, g: Any, input: Any, tau: Any, start: Any, adjoint: bool = False
) -> tuple[Any, Any, Any]:
    """The gradients for `input`, `tau` and `start` of ``H_1 ... H_k start``.

    With `adjoint`, of ``H_k^H ... H_1^H start``. Each reflector takes ``y`` to
    ``y - tau v (v^H y)``, so the values before each are computed again, then walked back.
    """
    if 0 in (*input.shape, *tau.shape):
        return None, None, g
    vectors = F.tril(input, -1) + _identity_like(F, input)
    count = tau.shape[-1]
    order = list(range(count)) if adjoint else list(range(count))[::-1]
    factors = F.unsqueeze(tau.conj() if adjoint else tau, -2)
    steps, y = [], start
    for i in order:
        v, factor = columns_from(F, vectors, i, i + 1), columns_from(F, factors, i, i + 1)
        along = adjoint_of(v) @ y
        steps.append((i, v, factor, y, along))
        y = y - factor * (v @ along)
    g_v: dict[int, Any] = {}
    g_tau: dict[int, Any] = {}
    for i, v, factor, y, along in steps[::-1]:
        g_along = adjoint_of(v) @ g
        g_factor = -F.sum(along.conj() * g_along, (-2, -1))
        g_tau[i] = F.unsqueeze(g_factor.conj() if adjoint else g_factor, -1)
        g_v[i] = -(factor.conj() * (g @ adjoint_of(along))) - factor * (y @ adjoint_of(g_along))
        g = g - factor.conj() * (v @ g_along)
    rest = F.zeros_like(columns_from(F, input, count, input.shape[-1]))
    g_vectors = F.cat([*(g_v[i] for i in range(count)), rest], -1)
    return F.tril(g_vectors, -1), F.cat([g_tau[i] for i in range(count)], -1), g


def _householder_gradients(F: Any, g: Any, input: Any, tau: Any) -> tuple[Any, Any]:
    return _reflection_gradients(F, g, input, tau, _identity_like(F, input))[:2]


orgqr = op(
    "linalg_householder_product(input: Tensor, tau: Tensor)",
    kernel=raw.linalg_householder_product,
    joint=_householder_gradients,
    doc="""The first columns of the product of reflectors, as many as `input` has.

    Shapes: `input` (..., m, n) with m >= n, `tau` (..., k) with k <= n. As
    `torch.linalg.householder_product` and `torch.orgqr`.

    >>> import gradfn
    >>> gradfn.linalg.householder_product(gradfn.ones(2, 1), gradfn.tensor([2.0]))
    tensor([[-1.],
            [-2.]])
    """,
)


def _ormqr_gradients(
    F: Any, g: Any, self: Any, input2: Any, input3: Any, left: bool, transpose: bool
) -> tuple[Any, Any, Any]:
    """From the right, ``C Q`` is the adjoint of ``Q^H C^H``."""
    if left:
        return _reflection_gradients(F, g, self, input2, input3, transpose)
    g_self, g_tau, g_other = _reflection_gradients(
        F, adjoint_of(g), self, input2, adjoint_of(input3), not transpose
    )
    return g_self, g_tau, adjoint_of(g_other)


ormqr = op(
    "ormqr(self: Tensor, input2: Tensor, input3: Tensor, left=True, transpose=False)",
    kernel=raw.ormqr,
    joint=_ormqr_gradients,
    doc="""The product ``Q C`` of all reflectors and a matrix; ``C Q`` where not `left`.

    With `transpose`, of ``Q^H``. Shapes: (..., m, n), `input2` (..., k) with k <= n, `input3`
    (..., m, p) or (..., p, m). As `torch.ormqr`.

    >>> import gradfn
    >>> gradfn.ormqr(gradfn.zeros(2, 1), gradfn.tensor([2.0]), gradfn.eye(2))
    tensor([[-1.,  0.],
            [ 0.,  1.]])
    """,
)
geqrf = op(
    "geqrf(self)",
    kernel=raw.geqrf,
    results=return_types.geqrf,
    self=no_derivative("geqrf"),
    doc="""The QR factorisation as R with the reflectors below it, and their factors.

    As `torch.geqrf`; see `linalg.qr`.

    >>> import gradfn
    >>> gradfn.geqrf(gradfn.tensor([[3.0], [4.0]])).a
    tensor([[-5.0000],
            [ 0.5000]])
    """,
)

METHODS = "geqrf orgqr ormqr"
