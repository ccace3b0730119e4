"""The same expression evaluated with gradfn and with PyTorch."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

NAMES: dict[str, Any] = {
    "np": np,
    "copy": copy,
    "pickle": pickle,
    "nan": math.nan,
    "inf": math.inf,
}


def evaluate(expression: str, torch: ModuleType) -> Any:
    """What `expression` gives where `torch` is the module given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(expression, NAMES | {"torch": torch})


def described(expression: str, torch: ModuleType) -> str:
    """The text of what `expression` gives, with what the text does not tell; or its error."""
    try:
        value = evaluate(expression, torch)
    except Exception as error:
        return type(error).__name__
    if not isinstance(value, torch.Tensor):
        return repr(value)
    return f"{value!r} {value.dtype} {tuple(value.shape)} {value.stride()} {value.is_leaf}"


def is_intel() -> bool:
    cpuinfo = Path("/proc/cpuinfo")
    return cpuinfo.exists() and "GenuineIntel" in cpuinfo.read_text()


not_mkl = pytest.mark.skipif(is_intel(), reason="on Intel's processors PyTorch draws from MKL")
