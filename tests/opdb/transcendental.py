"""Exponentials, logarithms, trigonometric and hyperbolic functions, error functions."""

from __future__ import annotations

from .core import ALL, BOOL, COMPLEX, FLOAT, INT, REAL, Array, error, sample, x
from .families import EVERY_LEFT, EVERY_RIGHT, SPECIAL, binary, op, unary

WIDE = FLOAT + INT + BOOL
POSITIVE = {"low": 0.25, "high": 3.0}
UNIT = {"low": -0.9, "high": 0.9}

OPS = [
    unary("exp"),
    unary("exp2"),
    unary("expm1"),
    unary("log", domain=POSITIVE),
    unary("log2", domain=POSITIVE),
    unary("log10", domain=POSITIVE),
    unary("log1p", domain={"low": -0.75, "high": 2.0}),
    unary("sin"),
    unary("cos"),
    unary("tan", domain={"low": -1.2, "high": 1.2}),
    unary("asin", domain=UNIT),
    unary("acos", domain=UNIT),
    unary("atan"),
    binary("atan2", dtypes=REAL + BOOL, left={"away": (0.0,)}, right={"away": (0.0,)}, scalars=()),
    binary("copysign", dtypes=REAL + BOOL, left={"away": (0.0,)}, right={"away": (0.0,)}),
    binary("hypot", dtypes=FLOAT, left={"away": (0.0,)}, right={"away": (0.0,)}, scalars=()),
    op(
        "heaviside",
        [
            sample(x(2, 3), x(2, 3)),
            sample(x(2, 1), x(3)),
            sample(x(), x(2)),
            sample(x(0, 3), x(3)),
            sample(Array(values=EVERY_LEFT), Array(values=EVERY_RIGHT)).only(*FLOAT),
        ],
        "fmi",
        dtypes=REAL + BOOL,
        differentiable_in=(),
        errors=(
            error(
                RuntimeError,
                "heaviside is not yet implemented for tensors with different dtypes.",
                x(2),
                x(2, dtype="int64"),
            ),
        ),
    ),
    op(
        "ldexp",
        [
            sample(x(2, 3), x(2, 3)),
            sample(x(2, 3), x(3)),
            sample(x(), x()),
            sample(x(0, 3), x(3)),
            sample(x(3, 2, layout="transposed"), x(3, 2, layout="strided")),
            sample(x(2), x(2, dtype="int64", low=0)).only(*FLOAT).not_smooth(),
            sample(Array(values=EVERY_LEFT), Array(values=EVERY_RIGHT)).only(*FLOAT).forward_only(),
        ],
        "fmi",
    ),
    unary("deg2rad", dtypes=WIDE),
    unary("rad2deg", dtypes=WIDE),
    unary("sinh"),
    unary("cosh"),
    unary("tanh"),
    *(
        unary(name + variant, forms, domain=domain, differentiable_in=dtypes)
        for name, domain in (
            ("asinh", {}),
            ("acosh", {"low": 1.2, "high": 3.0}),
            ("atanh", UNIT),
        )
        # PyTorch differentiates the in-place variants of no dtype.
        for variant, forms, dtypes in (("", "fm", ALL), ("~in_place", "fmi", ()))
    ),
    unary("sigmoid"),
    op(
        "logaddexp",
        [
            sample(x(2, 3), x(2, 3)),
            sample(x(2, 1), x(3)),
            sample(x(), x(2)),
            sample(x(0, 3), x(3)),
            sample(x(3, 2, layout="transposed"), x(3, 2, layout="strided")),
            sample(x(2, 3), x(3, dtype="float32")).only(*FLOAT).not_smooth(),
            sample(Array(values=EVERY_LEFT), Array(values=EVERY_RIGHT)).only(*FLOAT).forward_only(),
        ],
        dtypes=FLOAT + COMPLEX,
    ),
    binary("logaddexp2", "fm", dtypes=FLOAT, scalars=()),
    binary("xlogy", dtypes=REAL + BOOL, left=POSITIVE, right=POSITIVE),
    op(
        "xlogy~base",
        [
            sample(2, x(2, 3, **POSITIVE)),
            sample(0.5, x(**POSITIVE)),
            sample(0, Array(values=SPECIAL)).only(*FLOAT).forward_only(),
        ],
        "f",
        dtypes=REAL + BOOL,
    ),
    unary("erf", dtypes=WIDE),
    unary("erfc", dtypes=WIDE),
    unary("erfinv", dtypes=WIDE, domain=UNIT),
    unary(
        "nan_to_num",
        differentiable_in=FLOAT,
        more=[
            sample(Array(values=SPECIAL), 1.0, 2.0, -3.0).only(*FLOAT).forward_only(),
            sample(Array(values=SPECIAL), neginf=0.0).only(*FLOAT).not_smooth(),
        ],
    ),
]
