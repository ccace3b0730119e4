"""Comparison, extrema of two tensors, clamping and choosing by a mask."""

from __future__ import annotations

import operator

from .core import ALL, BOOL, COMPLEX, FLOAT, INT, REAL, Array, error, sample, x
from .families import EVERY_LEFT, EVERY_RIGHT, MISMATCH, SPECIAL, binary, op, unary


def mask(*shape: int) -> Array:
    return Array(shape, dtype="bool")


BOUNDS = {"away": (-1.0, 1.0)}

OPS = [
    *(
        binary(name, dtypes=dtypes, operator=getattr(operator, name), differentiable_in=())
        for name, dtypes in (
            ("eq", ALL),
            ("ne", ALL),
            ("lt", REAL + BOOL),
            ("le", REAL + BOOL),
            ("gt", REAL + BOOL),
            ("ge", REAL + BOOL),
        )
    ),
    binary("maximum", "fm", dtypes=REAL + BOOL, scalars=()),
    binary("minimum", "fm", dtypes=REAL + BOOL, scalars=()),
    binary("max~binary", "fm", dtypes=REAL + BOOL, scalars=()),
    binary("min~binary", "fm", dtypes=REAL + BOOL, scalars=()),
    op(
        "clamp",
        [
            sample(x(2, 3, **BOUNDS), -1, 1),
            sample(x(2, 3, **BOUNDS), min=-1),
            sample(x(2, 3, **BOUNDS), max=1),
            sample(x(2, 3, **BOUNDS), -0.75, 1.25).not_smooth(),
            sample(x(**BOUNDS), max=1),
            sample(x(0, 3), 0, 1),
            sample(x(3, 2, layout="transposed", **BOUNDS), min=-1),
            sample(Array(values=SPECIAL), 0, 1).only(*FLOAT).forward_only(),
            sample(Array(values=[0.0, 1.0, 0.5]), 0, 1).not_smooth(),
            sample(Array(values=[0.0, 1.5, 3.0]), 2.0, 1.0).not_smooth(),
        ],
        "fmi",
        dtypes=REAL + BOOL,
        errors=(
            error(
                RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None", x(2)
            ),
        ),
    ),
    op(
        "clamp~tensor",
        [
            sample(x(2, 3), x(2, 3, high=0), x(2, 3, low=0)),
            sample(x(2, 3), min=x(3)),
            sample(x(2, 3), max=x(2, 1)),
            sample(x(3), min=x(2, 3)),
            sample(x(), x(high=0), x(low=0)),
            sample(x(0, 3), max=x(3)),
            sample(x(2, 3), min=x(dtype="float32")).not_smooth(),
            sample(x(2, 3), max=x(3, dtype="int64")).not_smooth(),
            sample(Array(values=SPECIAL), max=Array(values=SPECIAL[::-1]))
            .only(*FLOAT)
            .forward_only(),
            sample(Array(values=[1.0, 1.0]), min=Array(values=[1.0, 0.0])).not_smooth(),
        ],
        "fmi",
        dtypes=REAL,
        errors=(error(RuntimeError, MISMATCH, x(3), min=x(4)),),
    ),
    op(
        "where",
        [
            sample(mask(2, 3), x(2, 3), x(2, 3)),
            sample(mask(3), x(2, 1), x()),
            sample(mask(), x(2, 3), x(3)),
            sample(mask(2, 3), x(2, 3), 1.5),
            sample(mask(2, 3), 2, x(3)),
            sample(mask(2, 3), x(3), x(2, 3, dtype="float32")).only(*REAL, *BOOL).not_smooth(),
            sample(mask(2, 3), x(3), x(2, 3, dtype="complex64")).only(*COMPLEX).not_smooth(),
            sample(mask(2, 3), x(3), x(dtype="int64")),
            sample(mask(0, 3), x(3), x(0, 1)),
            sample(mask(3, 2), x(3, 2, layout="transposed"), x(3, 2, layout="expanded")),
        ],
        receiver=1,
        errors=(
            error(
                RuntimeError,
                "where expected condition to be a boolean tensor, but got a tensor with dtype",
                x(2),
                x(2),
                x(2),
            ),
            error(RuntimeError, MISMATCH, mask(3), x(4), x(4)),
        ),
    ),
    op("where~indices", [sample(mask(2, 3)), sample(x(4)), sample(x())], "f", differentiable_in=()),
    op(
        "masked_fill",
        [
            sample(x(2, 3), mask(2, 3), 2),
            sample(x(2, 3), mask(3), 1),
            sample(x(3), mask(2, 1), 0),
            sample(x(2, 3), mask(2, 3), x()),
            sample(x(), mask(), 1),
            sample(x(0, 3), mask(3), 1),
            sample(x(3, 2, layout="transposed"), mask(3, 2), 1),
            sample(x(2, 3), mask(2, 3), -float("inf")).only(*FLOAT).forward_only(),
        ],
        "fmi",
        errors=(
            error(
                RuntimeError,
                "masked_fill_ only supports boolean masks, but got mask with dtype",
                x(2),
                x(2),
                0,
            ),
            error(
                RuntimeError,
                "value cannot be converted to type double without overflow",
                x(2),
                mask(2),
                1j,
            ),
        ),
    ),
    binary("fmax", "fm", dtypes=REAL + BOOL, scalars=()),
    binary("fmin", "fm", dtypes=REAL + BOOL, scalars=()),
    *(
        op(
            name,
            [
                sample(x(2, 3, **BOUNDS), 1),
                sample(x(2, 3, **BOUNDS), -1),
                sample(x(**BOUNDS), 1.0),
                sample(x(2, 3), x(2, 3)),
                sample(x(3), x(2, 1)),
                sample(x(0, 3), x(3)),
                sample(Array(values=[0.0, 1.0, 2.0]), 1).not_smooth(),
                sample(Array(values=[1.0, 1.0]), Array(values=[1.0, 0.0])).not_smooth(),
                sample(Array(values=SPECIAL), Array(values=SPECIAL[::-1]))
                .only(*FLOAT)
                .forward_only(),
            ],
            "fmi",
            dtypes=REAL + BOOL,
        )
        for name in ("clamp_min", "clamp_max")
    ),
    *(
        binary(name, dtypes=INT + BOOL, scalars=(2, True), differentiable_in=())
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
    ),
    *(
        binary(
            name,
            dtypes=INT,
            right={"low": 0, "high": 9},
            scalars=(2,),
            differentiable_in=(),
        )
        for name in ("bitwise_left_shift", "bitwise_right_shift")
    ),
    unary("bitwise_not", dtypes=INT + BOOL, operator=operator.invert, differentiable_in=()),
    unary("isposinf", "fm", dtypes=REAL + BOOL, differentiable_in=()),
    unary("isneginf", "fm", dtypes=REAL + BOOL, differentiable_in=()),
    unary("isreal", "fm", differentiable_in=()),
    op(
        "isclose",
        [
            sample(x(2, 3), x(2, 3)),
            sample(x(2, 3), x(3), 0.5, 0.5),
            sample(x(), x(2), rtol=1.0),
            *(
                sample(
                    Array(values=EVERY_LEFT), Array(values=EVERY_RIGHT), atol=0.5, equal_nan=nan
                ).only(*FLOAT)
                for nan in (False, True)
            ),
        ],
        "fm",
        differentiable_in=(),
        errors=(
            error(RuntimeError, "Double did not match Long", x(2), x(2, dtype="int64")),
            error(
                RuntimeError, "rtol must be greater than or equal to zero", x(2), x(2), rtol=-1.0
            ),
        ),
    ),
    unary("isnan", "fm", differentiable_in=()),
    unary("isinf", "fm", differentiable_in=()),
    unary("isfinite", "fm", differentiable_in=()),
    unary("logical_not", "fmi", differentiable_in=()),
    *(
        binary(name, scalars=(), differentiable_in=())
        for name in ("logical_and", "logical_or", "logical_xor")
    ),
]
