"""Derivatives by finite differences.

A complex number counts as a pair of reals here. PyTorch's convention for complex gradients (the
conjugate Wirtinger derivative) is then nothing but the transposed Jacobian of the pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]
STEP = 1e-6


def reals(arrays: Sequence[Values]) -> Values:
    """All entries of all arrays, one after the other, complex ones as pairs of reals."""
    flat = [np.ascontiguousarray(a).reshape(-1) for a in arrays]
    return np.concatenate([a.view(a.real.dtype) for a in flat] or [np.zeros(0)])


def jacobian(f: Callable[[list[Values]], list[Values]], inputs: Sequence[Values]) -> Values:
    """The real matrix of derivatives of `f` by central differences: a row for each result."""
    inputs = [np.copy(array, order="K") for array in inputs]
    columns = []
    for array in inputs:
        units = (STEP, 1j * STEP) if array.dtype.kind == "c" else (STEP,)
        for index, unit in product(np.ndindex(array.shape), units):
            value = array[index]
            array[index] = value + unit
            after = reals(f(inputs))
            array[index] = value - unit
            columns.append((after - reals(f(inputs))) / (2 * STEP))
            array[index] = value
    return np.stack(columns, axis=1) if columns else np.zeros((reals(f(inputs)).size, 0))
