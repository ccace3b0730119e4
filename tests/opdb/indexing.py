"""Reading and writing by index: Python's syntax, and the operators that take index tensors."""

from __future__ import annotations

from typing import Any

from .core import FLOAT, Array, error, sample, x
from .families import op


def at(*positions: Any) -> Array:
    """An index tensor."""
    return Array(values=list(positions), dtype="int64")


def mask(*flags: Any) -> Array:
    return Array(values=list(flags), dtype="bool")


def setitem(target: Any, index: Any, value: Any) -> Any:
    """`target[index] = value` as a function of its arguments."""
    target = target.clone()
    target[index] = value
    return target


def indices(*positions: Any) -> tuple[Array, ...]:
    return tuple(at(*p) for p in positions)


SCATTER = [
    sample(x(3, 2), 0, at([0, 1], [2, 0]), x(2, 2)),
    sample(x(3, 2), 1, at([1], [0]), x(2, 1)),
    sample(x(3, 2), 1, at([1], [0]), x(3, 2)).forward_only(),
    sample(x(4), 0, at(3, 1), x(2)),
    sample(x(4), -1, at(2), x(1)),
    sample(x(3, 2, layout="transposed"), 0, at([0, 1]), x(1, 2)),
]
OUTSIDE = "index 7 is out of bounds for dimension 0 with size 3"
NOT_INT64 = "Expected dtype int64 for index"

OPS = [
    op(
        "getitem",
        [
            *(
                sample(x(3, 4), index)
                for index in (
                    0,
                    -1,
                    slice(None),
                    slice(1, None),
                    slice(None, None, 2),
                    slice(1, 1),
                    slice(-2, 9),
                    None,
                    Ellipsis,
                    (),
                    (0, 1),
                    (slice(None), 1),
                    (slice(0, 2), slice(1, 3)),
                    (Ellipsis, 0),
                    (None, 1, None),
                    (slice(None), None, slice(1, None, 2)),
                    True,
                    False,
                )
            ),
            sample(x(3, 4), at(0, 2, 0)),
            sample(x(3, 4), [0, 2]),
            sample(x(3, 4), at([0, 2], [1, 1])),
            sample(x(3, 4), (at(0, -1), at(1, 3))),
            sample(x(3, 4), (slice(None), at(1, 1))),
            sample(x(3, 4), (at(0, 2), slice(1, 3))),
            sample(x(2, 3, 4), (at(0, 1), slice(None), at(2, 2))),
            sample(x(2, 3, 4), (slice(None), at(0, 1), at(2, 2))),
            sample(x(2, 3, 4), (0, at(0, 1))),
            sample(x(3, 4), (at([0], [2]), at(1, 3))),
            sample(x(3), mask(True, False, True)),
            sample(x(2, 2), mask([True, False], [True, True])),
            sample(x(2, 3), (mask(True, False), slice(1, None))),
            sample(x(2, 3), (slice(None), mask(True, False, True))),
            sample(x(3, 4), (at(0, 1), None, slice(0, 2))),
            sample(x(3), Array(values=1, dtype="int64")),
            sample(x(), Ellipsis),
            sample(x(), None),
            sample(x(3, 4, layout="transposed"), (at(0, 1), at(1, 1))),
            sample(x(3), Array((0,), dtype="int64")),
        ],
        "",
        syntax=lambda a, index: a[index],
        rows=("select", "slice", "index", "unsqueeze", "alias"),
        errors=(
            error(IndexError, "index 3 is out of bounds for dimension 0 with size 3", x(3), 3),
            error(IndexError, "too many indices for tensor of dimension 1", x(3), (0, 0)),
            error(IndexError, OUTSIDE, x(3), at(7)),
            error(
                IndexError,
                "The shape of the mask [2] at index 0 does not match the shape of the indexed",
                x(3),
                mask(True, False),
            ),
            error(
                IndexError,
                "tensors used as indices must be long, int, byte or bool tensors",
                x(3),
                x(2),
            ),
            error(
                IndexError,
                "shape mismatch: indexing tensors could not be broadcast together",
                x(3, 3),
                (at(0, 1), at(0, 1, 2)),
            ),
            error(ValueError, "step must be greater than zero", x(3), slice(None, None, -1)),
            error(IndexError, "invalid index of a 0-dim tensor.", x(), 0),
        ),
    ),
    op(
        "setitem",
        [
            sample(x(3, 4), 0, x(4)),
            sample(x(3, 4), (slice(None), 1), x(3)),
            sample(x(3, 4), slice(0, 2), 1),
            sample(x(3, 4), Ellipsis, x()),
            sample(x(3, 4), (slice(1, None), slice(None, None, 2)), x(2)),
            sample(x(3, 4), at(0, 2), x(2, 4)),
            sample(x(3, 4), (at(0, 2), at(1, 1)), x(2)),
            sample(x(3, 4), (slice(None), at(1, 2)), x(3, 1)),
            sample(x(3), mask(True, False, True), 0),
            sample(x(3), mask(True, False, True), x(2)),
            sample(x(3), mask(True, False, True), x()),
            sample(x(3), 1, x(dtype="float32")).only(*FLOAT).not_smooth(),
            sample(x(), (), 2),
        ],
        "",
        syntax=setitem,
        rows=("copy_", "index_put_", "index_put", "fill_"),
        errors=(
            error(
                RuntimeError,
                "The expanded size of the tensor (4) must match the existing size (3)",
                x(2, 4),
                0,
                x(3),
            ),
            error(
                RuntimeError,
                "shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result",
                x(4),
                at(0, 1),
                x(3),
            ),
        ),
    ),
    op(
        "index_select",
        [
            sample(x(3, 2), 0, at(0, 2, 0)),
            sample(x(3, 2), -1, at(1)),
            sample(x(3), 0, at(2, 2)),
            sample(x(), 0, at(0)),
            sample(x(3, 2), 0, Array((0,), dtype="int64")),
            sample(x(3, 2, layout="transposed"), 1, Array(values=[1, 0], dtype="int32")),
        ],
        errors=(
            error(IndexError, "index out of range in self", x(3), 0, at(7)),
            error(IndexError, "index_select(): Index is supposed to be a vector", x(3), 0, at([0])),
        ),
    ),
    op(
        "gather",
        [
            sample(x(3, 2), 0, at([0, 1], [2, 0])),
            sample(x(3, 2), 1, at([1], [0], [0])),
            sample(x(3), 0, at(2, 2)),
            sample(x(), 0, Array(values=0, dtype="int64")),
            sample(x(3), 0, Array((0,), dtype="int64")),
            sample(x(3, 2, layout="expanded"), -1, at([0, 0], [1, 0])),
        ],
        errors=(
            error(RuntimeError, OUTSIDE, x(3), 0, at(7)),
            error(RuntimeError, "gather(): Expected dtype int32/int64 for index", x(3), 0, x(2)),
            error(
                RuntimeError,
                "Index tensor must have the same number of dimensions as input tensor",
                x(3),
                0,
                at([0]),
            ),
        ),
    ),
    op(
        "scatter",
        [
            *SCATTER,
            sample(x(3, 2), 0, at([0, 1], [2, 0]), 5),
            sample(x(), 0, Array(values=0, dtype="int64"), x()),
            sample(x(4), 0, Array((0,), dtype="int64"), x(0)),
        ],
        "fmi",
        errors=(
            error(RuntimeError, OUTSIDE, x(3), 0, at(7), x(1)),
            error(
                RuntimeError, "scatter(): Expected dtype int32/int64 for index", x(3), 0, x(1), x(1)
            ),
            error(
                RuntimeError,
                "scatter(): Expected self.dtype to be equal to src.dtype",
                x(3),
                0,
                at(0),
                x(1, dtype="float32"),
            ),
        ),
    ),
    op(
        "scatter~reduce",
        [
            sample(x(3, 2), 0, at([0, 1], [0, 0]), Array((2, 2), grad=False), reduce="add"),
            sample(x(3, 2), 0, at([0, 1], [0, 0]), Array((2, 2), grad=False), reduce="multiply"),
        ],
        "fmi",
        differentiable_in=(),
    ),
    op(
        "scatter_add",
        [
            *SCATTER,
            sample(x(3), 0, at(0, 0, 1), x(3)),
            sample(x(), 0, Array(values=0, dtype="int64"), x()),
        ],
        "fmi",
        errors=(error(RuntimeError, OUTSIDE, x(3), 0, at(7), x(1)),),
    ),
    op(
        "index_add",
        [
            sample(x(3, 2), 0, at(0, 2), x(2, 2)),
            sample(x(3, 2), 1, at(0, 0), x(3, 2)),
            sample(x(4), 0, at(1), x(1)),
            sample(x(3, 2), 0, at(0, 0), x(2, 2), alpha=2),
            sample(x(), 0, at(0), x()),
        ],
        "fmi",
        errors=(
            error(
                RuntimeError,
                "index_add_(): self (Double) and source (Float) must have the same scalar type",
                x(3),
                0,
                at(0),
                x(1, dtype="float32"),
            ),
        ),
    ),
    op(
        "index_put",
        [
            sample(x(3, 2), (at(0, 2),), x(2, 2)),
            sample(x(3, 2), indices((0, 2), (1, 1)), x(2)),
            sample(x(3, 2), indices((0, 0), (1, 1)), x(2), accumulate=True),
            sample(x(3, 2), (mask(True, False, True),), x(2, 2)),
            sample(x(4), (at(1, 3),), x()),
        ],
        "fmi",
        errors=(
            error(IndexError, OUTSIDE, x(3), (at(7),), x(1)),
            error(
                RuntimeError,
                "Index put requires the source and destination dtypes match",
                x(3),
                (at(0),),
                x(1, dtype="float32"),
            ),
        ),
    ),
    op(
        "take_along_dim",
        [
            sample(x(3, 2), at([0, 1], [2, 0]), 0),
            sample(x(3, 2), at([1], [0], [0]), dim=1),
            sample(x(3, 2), at([1]), 1),
            sample(x(4), at(3, 3)),
            sample(x(2, 2), at(3, 0)),
        ],
        rows=("gather",),
        errors=(
            error(
                RuntimeError,
                "torch.take_along_dim(): input and indices should have the same number",
                x(3),
                at([0]),
                0,
            ),
        ),
    ),
    op(
        "masked_select",
        [
            sample(x(2, 3), mask([True, False, True], [False, False, True])),
            sample(x(2, 3), mask(True, False, True)),
            sample(x(3), mask([True, True, False], [False, True, True])),
            sample(x(), mask(True)),
            sample(x(2), mask(False, False)),
            sample(x(3, 2, layout="transposed"), mask(True, False)),
        ],
        errors=(error(RuntimeError, "masked_select: expected BoolTensor for mask", x(2), x(2)),),
    ),
    op(
        "nonzero",
        [
            sample(x(2, 3)),
            sample(x()),
            sample(x(0, 2)),
            sample(Array(values=[[0, 1], [1, 0]])),
            sample(Array(values=[0, 1, 1]), as_tuple=True),
        ],
        differentiable_in=(),
    ),
]
