"""Conjugates, angles, and complex numbers made of real ones."""

from __future__ import annotations

from .core import FLOAT, error, sample, x
from .families import op, unary

FINE = ("float64", "float32")  # NumPy has no complex numbers of half precision

PAIRS = [
    sample(x(2, 3, low=0.5), x(2, 3)),
    sample(x(2, 1, low=0.5), x(3)),
    sample(x(low=0.5), x()),
    sample(x(0), x(1)),
]

OPS = [
    unary("conj", "fm"),
    unary("conj_physical"),
    unary("angle", "fm", domain={"away": (0.0,)}),
    op(
        "complex",
        [case.only(*FINE) for case in PAIRS],
        "f",
        dtypes=FLOAT,
        errors=(
            error(
                RuntimeError,
                "Expected both inputs to be Half, Float or Double tensors but got Long and Long",
                x(2),
                x(2),
                dtype="int64",
            ),
            error(
                RuntimeError,
                "Expected object of scalar type Double but got scalar type Float",
                x(2),
                x(2, dtype="float32"),
            ),
        ),
    ),
    op("polar", [case.only(*FINE) for case in PAIRS], "f", dtypes=FLOAT),
]
