"""Special functions."""

from __future__ import annotations

from .core import BOOL, COMPLEX, FLOAT, INT, OpInfo, error, sample, x
from .families import op, unary

SINGLE = ("float64", "float32")
WIDE = FLOAT + INT + BOOL
POSITIVE = {"low": 1.2, "high": 3.0}
LARGE = {"low": 9.0, "high": 12.0}  # PyTorch's trigamma is right to 1e-9 below
UNIT = {"low": 0.1, "high": 0.9}
EDGES = (float("nan"), float("inf"), 0.5, 1.0, 3.0, 20.0)
PROBABILITIES = (float("nan"), 0.0, 0.25, 0.5, 1.0)


def binary(name: str, row: str, forms: str = "f", numbers: bool = True) -> OpInfo:
    """A function of two positive tensors, or of a tensor and a number."""
    a, b = x(2, 3, **POSITIVE, grad=False), x(2, 3, **POSITIVE)
    samples = [
        sample(a, b),
        sample(x(2, 1, **POSITIVE, grad=False), b),
        sample(x(0, grad=False), x(0)),
    ]
    rows = (row,)
    if numbers:
        samples += [sample(2.5, b), sample(a, 1.5).forward_only()]
        rows = (row, f"{row}.base", f"{row}.scalar")
    return op(name, samples, forms, dtypes=SINGLE, refuses_as_pytorch=False, rows=rows)


CONSTANTS = (
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "spherical_bessel_j0",
    "airy_ai",
)
POLYNOMIALS = (
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
)

OPS = [
    unary("lgamma", dtypes=WIDE, domain=LARGE, special=EDGES),
    unary("digamma", dtypes=WIDE, domain=LARGE, special=EDGES),
    unary(
        "sinc",
        dtypes=WIDE + COMPLEX,
        differentiable_in=SINGLE + COMPLEX,
        special=(0.0, 0.5, float("nan"), 2.5),
    ),
    unary("i0", dtypes=WIDE, special=EDGES),
    unary(
        "logit",
        dtypes=WIDE,
        domain=UNIT,
        special=PROBABILITIES,
        more=[sample(x(2, 3, **UNIT), 0.2).not_smooth(), sample(x(3, **UNIT), eps=1e-3)],
    ),
    op(
        "mvlgamma",
        [sample(x(2, 3, **LARGE), p) for p in (1, 2, 3)],
        "fmi",
        dtypes=SINGLE,
        refuses_as_pytorch=False,
        errors=(error(RuntimeError, "p has to be greater than or equal to 1", x(2), 0),),
    ),
    op(
        "polygamma",
        [sample(n, x(2, 3, **LARGE)) for n in (0, 1, 2, 4)],
        "fmi",
        receiver=1,
        rows=("polygamma", "polygamma.method"),
        dtypes=SINGLE,
        refuses_as_pytorch=False,
        errors=(error(RuntimeError, "polygamma(n, x) does not support negative n", -1, x(2)),),
    ),
    binary("igamma", "igamma", "fmi", numbers=False),
    binary("igammac", "igammac", "fmi", numbers=False),
    binary("special.zeta", "special_zeta"),
    op(
        "special.xlog1py",
        [
            sample(x(2, 3), x(3, **POSITIVE)),
            sample(x(2, 1), x(1, 3, **POSITIVE)),
            sample(2.5, x(2, 3, **POSITIVE)),
            sample(x(2, 3), 0.5),
            sample(x(values=(0.0, 0.0)), x(values=(-1.0, float("nan")))).forward_only(),
        ],
        "f",
        dtypes=SINGLE,
        refuses_as_pytorch=False,
        rows=("special_xlog1py", "special_xlog1py.base", "special_xlog1py.scalar"),
    ),
    op(
        "nextafter",
        [sample(x(2, 3), x(3))],
        "fmi",
        dtypes=SINGLE,
        refuses_as_pytorch=False,
        differentiable_in=(),
    ),
    op(
        "special.ndtr",
        [sample(x(2, 3)), sample(x()), sample(x(0, 3))],
        "f",
        dtypes=SINGLE,
        refuses_as_pytorch=False,
        rows=(),
    ),
    *(
        op(
            f"special.{name}",
            [sample(x(2, 3, **domain)), sample(x(**domain)), sample(x(0, 3))],
            "f",
            dtypes=SINGLE + INT + BOOL,
            refuses_as_pytorch=False,
            rows=(f"special_{name}",),
        )
        for name, domain in (
            ("i0e", {"away": (0.0,)}),
            ("i1", {}),
            ("i1e", {"away": (0.0,)}),
            ("erfcx", {}),
            ("entr", POSITIVE),
            ("log_ndtr", {}),
        )
    ),
    op(
        "special.ndtri",
        [sample(x(2, 3, **UNIT)), sample(x(values=PROBABILITIES)).forward_only()],
        "f",
        dtypes=SINGLE,
        refuses_as_pytorch=False,
        rows=("special_ndtri",),
    ),
    *(
        op(
            f"special.{name}",
            [sample(x(2, 3, **POSITIVE)), sample(x(0))],
            "f",
            dtypes=SINGLE,
            refuses_as_pytorch=False,
            differentiable_in=(),
            rows=(f"special_{name}",),
        )
        for name in CONSTANTS
    ),
    *(
        op(
            f"special.{name}",
            [
                sample(x(2, 3, **UNIT), x(values=(0.0, 1.0, 4.0))),
                sample(x(3, **UNIT), x(values=(2.0, 3.0, -1.0))),
                sample(x(3, **UNIT), 3),
            ],
            "f",
            dtypes=SINGLE,
            refuses_as_pytorch=False,
            differentiable_in=(),
            rows=(f"special_{name}",),
        )
        for name in POLYNOMIALS
    ),
]
