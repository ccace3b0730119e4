"""Jacobians as arrays: by finite differences, by backward passes, and their comparison.

The Jacobian of an output with respect to an input has a row for each element of the input and a
column for each element of the output. Complex outputs are looked at part by part. Where the input
is complex, an entry is ``∂y/∂Re x + i ∂y/∂Im x``, which is what a backward pass gives.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..dtypes import FLOAT
from .backward import grad
from .node import Array
from .variable import Variable

Tensors = Any  # a tensor or a sequence of them
Func = Callable[..., Tensors]
Outputs = Callable[..., Sequence[Any]]  # a function whose outputs are all to be differentiated


class Tolerance(NamedTuple):
    """The step of the finite differences, and how far apart what should be equal may lie."""

    eps: float
    atol: float
    rtol: float
    nondet: float


class Part(NamedTuple):
    """A real-valued view of the outputs, and how an error message begins that is about it."""

    of: Callable[[Any], Any]
    prefix: str


WHOLE = Part(lambda output: output, "")
REAL = Part(
    lambda output: output.real if output.is_complex() else output,
    "While considering the real part of complex outputs only, ",
)
IMAGINARY = Part(
    lambda output: output.imag if output.is_complex() else output,
    "While considering the imaginary part of complex outputs only, ",
)


def as_tuple(values: Tensors) -> tuple[Any, ...]:
    """The inputs or outputs of a function, however they are given."""
    return tuple(values) if isinstance(values, tuple | list) else (values,)


def differentiable(outputs: Tensors) -> tuple[Any, ...]:
    """Those of the outputs that require grad."""
    return tuple(output for output in as_tuple(outputs) if output.requires_grad)


def wanted_inputs(inputs: Sequence[Any]) -> dict[int, Any]:
    """The inputs that require grad, by number."""
    return {i: x for i, x in enumerate(inputs) if isinstance(x, Variable) and x.requires_grad}


def _part_of(func: Func, part: Part) -> Outputs:
    return lambda *inputs: tuple(map(part.of, differentiable(func(*inputs))))


def numerical_jacobian(
    func: Outputs, inputs: Sequence[Any], index: int, outputs: Sequence[Any], eps: float
) -> list[Array]:
    """The Jacobian of each output of `func` with respect to input `index`, by central differences.

    `outputs` are those of ``func(*inputs)``.
    """
    array = inputs[index]._array
    dtypes = [np.result_type(array.dtype, output._array.dtype) for output in outputs]
    jacobians = [np.empty((array.size, o.numel()), d) for o, d in zip(outputs, dtypes, strict=True)]
    for row, position in enumerate(np.ndindex(array.shape)):
        direction = np.zeros_like(array)
        direction[position] = 1
        place = f" on index {position}"
        slopes = directional(func, inputs, index, direction, eps, place)
        if array.dtype.kind == "c":
            turned = directional(func, inputs, index, 1j * direction, eps, place)
            slopes = [re + 1j * im for re, im in zip(slopes, turned, strict=True)]
        for jacobian, slope in zip(jacobians, slopes, strict=True):
            jacobian[row] = slope
    return jacobians


def directional(
    func: Outputs, inputs: Sequence[Any], index: int, direction: Array, eps: float, place: str = ""
) -> list[Array]:
    """How fast each output, flat, changes as input `index` moves along `direction`.

    The input is moved in place, so that functions which know it otherwise than as their argument
    see that too, and put back. AssertionError where the outputs' shapes or dtypes change; `place`
    says in the message what was moved.
    """
    array = inputs[index]._array
    start = array.copy()
    step = (eps * direction).astype(array.dtype)
    try:
        array[...] = start - step
        before = [output.detach().clone() for output in func(*inputs)]
        array[...] = start + step
        after = [output.detach().clone() for output in func(*inputs)]
    finally:
        array[...] = start
    for low, high in zip(before, after, strict=True):
        for what in ("shape", "dtype"):
            if getattr(low, what) != getattr(high, what):
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are "
                    f"perturbed{place} by {eps}, but got: {what}s {getattr(low, what)} and "
                    f"{getattr(high, what)}."
                )
    pairs = zip(before, after, strict=True)
    return [((high - low) / (2 * eps))._array.ravel() for low, high in pairs]


def analytical_jacobian(inputs: Sequence[Any], output: Any) -> list[Array]:
    """The Jacobian of `output` with respect to each of `inputs`, a backward pass per column."""
    jacobians = [np.empty((x.numel(), output.numel()), x._array.dtype) for x in inputs]
    for column, position in enumerate(np.ndindex(output._array.shape)):
        cotangent = np.zeros_like(output._array)
        cotangent[position] = 1
        for jacobian, gradient in zip(jacobians, pullback(inputs, output, cotangent), strict=True):
            jacobian[:, column] = gradient
    return jacobians


def pullback(inputs: Sequence[Any], output: Any, cotangent: Array) -> list[Array]:
    """The gradients, flat, that `cotangent` at `output` gives the `inputs`; zeros for None."""
    found = grad(
        output, inputs, Variable.wrap(cotangent), retain_graph=True, materialize_grads=True
    )
    return [gradient._array.ravel() for gradient in found]


@np.errstate(invalid="ignore")
def largest_difference(first: Sequence[Array], second: Sequence[Array]) -> float:
    """Between elements of the arrays; those that are NaN do not count."""
    pairs = zip(first, second, strict=True)
    return max(
        (float(np.fmax.reduce(abs(a - b), None, initial=0.0)) for a, b in pairs), default=0.0
    )


# The comparisons that `gradcheck` makes: each returns what is wrong, or None


def jacobian_fault(
    func: Func, inputs: tuple[Any, ...], part: Part, tolerance: Tolerance
) -> str | None:
    """Compare each entry of each Jacobian."""
    real, wanted = _part_of(func, part), wanted_inputs(inputs)
    outputs = real(*inputs)
    numerical = [numerical_jacobian(real, inputs, i, outputs, tolerance.eps) for i in wanted]
    for number, output in enumerate(outputs):
        analytical = analytical_jacobian(list(wanted.values()), output)
        again = analytical_jacobian(list(wanted.values()), output)
        if fault := _reentrance_fault(analytical, again, tolerance.nondet):
            return fault
        for index, by_output, a in zip(wanted, numerical, analytical, strict=True):
            n = by_output[number]
            if not np.allclose(a, n, tolerance.rtol, tolerance.atol):
                return (
                    f"{part.prefix}{_mismatch(number, index)}numerical:{_tensor(n)}\n"
                    f"analytical:{_tensor(a)}\n" + _worst(a, n, inputs[index], output, tolerance)
                )
    return None


def projection_fault(
    func: Func, inputs: tuple[Any, ...], part: Part, tolerance: Tolerance
) -> str | None:
    """Compare ``uᵀJv`` for each Jacobian ``J`` and random unit vectors ``u`` and ``v``.

    An entry of ``J`` that is off by `atol` changes that by less than ``atol * sum(u) * sum(v)``.
    """
    real, wanted = _part_of(func, part), wanted_inputs(inputs)
    outputs = real(*inputs)
    random = np.random.default_rng(0)
    us = {index: _directions(x, random) for index, x in wanted.items()}
    vs = [_unit(output, random) for output in outputs]
    slopes = {
        index: [directional(real, inputs, index, u, tolerance.eps) for u in us[index]]
        for index in wanted
    }
    gradients = []
    for output, v in zip(outputs, vs, strict=True):
        first = pullback(list(wanted.values()), output, v)
        again = pullback(list(wanted.values()), output, v)
        if fault := _reentrance_fault(first, again, tolerance.nondet):
            return fault
        gradients.append(dict(zip(wanted, first, strict=True)))
    for index, number in itertools.product(wanted, range(len(outputs))):
        u, v = us[index], vs[number]
        with np.errstate(invalid="ignore"):
            n = _joined(slope[number] @ v.ravel() for slope in slopes[index])
            a = _joined((d.conj().ravel() @ gradients[number][index]).real for d in u)
        atol = tolerance.atol * float(u[0].sum().real) * float(v.sum())
        if not np.allclose(a, n, tolerance.rtol, atol):
            message = f"{part.prefix}{_mismatch(number, index)}numerical:{n}\nanalytical:{a}\n"
            return message + _slowly(real, inputs, index, number, tolerance)
    return None


def _directions(x: Any, random: np.random.Generator) -> list[Array]:
    """A random unit vector shaped as `x`; for a complex `x` another one too, times i."""
    if not x.is_complex():
        return [_unit(x, random)]
    return [_unit(x, random), 1j * _unit(x, random)]


def _unit(x: Any, random: np.random.Generator) -> Array:
    vector = random.random(x._array.shape)
    unit = vector / np.linalg.norm(vector) if vector.size else vector
    return np.asarray(unit, x._array.dtype)


def _joined(parts: Iterable[Any]) -> Any:
    """A real number, or the complex one that two parts make."""
    real, *imaginary = parts
    return real + 1j * imaginary[0] if imaginary else real


def _reentrance_fault(
    first: Sequence[Array], second: Sequence[Array], tolerance: float
) -> str | None:
    difference = largest_difference(first, second)
    if difference <= tolerance:
        return None
    return (
        "Backward is not reentrant, i.e., running backward with same input and grad_output "
        "multiple times gives different values, although analytical gradient matches numerical "
        f"gradient. The tolerance for nondeterminism was {tolerance}; the largest difference is "
        f"{difference}. Where that is to be expected, allow it by nondet_tol."
    )


def constant_fault(func: Func, inputs: tuple[Any, ...], eps: float) -> str | None:
    """Without a differentiable output, the outputs may not depend on the inputs."""

    def outputs_of(*inputs: Any) -> list[Any]:
        return [o for o in as_tuple(func(*inputs)) if o.dtype.category >= FLOAT]

    outputs = outputs_of(*inputs)
    for index in wanted_inputs(inputs):
        for number, n in enumerate(numerical_jacobian(outputs_of, inputs, index, outputs, eps)):
            if n.any():
                return (
                    "Numerical gradient for function expected to be zero, as no output requires "
                    f"grad. For output {number} with respect to input {index} it is\n{_tensor(n)}"
                )
    return None


# What the user reads about a mismatch


def _mismatch(output: int, input: int) -> str:
    return f"Jacobian mismatch for output {output} with respect to input {input},\n"


def _tensor(array: Array) -> Any:
    return Variable.wrap(array)


@np.errstate(invalid="ignore")
def _worst(
    analytical: Array, numerical: Array, input: Any, output: Any, tolerance: Tolerance
) -> str:
    """Which entry is off most, and by how much."""
    off = np.where(analytical == numerical, 0.0, abs(analytical - numerical))
    row, column = np.unravel_index(np.argmax(np.nan_to_num(off, nan=np.inf)), off.shape)
    a, n = analytical[row, column], numerical[row, column]
    at_input = list(map(int, np.unravel_index(row, input.shape)))
    at_output = list(map(int, np.unravel_index(column, output.shape)))
    return (
        f"The entry that is off most, for element {at_input} of the input and element {at_output} "
        f"of the output, is {n} numerically and {a} analytically: the difference is "
        f"{off[row, column]}, where {tolerance.atol + tolerance.rtol * abs(n)} is allowed.\n"
    )


def _slowly(
    func: Outputs, inputs: tuple[Any, ...], index: int, number: int, tolerance: Tolerance
) -> str:
    """After a mismatch in fast mode: the Jacobians themselves, entry by entry."""
    outputs = func(*inputs)
    numerical = numerical_jacobian(func, inputs, index, outputs, tolerance.eps)[number]
    (analytical,) = analytical_jacobian([inputs[index]], outputs[number])
    text = (
        "\nThe above quantities relating the numerical and analytical jacobians are computed in "
        "fast mode: they are projections on random vectors. In slow mode the Jacobians are\n\n"
        f"Numerical:\n{_tensor(numerical)}\nAnalytical:\n{_tensor(analytical)}\n\n"
        "The max per-element difference (slow mode) is: "
        f"{largest_difference([analytical], [numerical])}.\n"
    )
    if np.allclose(analytical, numerical, tolerance.rtol, tolerance.atol):
        return text + (
            "Fast gradcheck failed but element-wise differences are small: slow mode would pass.\n"
        )
    return text + _worst(analytical, numerical, inputs[index], outputs[number], tolerance)
