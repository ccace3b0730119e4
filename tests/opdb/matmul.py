"""Matrix products."""

from __future__ import annotations

import operator

from .core import FRACTION, NUMBER, error, sample, x
from .families import op

DTYPES = error(
    RuntimeError, "expected m1 and m2 to have the same dtype", x(2, 2), x(2, 2, dtype="float32")
)
EINSUM = "einsum(): the number of subscripts in the equation (1) does not match the number"

OPS = [
    op(
        "matmul",
        [
            *(
                sample(x(*a), x(*b))
                for a, b in (
                    ((2, 3), (3, 2)),
                    ((3,), (3,)),
                    ((2, 3), (3,)),
                    ((3,), (3, 2)),
                    ((2, 2, 3), (3, 2)),
                    ((2, 2, 3), (2, 3, 1)),
                    ((2, 1, 2, 3), (3, 3, 2)),
                    ((3,), (2, 3, 2)),
                    ((2, 2, 3), (3,)),
                    ((0, 3), (3, 2)),
                    ((2, 0), (0, 3)),
                    ((2, 3), (2, 3, 2)),
                    ((0,), (0,)),
                )
            ),
            sample(x(2, 3, layout="transposed"), x(3, 2, layout="strided")),
            sample(x(2, 3, layout="expanded"), x(3, 2, layout="expanded")),
        ],
        dtypes=NUMBER,
        operator=operator.matmul,
        rows=("mm", "mv", "dot", "bmm"),
        errors=(
            error(
                RuntimeError,
                "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
                x(2, 3),
                x(2, 3),
            ),
            error(
                RuntimeError,
                "both arguments to matmul need to be at least 1D, but they are 0D and 2D",
                x(),
                x(2, 2),
            ),
            error(
                RuntimeError,
                "inconsistent tensor size, expected tensor [3] and src [2] to have",
                x(3),
                x(2),
            ),
            DTYPES,
        ),
    ),
    op(
        "mm",
        [
            sample(x(2, 3), x(3, 2)),
            sample(x(0, 3), x(3, 2)),
            sample(x(2, 0), x(0, 3)),
            sample(x(2, 3, layout="transposed"), x(3, 2, layout="expanded")),
        ],
        dtypes=NUMBER,
        errors=(
            error(
                RuntimeError,
                "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
                x(2, 3),
                x(2, 3),
            ),
            error(RuntimeError, "self must be a matrix", x(3), x(3, 2)),
            error(RuntimeError, "mat2 must be a matrix", x(2, 3), x(3)),
            DTYPES,
        ),
    ),
    op(
        "bmm",
        [
            sample(x(2, 2, 3), x(2, 3, 1)),
            sample(x(0, 2, 3), x(0, 3, 2)),
            sample(x(2, 2, 0), x(2, 0, 2)),
            sample(x(2, 2, 3, layout="transposed"), x(2, 3, 2, layout="strided")),
        ],
        dtypes=NUMBER,
        errors=(
            error(RuntimeError, "batch1 must be a 3D tensor", x(2, 3), x(2, 3, 1)),
            error(
                RuntimeError,
                "Expected size for first two dimensions of batch2 tensor to be: [2, 3]",
                x(2, 2, 3),
                x(2, 2, 3),
            ),
        ),
    ),
    op(
        "mv",
        [
            sample(x(2, 3), x(3)),
            sample(x(0, 3), x(3)),
            sample(x(2, 0), x(0)),
            sample(x(3, 2, layout="transposed"), x(2, layout="strided")),
        ],
        dtypes=NUMBER,
        errors=(
            error(RuntimeError, "size mismatch, got input (2), mat (2x3), vec (2)", x(2, 3), x(2)),
        ),
    ),
    op(
        "dot",
        [
            sample(x(3), x(3)),
            sample(x(0), x(0)),
            sample(x(3, layout="strided"), x(3, layout="expanded")),
        ],
        dtypes=NUMBER,
        errors=(
            error(
                RuntimeError,
                "inconsistent tensor size, expected tensor [3] and src [2] to have",
                x(3),
                x(2),
            ),
            error(RuntimeError, "1D tensors expected, but got 2D and 1D tensors", x(2, 3), x(3)),
            error(
                RuntimeError,
                "dot : expected both vectors to have same dtype, but found Double and Float",
                x(3),
                x(3, dtype="float32"),
            ),
        ),
    ),
    op(
        "addmm",
        [
            sample(x(2, 2), x(2, 3), x(3, 2)),
            sample(x(2), x(2, 3), x(3, 2)),
            sample(x(), x(2, 3), x(3, 2)),
            sample(x(2, 2), x(2, 3), x(3, 2), beta=2, alpha=3),
            sample(x(2, 2), x(2, 3), x(3, 2), beta=0),
            sample(x(2, 2), x(2, 3), x(3, 2), beta=0.5, alpha=-1.5).only(*FRACTION),
            sample(x(0, 2), x(0, 3), x(3, 2)),
            sample(x(2, 2), x(2, 0), x(0, 2)),
            sample(
                x(2, 2, layout="expanded"), x(2, 3, layout="transposed"), x(3, 2, layout="strided")
            ),
        ],
        "fmi",
        dtypes=NUMBER,
        errors=(
            error(
                RuntimeError,
                "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
                x(2),
                x(2, 3),
                x(2, 3),
            ),
        ),
    ),
    op(
        "outer",
        [
            sample(x(2), x(3)),
            sample(x(0), x(3)),
            sample(x(2, layout="strided"), x(3)),
            sample(x(2), x(3, dtype="int64")),
        ],
        rows=("mul",),
        errors=(
            error(RuntimeError, "outer: Expected 1-D argument self, but got 2-D", x(2, 2), x(2)),
        ),
    ),
    op(
        "einsum",
        [
            sample("ij,jk->ik", x(2, 3), x(3, 2)),
            sample("ij,jk", x(2, 3), x(3, 2)),
            sample("ii", x(3, 3)),
            sample("ii->i", x(3, 3)),
            sample("ij->ji", x(2, 3)),
            sample("ij->", x(2, 3)),
            sample("i,i->", x(3), x(3)),
            sample("i,j->ij", x(2), x(3)),
            sample("i,j->", x(2), x(3)),
            sample("bij,bjk->bik", x(2, 2, 3), x(2, 3, 1)),
            sample("...ij,...jk->...ik", x(2, 2, 3), x(3, 2)),
            sample("ij,ij->i", x(2, 3), x(2, 3)),
            sample("ij,jk,kl->il", x(2, 3), x(3, 4), x(4, 5)),
            sample("ij,i->j", x(1, 3), x(2)),
            sample("ij,jk->ik", x(0, 3), x(3, 2)),
            sample("ij,jk->ik", x(2, 3, layout="transposed"), x(3, 2, layout="strided")),
            sample("ij,jk->ik", [x(2, 3), x(3, 2)]),
        ],
        "f",
        dtypes=NUMBER,
        receiver=1,
        errors=(
            error(RuntimeError, EINSUM, "i->i", x(2, 3)),
            error(
                RuntimeError,
                "einsum(): more operands were provided than specified in the equation",
                "i->i",
                x(2),
                x(2),
            ),
            error(
                RuntimeError,
                "einsum(): subscript j has size 2 for operand 1 which does not broadcast",
                "ij,jk->ik",
                x(2, 3),
                x(2, 3),
            ),
            error(
                RuntimeError,
                "einsum(): output subscript k does not appear in the equation",
                "ij->k",
                x(2, 3),
            ),
        ),
    ),
    op(
        "addmv",
        [
            sample(x(2), x(2, 3), x(3)),
            sample(x(), x(2, 3), x(3), beta=2, alpha=3),
            sample(x(2), x(2, 0), x(0), beta=0),
        ],
        "fmi",
        dtypes=NUMBER,
        errors=(
            error(
                RuntimeError,
                "size mismatch, got input (2), mat (2x2), vec (3)",
                x(2),
                x(2, 2),
                x(3),
            ),
        ),
    ),
    op(
        "addr",
        [
            sample(x(2, 3), x(2), x(3)),
            sample(x(3), x(2), x(3), beta=2, alpha=3),
            sample(x(2, 0), x(2), x(0), beta=0),
        ],
        "fmi",
        errors=(error(RuntimeError, "addr: Expected 1-D argument vec1", x(2, 2), x(2, 2), x(2)),),
    ),
    op(
        "baddbmm",
        [
            sample(x(2, 2, 1), x(2, 2, 3), x(2, 3, 1)),
            sample(x(1), x(2, 2, 3), x(2, 3, 1), beta=2, alpha=3),
            sample(x(2, 2, 2), x(2, 2, 0), x(2, 0, 2), beta=0),
        ],
        "fmi",
        dtypes=NUMBER,
        errors=(error(RuntimeError, "batch1 must be a 3D tensor", x(2, 2), x(2, 2), x(2, 2, 2)),),
    ),
    op(
        "addbmm",
        [
            sample(x(2, 1), x(2, 2, 3), x(2, 3, 1)),
            sample(x(2, 1), x(2, 2, 3), x(2, 3, 1), beta=2, alpha=3),
        ],
        "fmi",
        dtypes=NUMBER,
        errors=(
            error(
                RuntimeError,
                "batch1 and batch2 must have same number of batches, got 2 and 3",
                x(2, 2),
                x(2, 2, 2),
                x(3, 2, 2),
            ),
        ),
    ),
    op(
        "vdot",
        [sample(x(3), x(3)), sample(x(0), x(0)), sample(x(3, layout="strided"), x(3))],
        dtypes=NUMBER,
        errors=(
            error(RuntimeError, "1D tensors expected, but got 2D and 1D tensors", x(2, 3), x(3)),
        ),
    ),
    op(
        "inner",
        [
            sample(x(3), x(3)),
            sample(x(2, 3), x(4, 3)),
            sample(x(2, 2, 3), x(3)),
            sample(x(), x(2, 3)),
        ],
        dtypes=NUMBER,
        errors=(
            error(
                RuntimeError,
                "inner() the last dimension must match on both input tensors but got shapes",
                x(2),
                x(3),
            ),
        ),
    ),
    op(
        "tensordot",
        [
            sample(x(2, 3, 4), x(3, 4, 2)),
            sample(x(2, 3, 4), x(4, 3, 2), ([1, 2], [1, 0])),
            sample(x(2, 1, 4), x(4, 3, 2), dims=([1, 2], [1, 0])),
            sample(x(2, 3), x(4), 0),
            sample(x(2, 2), x(2, 2), ([0, 1], [1, 0])),
        ],
        "f",
        dtypes=NUMBER,
        errors=(
            error(
                RuntimeError,
                "contracted dimensions need to match, but first has size 3 in dim",
                x(2, 3),
                x(2, 3),
                1,
            ),
        ),
    ),
]
