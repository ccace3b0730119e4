"""`torch.testing`: comparisons of tensors that say where they differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .autograd.variable import Variable
from .creation import as_tensor, empty
from .dtypes import bool_
from .missing import missing
from .ops.windows import view_as_real
from .queries import finfo, iinfo
from .raw.numbers import Array

__getattr__ = missing(__name__)
__all__ = ["assert_close", "make_tensor"]

# rtol and atol by dtype, the looser of both tensors' (others: 0, 0).
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError unless ``|actual - expected| <= atol + rtol |expected|``, element by element.

    Tensors, numbers, arrays, and sequences and mappings of them are compared with their shapes,
    dtypes and keys; TypeError for values of other types, or of two kinds. `rtol` and `atol` follow
    the dtypes (0 for integers) and are given both or not at all. There is one device and one
    layout, so that `check_device` and `check_layout` find no difference.

    >>> from gradfn import tensor
    >>> assert_close(tensor([1.0, 2.0]), tensor([1.0, 2.0 + 1e-7]))
    """
    if (rtol is None) != (atol is None):
        absent = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {absent}."
        )
    close = Closeness(rtol, atol, equal_nan, allow_subclasses, check_dtype, check_stride)
    text = next(close.differences(actual, expected, ""), None)
    if text is not None:
        raise AssertionError(msg(text) if callable(msg) else text if msg is None else msg)


@dataclass(frozen=True)
class Closeness:
    """When two values count as close, and what to say where they are not."""

    rtol: float | None
    atol: float | None
    equal_nan: bool
    subclasses: bool
    dtype: bool
    stride: bool

    def differences(self, actual: Any, expected: Any, where: str) -> Iterator[str]:
        """A text for each pair of values that differ, below the index `where` of the arguments."""
        if isinstance(actual, Mapping) and isinstance(expected, Mapping):
            text = _keys_differ(actual, expected)
            pairs = [] if text else [(key, actual[key], expected[key]) for key in actual]
        elif _is_sequence(actual) and _is_sequence(expected):
            text, pairs = None, list(zip(range(len(actual)), actual, expected, strict=False))
            if len(actual) != len(expected):
                text = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
        else:
            text, pairs = self._single(actual, expected), []
        if text is not None:
            yield text + (f"\n\nThe failure occurred for item {where}" if where else "")
        for key, a, b in pairs:
            yield from self.differences(a, b, f"{where}[{key!r}]")

    def _single(self, actual: Any, expected: Any) -> str | None:
        if actual is None or expected is None:
            same = actual is expected
            return None if same else f"None mismatch: {actual} is not {expected}"
        kind = _kind(actual)
        of_one_kind = kind is not None and kind == _kind(expected)
        if not of_one_kind or not (self.subclasses or type(actual) is type(expected)):
            types = f"{type(actual)} and {type(expected)}"
            raise TypeError(f"No comparison pair was able to handle inputs of type {types}.")
        if kind == "boolean":
            same = bool(actual) is bool(expected)
            return None if same else f"Booleans mismatch: {actual} is not {expected}"
        if kind == "number":
            mine, theirs = (type(np.asarray(v).item()) for v in (actual, expected))
            if self.dtype and mine is not theirs:
                return f"The (d)types do not match: {mine} != {theirs}."
            return self._values_differ(np.asarray(actual), np.asarray(expected))
        return self._tensors_differ(as_tensor(actual), as_tensor(expected))

    def _tensors_differ(self, actual: Any, expected: Any) -> str | None:
        for attribute, checked in (("shape", True), ("dtype", self.dtype)):
            mine, theirs = getattr(actual, attribute), getattr(expected, attribute)
            if checked and mine != theirs:
                return f"The values for attribute '{attribute}' do not match: {mine} != {theirs}."
        if self.stride and actual.stride() != expected.stride():
            strides = f"{actual.stride()} != {expected.stride()}"
            return f"The values for attribute 'stride()' do not match: {strides}."
        return self._values_differ(actual._array, expected._array)

    def _values_differ(self, actual: Array, expected: Array) -> str | None:
        defaults = [TOLERANCES.get(array.dtype.name, (0.0, 0.0)) for array in (actual, expected)]
        rtol = max(d[0] for d in defaults) if self.rtol is None else self.rtol
        atol = max(d[1] for d in defaults) if self.atol is None else self.atol
        a, b = _signed(actual, expected)
        with np.errstate(all="ignore"):
            distance = np.abs(a - b)
            close = (a == b) | (np.isfinite(b) & (distance <= atol + rtol * np.abs(b)))
            if self.equal_nan:
                close |= np.isnan(a) & np.isnan(b)
            if close.all():
                return None
            # An equal infinity is at no distance, not at NaN.
            distance = np.where(close, 0, distance)
            relative = np.where(close, 0, distance / np.abs(b))
        return _report(a, b, close, ((distance, atol), (relative, rtol)), rtol == atol == 0)


def _keys_differ(actual: Mapping[Any, Any], expected: Mapping[Any, Any]) -> str | None:
    missing_keys, additional = expected.keys() - actual.keys(), actual.keys() - expected.keys()
    if not missing_keys and not additional:
        return None
    return (
        "The keys of the mappings do not match:\n"
        f"Missing keys in the actual mapping: {sorted(missing_keys, key=str)}\n"
        f"Additional keys in the actual mapping: {sorted(additional, key=str)}"
    )


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _kind(value: Any) -> str | None:
    """Values of one kind can be compared; None where there is nothing to compare them by."""
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, int | float | complex | np.number):
        return "number"
    return "tensor" if isinstance(value, Variable) else "array" if hasattr(value, "dtype") else None


def _signed(actual: Array, expected: Array) -> tuple[Array, Array]:
    """Both in one dtype, in which differences do not wrap around."""
    common = np.result_type(actual, expected)
    if common.kind in "bui":
        common = np.dtype(np.int64)
    return actual.astype(common), expected.astype(common)


def _report(
    a: Array, b: Array, close: Array, measures: Sequence[tuple[Array, float]], exact: bool
) -> str:
    """How many elements differ, and where they do most."""
    verdict = "equal" if exact else "close"
    named = dict(zip(("absolute", "relative"), measures, strict=True))
    allowed = {
        name: "" if exact else f" (up to {limit} allowed)" for name, (_, limit) in named.items()
    }
    if a.ndim == 0:
        lines = [f"Scalars are not {verdict}!\n", f"Expected {b.item()} but got {a.item()}."]
        for name, (values, _) in named.items():
            lines += [f"{name.capitalize()} difference: {values.item()}{allowed[name]}"]
        return "\n".join(lines)
    wrong = int(np.count_nonzero(~close))
    lines = [f"Tensor-likes are not {verdict}!\n"]
    lines += [f"Mismatched elements: {wrong} / {close.size} ({wrong / close.size:.1%})"]
    for name, (values, _) in named.items():
        # NaN counts as the greatest.
        index = tuple(int(i) for i in np.unravel_index(int(np.argmax(values)), a.shape))
        lines += [
            f"Greatest {name} difference: {values[index].item()} at index {index}{allowed[name]}"
        ]
    return "\n".join(lines)


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
) -> Any:
    """Uniform numbers in [low, high) of a dtype, for tests of functions: PyTorch's for a seed.

    The range is [-9, 9] where it is not given, [0, 9] for uint8 and [0, 1] for bool. With
    `noncontiguous`, every second element of a larger tensor; with `exclude_zero`, the smallest
    positive number (1 for integers) instead of zeros. ValueError for an empty range, and for
    integers asked to require a gradient.

    >>> from gradfn import int64
    >>> make_tensor(2, 3, dtype=int64, device="cpu").shape
    torch.Size([2, 3])
    """
    inexact = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not inexact:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, "
            f"but got dtype={dtype}"
        )
    bottom, top = _range(dtype, low, high)
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    spread = noncontiguous and math.prod(sizes) > 1
    full = (*sizes[:-1], 2 * sizes[-1]) if spread else sizes
    values: Any = empty(full, dtype=dtype, device=device)
    if inexact:
        reals: Any = view_as_real(values) if dtype.is_complex else values
        # In halves: the range may be wider than the largest number.
        reals.uniform_(bottom / 2, top / 2).mul_(2)
    else:
        values.random_(int(bottom), int(top))
    if spread:
        values = values[..., 1::2]
    if exclude_zero:
        values[values == 0] = finfo(dtype).tiny if inexact else 1
    return values.requires_grad_(requires_grad)


def _range(dtype: Any, low: float | None, high: float | None) -> tuple[float, float]:
    """What `make_tensor` draws from, within what the dtype holds; integers below the second."""
    if dtype.is_floating_point or dtype.is_complex:
        least, usual, most = finfo(dtype).min, (-9, 9), finfo(dtype).max
    elif dtype == bool_:
        least, usual, most = 0, (0, 2), 2
    else:
        least, usual, most = iinfo(dtype).min, (max(-9, iinfo(dtype).min), 10), iinfo(dtype).max + 1
    bottom, top = usual[0] if low is None else low, usual[1] if high is None else high
    if math.isnan(bottom) or math.isnan(top):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={bottom} and high={top}")
    if not bottom < top:
        raise ValueError(f"`low` must be less than `high`, but got {bottom} >= {top}")
    if not (dtype.is_floating_point or dtype.is_complex):
        bottom, top = (v if math.isinf(v) else math.ceil(v) for v in (bottom, top))
    return max(bottom, least), min(top, most)
