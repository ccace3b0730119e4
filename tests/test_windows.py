"""Window functions."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradfn as torch

NAMED: list[tuple[str, dict[str, Any]]] = [
    ("hann_window", {}),
    ("hann_window", {"periodic": False}),
    ("hamming_window", {"periodic": True, "alpha": 0.5, "beta": 0.3}),
    ("blackman_window", {}),
    ("bartlett_window", {}),
    ("kaiser_window", {"periodic": True, "beta": 5.0}),
]
SIGNAL: list[tuple[str, dict[str, Any]]] = [
    ("bartlett", {}),
    ("blackman", {}),
    ("cosine", {}),
    ("exponential", {"tau": 2.0}),
    ("gaussian", {"std": 0.5}),
    ("general_cosine", {"a": [0.5, 0.3, 0.1]}),
    ("general_hamming", {"alpha": 0.6}),
    ("hamming", {}),
    ("hann", {}),
    ("kaiser", {"beta": 3.0}),
    ("nuttall", {}),
]


@pytest.mark.oracle
@pytest.mark.parametrize("length", [0, 1, 2, 5])
@pytest.mark.parametrize(("name", "options"), NAMED)
def test_named_windows(oracle: ModuleType, name: str, options: dict[str, Any], length: int) -> None:
    own = getattr(torch, name)(length, dtype=torch.float64, **options)
    due = getattr(oracle, name)(length, dtype=oracle.float64, **options)
    np.testing.assert_allclose(own.numpy(), due.numpy(), atol=1e-12)


@pytest.mark.oracle
@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("length", [0, 1, 4, 5])
@pytest.mark.parametrize(("name", "options"), SIGNAL)
def test_signal_windows(
    oracle: ModuleType, name: str, options: dict[str, Any], length: int, sym: bool
) -> None:
    own = getattr(torch.signal.windows, name)(length, sym=sym, dtype=torch.float64, **options)
    due = getattr(oracle.signal.windows, name)(length, sym=sym, dtype=oracle.float64, **options)
    np.testing.assert_allclose(own.numpy(), due.numpy(), atol=1e-12)


def test_windows_are_floating_and_not_negative() -> None:
    with pytest.raises(RuntimeError, match="hann_window requires non-negative window_length"):
        torch.hann_window(-1)
    with pytest.raises(RuntimeError, match="hann_window expects floating point dtypes"):
        torch.hann_window(3, dtype=torch.int64)
    with pytest.raises(ValueError, match="cosine expects float32 or float64"):
        torch.signal.windows.cosine(3, dtype=torch.float16)


def test_istft_inverts_stft() -> None:
    signal = torch.arange(20.0)
    setup: dict[str, Any] = {"n_fft": 8, "window": torch.hann_window(8)}
    spectrum = torch.stft(signal, return_complex=True, **setup)
    torch.testing.assert_close(torch.istft(spectrum, **setup), signal)
    with pytest.raises(RuntimeError, match="window overlap add min: 1"):
        torch.istft(spectrum, center=False, **setup)
