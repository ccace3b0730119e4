"""Discrete Fourier transforms, as `torch.fft` has them."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .missing import missing
from .ops.fft import fft as fft
from .ops.fft import fft2 as fft2
from .ops.fft import fftn as fftn
from .ops.fft import fftshift as fftshift
from .ops.fft import hfft as hfft
from .ops.fft import hfft2 as hfft2
from .ops.fft import hfftn as hfftn
from .ops.fft import ifft as ifft
from .ops.fft import ifft2 as ifft2
from .ops.fft import ifftn as ifftn
from .ops.fft import ifftshift as ifftshift
from .ops.fft import ihfft as ihfft
from .ops.fft import ihfft2 as ihfft2
from .ops.fft import ihfftn as ihfftn
from .ops.fft import irfft as irfft
from .ops.fft import irfft2 as irfft2
from .ops.fft import irfftn as irfftn
from .ops.fft import rfft as rfft
from .ops.fft import rfft2 as rfft2
from .ops.fft import rfftn as rfftn
from .ranges import arange

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def fftfreq(n: int, d: float = 1.0, **options: Any) -> Any:
    """The frequencies of an `fft` of `n` numbers at a distance of `d`, as `torch.fft.fftfreq`.

    >>> fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    frequencies = _counted("fftfreq", n, n, options)
    half = (n + 1) // 2
    frequencies[half:] -= n
    return frequencies.mul_(1.0 / (n * d) if n * d else 0.0)


def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Any:
    """The frequencies of an `rfft` of `n` numbers at a distance of `d`, as `torch.fft.rfftfreq`.

    >>> rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    frequencies = _counted("rfftfreq", n, n // 2 + 1, options)
    return frequencies.mul_(1.0 / (n * d) if n * d else 0.0)


def _counted(name: str, n: int, count: int, options: dict[str, Any]) -> Any:
    dtype = options.setdefault("dtype", None) or dtypes.get_default_dtype()
    if dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"{name} requires a floating point or complex dtype, not {dtype}")
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    options["dtype"] = dtype
    return arange(count, **options)


__getattr__ = missing(__name__)
