"""Exponentials, logarithms, trigonometric and hyperbolic functions, error functions."""

from __future__ import annotations

from .core import BOOL, FLOAT, INT, REAL
from .families import binary, unary

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
    unary("sinh"),
    unary("cosh"),
    unary("tanh"),
    unary("sigmoid"),
    unary("erf", dtypes=WIDE),
    unary("erfc", dtypes=WIDE),
]
