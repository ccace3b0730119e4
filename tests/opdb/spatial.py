"""Distances between all pairs of points."""

from __future__ import annotations

from .core import error, sample, x
from .families import op
from .layers import layer

REAL = ("float64", "float32")

OPS = [
    op(
        "cdist",
        [
            *(sample(x(3, 2), x(2, 2), p) for p in (2.0, 1.0, 3.0, 1.5, float("inf"))),
            sample(x(2, 1, 3, 2), x(2, 2, 2)),
            sample(x(3, 2), x(2, 2), 0).not_smooth(),
            sample(x(3, 0), x(2, 0)),
            sample(x(0, 2), x(2, 2)),
        ],
        "f",
        dtypes=REAL,
        only_first="the derivative for '_cdist_backward' is not implemented",
        errors=(
            error(RuntimeError, "X1 and X2 must have the same number", x(3, 2), x(3, 3)),
            error(RuntimeError, "cdist only supports at least 2D", x(3), x(3, 3)),
            error(RuntimeError, "cdist only supports non-negative p", x(3, 2), x(3, 2), -1),
            error(ValueError, "mm is not a valid value for", x(3, 2), x(3, 2), compute_mode="mm"),
            error(RuntimeError, "The size of tensor a (2) must match", x(2, 3, 2), x(3, 3, 2)),
        ),
    ),
    op(
        "cdist~products",
        [
            sample(x(3, 2), x(2, 2), compute_mode="use_mm_for_euclid_dist"),
            sample(x(2, 3, 2), x(2, 2), compute_mode="use_mm_for_euclid_dist"),
        ],
        "f",
        dtypes=REAL,
        rows=("euclidean_dist",),
    ),
    layer(
        "pdist",
        *(sample(x(4, 2), p) for p in (2.0, 1.0, 3.0, float("inf"))),
        sample(x(3, 2), 0).not_smooth(),
        sample(x(1, 2)),
        only_first="the derivative for '_pdist_backward' is not implemented",
        errors=(
            error(RuntimeError, "pdist only supports 2D tensors", x(3)),
            error(RuntimeError, "pdist only supports non-negative p", x(3, 2), -1),
        ),
    ),
]
