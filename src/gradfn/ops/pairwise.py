"""Distances between all pairs of vectors."""

from __future__ import annotations

import math
from typing import Any

from .. import raw
from ..shapes import broadcast_shapes
from .checking import checked
from .declare import op
from .norms import norm_gradient

__all__ = ["cdist", "pdist"]


def _along(F: Any, g: Any, difference: Any, result: Any, p: float, dim: int) -> Any:
    """The gradient of the p-norm `result` of `difference` along `dim`.

    The maximum norm gives the whole gradient to each of several largest differences.
    """
    if p == 0:
        return F.zeros_like(difference)
    if p != math.inf:
        return norm_gradient(F, g, difference, result, difference.shape, p, (dim,), False)
    largest = F.abs(difference) == F.unsqueeze(result, dim)
    return F.where(largest, F.sgn(difference) * F.unsqueeze(g, dim), 0)


def _differences(F: Any, g: Any, self: Any, other: Any, result: Any, p: float) -> Any:
    """The gradients of all differences of two rows."""
    return _along(F, g, F.unsqueeze(self, -2) - F.unsqueeze(other, -3), result, p, -1)


def _euclidean_first(F: Any, g: Any, self: Any, other: Any, result: Any) -> Any:
    ratio = F.where(result == 0, 0, g / result)
    return self * F.sum(ratio, (-1,), True) - F.matmul(ratio, other)


def _euclidean_second(F: Any, g: Any, self: Any, other: Any, result: Any) -> Any:
    return _euclidean_first(F, F.transpose(g, -1, -2), other, self, F.transpose(result, -1, -2))


def _pdist_gradient(F: Any, g: Any, self: Any, result: Any, self_shape: Any, p: float) -> Any:
    count = self_shape[0]
    first, second = raw.triu_indices(count, count, 1)
    columns = F.transpose(self, 0, 1)
    difference = F.pick(columns, [first]) - F.pick(columns, [second])
    pulled = _along(F, g, difference, result, p, 0)
    sums = F.unpick(pulled, (count,), [first]) - F.unpick(pulled, (count,), [second])
    return F.transpose(sums, 0, 1)


cdist_of = op(
    "cdist(self, other, p)",
    kernel=raw.cdist,
    batch="trailing",
    self=lambda F, g, self, other, result, p: F.sum(
        _differences(F, g, self, other, result, p), (-2,)
    ),
    other=lambda F, g, self, other, result, p: (
        -F.sum(_differences(F, g, self, other, result, p), (-3,))
    ),
)
euclidean_dist = op(
    "euclidean_dist(self, other)",
    kernel=raw.euclidean_dist,
    batch="trailing",
    self=_euclidean_first,
    other=_euclidean_second,
)
pdist_of = op("pdist(self, p)", kernel=raw.pdist, self=_pdist_gradient)

# Which distances come of matrix products; by default those of more rows than `MANY`.
MODES: dict[str, bool | None] = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": True,
    "donot_use_mm_for_euclid_dist": False,
}
MANY = 25


@checked
def cdist(
    x1: Any,
    x2: Any,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Any:
    """The p-norms of the differences of every row of `x1` and every row of `x2`.

    (..., P, M) and (..., R, M) make (..., P, R). `compute_mode` chooses, as in `torch.cdist`,
    whether gradients of Euclidean distances are matrix products, and take no memory of P * R * M
    elements. RuntimeError for shapes that do not fit and for integers.

    >>> from gradfn import cdist, tensor
    >>> cdist(tensor([[0.0, 0.0], [3.0, 0.0]]), tensor([[3.0, 4.0]]))
    tensor([[5.],
            [4.]])
    """
    if compute_mode not in MODES:
        raise ValueError(
            f"{compute_mode} is not a valid value for compute_mode: it is one of {', '.join(MODES)}"
        )
    _check_cdist(x1, x2, p)
    rows = x1.shape[-2], x2.shape[-2]
    products = MODES[compute_mode]
    if products is None:
        products = max(rows) > MANY
    if p != 2 or not products or 0 in (*rows, x1.shape[-1]):
        return cdist_of(x1, x2, float(p))
    kept = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    count = math.prod(kept)
    if count != 1:
        x1, x2 = (
            x.expand(*kept, *x.shape[-2:]).contiguous().view(count, *x.shape[-2:]) for x in (x1, x2)
        )
    return euclidean_dist(x1, x2).view(*kept, *rows)


def _check_cdist(x1: Any, x2: Any, p: float) -> None:
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.is_floating_point():
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {x.dtype.scalar_name}"
            )
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values, not {p}")
    if x1.dtype is not x2.dtype:
        raise RuntimeError(
            f"expected scalar type {x1.dtype.scalar_name} but found {x2.dtype.scalar_name}"
        )


@checked
def pdist(input: Any, p: float = 2.0) -> Any:
    """The p-norms of the differences of all pairs of rows, as `torch.nn.functional.pdist`.

    (N, M) makes N (N - 1) / 2 distances: those of the first row to the others, then those of the
    second to the rows behind it, and so on. RuntimeError for other shapes and for integers.

    >>> from gradfn import pdist, tensor
    >>> pdist(tensor([[0.0], [1.0], [3.0]]))
    tensor([1., 3., 2.])
    """
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not input.is_floating_point():
        raise RuntimeError(
            f"pdist only supports floating-point dtypes, not {input.dtype.scalar_name}"
        )
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, not {p}")
    return pdist_of(input, float(p))


METHODS = ""
