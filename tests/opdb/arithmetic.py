"""Arithmetic: sums, products, powers, remainders and rounding."""

from __future__ import annotations

import operator

from .core import (
    ALL,
    BOOL,
    COMPLEX,
    FLOAT,
    FRACTION,
    NOT_HALF,
    NUMBER,
    REAL,
    Array,
    Domain,
    error,
    sample,
    x,
)
from .families import SPECIAL, binary, op, unary

AWAY_FROM_ZERO: Domain = {"away": (0.0,)}
POSITIVE: Domain = {"low": 0.5, "high": 2.0}
COUNTS: Domain = {"low": 1, "high": 3}
OFF_INTEGERS: Domain = {"away": tuple(range(-3, 4))}
OFF_HALVES: Domain = {"away": tuple(i + 0.5 for i in range(-3, 3))}


SCALED = (
    sample(x(2, 3), x(3), alpha=2).only(*NUMBER),
    sample(x(2, 3), x(3), alpha=-3).only(*NUMBER),
    sample(x(2, 3), x(3), alpha=0.5).only(*FRACTION),
    sample(x(2, 3), 3, alpha=2).only(*NUMBER),
    sample(x(2), x(2), alpha=1 - 2j).only(*COMPLEX),
    sample(x(2), 1 - 2j).only(*NOT_HALF),
)

ALPHA = error(
    RuntimeError,
    "For integral input tensors, argument alpha must not be a floating point number.",
    x(2),
    x(2),
    alpha=0.5,
    dtype="int64",
)

REFLECTED = [sample(x(2, 3, **POSITIVE), 2), sample(x(**POSITIVE), 0.5), sample(x(0), 3)]

OPS = [
    binary("add", operator=operator.add, more=SCALED, errors=(ALPHA,)),
    binary(
        "sub",
        operator=operator.sub,
        dtypes=NUMBER,
        more=SCALED,
        errors=(
            ALPHA,
            error(
                RuntimeError,
                "Subtraction, the `-` operator, with two bool tensors is not supported",
                x(2),
                x(2),
                dtype="bool",
            ),
        ),
    ),
    *(
        op(f"r{name}", REFLECTED, "", syntax=lambda a, b, apply=apply: apply(b, a))
        for name, apply in (
            ("add", operator.add),
            ("mul", operator.mul),
            ("truediv", operator.truediv),
            ("pow", operator.pow),
        )
    ),
    op(
        "rsub",
        [sample(x(2, 3), x(3)), sample(x(2), 2, alpha=3), sample(x(), 0.5)],
        "f",
        dtypes=NUMBER,
        operator=lambda a, b: b - a,
    ),
    binary("mul", operator=operator.mul, more=[sample(x(2), 1 - 2j).only(*NOT_HALF)]),
    binary(
        "div",
        operator=operator.truediv,
        right=AWAY_FROM_ZERO,
        more=[sample(x(2), 1 - 2j).only(*NOT_HALF)],
    ),
    op(
        "div~rounding_mode",
        [
            case
            for mode in ("trunc", "floor", None)
            for case in (
                sample(x(2, 3), x(3, **COUNTS), rounding_mode=mode),
                sample(x(2, 3), 2, rounding_mode=mode),
                sample(x(), x(2, **COUNTS), rounding_mode=mode),
                sample(x(2), 0.75, rounding_mode=mode),
                sample(x(0), x(1), rounding_mode=mode),
            )
        ],
        "fmi",
        dtypes=REAL,
        errors=(
            error(
                RuntimeError,
                "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found",
                x(2),
                x(2),
                rounding_mode="up",
            ),
        ),
    ),
    binary(
        "floor_divide", dtypes=REAL, operator=operator.floordiv, right=COUNTS, differentiable_in=()
    ),
    binary("remainder", dtypes=REAL, operator=operator.mod, right=COUNTS),
    binary("fmod", dtypes=REAL, right=COUNTS),
    unary("neg", dtypes=NUMBER, operator=operator.neg),
    unary("reciprocal", domain=AWAY_FROM_ZERO),
    unary("square"),
    unary("sqrt", domain=POSITIVE),
    unary("rsqrt", domain=POSITIVE),
    unary("abs", operator=operator.abs, domain=AWAY_FROM_ZERO, dtypes=NUMBER),
    unary("sign", domain=AWAY_FROM_ZERO, dtypes=REAL + BOOL),
    unary("sgn", domain=AWAY_FROM_ZERO),
    unary("signbit", "fm", dtypes=REAL + BOOL, differentiable_in=()),
    unary("floor", dtypes=REAL, domain=OFF_INTEGERS),
    unary("ceil", dtypes=REAL, domain=OFF_INTEGERS),
    unary("trunc", dtypes=REAL, domain=OFF_INTEGERS),
    unary("frac", dtypes=FLOAT, domain=OFF_INTEGERS),
    unary(
        "round",
        dtypes=REAL,
        domain=OFF_HALVES,
        more=[
            sample(x(4), decimals=2).only(*FLOAT).not_smooth(),
            sample(x(4, low=-90, high=90), decimals=-1).only(*FLOAT).not_smooth(),
            sample(Array(values=[0.5, 1.5, 2.5, -0.5, -1.5])).only(*FLOAT).not_smooth(),
        ],
    ),
    binary(
        "pow", operator=operator.pow, left=POSITIVE, right={"low": 0, "high": 2.5}, dtypes=NUMBER
    ),
    op(
        "pow~scalar",
        [
            *(sample(x(2, 3, **POSITIVE), p) for p in (0, 1, 2, 3, 0.5, 2.5)),
            *(
                sample(x(2, 3, **AWAY_FROM_ZERO), p).only(*FLOAT, *COMPLEX)
                for p in (-1, -2, 2, 3.0)
            ),
            *(
                sample(Array(values=SPECIAL), p).only(*FLOAT).forward_only()
                for p in (0, 0.5, 2, 3, -1, -2.5)
            ),
            sample(x(2, 3, layout="transposed", **POSITIVE), 2),
            sample(x(**POSITIVE), 3),
            sample(x(0, 2), 2),
            sample(x(2, **POSITIVE), 1 + 2j).only(*NOT_HALF),
        ],
        "fmi",
        dtypes=ALL,
        errors=(
            error(
                RuntimeError,
                "Integers to negative integer powers are not allowed.",
                x(2),
                -1,
                dtype="int64",
            ),
        ),
    ),
    op(
        "pow~base",
        [
            sample(2, x(2, 3)).only(*FLOAT, *COMPLEX),
            sample(2.5, x(2, 3)),
            sample(3, x(2, low=0)),
            sample(0, x(2, **COUNTS)).not_smooth(),
            sample(2.0, Array(values=SPECIAL)).only(*FLOAT).forward_only(),
            sample(1 + 2j, x(2)).only(*NOT_HALF),
            sample(2.0, x()),
        ],
        "f",
    ),
    op(
        "lerp",
        [
            sample(x(2, 3), x(2, 3), 0.3),
            sample(x(2, 3), x(3), 0.8),
            sample(x(), x(), 1.5),
            sample(x(2, 3), x(2, 3), x(3, low=0, high=1)),
            sample(x(2, 1), x(1, 3), x(low=0, high=1)),
            sample(x(0, 3), x(3), x(0, 3)),
            sample(x(3, 2, layout="strided"), x(3, 2, layout="transposed"), x(3, 2, low=0, high=1)),
            sample(Array(values=SPECIAL), Array(values=SPECIAL[::-1]), 0.3)
            .only(*FLOAT)
            .forward_only(),
        ],
        "fmi",
        dtypes=FRACTION,
    ),
    *(
        op(
            name,
            [
                sample(x(2, 3), x(2, 3), x(2, 3, **AWAY_FROM_ZERO)),
                sample(x(2, 3), x(2, 1), x(3, **AWAY_FROM_ZERO)),
                sample(x(3), x(2, 3), x(**AWAY_FROM_ZERO)),
                sample(x(), x(), x(**AWAY_FROM_ZERO), value=3),
                sample(x(2, 3), x(3), x(3, **AWAY_FROM_ZERO), value=-0.5).only(*FRACTION),
                sample(x(0, 3), x(3), x(3)),
                sample(
                    x(3, 2),
                    x(3, 2, layout="strided"),
                    x(3, 2, layout="transposed", **AWAY_FROM_ZERO),
                ),
            ],
            "fmi",
            dtypes=dtypes,
        )
        for name, dtypes in (("addcmul", NUMBER), ("addcdiv", FRACTION))
    ),
]
