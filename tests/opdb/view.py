"""Views, rearrangements, joining and splitting."""

from __future__ import annotations

from .core import Array, error, sample, x
from .families import op

RANGE = "Dimension out of range (expected to be in range of [-2, 1], but got 5)"


OPS = [
    op(
        "view",
        [
            sample(x(2, 3), 6),
            sample(x(2, 3), (3, 2)),
            sample(x(2, 6), 2, -1, 3),
            sample(x(), 1, 1),
            sample(x(1), ()),
            sample(x(0, 3), 3, 0),
            sample(x(3, 2, layout="expanded"), 3, 2, 1),
        ],
        "m",
        errors=(
            error(RuntimeError, "shape '[4]' is invalid for input of size 6", x(2, 3), 4),
            error(RuntimeError, "shape '[4, -1]' is invalid for input of size 6", x(2, 3), 4, -1),
            error(RuntimeError, "only one dimension can be inferred", x(2, 3), -1, -1),
            error(
                RuntimeError,
                "view size is not compatible with input tensor's size and stride",
                x(2, 3, layout="transposed"),
                6,
            ),
        ),
    ),
    op("view_as", [sample(x(2, 3), Array((3, 2), grad=False))], "m", rows=("identity",)),
    op(
        "reshape",
        [
            sample(x(2, 3), (3, 2)),
            sample(x(2, 3), (-1,)),
            sample(x(2, 3, layout="transposed"), (6,)),
            sample(x(2, 3, layout="expanded"), (3, 2)),
            sample(x(), (1,)),
            sample(x(1, 1), ()),
            sample(x(0, 3), (3, 0)),
        ],
        rows=("view", "_reshape_alias", "_unsafe_view"),
        errors=(error(RuntimeError, "shape '[4]' is invalid for input of size 6", x(2, 3), (4,)),),
    ),
    op(
        "transpose",
        [
            sample(x(2, 3), 0, 1),
            sample(x(2, 1, 3), -1, 0),
            sample(x(), 0, -1),
            sample(x(0, 3), 1, 0),
        ],
        "fmi",
        rows=("transpose_",),
        errors=(error(IndexError, RANGE, x(2, 3), 0, 5),),
    ),
    op(
        "permute",
        [
            sample(x(2, 1, 3), (2, 0, 1)),
            sample(x(2, 3), (-1, 0)),
            sample(x(), ()),
            sample(x(0, 2), (1, 0)),
        ],
        errors=(
            error(
                RuntimeError,
                "permute(sparse_coo): number of dimensions in the tensor input does not",
                x(2, 3),
                (0,),
            ),
            error(RuntimeError, "permute(): duplicate dims are not allowed.", x(2, 3), (0, 0)),
        ),
    ),
    op(
        "t",
        [sample(x(2, 3)), sample(x(3)), sample(x()), sample(x(2, 3, layout="strided"))],
        "fmi",
        rows=("t_",),
        errors=(
            error(
                RuntimeError,
                "t() expects a tensor with <= 2 dimensions, but self is 3D",
                x(1, 1, 1),
            ),
        ),
    ),
    op("mT", [sample(x(2, 3)), sample(x(2, 3, 1))], "", syntax=lambda a: a.mT),
    op("T", [sample(x(2, 3))], "", syntax=lambda a: a.T, rows=("t",)),
    op(
        "unsqueeze",
        [
            sample(x(2, 3), 0),
            sample(x(2, 3), -1),
            sample(x(2, 3), 1),
            sample(x(), 0),
            sample(x(0), 1),
        ],
        "fmi",
        rows=("unsqueeze_",),
        errors=(
            error(
                IndexError,
                "Dimension out of range (expected to be in range of [-3, 2], but got 5)",
                x(2, 3),
                5,
            ),
        ),
    ),
    op(
        "squeeze",
        [
            sample(x(1, 2, 1)),
            sample(x(1, 2, 1), 0),
            sample(x(1, 2, 1), 1),
            sample(x(1, 2, 1), (0, -1)),
            sample(x()),
            sample(x(), 0),
            sample(x(1, 0)),
            sample(x(2, 3)),
        ],
        "fmi",
        rows=("squeeze_",),
        errors=(error(IndexError, RANGE, x(2, 3), 5),),
    ),
    op(
        "flatten",
        [
            sample(x(2, 1, 3)),
            sample(x(2, 2, 3), 1),
            sample(x(2, 2, 3), 0, 1),
            sample(x(2)),
            sample(x()),
            sample(x(0, 2)),
            sample(x(2, 2, 3, layout="transposed"), start_dim=-2),
        ],
        errors=(
            error(
                RuntimeError,
                "flatten() has invalid args: start_dim cannot come after end_dim",
                x(2, 3),
                1,
                0,
            ),
        ),
    ),
    op(
        "unflatten",
        [sample(x(6), 0, (2, 3)), sample(x(2, 6), -1, (3, -1)), sample(x(0, 2), 1, (2, 1))],
        errors=(
            error(
                RuntimeError,
                "unflatten: Provided sizes [4, 2] don't multiply up to the size of dim 0 (6)",
                x(6),
                0,
                (4, 2),
            ),
        ),
    ),
    op(
        "expand",
        [
            sample(x(1, 3), 2, 3),
            sample(x(3), 2, -1),
            sample(x(), 2, 2),
            sample(x(2, 3), (2, 3)),
            sample(x(1, 0), 3, 0),
            sample(x(1), 0),
            sample(x(2, 1, 3), 2, 2, 2, 3),
        ],
        "m",
        errors=(
            error(
                RuntimeError,
                "The expanded size of the tensor (4) must match the existing size (3)",
                x(3),
                4,
            ),
            error(
                RuntimeError,
                "expand(torch.DoubleTensor{[2, 3]}, size=[3]): the number of sizes provided (1)",
                x(2, 3),
                3,
            ),
        ),
    ),
    op("expand_as", [sample(x(3), Array((2, 3), grad=False))], "m", rows=("expand",)),
    op(
        "repeat",
        [
            sample(x(2, 3), 2, 1),
            sample(x(3), 2, 2),
            sample(x(), 3),
            sample(x(2), (3,)),
            sample(x(2), 0),
            sample(x(0), 2),
            sample(x(3, 2, layout="transposed"), 1, 2),
        ],
        "m",
        errors=(
            error(
                RuntimeError,
                "Number of dimensions of repeat dims can not be smaller than number of dimensions",
                x(2, 3),
                2,
            ),
        ),
    ),
    op(
        "cat",
        [
            sample([x(2, 3), x(1, 3)]),
            sample([x(2, 1), x(2, 3)], 1),
            sample((x(2), x(3)), dim=-1),
            sample([x(2, 3)]),
            sample([x(0), x(2, 3)]),
            sample([x(0, 3), x(2, 3)], 0),
            sample([x(2), x(2, dtype="float32")]).not_smooth(),
            sample([x(2), x(2, dtype="int64")]),
            sample([x(2, 2, layout="transposed"), x(2, 2, layout="expanded")]),
        ],
        "f",
        errors=(
            error(
                RuntimeError,
                "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 2",
                [x(2, 3), x(2, 2)],
            ),
            error(ValueError, "torch.cat(): expected a non-empty list of Tensors", []),
            error(
                RuntimeError,
                "zero-dimensional tensor (at position 0) cannot be concatenated",
                [x(), x()],
            ),
            error(
                RuntimeError,
                "Tensors must have same number of dimensions: got 2 and 1",
                [x(2, 3), x(3)],
            ),
        ),
    ),
    op(
        "stack",
        [
            sample([x(2, 3), x(2, 3)]),
            sample([x(2), x(2), x(2)], -1),
            sample([x(), x()]),
            sample([x(0)], 1),
            sample((x(2, 2), x(2, 2, layout="transposed")), dim=1),
            sample([x(2), x(2, dtype="int64")]),
        ],
        "f",
        errors=(
            error(
                RuntimeError,
                "stack expects each tensor to be equal size, but got [2] at entry 0 and [3]",
                [x(2), x(3)],
            ),
            error(RuntimeError, "stack expects a non-empty TensorList", []),
        ),
    ),
    op(
        "split",
        [
            sample(x(5), 2),
            sample(x(5, 2), [1, 4]),
            sample(x(2, 3), 1, dim=1),
            sample(x(4), 4),
            sample(x(4), 9),
            sample(x(0), 1),
            sample(x(3, 2, layout="transposed"), [2, 0, 1]),
        ],
        rows=("split_with_sizes",),
        errors=(
            error(
                RuntimeError,
                "split_with_sizes expects split_sizes to sum exactly to 5",
                x(5),
                [1, 2],
            ),
        ),
    ),
    op(
        "chunk",
        [
            sample(x(5), 2),
            sample(x(2, 6), 3, 1),
            sample(x(2), 5),
            sample(x(3, 4, layout="strided"), 2, -1),
        ],
        rows=("split",),
        errors=(
            error(RuntimeError, "chunk expects `chunks` to be greater than 0, got: 0", x(5), 0),
        ),
    ),
    op(
        "unbind",
        [sample(x(2, 3)), sample(x(2, 3), 1), sample(x(3)), sample(x(2, 0), 0)],
        errors=(error(IndexError, RANGE, x(2, 3), 5),),
    ),
    op(
        "select",
        [sample(x(2, 3), 0, 1), sample(x(2, 3), -1, -2), sample(x(3), 0, 0), sample(x(2, 0), 0, 1)],
        errors=(
            error(
                IndexError,
                "select(): index 4 out of range for tensor of size [2, 3] at dimension 0",
                x(2, 3),
                0,
                4,
            ),
            error(IndexError, "select() cannot be applied to a 0-dim tensor.", x(), 0, 0),
        ),
    ),
    op(
        "narrow",
        [
            sample(x(4), 0, 1, 2),
            sample(x(2, 4), 1, -2, 2),
            sample(x(3), 0, 3, 0),
            sample(x(3, 2), dim=0, start=0, length=2),
        ],
        errors=(
            error(
                RuntimeError, "start (1) + length (3) exceeds dimension size (3).", x(3), 0, 1, 3
            ),
            error(RuntimeError, "narrow(): length must be non-negative.", x(3), 0, 1, -1),
        ),
    ),
    op(
        "flip",
        [
            sample(x(2, 3), (0,)),
            sample(x(2, 3), (0, 1)),
            sample(x(2, 3), [-1]),
            sample(x(0, 2), (0,)),
            sample(x(), ()),
        ],
        errors=(
            error(
                RuntimeError, "dim 0 appears multiple times in the list of dims", x(2, 3), (0, 0)
            ),
        ),
    ),
    op(
        "roll",
        [
            sample(x(2, 3), 1),
            sample(x(2, 3), 1, 0),
            sample(x(2, 3), (1, -2), (0, 1)),
            sample(x(4), shifts=-1, dims=0),
            sample(x(0, 3), 1, 1),
            sample(x(3, 2, layout="transposed"), 1),
        ],
        errors=(
            error(
                RuntimeError,
                "shifts and dimensions must align. shifts: 2, dims:1",
                x(2, 3),
                (1, 2),
                (0,),
            ),
        ),
    ),
    *(
        op(
            name,
            [
                sample(x(3, 3)),
                sample(x(2, 3), 1),
                sample(x(3, 2), -1),
                sample(x(2, 2, 3), diagonal=0),
                sample(x(0, 3)),
                sample(x(3, 3), 5),
                sample(x(3, 3, layout="transposed")),
            ],
            "fmi",
            errors=(
                error(RuntimeError, f"{name}: input tensor must have at least 2 dimensions", x(3)),
            ),
        )
        for name in ("tril", "triu")
    ),
    op(
        "diagonal",
        [
            sample(x(3, 3)),
            sample(x(2, 3), 1),
            sample(x(3, 2), offset=-1),
            sample(x(2, 3, 2), 0, 0, 2),
            sample(x(2, 3, 3), dim1=-2, dim2=-1),
            sample(x(2, 2), 2),
        ],
        errors=(
            error(RuntimeError, "diagonal dimensions cannot be identical 0, 0", x(2, 3), 0, 0, 0),
        ),
    ),
    op(
        "diag",
        [
            sample(x(3)),
            sample(x(2), 1),
            sample(x(2), -1),
            sample(x(3, 3)),
            sample(x(2, 3), 1),
            sample(x(0)),
        ],
        rows=("diag_embed", "diagonal"),
        errors=(error(RuntimeError, "diag(): Supports 1D or 2D tensors. Got 3D", x(1, 1, 1)),),
    ),
    op(
        "movedim",
        [sample(x(2, 1, 3), 0, 2), sample(x(2, 1, 3), (0, 1), (-1, 0))],
        rows=("permute",),
    ),
]
