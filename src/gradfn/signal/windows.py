"""Window functions, as `torch.signal.windows`: SciPy's, as tensors.

Windows of `M` elements are symmetric, or one period with ``sym=False``. ValueError for negative
lengths, and for dtypes but float32 and float64.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

from .. import dtypes
from ..creation import Options, made, numpy_dtype
from ..device import strided
from ..missing import missing

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _window(name: str, M: int, sym: bool, options: Options, *parameters: Any) -> Tensor:
    from scipy.signal import windows

    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    layout = options.get("layout")
    if layout is not None and layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    dtype = numpy_dtype(options)
    if dtype.char not in "fd":
        raise ValueError(
            f"{name} expects float32 or float64 dtypes, got: {dtypes.from_numpy(dtype)}"
        )
    values = getattr(windows, name)(M, *parameters, sym=sym)
    return made(name, values.astype(dtype), options)


def bartlett(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """The triangle from 0 over 1 to 0."""
    return _window("bartlett", M, sym, options)


def blackman(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """`general_cosine` with the coefficients 0.42, 0.5 and 0.08."""
    return _window("blackman", M, sym, options)


def cosine(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """``sin(pi (n + 0.5) / M)``."""
    return _window("cosine", M, sym, options)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    **options: Unpack[Options],
) -> Tensor:
    """``exp(-abs(n - center) / tau)``; symmetric windows have their centre in the middle."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _window("exponential", M, sym, options, center, tau)


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """``exp(-(n / std)^2 / 2)`` for n counted from the middle.

    >>> gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _window("gaussian", M, sym, options, std)


def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, **options: Unpack[Options]
) -> Tensor:
    """The sum of ``(-1)^i a[i] cos(2 pi i n / N)``, N being M - 1, or M if not symmetric."""
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    coefficients = list(a)
    if not coefficients:
        raise ValueError("Coefficients cannot be empty")
    return _window("general_cosine", M, sym, options, coefficients)


def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, **options: Unpack[Options]
) -> Tensor:
    """`general_cosine` with the coefficients alpha and 1 - alpha."""
    return general_cosine(M, a=[alpha, 1 - alpha], sym=sym, **options)


def hamming(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """`general_hamming` with 0.54."""
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """`general_hamming` with 0.5.

    >>> hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """``i0(beta sqrt(1 - (2 n / N - 1)^2)) / i0(beta)``."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _window("kaiser", M, sym, options, beta)


def nuttall(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """`general_cosine` with Nuttall's four coefficients."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, **options)


__getattr__ = missing(__name__)
