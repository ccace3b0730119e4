"""Order statistics, scans, norms, distinct values and histograms."""

from __future__ import annotations

from .core import BOOL, FLOAT, FRACTION, INT, REAL, Array, OpInfo, error, sample
from .families import op, reduction
from .sorting import LAST_NAN, TIED, x

INF = float("inf")
NAN = float("nan")
NUMBERED = Array(values=[3, 1, 1, 2])
EMPTY_DIM = "Expected reduction dim 0 to have non-zero size."
ZEROS = Array(values=[[2.0, 0.0, 3.0, 1.0], [0.0, 4.0, 0.0, 5.0]])


def plain(*shape: int) -> Array:
    """Values that may be equal."""
    return Array(shape)


def chosen(name: str, **fields: object) -> OpInfo:
    """One element along a dimension, and where it is."""
    return reduction(
        name,
        domain={"distinct": True},
        several=False,
        identity=False,
        whole=False,
        errors=(
            error(
                IndexError,
                f"{name.removeprefix('nan').split('~')[0]}(): {EMPTY_DIM}",
                x(0, 3),
                dim=0,
            ),
        ),
        **fields,  # type: ignore[arg-type]
    )


def moments(name: str) -> OpInfo:
    """A moment together with the mean."""
    return op(
        name,
        [
            sample(plain(2, 3)),
            sample(plain(2, 3), 0),
            sample(plain(2, 3), False),
            sample(plain(2, 3), 1, False, True),
            sample(plain(2, 3, 2), dim=(0, 2), correction=0, keepdim=True),
            sample(Array((3, 2), layout="transposed"), 1),
        ],
        "f",
        dtypes=FRACTION,
        errors=(error(RuntimeError, f"{name} only support", plain(2), dtype="int64"),),
    )


def scan(name: str, dtypes: tuple[str, ...], *more: Array) -> OpInfo:
    """What accumulates along a dimension."""
    exact = [dtype for dtype in dtypes if dtype != "float16"]
    return op(
        name,
        [
            sample(x(2, 3), 0),
            sample(x(2, 3), -1),
            sample(x(), 0),
            sample(x(0, 3), 0).forward_only(),
            sample(x(2, 3, 2), dim=1),
            sample(x(3, 2, layout="transposed"), 0),
            sample(x(3, 2, layout="strided"), 1),
            *(sample(given, 0).only(*exact).not_smooth() for given in more),
        ],
        dtypes=dtypes,
        errors=(error(IndexError, "Dimension out of range", x(2, 3), 5),),
    )


def quantiles(name: str) -> OpInfo:
    return op(
        name,
        [
            sample(x(4), 0.3),
            sample(x(2, 3), 0.3, 0),
            sample(x(2, 3), 0.3, dim=-1, keepdim=True),
            sample(x(2, 3, 2), 0.6, 1),
            sample(x(), 0.5),
            sample(x(2, 3), Array(values=[0.1, 0.6]), 1),
            sample(x(3, 2, layout="transposed"), Array(values=[0.6]), 0, True),
            sample(LAST_NAN, 0.3).not_smooth(),
            *(
                sample(x(2, 3), 0.3, 1, interpolation=between)
                for between in ("lower", "higher", "nearest", "midpoint")
            ),
        ],
        dtypes=("float64", "float32"),
        errors=(
            error(RuntimeError, "quantile() q must be in the range [0, 1] but got 2", x(2), 2.0),
            error(RuntimeError, "quantile() input tensor must be non-empty", x(0), 0.5),
        ),
    )


OPS = [
    reduction("nansum", dtypes=REAL + BOOL, casts=True, more=[sample(LAST_NAN).only(*FLOAT)]),
    reduction(
        "nanmean", dtypes=FLOAT, alone=False, identity=False, more=[sample(LAST_NAN).not_smooth()]
    ),
    moments("var_mean"),
    moments("std_mean"),
    op(
        "aminmax",
        [
            sample(x(2, 3)),
            sample(x(2, 3), dim=0),
            sample(x(2, 3), dim=1, keepdim=True),
            sample(x()),
            sample(TIED).not_smooth(),
        ],
        dtypes=REAL + BOOL,
        errors=(error(RuntimeError, "aminmax(): cannot compute aminmax over an empty", x(0)),),
    ),
    *(
        op(
            name,
            [
                sample(x(5)),
                sample(x(2, 3)),
                sample(x()),
                sample(TIED).not_smooth(),
                sample(LAST_NAN).only(*FLOAT).not_smooth(),
            ],
            dtypes=REAL,
        )
        for name in ("median", "nanmedian")
    ),
    chosen("median~dim", dtypes=REAL, more=[sample(LAST_NAN, 0).only(*FLOAT).not_smooth()]),
    chosen("nanmedian~dim", dtypes=REAL, more=[sample(LAST_NAN, 0).only(*FLOAT).not_smooth()]),
    op(
        "mode",
        [
            sample(x(2, 3)),
            sample(x(2, 3), 0, True),
            sample(x(3, 2, layout="transposed"), dim=0),
            sample(x()),
            sample(TIED).not_smooth(),
            sample(NUMBERED).not_smooth(),
        ],
        dtypes=REAL + BOOL,
        errors=(error(IndexError, f"mode(): {EMPTY_DIM}", x(0)),),
    ),
    op(
        "kthvalue",
        [
            sample(x(5), 2),
            sample(x(2, 3), 1, 0),
            sample(x(2, 3), 3, dim=1, keepdim=True),
            sample(x(), 1),
            sample(x(3, 2, layout="transposed"), 2, 0),
            sample(LAST_NAN, 3).only(*FLOAT).not_smooth(),
        ],
        dtypes=REAL,
        errors=(
            error(RuntimeError, "kthvalue(): selected number k out of range", x(3), 4),
            error(IndexError, f"kthvalue(): {EMPTY_DIM}", x(0), 1),
        ),
    ),
    quantiles("quantile"),
    quantiles("nanquantile"),
    scan("cummax", REAL + BOOL, TIED),
    scan("cummin", REAL + BOOL, TIED),
    scan("logcumsumexp", FRACTION, Array(values=[100.0, 101.0, -100.0])),
    op(
        "cumprod~zeros",
        [sample(ZEROS, 0), sample(ZEROS, 1), sample(Array(values=[0.0, 0.0, 1.0]), 0)],
        rows=("shift", "recurrence"),
    ),
    op(
        "trace",
        [sample(plain(3, 3)), sample(plain(4, 2)), sample(plain(2, 0))],
        dtypes=FRACTION + INT,
        errors=(error(RuntimeError, "trace: expected a matrix, but got", plain(2)),),
    ),
    op(
        "renorm",
        [
            sample(plain(3, 2), 2, 0, 1.0),
            sample(plain(3, 2), 1, 1, 2.5),
            sample(plain(2, 3, 2), 3, -1, 0.5),
            sample(plain(3, 2), INF, 0, 1.0).only(*FLOAT),
        ],
        "fmi",
        dtypes=FRACTION,
        errors=(error(RuntimeError, "renorm: non-positive-norm not supported", x(2, 2), 0, 0, 1),),
    ),
    op(
        "dist",
        [
            sample(plain(2, 3), plain(3)),
            sample(plain(2, 3), plain(2, 3), 3),
            sample(plain(2, 3), plain(2, 3), 1),
            sample(plain(), plain(2)),
        ],
        dtypes=FRACTION,
    ),
    op(
        "linalg.vector_norm",
        [
            sample(plain(2, 3)),
            sample(plain(2, 3), 3, 0),
            sample(plain(2, 3), 1, (0, 1), True),
            sample(plain(2, 3), INF, 1),
            sample(plain(2, 3), 0.5),
        ],
        "f",
        dtypes=FRACTION,
        rows=("linalg_vector_norm",),
        errors=(error(RuntimeError, "linalg.vector_norm cannot compute the -1 norm", x(0), -1),),
    ),
    op(
        "linalg.norm",
        [
            sample(plain(2, 3)),
            sample(plain(2, 3), 1),
            sample(plain(3), 3),
            sample(plain(2, 3, 2), INF, (0, 2)),
            sample(plain(2, 3), "fro"),
        ],
        "f",
        dtypes=FRACTION,
        errors=(error(RuntimeError, "linalg.norm: If dim is not specified", plain(2, 2, 2), 2),),
    ),
    op(
        "linalg.matrix_norm",
        [
            sample(plain(2, 3)),
            sample(plain(2, 3), -1),
            sample(plain(2, 3, 2), -INF, (0, 1), True),
            sample(plain(2, 3, 2), 1, dim=(2, 0)),
        ],
        "f",
        dtypes=FRACTION,
        errors=(error(RuntimeError, "linalg.matrix_norm: Order foo", plain(2, 2), "foo"),),
    ),
    op("msort", [sample(x(3)), sample(x(3, 2)), sample(x())], dtypes=REAL + BOOL),
    op(
        "unique",
        [
            sample(NUMBERED),
            sample(NUMBERED, True, True, True),
            sample(plain(3, 2), return_counts=True, dim=0),
            sample(plain(), return_inverse=True),
            sample(plain(0)),
        ],
        dtypes=REAL + BOOL,
        differentiable_in=(),
        rows=("_unique2", "unique_dim"),
    ),
    op(
        "unique_consecutive",
        [
            sample(NUMBERED, True, True),
            sample(plain(3, 2), dim=0),
            sample(plain(), return_counts=True),
            sample(plain(0)),
        ],
        dtypes=REAL + BOOL,
        differentiable_in=(),
    ),
    op(
        "bincount",
        [
            sample(NUMBERED),
            sample(NUMBERED, minlength=6),
            sample(NUMBERED, Array((4,), dtype="float64", grad=False)),
            sample(Array((0,))),
        ],
        dtypes=INT,
        differentiable_in=(),
        errors=(
            error(RuntimeError, "bincount only supports 1-d non-neg", plain(2, 2), dtype="int64"),
        ),
    ),
    op(
        "histc",
        [
            sample(plain(8), 4),
            sample(plain(2, 3), 3, -1.0, 1.0),
            sample(plain(0), 2),
            sample(Array(values=[1.0, 1.0]), 4),
            sample(Array(values=(NAN, 1.0, 2.0)), 2, 0, 3),
        ],
        dtypes=FLOAT,
        differentiable_in=(),
        errors=(error(RuntimeError, "torch.histc: max must be larger", plain(2), 2, 3, 1),),
    ),
]
