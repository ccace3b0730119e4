"""Linear algebra. What holds of singular vectors and eigenvectors is in tests/test_linalg.py."""

from __future__ import annotations

from typing import Any

from .core import COMPLEX, Array, OpInfo, Sample, error, sample, x
from .families import op

REAL = ("float64", "float32")
LAPACK = (*REAL, *COMPLEX)
SQUARE = ((1.0, 4.0, 0.5), (3.0, 0.5, 1.0), (0.25, 1.0, 5.0))
TALL = ((0.25, 1.5), (2.0, 0.5), (1.0, 1.0))
LOWER = ((2.0, 0.0, 0.0), (0.5, 1.5, 0.0), (1.0, 0.25, 1.0))
POSITIVE = ((4.0, 1.0, 2.0), (1.0, 2.5, 0.5), (2.0, 0.5, 3.0))
TURNED = ((3.0, 1j, 0.5), (-1.0, 2.0 - 1j, 1.0), (0.25, 1j, -4.0))
HERMITIAN = ((3.0, 1j, 0.5 - 1j), (-1j, 4.0, 0.0), (0.5 + 1j, 0.0, 5.0))


def m(values: Any, *batch: int) -> Array:
    """The matrix `values`, or a batch of its multiples."""
    if not batch:
        return Array(values=values)
    scaled = [[[v * (1 + i / 2) for v in row] for row in values] for i in range(batch[0])]
    return Array(values=scaled)


def square(*more: Sample) -> list[Sample]:
    """Samples for functions of one square matrix."""
    return [
        sample(m(SQUARE)),
        sample(m(SQUARE, 2)),
        sample(m(TURNED)).only(*COMPLEX),
        sample(x(0, 0)),
        sample(x(2, 0, 0)),
        sample(Array(values=SQUARE, layout="transposed")),
        *more,
    ]


def not_square(name: str) -> tuple[Any, ...]:
    """What functions of a square matrix refuse."""
    return (
        error(RuntimeError, f"{name}: A must be batches of square matrices, but they", x(2, 3)),
        error(RuntimeError, f"{name}: The input tensor A must have at least 2 dimen", x(3)),
    )


def matrix_op(name: str, samples: list[Sample], forms: str = "f", **fields: Any) -> OpInfo:
    return op(name, samples, forms, dtypes=LAPACK, **fields)


SINGULAR = m(((1.0, 2.0), (2.0, 4.0)))
ZERO_PIVOT = "linalg.inv: The diagonal element 2 is zero, the inversion could not be completed"
RIGHT_SIDES = [
    sample(m(SQUARE), x(3, 2)),
    sample(m(SQUARE), x(3)),
    sample(m(SQUARE, 2), x(2, 3)),
    sample(m(SQUARE, 2), x(3, 2)),
    sample(m(SQUARE), x(2, 3, 1)),
    sample(m(TURNED), x(3, 2)).only(*COMPLEX),
    sample(m(SQUARE), x(2, 3), left=False),
    sample(x(0, 0), x(0, 2)),
    sample(m(SQUARE), x(3, 0)),
]
TRIANGULAR = [
    sample(m(LOWER), x(3, 2), upper=False),
    sample(m(SQUARE), x(3, 2), upper=True),
    sample(m(SQUARE, 2), x(3, 2), upper=True, unitriangular=True),
    sample(m(LOWER), x(2, 2, 3), upper=False, left=False),
    sample(m(TURNED), x(3, 2), upper=True).only(*COMPLEX),
    sample(x(0, 0), x(0, 2), upper=True),
]

OPS = [
    matrix_op(
        "linalg.solve",
        RIGHT_SIDES,
        errors=(
            error(RuntimeError, "linalg.solve: Incompatible shapes of A and B", x(3, 3), x(2, 2)),
            error(
                RuntimeError,
                "linalg.solve: Expected A and B to have the same dtype, but found "
                "A of type Double and B of type Float",
                x(2, 2),
                x(2, 1, dtype="float32"),
            ),
        ),
    ),
    matrix_op("linalg.solve_ex", RIGHT_SIDES, rows=("linalg_solve_ex",)),
    matrix_op("linalg.inv", square(), errors=not_square("linalg.inv")),
    matrix_op("linalg.inv_ex", square(), rows=("linalg_inv_ex",)),
    matrix_op("inverse", square(), "fm", errors=not_square("linalg.inv")),
    matrix_op(
        "linalg.det",
        square(),
        rows=("linalg_det", "cofactors", "cofactors_tangent"),
        errors=not_square("linalg.det"),
    ),
    matrix_op("det", square(), "fm"),
    matrix_op("linalg.slogdet", square(), rows=("linalg_slogdet",)),
    matrix_op("slogdet", square(), "fm"),
    matrix_op(
        "logdet", [sample(m(POSITIVE, 2)), *square()[2:5]], "fm", errors=not_square("logdet")
    ),
    matrix_op(
        "linalg.cholesky",
        [
            sample(m(POSITIVE)).not_smooth(),
            sample(m(POSITIVE, 2), upper=True).not_smooth(),
            sample(m(HERMITIAN)).only(*COMPLEX).not_smooth(),
            sample(x(0, 0)),
        ],
        errors=not_square("linalg.cholesky"),
    ),
    matrix_op(
        "linalg.cholesky_ex", [sample(m(POSITIVE)).not_smooth()], rows=("linalg_cholesky_ex",)
    ),
    matrix_op("cholesky", [sample(m(POSITIVE), upper=u).not_smooth() for u in (False, True)], "fm"),
    matrix_op(
        "cholesky_solve",
        [
            sample(x(3, 2), m(LOWER)).not_smooth(),
            sample(x(2, 3, 2), m(POSITIVE), upper=True).not_smooth(),
            sample(x(3, 1), m(TURNED)).only(*COMPLEX).not_smooth(),
        ],
        "fm",
    ),
    matrix_op(
        "cholesky_inverse",
        [sample(m(LOWER)).not_smooth(), sample(m(POSITIVE), upper=True).not_smooth()],
        "fm",
    ),
    matrix_op(
        "linalg.qr",
        [
            sample(m(SQUARE)).not_smooth(),
            sample(m(TALL)).only(*REAL),
            sample(m(tuple(zip(*TALL, strict=True)))).only(*REAL),
            sample(m(TURNED)).only(*COMPLEX),
            sample(m(SQUARE, 2), mode="complete").only(*REAL),
            sample(m(TALL), mode="complete").forward_only(),
            sample(m(TALL), mode="r").forward_only(),
        ],
        rows=("linalg_qr",),
        errors=(error(RuntimeError, "qr received unrecognized mode 'x'", x(2, 2), mode="x"),),
    ),
    matrix_op("qr", [sample(m(SQUARE), some=some).not_smooth() for some in (True, False)], "fm"),
    matrix_op(
        "linalg.svdvals",
        [
            sample(m(SQUARE)),
            sample(m(TALL, 2)),
            sample(m(TURNED)).only(*COMPLEX),
            sample(x(0, 2)),
        ],
        rows=("linalg_svd",),
        errors=(error(RuntimeError, "linalg.svd: The input tensor A must have at", x(3)),),
    ),
    matrix_op(
        "linalg.eigvalsh",
        [sample(m(POSITIVE)).not_smooth(), sample(m(HERMITIAN)).only(*COMPLEX).not_smooth()],
        rows=("linalg_eigh",),
        errors=not_square("linalg.eigh"),
    ),
    matrix_op(
        "linalg.eigvals",
        [sample(m(SQUARE)), sample(m(TURNED)).only(*COMPLEX)],
        rows=("linalg_eig",),
        errors=not_square("linalg.eigvals"),
    ),
    matrix_op(
        "linalg.pinv",
        [
            sample(m(TALL)),
            sample(m(SQUARE, 2)),
            sample(m(TURNED)).only(*COMPLEX),
            sample(m(POSITIVE), hermitian=True).not_smooth(),
            sample(x(0, 2)),
        ],
        rows=("linalg_pinv",),
    ),
    matrix_op("pinverse", [sample(m(TALL))], "fm"),
    matrix_op(
        "linalg.lstsq",
        [
            sample(m(TALL), x(3, 2)),
            sample(m(tuple(zip(*TALL, strict=True))), x(2, 1)),
            sample(m(TALL, 2), x(2, 3, 1)),
            sample(m(TALL), x(3, 2), driver="gels"),
            sample(m(TALL), x(3, 2), driver="gelsd"),
        ],
        rows=("linalg_lstsq",),
        errors=(
            error(RuntimeError, "torch.linalg.lstsq: input.size(-2) should match", x(3, 2), x(2)),
        ),
    ),
    matrix_op(
        "linalg.cond",
        [
            sample(m(SQUARE)),
            sample(m(SQUARE), 1).forward_only(),
            *(sample(m(SQUARE), p) for p in ("nuc", -2)),
        ],
    ),
    matrix_op(
        "linalg.matrix_rank",
        [sample(m(SQUARE)), sample(SINGULAR), sample(m(POSITIVE), hermitian=True)],
        differentiable_in=(),
    ),
    op(
        "linalg.matrix_exp",
        [
            sample(x(3, 3, low=-0.5, high=0.5)).only(*LAPACK),
            sample(x(2, 2, 2, low=-0.5, high=0.5)).only(*LAPACK),
            sample(x(0, 0)),
        ],
        "f",
        dtypes=("float16", *LAPACK),
        rows=("linalg_matrix_exp",),
    ),
    matrix_op("linalg.solve_triangular", TRIANGULAR, rows=("linalg_solve_triangular",)),
    matrix_op(
        "triangular_solve",
        [
            sample(x(3, 2), m(SQUARE)),
            sample(x(3, 2), m(SQUARE), upper=False, transpose=True),
            sample(x(3, 2), m(SQUARE), unitriangular=True),
            sample(x(3, 2), m(TURNED), transpose=True).only(*COMPLEX),
        ],
        "fm",
    ),
    matrix_op(
        "linalg.lu",
        [
            sample(m(SQUARE)),
            sample(m(TALL, 2)),
            sample(m(tuple(zip(*TALL, strict=True)))),
            sample(m(TURNED)).only(*COMPLEX),
        ],
        rows=("linalg_lu",),
        errors=(error(RuntimeError, "linalg.lu: Expected tensor with 2 or more dim", x(3)),),
    ),
    matrix_op(
        "linalg.lu_factor",
        [sample(m(SQUARE)), sample(m(TALL)), sample(m(TURNED, 2)).only(*COMPLEX)],
        rows=("linalg_lu_factor_ex",),
    ),
    matrix_op("lu", [sample(m(SQUARE))], "fm"),
    op(
        "lu_unpack",
        [
            sample(m(SQUARE), Array(values=[2, 2, 3], dtype="int32")),
            sample(m(TALL), Array(values=[3, 2], dtype="int32")),
        ],
        "f",
    ),
    matrix_op(
        "lu_solve",
        [
            sample(x(3, 2), m(SQUARE), Array(values=[2, 2, 3], dtype="int32")),
            sample(x(3, 2), m(TURNED), Array(values=[2, 2, 3], dtype="int32")).only(*COMPLEX),
        ],
        "fm",
        rows=("linalg_lu_solve",),
    ),
    matrix_op(
        "linalg.lu_solve",
        [
            sample(m(SQUARE), Array(values=[3, 2, 3], dtype="int32"), b, left=left, adjoint=adjoint)
            for adjoint in (False, True)
            for left, b in ((True, x(3, 2)), (False, x(2, 3)))
        ],
    ),
    matrix_op(
        "linalg.householder_product",
        [
            sample(m(TALL), x(2)),
            sample(m(TALL, 2), x(2, 1)),
            sample(m(TURNED), x(2)).only(*COMPLEX),
            sample(m(TALL), x(0)),
        ],
        rows=("linalg_householder_product",),
        errors=(
            error(
                RuntimeError,
                "torch.linalg.householder_product: input.shape[-2] must be greater than or equal",
                x(2, 3),
                x(2),
            ),
        ),
    ),
    matrix_op("orgqr", [sample(m(TALL), x(2))], "fm"),
    matrix_op(
        "ormqr",
        [
            sample(m(TALL), x(2), x(3, 2)),
            sample(m(TALL, 2), x(2, 2), x(2, 3, 1), transpose=True),
            sample(m(TALL), x(2), x(2, 3), left=False),
            sample(m(TALL), x(2), x(2, 3), left=False, transpose=True),
        ],
        "fm",
    ),
    matrix_op("geqrf", [sample(m(SQUARE)).forward_only()], "fm"),
    op(
        "linalg.cross",
        [sample(x(3), x(3)), sample(x(2, 3), x(1, 3)), sample(x(3, 2), x(3, 2), dim=0)],
        "f",
        rows=("linalg_cross",),
        dtypes=("float64", "float32", "float16", *COMPLEX, "int64", "int32", "uint8"),
        errors=(
            error(
                RuntimeError,
                "linalg.cross: inputs dimension -1 must have length 3. Got 2",
                x(2),
                x(2),
            ),
        ),
    ),
]
