"""Differences, slopes and areas; covariances and histograms; arithmetic of integers."""

from __future__ import annotations

from .core import BOOL, COMPLEX, FLOAT, INT, REAL, Array, OpInfo, error, sample, x
from .families import op

NOT_HALF = ("float64", "float32")
INEXACT = NOT_HALF + COMPLEX
GRID = Array(values=[0.0, 1.0, 3.0, 4.5], dtype="float64")
NUMBERS = Array(values=[4, 6, 9, 0, 7])


def areas(name: str) -> OpInfo:
    """The area under samples, or the areas up to them."""
    return op(
        name,
        [
            sample(x(4)),
            sample(x(3, 4), dx=2.0),
            sample(x(3, 4), dim=0),
            sample(x(3, 4), x(4)),
            sample(x(3, 4), x(3, 1), dim=0).forward_only(),
            sample(x(3, 4), x(3, 4), dim=0),
            sample(x(2, 3, 4), x(3, 4), dim=1),
            sample(x(3, 1)),
            sample(x(4, 3, layout="transposed")),
        ],
        "f",
        dtypes=NOT_HALF,
        refuses_as_pytorch=False,
        errors=(
            error(
                RuntimeError,
                f"{name.replace('trapz', 'trapezoid')}: There must be one `x`",
                x(3, 4),
                x(3),
            ),
        ),
    )


OPS = (
    op(
        "diff",
        [
            sample(x(5)),
            sample(x(3, 4), 2),
            sample(x(3, 4), 1, 0),
            sample(x(3, 4), n=0),
            sample(x(3), n=5),
            sample(x(3, 4), prepend=x(3, 1)),
            sample(x(3, 4), dim=0, prepend=x(2, 4), append=x(1, 4)),
            sample(x(0, 3)),
            sample(x(4, 3, layout="transposed")),
        ],
        dtypes=REAL + BOOL + COMPLEX,
        refuses_as_pytorch=False,
        errors=(
            error(RuntimeError, "diff expects input to be at least one-dimensional", x()),
            error(RuntimeError, "order must be non-negative but got -1", x(3), -1),
            error(RuntimeError, "diff expects prepend or append to be the same", x(3), prepend=x()),
            error(IndexError, "Dimension out of range", x(3), 1, 2),
        ),
    ),
    areas("trapezoid"),
    areas("trapz"),
    areas("cumulative_trapezoid"),
    op(
        "gradient",
        [
            sample(x(5)),
            sample(x(3, 4)),
            sample(x(3, 4), spacing=2.0),
            sample(x(3, 4), spacing=[2.0, 0.5]),
            sample(x(3, 4), dim=1, edge_order=2),
            sample(x(3, 4), dim=(1, 0)),
            sample(x(2, 4), dim=-1, spacing=(GRID,)).only("float64"),
            sample(x(2, 4), dim=(1,), spacing=(GRID,), edge_order=2).only("float64"),
        ],
        "f",
        dtypes=INEXACT,
        refuses_as_pytorch=False,
        errors=(
            error(RuntimeError, "torch.gradient only supports edge_order", x(3), edge_order=3),
            error(RuntimeError, "torch.gradient expected each dimension size", x(1)),
            error(RuntimeError, "torch.gradient expected spacing to be", x(3, 3), spacing=[1.0]),
            error(RuntimeError, "dim 0 appears multiple times", x(3), dim=(0, 0)),
        ),
    ),
    op(
        "cov",
        [
            sample(x(5)),
            sample(x(3, 5)),
            sample(x(3, 5), correction=0),
            sample(x(2, 3), fweights=Array(values=[1, 2, 1], dtype="int64", grad=False)),
            sample(x(2, 3), aweights=Array(values=[0.5, 2.0, 1.0], dtype="float64", grad=False)),
            sample(
                x(2, 3),
                fweights=Array(values=[1, 2, 1], dtype="int64", grad=False),
                aweights=Array(values=[0.5, 2.0, 1.0], dtype="float64", grad=False),
            ),
            sample(x()).forward_only(),
        ],
        dtypes=INEXACT,
        refuses_as_pytorch=False,
        errors=(
            error(RuntimeError, "cov(): expected input to have two or fewer", x(2, 2, 2)),
            error(RuntimeError, "cov(): expected fweights to have integral", x(2), fweights=x(2)),
        ),
    ),
    op(
        "corrcoef",
        [sample(x(3, 5)), sample(x(5)), sample(x(5, 3, layout="transposed"))],
        dtypes=INEXACT,
        refuses_as_pytorch=False,
        errors=(error(RuntimeError, "corrcoef(): expected input to have two", x(2, 2, 2)),),
    ),
    op(
        "histogram",
        [
            sample(x(8), 4),
            sample(x(2, 3), 3, range=(-1.0, 1.0)),
            sample(x(4), 3, weight=x(4), density=True),
            sample(x(5), Array(values=[-1.0, 0.0, 2.0])),
            sample(x(0), 2),
            sample(Array(values=[1.0, 1.0]), 2),
        ],
        dtypes=NOT_HALF,
        differentiable_in=(),
        refuses_as_pytorch=False,
        errors=(error(RuntimeError, "torch.histogram(): bins must be > 0", x(3), 0),),
    ),
    op(
        "histogramdd",
        [
            sample(x(6, 2), [2, 3]),
            sample(x(6, 2), 2),
            sample(x(2, 3, 2), [2, 2], range=[-1.0, 1.0, -2.0, 2.0]),
            sample(x(6, 2), [2, 2], weight=x(6), density=True),
            sample(x(4, 2), (Array(values=[-1.0, 1.0]), Array(values=[-2.0, 0.0, 2.0]))),
        ],
        "f",
        dtypes=NOT_HALF,
        differentiable_in=(),
        refuses_as_pytorch=False,
        errors=(error(RuntimeError, "torch.histogramdd: input tensor should", x(3), [2]),),
    ),
    op(
        "isin",
        [
            sample(NUMBERS, Array(values=[6, 7])),
            sample(Array(values=[[1, 2], [3, 4]]), Array(values=[[4], [1]]), invert=True),
            sample(NUMBERS, 6),
            sample(6, NUMBERS),
            sample(NUMBERS, NUMBERS, assume_unique=True),
            sample(x(0), NUMBERS),
        ],
        "f",
        dtypes=REAL,
        differentiable_in=(),
        refuses_as_pytorch=False,
        errors=(
            error(TypeError, "isin() received an invalid combination", 1, 2),
            error(RuntimeError, "Unsupported input type", x(2), x(2), dtype="bool"),
        ),
    ),
    *(
        op(
            name,
            [
                sample(NUMBERS, Array(values=[6, 9, 3, 5, 0])),
                sample(Array(values=[[4], [6]]), Array(values=[2, 3])),
                sample(Array(values=12), Array(values=18)),
                sample(x(0, 2), x(2)),
            ],
            "fmi",
            dtypes=INT,
            differentiable_in=(),
            refuses_as_pytorch=False,
            errors=(error(NotImplementedError, f'"{name}', x(2), x(2)),),
        )
        for name in ("gcd", "lcm")
    ),
    op(
        "frexp",
        [
            sample(x(2, 3)),
            sample(x()),
            sample(x(0)),
            sample(Array(values=[0.0, float("inf"), -3.5, 1e-30, float("nan")]))
            .only(*NOT_HALF)
            .not_smooth(),
        ],
        dtypes=FLOAT,
        refuses_as_pytorch=False,
        errors=(error(RuntimeError, "torch.frexp() only supports", x(2), dtype="int64"),),
    ),
)
