"""Distances between all pairs of points, and sampling at the points of grids."""

from __future__ import annotations

from .core import error, sample, x
from .families import op
from .layers import layer

REAL = ("float64", "float32")
INNER = {"low": -0.95, "high": 0.95}  # of an input; nearest elements and kinks are met by others
GRID = x(1, 1, 2, 2), x(1, 1, 1, 2)
MODES = [(mode, padding) for mode in ("bilinear", "bicubic") for padding in ("zeros", "border")]

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
        refuses_as_pytorch=False,  # the samples of half precision agree to no more than it has
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
    layer(
        "grid_sample",
        *(
            sample(x(2, 2, 3, 4), x(2, 2, 1, 2, **INNER), mode, padding, align_corners=aligned)
            for mode, padding in MODES
            for aligned in (True, False)
        ),
        sample(x(1, 1, 3, 2), x(1, 2, 3, 2), "bicubic", "reflection", True).not_smooth(),
        sample(
            x(1, 1, 3, 2), x(1, 2, 3, 2), padding_mode="reflection", align_corners=False
        ).not_smooth(),
        sample(x(1, 2, 3, 2), x(1, 2, 3, 2), "nearest", align_corners=True).not_smooth(),
        sample(x(1, 2, 2, 3, 2), x(1, 1, 2, 2, 3), align_corners=True).not_smooth(),
        sample(x(0, 2, 2, 3), x(0, 1, 2, 2), align_corners=True).forward_only(),
        rows=("grid_sampler_2d", "grid_sampler_3d", "grid_offsets"),
        errors=(
            error(ValueError, "nn.functional.grid_sample(): expected mode", *GRID, "cubic"),
            error(ValueError, "nn.functional.grid_sample(): expected padd", *GRID, "nearest", "x"),
            error(
                RuntimeError,
                "grid_sampler(): expected grid and input to have same batch",
                x(1, 1, 2, 2),
                x(2, 1, 1, 2),
                align_corners=True,
            ),
            error(
                RuntimeError,
                "grid_sampler(): expected grid to have size 2",
                x(1, 1, 2, 2),
                x(1, 1, 1, 3),
                align_corners=True,
            ),
        ),
    ),
    layer(
        "affine_grid",
        sample(x(2, 2, 3), (2, 1, 3, 4), align_corners=True),
        sample(x(2, 2, 3), (2, 1, 1, 2), align_corners=False),
        sample(x(1, 3, 4), (1, 2, 2, 1, 3), align_corners=False),
        rows=("affine_grid_generator", "affine_grid_adjoint"),
        errors=(
            error(ValueError, "Expected a batch of 2D affine", x(2, 2, 2), (2, 1, 3, 4), True),
            error(NotImplementedError, "affine_grid only supports", x(2, 2, 3), (2, 1, 3), True),
            error(RuntimeError, "Expected size for first", x(2, 2, 3), (3, 1, 2, 4), True),
            error(ValueError, "Expected non-zero", x(2, 2, 3), (2, 1, 0, 4), align_corners=True),
        ),
    ),
]
