"""Discrete Fourier transforms."""

from __future__ import annotations

from dataclasses import replace

from .core import COMPLEX, INT, Array, OpInfo, Sample, error, sample, x
from .families import op

REAL = ("float64", "float32", *INT, "bool")
ANY = ("float64", "float32", *COMPLEX, *INT, "bool")


def one_dim(name: str, dtypes: tuple[str, ...], row: str) -> OpInfo:
    """A transform along one dimension: trimmed, padded, scaled."""
    samples = [
        sample(x(4)),
        sample(x(2, 5)),
        sample(x(3, 2), dim=0),
        *(sample(x(4), n, norm=norm) for n in (3, 6, 7) for norm in ("ortho", "forward")),
        sample(x(3, 4, layout="transposed"), norm="backward"),
    ]
    return op(
        f"fft.{name}",
        samples,
        "f",
        dtypes=dtypes,
        rows=(row,),
        errors=(
            error(RuntimeError, "Invalid number of data points (0) specified", x(3), 0),
            error(RuntimeError, 'Invalid normalization mode: "x"', x(3), norm="x"),
            error(IndexError, "Dimension specified as -1 but tensor has no dimensions", x()),
        ),
    )


def several_dims(name: str, dtypes: tuple[str, ...], samples: list[Sample]) -> OpInfo:
    """A transform over several dimensions."""
    shared = [
        sample(x(3, 4)),
        sample(x(2, 3, 4), dim=(0, 2), norm="ortho"),
        sample(x(3, 4), (4, 3), norm="forward"),
        sample(x(3, 4), (2, -1)),
    ]
    return op(
        f"fft.{name}",
        [*shared, *samples],
        "f",
        dtypes=dtypes,
        errors=(
            error(RuntimeError, "FFT dims must be unique", x(3, 3), dim=(0, 0)),
            error(RuntimeError, "When given, dim and shape arguments must", x(3, 3), (2,), (0, 1)),
        ),
    )


WINDOW = Array(values=[0.5, 1.0, 1.5, 0.75])
SHORT = Array(values=[0.5, 1.0, 0.75])
REAL_WINDOW, REAL_SHORT = replace(WINDOW, dtype="float64"), replace(SHORT, dtype="float64")

OPS = [
    one_dim("fft", ANY, "fft_c2c"),
    one_dim("ifft", ANY, "fft_c2c"),
    one_dim("rfft", REAL, "fft_r2c"),
    one_dim("irfft", ANY, "fft_c2r"),
    one_dim("hfft", ANY, "fft_c2r"),
    one_dim("ihfft", REAL, "fft_r2c"),
    *(several_dims(name, ANY, []) for name in ("fft2", "ifft2", "irfft2", "hfft2")),
    *(several_dims(name, REAL, []) for name in ("rfft2", "ihfft2")),
    *(
        several_dims(name, ANY, [sample(x(2, 3), dim=(1,)), sample(x(2, 2, 3))])
        for name in ("fftn", "ifftn", "irfftn", "hfftn")
    ),
    *(
        several_dims(name, REAL, [sample(x(2, 3), dim=(1,)), sample(x(2, 2, 3))])
        for name in ("rfftn", "ihfftn")
    ),
    *(
        op(f"fft.{name}", [sample(x(4)), sample(x(3, 4)), sample(x(3, 4), dim=0)], "f")
        for name in ("fftshift", "ifftshift")
    ),
    op(
        "stft",
        [
            sample(x(9), 4, window=WINDOW, return_complex=True),
            sample(x(2, 8), 4, 3, 3, SHORT, False, normalized=True, return_complex=True),
            sample(x(8), 4, window=WINDOW, onesided=False, return_complex=True),
        ],
        dtypes=("float64", "float32"),
        refuses_as_pytorch=False,  # a message of PyTorch's own for integers
        errors=(
            error(RuntimeError, "stft requires the return_complex parameter", x(9), 4),
            error(
                RuntimeError,
                "Cannot have onesided output",
                x(9, dtype="complex128"),
                4,
                window=WINDOW,
                onesided=True,
            ),
        ),
    ),
    op(
        "istft",
        [
            sample(x(3, 5), 4, window=REAL_WINDOW),
            sample(x(2, 3, 4), 4, 2, 3, REAL_SHORT, length=6, normalized=True),
            sample(x(4, 4), 4, window=REAL_WINDOW, onesided=False, return_complex=True),
            sample(x(4, 4), 4, window=REAL_WINDOW, center=False),
        ],
        dtypes=("complex128",),
        refuses_as_pytorch=False,
        errors=(error(RuntimeError, "istft requires a complex-valued input", x(3, 5), 4),),
    ),
]
