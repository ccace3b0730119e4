"""Elementwise kernels: ufuncs, which need nothing more, and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

mul = np.multiply
div = np.divide
neg = np.negative
exp = np.exp
sin = np.sin
cos = np.cos


def add(self: Array, other: Array, *, alpha: Any = 1) -> Array:
    return np.add(self, other if alpha == 1 else alpha * other, out=...)


def sub(self: Array, other: Array, *, alpha: Any = 1) -> Array:
    return np.subtract(self, other if alpha == 1 else alpha * other, out=...)
