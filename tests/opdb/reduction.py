"""Reductions and cumulative sums and products."""

from __future__ import annotations

from .core import ALL, BOOL, FLOAT, FRACTION, REAL, Array, OpInfo, error, sample, x
from .families import reduction

LARGE = sample(Array(values=[1000.0, 1001.0, 0.0]), 0).not_smooth()
TIED = Array(values=[1.0, 3.0, 3.0])
EMPTY_EXTREMUM = "Expected reduction dim to be specified for input.numel() == 0."


def moments(name: str) -> OpInfo:
    """Variance and standard deviation, in their three forms."""
    return reduction(
        name,
        dtypes=FRACTION,
        identity=False,
        alone=False,
        more=[
            sample(x(2, 3), False),
            sample(x(2, 3), unbiased=False),
            sample(x(2, 3), 1, False),
            sample(x(2, 3), dim=1, unbiased=False, keepdim=True),
            sample(x(2, 3), dim=1, correction=0),
            sample(x(2, 3), correction=0.5),
            sample(x(2, 3), dim=None, correction=1, keepdim=True),
            sample(x(2, 2, 2), (0, 2), True, True),
        ],
    )


OPS = [
    reduction("sum", casts=True, rows=("unsum",)),
    reduction("mean", dtypes=FRACTION, casts=True),
    reduction(
        "prod",
        several=False,
        casts=True,
        more=[
            sample(Array(values=[2.0, 0.0, 3.0])),
            sample(Array(values=[2.0, 0.0, 0.0])),
            sample(Array(values=[[2.0, 0.0, 3.0], [0.0, 0.0, 1.0]]), 1),
        ],
    ),
    moments("var"),
    moments("std"),
    reduction(
        "norm",
        dtypes=FRACTION,
        more=[
            *(
                case
                for p in (2, 1, 3, 0.5, float("inf"), -float("inf"), "fro")
                for case in (sample(x(2, 3), p), sample(x(2, 3), p, dim=1, keepdim=True))
            ),
            sample(x(2, 3), 0).not_smooth(),
            sample(x(2, 2, 2), p="fro", dim=(0, 2)),
            *(sample(Array(values=[0.0, 0.0]), p).not_smooth() for p in (1, 2, 3)),
        ],
    ),
    reduction("amax", dtypes=REAL + BOOL, identity=False, more=[sample(TIED).not_smooth()]),
    reduction("amin", dtypes=REAL + BOOL, identity=False, more=[sample(TIED).not_smooth()]),
    reduction("any", differentiable_in=()),
    reduction("all", differentiable_in=()),
    reduction("count_nonzero", keepdim=False, differentiable_in=()),
    *(
        reduction(
            name,
            dtypes=REAL,
            domain={"distinct": True},
            several=False,
            identity=False,
            differentiable_in=(),
            more=[sample(TIED), sample(x(2, 3, distinct=True), keepdim=True)],
            errors=(error(IndexError, f"{name}(): {EMPTY_EXTREMUM}", x(0)),),
        )
        for name in ("argmax", "argmin")
    ),
    reduction(
        "logsumexp",
        whole=False,
        more=[
            sample(Array(values=[100.0, 101.0]), 0),
            sample(Array(values=[-float("inf"), 0.0]), 0).only(*FLOAT).forward_only(),
        ],
    ),
    *(
        reduction(
            name,
            forms,
            dtypes=dtypes,
            whole=False,
            several=False,
            keepdim=False,
            casts=True,
            more=more,
        )
        for name, forms, dtypes, more in (
            ("softmax", "fm", FLOAT, [LARGE]),
            ("log_softmax", "fm", FLOAT, [LARGE]),
            ("cumsum", "fmi", ALL, []),
            ("cumprod", "fmi", ALL, [sample(Array(values=[2.0, 0.0, 3.0, 0.0]), 0)]),
        )
    ),
]
