"""Window functions of signal processing, by their names in `torch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from .creation import Options, made, numpy_dtype

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
]


def _window(
    name: str, shape: str, length: int, periodic: bool, options: Options, *parameters: Any
) -> Tensor:
    """SciPy's window `shape`, of one period or symmetric."""
    from scipy.signal import windows

    dtype = numpy_dtype(options)
    if length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )
    if dtype.kind in "biuc":
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    values = getattr(windows, shape)(length, *parameters, sym=not periodic)
    return made(name, values.astype(dtype), options)


def hann_window(window_length: int, periodic: bool = True, **options: Unpack[Options]) -> Tensor:
    """``0.5 - 0.5 cos(2 pi n / N)``: `torch.hann_window`.

    N is `window_length`, or one less where the window is symmetric, not `periodic`. RuntimeError
    for negative lengths and for dtypes that are not floating.

    >>> from gradfn import hann_window
    >>> hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("hann_window", "hann", window_length, periodic, options)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    **options: Unpack[Options],
) -> Tensor:
    """``alpha - beta cos(2 pi n / N)``; see `hann_window`."""
    coefficients = [alpha, beta]
    name = "hamming_window"
    return _window(name, "general_cosine", window_length, periodic, options, coefficients)


def blackman_window(
    window_length: int, periodic: bool = True, **options: Unpack[Options]
) -> Tensor:
    """``0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)``; see `hann_window`."""
    return _window("blackman_window", "blackman", window_length, periodic, options)


def bartlett_window(
    window_length: int, periodic: bool = True, **options: Unpack[Options]
) -> Tensor:
    """``1 - abs(2 n / N - 1)``; see `hann_window`."""
    return _window("bartlett_window", "bartlett", window_length, periodic, options)


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, **options: Unpack[Options]
) -> Tensor:
    """``i0(beta sqrt(1 - (2 n / N - 1)^2)) / i0(beta)``; see `hann_window`."""
    return _window("kaiser_window", "kaiser", window_length, periodic, options, beta)
