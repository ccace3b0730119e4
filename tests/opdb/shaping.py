"""Windows, splits, joins and rearrangements; the operators that copy what views show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .core import (
    ALL,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NUMBER,
    REAL,
    Array,
    OpInfo,
    Sample,
    error,
    sample,
    x,
)
from .families import op
from .indexing import at, mask

FINE = ("float64", "float32")  # NumPy has no complex numbers of half precision

# The views with a counterpart that copies: a call of each.
VIEWS: dict[str, tuple[Any, ...]] = {
    "alias": (),
    "as_strided": ((2, 2), (1, 2), 1),
    "diagonal": (1,),
    "expand": ((2, 2, 3),),
    "permute": ((1, 0),),
    "select": (1, -1),
    "slice": (1, 0, 2),
    "split": (1,),
    "split_with_sizes": ((1, 2), 1),
    "squeeze": (0,),
    "t": (),
    "transpose": (0, 1),
    "unbind": (1,),
    "unfold": (1, 2, 1),
    "unsqueeze": (-1,),
    "view": ((3, 2),),
}


def real_gradients(*args: Any, **kwargs: Any) -> list[Sample]:
    """Samples of an operator that PyTorch does not differentiate where it is complex."""
    constants = [replace(a, grad=False) if isinstance(a, Array) else a for a in args]
    return [
        sample(*args, **kwargs).only(*REAL, *BOOL),
        sample(*constants, **kwargs).only(*COMPLEX),
    ]


def reduced(name: str, *args: Any) -> list[OpInfo]:
    """An entry for each reduction that PyTorch's `name` takes, with the dtypes it takes."""
    dtypes = {"prod": ALL, "mean": NUMBER, "amax": REAL + BOOL, "amin": REAL + BOOL}
    return [
        op(
            f"{name}~{reduce}",
            [
                case
                for inc in (True, False)
                for case in (
                    real_gradients(*args, reduce)
                    if inc
                    else [sample(*args, reduce, include_self=False).only(*REAL)]
                )
            ],
            "fmi",
            dtypes=dtypes[reduce],
            rows=("once_where",) if reduce == "prod" else (),
        )
        for reduce in dtypes
    ]


OPS = [
    op(
        "unfold",
        [
            sample(x(5), 0, 2, 1),
            sample(x(5), 0, 3, 2),
            sample(x(2, 4), -1, 2, 2),
            sample(x(), 0, 1, 1),
        ],
        "m",
        errors=(
            error(RuntimeError, "maximum size for tensor at dimension 0 is 2", x(2), 0, 3, 1),
            error(RuntimeError, "step is 0 but must be > 0", x(2), 0, 1, 0),
        ),
    ),
    op(
        "as_strided",
        [
            sample(x(2, 3), (3, 2), (1, 3)),
            sample(x(6), (2, 2), (2, 1), 1),
            sample(x(4), (3, 2), (1, 1)),
            sample(x(2, 2), (2, 2), (1, 2)),
            sample(x(2), (2, 2), (0, 1)),
        ],
        "fmi",
        rows=("base_of", "view_of", "as_strided_"),
        errors=(error(RuntimeError, "setStorage: sizes [5], strides [1]", x(4), (5,), (1,)),),
    ),
    op("view_as_real", [sample(x(2, 3)), sample(x())], "f", dtypes=COMPLEX),
    op(
        "view_as_complex",
        [sample(x(3, 2)).only(*FINE), sample(x(2)).only(*FINE)],
        "f",
        dtypes=FLOAT,
        errors=(
            error(RuntimeError, "Tensor must have a last dimension of size 2", x(3)),
            error(RuntimeError, "Input tensor must have one or more dimensions", x()),
        ),
    ),
    *(
        op(
            f"{name}_copy",
            real_gradients(x(2, 3), *args)
            if name in ("select", "slice")
            else [sample(x(2, 3), *args)],
            "f",
        )
        for name, args in VIEWS.items()
    ),
    op("narrow_copy", [sample(x(4), 0, 1, 2), sample(x(2, 3), -1, -2, 1)]),
    op("view_as_real_copy", [sample(x(2))], "f", dtypes=COMPLEX),
    op(
        "view_as_complex_copy",
        [sample(Array((3, 2), grad=False)).only(*FINE)],
        "f",
        dtypes=FLOAT,
        differentiable_in=(),
    ),
    op("unsafe_split", [sample(x(5, 2), 2), sample(x(2, 3), 1, 1)]),
    op("unsafe_split_with_sizes", [sample(x(5), (2, 3)), sample(x(2, 3), (1, 2), -1)]),
    op(
        "rot90",
        [sample(x(2, 3)), sample(x(2, 3), 2), sample(x(2, 3), -1), sample(x(2, 1, 3), 1, (2, 0))],
        errors=(
            error(RuntimeError, "expected total dims >= 2, but got total dims = 1", x(3)),
            error(
                RuntimeError,
                "expected rotation dims to be different, but got dim0 = 1",
                x(2, 3),
                1,
                (1, 1),
            ),
        ),
    ),
    op(
        "block_diag",
        [
            sample(x(2, 3), x(3), x()),
            sample(x(2, 2)),
            sample(x(1, 2), x(0)),
            sample(x(2), x(2, dtype="float64")).not_smooth(),
        ],
        "f",
        errors=(
            error(
                RuntimeError,
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input 1",
                x(2),
                x(1, 1, 1),
            ),
        ),
    ),
    op(
        "repeat_interleave",
        [
            sample(x(2, 3), 2),
            sample(x(2, 3), 2, 1),
            sample(x(2, 3), at(1, 2), 0),
            sample(x(3), at(2)),
            sample(x(), 2),
        ],
        rows=("index_select", "expand"),
    ),
    op("kron", [sample(x(2, 3), x(3, 2)), sample(x(2), x(2, 2)), sample(x(), x(2))]),
    op(
        "take",
        [sample(x(2, 3), at(0, 5, 5)), sample(x(4), at([1], [-1])), sample(x(), at(0))],
        errors=(error(IndexError, "out of range: tried to access index 9", x(3), at(9)),),
    ),
    op(
        "put",
        [
            sample(x(2, 3), at(0, 5), x(2)),
            sample(x(2, 3), at(1, 1, -1), x(3), accumulate=True),
            sample(x(4), at([1], [0]), x(2, 1)),
        ],
        "mfi",
        rows=("zeros_like", "new_zeros"),
        errors=(error(IndexError, "out of range: tried to access index 9", x(3), at(9), x(1)),),
    ),
    op(
        "masked_scatter",
        [
            sample(x(3), mask(True, False, True), x(4)),
            sample(x(2, 3), mask(True, False, True), x(2, 2)),
            sample(x(2), mask(False, False), x(0)),
        ],
        "fmi",
        errors=(
            error(
                RuntimeError,
                "masked_scatter: expected self and source to have same dtypes",
                x(2),
                mask(True, True),
                x(2, dtype="float32"),
            ),
        ),
    ),
    op(
        "select_scatter",
        [*real_gradients(x(2, 3), x(3), 0, 1), *real_gradients(x(2, 3), x(2), -1, -1)],
    ),
    op(
        "slice_scatter",
        [*real_gradients(x(4), x(2), 0, 1, 3), *real_gradients(x(2, 4), x(2, 2), 1, 0, None, 2)],
    ),
    op("diagonal_scatter", [sample(x(3, 3), x(3)), sample(x(2, 3), x(2), 1)]),
    op(
        "as_strided_scatter",
        [sample(Array((6,), grad=False), x(2, 2), (2, 2), (1, 2), 1)],
    ),
    op(
        "index_copy",
        [sample(x(3, 2), 0, at(2, 0), x(2, 2)), sample(x(3), 0, at(1), x(1))],
        "fmi",
        errors=(
            error(IndexError, "index_copy_(): index 7 is out of bounds", x(3), 0, at(7), x(1)),
        ),
    ),
    op(
        "index_fill",
        [
            sample(x(3, 2), 0, at(2, 0), 1),
            sample(x(3, 2), 1, at(1), x()),
            sample(x(3), 0, at(0, 0), x()),
        ],
        "fmi",
        rows=("distinct",),
    ),
    op("fill", [sample(x(2, 3), 1), sample(x(2), x()), sample(x(), 0)], "fi"),
    op("zero_", [sample(x(2))], "", syntax=lambda a: a.clone().zero_(), rows=("zero",)),
    op(
        "searchsorted",
        [
            sample(Array(values=[0, 1, 1, 2]), Array(values=[[1, 3], [0, 1]])),
            sample(Array(values=[0, 1, 1, 2]), Array(values=[1]), right=True),
            sample(Array(values=[[0, 1], [1, 2]]), Array(values=[[1], [1]]), side="right"),
        ],
        "f",
        dtypes=("float64", "float32", "float16", *INT),
        differentiable_in=(),
    ),
    *reduced("scatter_reduce", x(3, 2), 0, at([0, 1], [0, 1]), x(2, 2)),
    *reduced("index_reduce", x(3, 2), 0, at(0, 0), x(2, 2)),
]
