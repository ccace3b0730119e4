"""Distances between all pairs of vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import raw
from ..autograd.variable import Variable
from ..shapes import broadcast_shapes
from .checking import checked
from .declare import op
from .views import view

__all__ = ["cdist", "pdist"]

MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist")
NEVER = "donot_use_mm_for_euclid_dist"
MANY = 25  # vectors from which on PyTorch goes by matrix products


def _slope(F: Any, differences: Any, distance: Any, p: float) -> Any:
    """The derivative of a distance by the differences, 0 where it has none."""
    signs, sizes = F.sign(differences), F.abs(differences)
    if p == 0:
        return signs * 0
    if p == 1:
        return signs
    if p == math.inf:
        return F.where(sizes == distance, signs, 0)
    nothing = F.logical_or(sizes == 0, distance == 0)
    if p == 2:
        return F.where(nothing, 0, differences / F.where(distance == 0, 1, distance))
    ratio = F.where(nothing, 1, sizes) / F.where(distance == 0, 1, distance)
    return F.where(nothing, 0, signs * ratio ** (p - 1))


def _moved(F: Any, g: Any, self: Any, other: Any, result: Any, p: float) -> Any:
    """The gradients of the differences, (..., P, R, M)."""
    differences = F.unsqueeze(self, -2) - F.unsqueeze(other, -3)
    return F.unsqueeze(g, -1) * _slope(F, differences, F.unsqueeze(result, -1), p)


distances = op(
    "cdist(self, other: Tensor, p)",
    kernel=raw.cdist,
    batch="trailing",
    self=lambda F, g, self, other, result, p: F.sum(_moved(F, g, self, other, result, p), -2),
    other=lambda F, g, self, other, result, p: -F.sum(_moved(F, g, self, other, result, p), -3),
)
euclidean_dist = op(
    "euclidean_dist(self, other: Tensor)",
    kernel=raw.euclidean_dist,
    batch="trailing",
    self=lambda F, g, self, other, result: F.sum(_moved(F, g, self, other, result, 2), -2),
    other=lambda F, g, self, other, result: -F.sum(_moved(F, g, self, other, result, 2), -3),
    doc="`cdist` for ``p=2`` by products of matrices.",
)


def _pair_gradient(
    F: Any, g: Any, self: Any, first: Any, second: Any, p: float, result: Any
) -> Any:
    differences = F.index_select(self, 0, first) - F.index_select(self, 0, second)
    moved = F.unsqueeze(g, -1) * _slope(F, differences, F.unsqueeze(result, -1), p)
    received = F.index_add(F.zeros_like(self), 0, first, moved)
    return F.index_add(received, 0, second, -moved)


pair_distances = op(
    "pdist(self, first: Tensor, second: Tensor, p)",
    kernel=raw.pdist,
    self=_pair_gradient,
)


@checked
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = MODES[0]) -> Any:
    """The p-norm distances of vectors (..., P, M) and (..., R, M): (..., P, R), as `torch.cdist`.

    The leading dimensions are broadcast. For ``p=2`` and more than 25 vectors, or as `compute_mode`
    says, by products of matrices. The gradient is 0 where a distance has none. RuntimeError for
    other shapes and for integers, ValueError for unknown modes.

    >>> from gradfn import cdist, tensor
    >>> cdist(tensor([[0.0, 0.0]]), tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5., 1.]])
    """
    if compute_mode not in (*MODES, NEVER):
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
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
    if x1.dtype is not x2.dtype:
        raise RuntimeError(
            f"expected scalar type {x1.dtype.scalar_name} but found {x2.dtype.scalar_name}"
        )
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    many = compute_mode == MODES[0] and max(x1.shape[-2], x2.shape[-2]) > MANY
    if p == 2 and (many or compute_mode == MODES[1]) and x1.numel() and x2.numel():
        return _by_products(x1, x2)
    return distances(x1, x2, p)


def _by_products(x1: Any, x2: Any) -> Any:
    """`euclidean_dist`, of three dimensions where there are several batches, as in PyTorch."""
    lead = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    if math.prod(lead) != 1:
        batches = (x.expand(*lead, *x.shape[-2:]).contiguous() for x in (x1, x2))
        first, second = (view(x, (-1, *x.shape[-2:])) for x in batches)
    else:
        first, second = x1, x2
    return view(euclidean_dist(first, second), (*lead, x1.shape[-2], x2.shape[-2]))


@checked
def pdist(input: Any, p: float = 2.0) -> Any:
    """The p-norm distances of the rows i < j of (N, M), N (N - 1) / 2 in a vector: `torch.pdist`.

    RuntimeError for other shapes and for integers.

    >>> from gradfn import pdist, tensor
    >>> pdist(tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not input.is_floating_point():
        raise RuntimeError(
            f"pdist only supports floating-point dtypes, not {input.dtype.scalar_name}"
        )
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    first, second = np.triu_indices(len(input), 1)
    return pair_distances(input, Variable.wrap(first), Variable.wrap(second), p)


METHODS = ""
