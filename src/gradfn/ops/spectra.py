"""Short-time Fourier transforms."""

from __future__ import annotations

import warnings
from typing import Any

from ..autograd.batching import is_batched
from ..creation import ones
from ..raw.fft import BY_ROOT, BY_SIZE, UNSCALED
from .checking import checked
from .fft import fft_c2c, fft_c2r, fft_r2c
from .padding import pad
from .windows import unfold_backward, view_as_complex, view_as_real

__all__ = ["istft", "stft"]


def _setup(
    name: str, n_fft: int, hop_length: int | None, win_length: int | None, window: Any
) -> tuple[int, int]:
    """The hop and the length of the window, checked."""
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if not 0 < length <= n_fft:
        raise RuntimeError(
            f"{name}(): expected 0 < win_length <= n_fft, but got win_length={length} and "
            f"n_fft={n_fft}"
        )
    if hop <= 0:
        raise RuntimeError(f"{name}(): expected hop_length > 0, but got hop_length={hop}")
    if window is None:
        warnings.warn(
            "A window was not provided. A rectangular window will be applied, which is known to "
            "cause spectral leakage. Other windows such as torch.hann_window or "
            "torch.hamming_window are recommended to reduce spectral leakage. To suppress this "
            "warning and use a rectangular window, explicitly set `window=torch.ones(n_fft)`.",
            stacklevel=4,
        )
    elif window.shape != (length,):
        raise RuntimeError(
            f"{name}(): expected a 1D window tensor of size equal to win_length={length}, but got "
            f"window with size {list(window.shape)}"
        )
    return hop, length


def _placed(window: Any, n_fft: int) -> Any:
    """`window` in the middle of `n_fft` elements, written there as PyTorch's graph says."""
    length = window.shape[0]
    if length == n_fft:
        return window
    placed = window.new_zeros(n_fft)
    placed.narrow(0, (n_fft - length) // 2, length).copy_(window)
    return placed


@checked
def stft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """The Fourier transforms of `n_fft` elements at a time, `hop_length` apart: `torch.stft`.

    (time) or (batch, time) makes (..., frequencies, frames). Each frame is multiplied by `window`,
    whose `win_length` elements lie in its middle. With `center` frames are centred at their times,
    the signal being padded by `pad_mode`; `normalized` divides by the root of `n_fft`; `onesided`,
    the default for real signals, leaves out the negative frequencies. `return_complex` False, for
    real signals only, gives pairs of real numbers. RuntimeError for sizes that do not fit.

    >>> from gradfn import ones, stft, tensor
    >>> stft(tensor([1.0, 2.0, 3.0, 4.0]), 2, 2, window=ones(2), center=False, return_complex=True)
    tensor([[ 3.+0.j,  7.+0.j],
            [-1.+0.j, -1.+0.j]])
    """
    whole = input.is_complex() or (window is not None and window.is_complex())
    if return_complex is None and not whole:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs: True gives "
            "complex numbers, False, which is deprecated, pairs of real ones"
        )
    if align_to_window:
        raise NotImplementedError("stft: align_to_window=True is not in gradfn")
    if center:
        dims = input.ndim
        extended = input.view((*[1] * (3 - dims), *input.shape))
        extended = pad(extended, [n_fft // 2, n_fft // 2], pad_mode)
        input = extended.view(extended.shape[3 - dims :])
    hop, _ = _setup("stft", n_fft, hop_length, win_length, window)
    _check_signal(input, n_fft)
    single = input.ndim == 1
    if single:
        input = input.unsqueeze(0)
    frames = 1 + (input.shape[1] - n_fft) // hop
    across, along = input.stride()
    framed = input.as_strided((input.shape[0], frames, n_fft), (across, along * hop, along))
    if window is not None:
        framed = framed * _placed(window, n_fft)
    return _spectra(framed, normalized, onesided, whole, single, return_complex)


def _check_signal(input: Any, n_fft: int) -> None:
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            "stft(): expected a tensor of floating point or complex values, not "
            f"{input.dtype.scalar_name}"
        )
    if input.ndim not in (1, 2):
        raise RuntimeError(
            f"stft(): expected a 1D or 2D tensor, not one of {input.ndim} dimensions"
        )
    if not 0 < n_fft <= input.shape[-1]:
        raise RuntimeError(f"stft(): expected 0 < n_fft < {input.shape[-1]}, but got n_fft={n_fft}")


def _spectra(
    framed: Any,
    normalized: bool,
    onesided: bool | None,
    whole: bool,
    single: bool,
    return_complex: bool | None,
) -> Any:
    """The transforms of frames along the last dimension, frequencies before frames."""
    if onesided is None:
        onesided = not whole
    if onesided and whole:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    scale = BY_ROOT if normalized else UNSCALED
    setup = framed, (2,), scale
    made = fft_c2c(*setup, True) if whole else fft_r2c(*setup, onesided)
    made.transpose_(1, 2)
    if single:
        made.squeeze_(0)
    if return_complex is False:
        warnings.warn(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will "
            "return complex tensors for all inputs, and return_complex=False will raise an error.",
            stacklevel=4,
        )
        return view_as_real(made)
    return made


@checked
def istft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """The signal of which `input` is the `stft` with the same arguments: `torch.istft`.

    Frames are multiplied by the window and added, and the sum is divided by that of the squared
    windows: RuntimeError where that is 0. `length` cuts the signal off, or fills it up with zeros.

    >>> from gradfn import arange, hann_window, istft, stft
    >>> setup = {"n_fft": 4, "window": hann_window(4)}
    >>> istft(stft(arange(1.0, 7.0), **setup, return_complex=True), **setup).round()
    tensor([1., 2., 3., 4., 5., 6.])
    """
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    if window is not None and window.is_complex() and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    hop, size = _setup("istft", n_fft, hop_length, win_length, window)
    onesided = _check_spectra(input, n_fft, hop, size, onesided, return_complex)
    pairs = view_as_real(input)
    single = input.ndim == 2
    if single:
        pairs = pairs.unsqueeze(0)
    spectra = view_as_complex(pairs.transpose(1, 2))
    scale = BY_ROOT if normalized else BY_SIZE
    if return_complex:
        framed = fft_c2c(spectra, (2,), scale, False)
    else:
        half = spectra if onesided else spectra.narrow(2, 0, n_fft // 2 + 1)
        framed = fft_c2r(half, (2,), scale, n_fft)
    if window is None:
        window = ones(size, dtype=input.dtype.to_real())
    room = n_fft - size
    if room:
        window = pad(window, (room // 2, room - room // 2))
    window = window.view(1, 1, n_fft)
    signal = _overlapped(framed * window, hop, window, center, length, n_fft)
    if single:
        signal = signal.squeeze(0)
    missing = 0 if length is None else length - signal.shape[-1]
    if missing > 0:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded "
            "with zeros in the tail. Please check your center and hop_length settings.",
            stacklevel=3,
        )
        signal = pad(signal, (0, missing))
    return signal


def _check_spectra(
    input: Any, n_fft: int, hop: int, size: int, onesided: bool | None, return_complex: bool
) -> bool:
    """Whether `input` is onesided, having the frequencies and frames that it must have."""
    if input.ndim not in (2, 3) or not input.numel():
        raise RuntimeError(
            "istft(): expected a non-empty tensor of 2 or 3 dimensions, but got one of shape "
            f"{list(input.shape)}"
        )
    if onesided is None:
        onesided = input.shape[-2] != n_fft
    due = n_fft // 2 + 1 if onesided else n_fft
    if input.shape[-2] != due:
        raise RuntimeError(
            "istft(): expected the frequency dimension (3rd to the last) of the input tensor to "
            f"match {'n_fft / 2 + 1 when onesided=True' if onesided else 'n_fft'}, {due}, but got "
            f"{input.shape[-2]}"
        )
    if hop > size:
        raise RuntimeError(
            f"istft(): expected 0 < hop_length <= win_length, but got {hop} and {size}"
        )
    if return_complex and onesided:
        raise RuntimeError("istft(): cannot have onesided input for complex output")
    return onesided


def _overlapped(
    framed: Any, hop: int, window: Any, center: bool, length: int | None, n_fft: int
) -> Any:
    """The sum of overlapping frames over that of their squared windows."""
    batch, frames, _ = framed.shape
    whole = n_fft + hop * (frames - 1)
    start = n_fft // 2 if center else 0
    end = whole - start if length is None else min(start + length, whole)
    squares = window.pow(2).expand(1, frames, n_fft)
    signal, envelope = (
        unfold_backward(parts, (count, whole), 1, n_fft, hop).narrow(1, start, end - start)
        for parts, count in ((framed, batch), (squares, 1))
    )
    if not is_batched(envelope._array) and (envelope.abs() < 1e-11).any():
        raise RuntimeError(
            "istft(): window overlap add min: 1: the windows leave parts of the signal out"
        )
    return signal / envelope


METHODS = "istft stft"
