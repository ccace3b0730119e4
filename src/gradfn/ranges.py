"""Tensors of equally spaced numbers."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from . import dtypes, raw
from .autograd.variable import Variable
from .creation import Options, made, numpy_dtype
from .raw.numbers import not_implemented

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = ["arange", "linspace", "logspace", "range"]


def _number(name: str, argument: str, value: Any) -> Any:
    """An argument as a Python number: 0-d tensors and NumPy scalars are taken too."""
    if isinstance(value, Variable):
        if value._array.ndim:
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {argument} "
                f"with {value._array.ndim} dimension(s)"
            )
        value = value._array[()]
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, bool | int | float | complex):
        raise TypeError(
            f"{name}(): argument '{argument}' must be Number, not {type(value).__name__}"
        )
    return value


def arange(*bounds: Any, **options: Any) -> Tensor:
    """start, start + step, ... without end: ``arange(end)``, ``arange(start, end, step=1)``.

    int64 where all arguments are integers, else the default dtype. Raises RuntimeError where the
    step leads away from end.

    >>> arange(1, 2, 0.25)
    tensor([1.0000, 1.2500, 1.5000, 1.7500])
    """
    start, end, step = _bounds("arange", bounds, options)
    whole = all(isinstance(x, int) for x in (start, end, step))
    numpy = numpy_dtype(options, dtypes.int64 if whole else None)  # type: ignore[arg-type]
    start, step = _checked("arange", start, end, step, numpy)
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    return made("arange", raw.arange(start, step, count, numpy), options)  # type: ignore[arg-type]


def range(*bounds: Any, **options: Any) -> Tensor:
    """start, start + step, ... with end: deprecated, use `arange`."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    if len(bounds) == 1 and "end" not in options:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    start, end, step = _bounds("range", bounds, options)
    numpy = numpy_dtype(options)  # type: ignore[arg-type]
    start, step = _checked("range", start, end, step, numpy)
    count = math.floor((end - start) / step) + 1
    return made("range", raw.arange(start, step, count, numpy), options)  # type: ignore[arg-type]


def _bounds(name: str, bounds: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """start, end and step, by position or by name; the latter are taken out of `options`."""
    if len(bounds) > 3:
        raise TypeError(f"{name}() takes 3 positional arguments but {len(bounds)} were given")
    one_bound = len(bounds) == 1 and "end" not in options
    given = dict(zip(["end"] if one_bound else ["start", "end", "step"], bounds, strict=False))
    for word in ("start", "end", "step"):
        if word in options:
            given[word] = options.pop(word)
    if "end" not in given:
        raise TypeError(f'{name}() missing 1 required positional arguments: "end"')
    given = {"start": 0, "step": 1, **given}
    start, end, step = (_number(name, word, given[word]) for word in ("start", "end", "step"))
    return start, end, step


def _checked(name: str, start: Any, end: Any, step: Any, numpy: np.dtype[Any]) -> tuple[Any, Any]:
    """start and step as the dtype takes them, or the error that says why there is no such range."""
    if any(isinstance(x, complex) for x in (start, end, step)):
        raise RuntimeError(
            f"value cannot be converted to type double without overflow: {name}() takes no complex"
        )
    kind = dtypes.from_numpy(numpy)
    if kind.is_complex or kind is dtypes.bool_:
        raise not_implemented(f"{name}_cpu", numpy)
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if numpy.kind in "iu":
        start, step = int(start), int(step)
        if step == 0:
            raise ValueError(f"step must be nonzero, but it is truncated to {kind}")
    if (end - start) * step < 0:
        raise RuntimeError(
            "upper bound and lower bound inconsistent with step sign: "
            f"from {start} to {end} in steps of {step}"
        )
    return start, step


def linspace(start: Any, end: Any, steps: Any, **options: Unpack[Options]) -> Tensor:
    """`steps` numbers, equally spaced, from start to end and with both.

    >>> linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    start, end, count, numpy = _interval("linspace", start, end, steps, options)
    return made("linspace", raw.linspace(start, end, count, numpy), options)


def logspace(
    start: Any, end: Any, steps: Any, base: float = 10.0, **options: Unpack[Options]
) -> Tensor:
    """base to the powers ``linspace(start, end, steps)``.

    >>> logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    start, end, count, numpy = _interval("logspace", start, end, steps, options)
    return made("logspace", raw.logspace(start, end, count, base, numpy), options)


def _interval(
    name: str, start: Any, end: Any, steps: Any, options: Options
) -> tuple[Any, Any, int, np.dtype[Any]]:
    start, end = _number(name, "start", start), _number(name, "end", end)
    count = _number(name, "steps", steps)
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"{name}(): argument 'steps' must be int, not {type(count).__name__}")
    if count < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {count}")
    complex_ends = isinstance(start, complex) or isinstance(end, complex)
    default = dtypes.get_default_dtype()
    return start, end, count, numpy_dtype(options, default.to_complex() if complex_ends else None)
