"""Losses and distances that are made of other operators, or are seldom used."""

from __future__ import annotations

from .core import BOOL, FLOAT, FRACTION, INT, NUMBER, Array, error, sample, x
from .families import op
from .nn import F, labels, loss

NEAR, FAR = x(2, 3, low=0, high=0.4), x(2, 3, low=2, high=3)
OTHER = x(2, 3, low=0.5, high=0.9)
MARGINS = [(x(3, 4), labels(0, 3, 1)), (x(4), Array(values=2, dtype="int64"))]
CLOSE = [(NEAR, OTHER), (FAR, OTHER), (x(), x(low=3, high=4)), (x(0), x(0))]

OPS = [
    loss(
        "smooth_l1_loss",
        CLOSE,
        [sample(NEAR, OTHER, beta=0.05), sample(FAR, OTHER, beta=2.75), sample(FAR, OTHER, beta=0)],
        errors=(
            error(
                RuntimeError,
                "smooth_l1_loss does not support negative values for beta.",
                x(3),
                x(3),
                beta=-1,
            ),
        ),
    ),
    loss(
        "huber_loss",
        CLOSE,
        [sample(NEAR, OTHER, delta=0.05), sample(FAR, OTHER, delta=2.75)],
        errors=(
            error(
                RuntimeError,
                "huber_loss does not support non-positive values for delta.",
                x(3),
                x(3),
                delta=0,
            ),
        ),
    ),
    loss(
        "soft_margin_loss",
        [(x(2, 3), x(2, 3, grad=False)), (x(), x(grad=False))],
        [],
        dtypes=FRACTION,
        differentiable_in=FLOAT,
    ),
    # PyTorch has no second derivatives of the next two, and none is tested in single precision.
    loss(
        "multi_margin_loss",
        MARGINS,
        [
            sample(x(3, 4), labels(0, 3, 1), weight=x(4, low=0.5, grad=False)),
            sample(x(3, 4), labels(0, 3, 1), margin=0.7),
        ],
        dtypes=("float64", "float32"),
        differentiable_in=("float32",),
        errors=(
            error(ValueError, "only p == 1 and p == 2 supported", *MARGINS[0], p=3),
            error(RuntimeError, "target out of range", x(3, 4), labels(0, 9, 1)),
        ),
    ),
    loss(
        "multilabel_margin_loss",
        [(x(2, 4), labels([3, 0, -1, 1], [2, 1, 0, -1])), (x(4), labels(1, -1, 0, 0))],
        [],
        dtypes=("float64", "float32"),
        differentiable_in=("float32",),
        rows=("label_counts",),
        errors=(
            error(
                RuntimeError,
                "inconsistent target size: [3] for input of size: [2, 3]",
                x(2, 3),
                labels(0, 1, 2),
            ),
        ),
    ),
    op(
        F + "kl_div",
        [
            sample(x(2, 3), x(2, 3, low=0.1, high=1), reduction="sum"),
            sample(x(2, 3), x(2, 3, low=0.1, high=1), reduction="batchmean"),
            sample(x(2, 3), x(2, 3), reduction="none", log_target=True),
        ],
        "f",
        dtypes=FLOAT,
    ),
    op(
        F + "gaussian_nll_loss",
        [
            sample(x(2, 3), x(2, 3), x(2, 3, low=0.5)),
            sample(x(2, 3), x(2, 3), x(2, low=0.5), full=True),
            sample(x(2, 3), x(2, 3), x(2, 1, low=0.5), reduction="none"),
        ],
        "f",
        dtypes=FLOAT,
        errors=(error(ValueError, "var is of incorrect size", x(3), x(3), x(2, low=1)),),
    ),
    op(
        F + "margin_ranking_loss",
        [
            sample(x(3, low=0, high=1), x(3, low=2, high=3), x(3, away=(0.0,), grad=False)),
            sample(
                x(3, low=0, high=1),
                x(3, low=2, high=3),
                x(3, away=(0.0,), grad=False),
                margin=0.5,
                reduction="sum",
            ),
        ],
        "f",
        dtypes=FLOAT + INT,
    ),
    op(
        F + "cosine_embedding_loss",
        [
            sample(x(3, 4), x(3, 4), labels(1, -1, 1), margin=-1.5),
            sample(x(4), x(4), Array(values=1, dtype="int64"), reduction="none"),
        ],
        "f",
        dtypes=FLOAT + INT + BOOL,
    ),
    op(
        F + "triplet_margin_loss",
        [
            sample(x(2, 3, low=0, high=1), x(2, 3, low=2, high=3), x(2, 3, low=0, high=1)),
            sample(
                x(2, 3, low=0, high=1),
                x(2, 3, low=2, high=3),
                x(2, 3, low=0, high=1),
                swap=True,
                reduction="none",
            ),
        ],
        "f",
        dtypes=FRACTION + INT,
        errors=(
            error(ValueError, "margin must be greater than 0, got -1", *[x(2, 3)] * 3, margin=-1),
        ),
    ),
    op(
        F + "cosine_similarity",
        [sample(x(3, 4), x(3, 4)), sample(x(3, 1, 4), x(3, 4), dim=-1)],
        "f",
        dtypes=FLOAT,
    ),
    op(
        F + "pairwise_distance",
        [sample(x(3, 4), x(3, 4)), sample(x(3, 4), x(4), p=3, keepdim=True)],
        "f",
        dtypes=FRACTION + INT,
        rows=("norm",),
    ),
    op(
        F + "normalize",
        [sample(x(3, 4)), sample(x(3, 4), p=1, dim=0), sample(x(4), dim=0)],
        "f",
        dtypes=FRACTION,
    ),
    # PyTorch adds up its gradients in half precision.
    op(
        F + "bilinear",
        [
            sample(x(2, 3), x(2, 4), x(5, 3, 4), x(5)),
            sample(x(3), x(4), x(2, 3, 4)),
            sample(x(2, 2, 3), x(2, 2, 4), x(2, 3, 4)),
        ],
        "f",
        dtypes=NUMBER,
        differentiable_in=("float64", "float32"),
        rows=("trilinear",),
        errors=(
            error(
                RuntimeError,
                "bilinear(): input1 size does not match weight size: got 3 but expected 2",
                x(2, 3),
                x(2, 4),
                x(5, 2, 4),
            ),
        ),
    ),
]
