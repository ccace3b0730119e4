"""The forward-mode half of `gradcheck`: tangents against finite differences.

The function is called with dual tensors in place of the inputs that require grad, which then do
not. Each check returns what is wrong, or None.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..dtypes import FLOAT
from .batching import vmap_level
from .forward_ad import dual_level, make_dual, unpack_dual
from .node import Array
from .numeric import Func, Tolerance, as_tuple, directional, wanted_inputs
from .variable import Variable

BATCH = 2  # how many tangents at once


def forward_fault(
    func: Func, inputs: tuple[Any, ...], tolerance: Tolerance, fast_mode: bool
) -> str | None:
    """Compare the tangents of all outputs: for each element of each input, or with `fast_mode` for
    one random direction of each input."""

    def moving(*inputs: Any) -> list[Any]:
        return _moving(func(*inputs))

    wanted = wanted_inputs(inputs)
    still = {i: np.zeros_like(x._array) for i, x in wanted.items()}
    for index, x in wanted.items():
        for direction, part, place in _directions(x, fast_mode):
            slopes = directional(moving, inputs, index, direction, tolerance.eps, place)
            tangents = _pushforward(func, inputs, {**still, index: direction})
            for number, (n, a) in enumerate(zip(slopes, tangents, strict=True)):
                a = np.zeros_like(n) if a is None else a.ravel()
                if not np.allclose(a, n, tolerance.rtol, tolerance.atol):
                    return (
                        f"{part}Jacobian computed with forward mode mismatch for output {number} "
                        f"with respect to input {index}{place},\nnumerical:{Variable.wrap(n)}\n"
                        f"analytical:{Variable.wrap(a)}\n"
                    )
    return None


def undefined_tangent_fault(func: Func, inputs: tuple[Any, ...]) -> str | None:
    """An input without a tangent must give what one with a tangent of zeros gives."""
    random, wanted = np.random.default_rng(0), wanted_inputs(inputs)
    along = {i: np.asarray(random.random(x.shape), x._array.dtype) for i, x in wanted.items()}
    for index, x in wanted.items():
        others = {i: direction for i, direction in along.items() if i != index}
        zeros = _pushforward(func, inputs, {**others, index: np.zeros_like(x._array)})
        without = _pushforward(func, inputs, others)
        for number, (a, b) in enumerate(zip(zeros, without, strict=True)):
            if a is not None and b is not None and not np.allclose(a, b):
                return (
                    f"Mismatch in tangent values for output with index {number} when input {index} "
                    f"has an undefined tangent value. Got: {Variable.wrap(b)} but expected: "
                    f"{Variable.wrap(a)}"
                )
    return None


def batched_tangent_fault(func: Func, inputs: tuple[Any, ...]) -> str | None:
    """Several tangents of an input in one call, by vmap, must give what they give one by one."""
    random, wanted = np.random.default_rng(0), wanted_inputs(inputs)
    for index, x in wanted.items():
        batch = np.asarray(random.random((BATCH, *x.shape)), x._array.dtype)
        alone = [_pushforward(func, inputs, {index: direction}) for direction in batch]
        level = vmap_level(BATCH, "never")
        with level.entered():
            example = level.batch(Variable.wrap(batch))
            together = _tangents(func, inputs, {index: example})
        columns = zip(together, zip(*alone, strict=True), strict=True)
        for number, (got, expected) in enumerate(columns):
            if got is None or expected[0] is None:
                continue
            values = level.result(got)._array
            if not np.allclose(values, np.stack(expected)):
                return (
                    f"While considering vmap over tangents of input {index}, output {number}: got "
                    f"{Variable.wrap(values)} but expected {Variable.wrap(np.stack(expected))}"
                )
    return None


def _moving(outputs: Any) -> list[Any]:
    """The outputs that can have tangents."""
    return [o for o in as_tuple(outputs) if isinstance(o, Variable) and o.dtype.category >= FLOAT]


def _directions(x: Any, fast_mode: bool) -> Iterator[tuple[Array, str, str]]:
    """Directions in which to move `x`; what messages say before and after."""
    dtype, shape = x._array.dtype, x._array.shape
    parts: Sequence[tuple[complex, str]] = [(1, "")]
    if dtype.kind == "c":
        text = "While considering the {} part of complex inputs only, "
        parts = [(1j, text.format("imaginary")), (1, text.format("real"))]
    for unit, part in parts:
        if fast_mode:
            vector = np.random.default_rng(0).random(shape)
            norm = np.linalg.norm(vector) or 1.0
            yield np.asarray(unit * vector / norm).astype(dtype), part, ""
            continue
        for position in np.ndindex(shape):
            direction = np.zeros(shape, dtype)
            direction[position] = unit
            yield direction, part, f" on index {position}"


def _pushforward(
    func: Func, inputs: tuple[Any, ...], directions: dict[int, Array]
) -> list[Array | None]:
    """The tangents of the outputs where the inputs have those given by number."""
    tangents = {i: Variable.wrap(direction.copy()) for i, direction in directions.items()}
    return [None if t is None else t._array for t in _tangents(func, inputs, tangents)]


def _tangents(func: Func, inputs: tuple[Any, ...], directions: dict[int, Any]) -> list[Any]:
    wanted = wanted_inputs(inputs)
    with dual_level():
        given = [x.detach() if i in wanted else x for i, x in enumerate(inputs)]
        for index, direction in directions.items():
            given[index] = make_dual(given[index], direction)
        tangents = [unpack_dual(output).tangent for output in _moving(func(*given))]
        return [None if t is None else t.detach() for t in tangents]
