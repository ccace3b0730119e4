"""Discrete Fourier transforms, by NumPy's pocketfft in the precision of the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

__all__ = ["fft_c2c", "fft_c2r", "fft_r2c"]

UNSCALED, BY_ROOT, BY_SIZE = range(3)
"""What a transform is divided by: 1, the root of its size, its size."""

_FORWARD = {UNSCALED: "backward", BY_ROOT: "ortho", BY_SIZE: "forward"}
_INVERSE = {UNSCALED: "forward", BY_ROOT: "ortho", BY_SIZE: "backward"}


def fft_c2c(self: Array, dim: Sequence[int], normalization: int, forward: bool) -> Array:
    """The sums of ``self * exp(-2j pi j k / n)`` over `dim`; ``+2j`` where not `forward`."""
    if not dim:
        return self.copy()
    if forward:
        return np.fft.fftn(self, axes=dim, norm=_FORWARD[normalization])  # type: ignore[arg-type]
    return np.fft.ifftn(self, axes=dim, norm=_INVERSE[normalization])  # type: ignore[arg-type]


def fft_r2c(self: Array, dim: Sequence[int], normalization: int, onesided: bool) -> Array:
    """`fft_c2c` of a real array; `onesided` keeps half of the last of `dim`, which tells all."""
    if not onesided:
        return np.fft.fftn(self, axes=dim, norm=_FORWARD[normalization])  # type: ignore[arg-type]
    return np.fft.rfftn(self, axes=dim, norm=_FORWARD[normalization])  # type: ignore[arg-type]


def fft_c2r(self: Array, dim: Sequence[int], normalization: int, last_dim_size: int) -> Array:
    """The inverse of a onesided `fft_r2c` whose input had `last_dim_size` in the last of `dim`."""
    sizes = [*(self.shape[d] for d in dim[:-1]), last_dim_size]
    return np.fft.irfftn(self, sizes, dim, _INVERSE[normalization])  # type: ignore[arg-type]
