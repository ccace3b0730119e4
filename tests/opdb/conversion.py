"""Copies and type conversion."""

from __future__ import annotations

from .core import FLOAT, Array, DType, error, sample, x
from .families import op

OPS = [
    op(
        "clone",
        [
            sample(x(2, 3)),
            sample(x()),
            sample(x(0)),
            sample(x(3, 2, layout="transposed")),
            sample(x(3, 2, layout="expanded")),
        ],
    ),
    op("contiguous", [sample(x(2, 3)), sample(x(3, 2, layout="transposed"))], "m", rows=("clone",)),
    op(
        "to",
        [
            *(
                sample(x(2, 3, low=0), DType(d)).not_smooth()
                for d in ("float64", "float32", "complex128")
            ),
            *(
                sample(x(2, 3, low=0), DType(d)).only(*FLOAT, "int64", "uint8", "bool").not_smooth()
                for d in ("float16", "int64", "uint8", "bool")
            ),
            sample(x(2), "cpu"),
            sample(x(2), dtype=DType("float64"), copy=True).not_smooth(),
            sample(x(2), Array((1,), dtype="float32", grad=False)).not_smooth(),
            sample(x(0), DType("float32")).not_smooth(),
            sample(x(3, 2, layout="transposed"), DType("complex64")).not_smooth(),
        ],
        "m",
        rows=("_to_copy", "to_copy"),
    ),
    op(
        "type",
        [sample(x(2), DType("float64")).not_smooth(), sample(x(2), DType("complex128"))],
        "m",
        rows=("to",),
    ),
    op("type_as", [sample(x(2), Array((1,), dtype="complex128", grad=False))], "m", rows=("to",)),
    *(
        op(
            name,
            [sample(x(2, 3)).not_smooth(), sample(x()).not_smooth(), sample(x(0, 2)).not_smooth()],
            "m",
            rows=("to",),
        )
        for name in ("double", "float", "half", "long", "int", "bool")
    ),
    op(
        "copy_",
        [
            sample(x(2, 3, grad=False), x(2, 3)),
            sample(x(2, 3, grad=False), x(3)),
            sample(x(2, 3, grad=False), x(2, 3, dtype="float32")).not_smooth(),
            sample(x(2, 3, grad=False), x(dtype="int64")),
            sample(x(3, 2, layout="transposed", grad=False), x(3, 2, layout="strided")),
            sample(x(0, 2, grad=False), x(2)),
        ],
        "m",
        rows=("copy",),
        errors=(
            error(
                RuntimeError,
                "The size of tensor a (3) must match the size of tensor b (4)",
                Array((3,), grad=False),
                x(4),
            ),
        ),
    ),
]
