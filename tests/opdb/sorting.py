"""Extrema with their positions, sorting and searching."""

from __future__ import annotations

from .core import BOOL, FLOAT, REAL, Array, error, sample
from .families import SPECIAL, op, reduction


def x(*shape: int, **kwargs: object) -> Array:
    """Values without ties, of which every order is the only one."""
    return Array(shape, distinct=True, **kwargs)  # type: ignore[arg-type]


TIED = Array(values=[1.0, 3.0, 3.0])
LAST_NAN = Array(values=[1.0, float("nan"), 3.0])

OPS = [
    *(
        op(
            name,
            [
                sample(x(2, 3)),
                sample(x()),
                sample(x(3, 2, layout="transposed")),
                sample(TIED).not_smooth(),
                sample(LAST_NAN).only(*FLOAT).not_smooth(),
            ],
            dtypes=REAL + BOOL,
            errors=(
                error(
                    RuntimeError,
                    f"{name}(): Expected reduction dim to be specified for input",
                    x(0),
                ),
            ),
        )
        for name in ("max", "min")
    ),
    *(
        reduction(
            name,
            dtypes=REAL + BOOL,
            domain={"distinct": True},
            whole=False,
            several=False,
            identity=False,
            more=[sample(TIED, 0).not_smooth(), sample(LAST_NAN, 0).only(*FLOAT).not_smooth()],
        )
        for name in ("max~dim", "min~dim")
    ),
    op(
        "sort",
        [
            sample(x(2, 3)),
            sample(x(2, 3), 0),
            sample(x(2, 3), 0, descending=True),
            sample(x(2, 3), dim=-1, descending=True, stable=True),
            sample(x()),
            sample(x(0, 2)),
            sample(x(3, 4, layout="transposed"), 0),
            sample(x(3, 4, layout="strided"), 1),
            sample(Array(values=[2.0, 1.0, 2.0, 1.0]), stable=True).not_smooth(),
            sample(Array(values=SPECIAL), stable=True).only(*FLOAT).forward_only(),
        ],
        dtypes=REAL + BOOL,
        rows=("unselect",),
        errors=(error(IndexError, "Dimension out of range", x(2, 3), 2),),
    ),
    op(
        "argsort",
        [
            *(sample(*given).only(*REAL) for given in ((x(2, 3),), (x(2, 3), 0), (x(4), 0, True))),
            sample(x()),
            sample(Array((6,)), dim=0, stable=True),
        ],
        dtypes=REAL + BOOL,
        differentiable_in=(),
    ),
    op(
        "topk",
        [
            sample(x(4), 2),
            sample(x(2, 3), 2, 0),
            sample(x(2, 3), 2, dim=1, largest=False),
            sample(x(2, 3), 1, -1, True, True),
            sample(x(), 1),
            sample(x(0, 3), 2),
            sample(x(3, 4, layout="transposed"), 3),
        ],
        dtypes=REAL,
        errors=(
            error(RuntimeError, "selected index k out of range", x(2), 3),
            error(IndexError, "Dimension out of range", x(2, 3), 1, 2),
        ),
    ),
]
