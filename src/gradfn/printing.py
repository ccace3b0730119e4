"""The text of tensors, byte for byte PyTorch's.

Three layers: a *notation* writes one number, having looked at all of them first, so that they share
one form and line up; `format_array` lays the numbers of an array out in brackets; `tensor_text`
adds what the numbers do not tell.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .autograd.batching import Batched
from .autograd.forward_ad import unpack_dual
from .dtypes import bool_, get_default_dtype, int64
from .raw.numbers import Array

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = [
    "PrintOptions",
    "format_array",
    "get_printoptions",
    "parameter_text",
    "printoptions",
    "set_printoptions",
    "tensor_text",
]


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """How tensors are printed; see `set_printoptions`."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}

_options = PrintOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed (`torch.set_printoptions`); what is not given stays as it is.

    `precision`: digits after the point. `threshold`: a tensor of more elements is summarised, by
    `edgeitems` of them at either end of each dimension. `linewidth`: columns before a line wraps.
    `profile`: "default", "short" or "full" resets these four before the others apply; another name
    is ignored, as PyTorch does. `sci_mode`: scientific notation always (True), never (False) or as
    the values require (None); it alone does not stay: every call that does not give it resets it.

    >>> set_printoptions(precision=2)
    >>> format_array(np.array([0.125, 2.5]))
    '[0.12, 2.50]'
    >>> set_printoptions(profile="default")
    """
    global _options
    given = dict(precision=precision, threshold=threshold, edgeitems=edgeitems, linewidth=linewidth)
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    base = _PROFILES.get(profile, _options) if profile is not None else _options
    _options = replace(base, **changes, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """Return the options in force, as keyword arguments of `set_printoptions`.

    >>> get_printoptions()["linewidth"]
    80
    """
    return asdict(_options)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Apply `set_printoptions(**options)` inside a `with` block only.

    >>> with printoptions(sci_mode=True):
    ...     format_array(np.array(0.5))
    '5.0000e-01'
    """
    global _options
    outside = _options
    set_printoptions(**options)
    try:
        yield
    finally:
        _options = outside


class _Notation(Protocol):
    """Writes one value; `width` is what a value occupies when a line is filled."""

    width: int

    def __call__(self, value: Any) -> str: ...


class _Plain:
    """Integers and booleans, as Python writes them."""

    def __init__(self, values: Array) -> None:
        self.width = max((len(str(value)) for value in values.ravel().tolist()), default=1)

    def __call__(self, value: int) -> str:
        return str(value).rjust(self.width)


class _Real:
    """Floating-point numbers: all as `12.`, or all as `12.5000`, or all as `1.2500e+01`.

    Zeros and non-finite values adapt to the others: they influence neither the form nor the width.
    """

    def __init__(self, values: Array, options: PrintOptions) -> None:
        values = values[np.isfinite(values) & (values != 0)]
        whole = bool((values == np.trunc(values)).all())
        scientific = _need_exponents(np.abs(values))
        if options.sci_mode is not None and values.size:
            scientific = options.sci_mode
        self._point = ""
        if scientific:
            self._spec = f".{options.precision}e"
        elif whole:
            self._spec, self._point = ".0f", "."
        else:
            self._spec = f".{options.precision}f"
        self.width = max((len(self._digits(value)) for value in values.tolist()), default=1)

    def _digits(self, value: float) -> str:
        return format(value, self._spec) + (self._point if math.isfinite(value) else "")

    def __call__(self, value: float) -> str:
        return self._digits(value).rjust(self.width)


def _need_exponents(magnitudes: Array) -> bool:
    """Whether the numbers are too large, too small or too far apart to be written out."""
    if not magnitudes.size:
        return False
    smallest, largest = float(magnitudes.min()), float(magnitudes.max())
    return largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4


class _Complex:
    """Complex numbers: real and imaginary parts each in their own form; only the former line up."""

    def __init__(self, values: Array, options: PrintOptions) -> None:
        self._real = _Real(values.real, options)
        self._imag = _Real(values.imag, options)
        self.width = self._real.width + self._imag.width + 1

    def __call__(self, value: complex) -> str:
        imag = self._imag(value.imag).lstrip()
        sign = "" if imag.startswith("-") else "+"
        return f"{self._real(value.real)}{sign}{imag}j"


def format_array(array: Array, *, indent: int = 0, options: PrintOptions | None = None) -> str:
    """Return the numbers of `array`, of any shape and dtype, in PyTorch's layout.

    `indent` is the column at which the text will start; its further lines are indented to it.
    `options` default to those set by `set_printoptions`.

    >>> print(format_array(np.array([[1.0, -0.5], [np.inf, 20.0]])))
    [[ 1.0000, -0.5000],
     [    inf, 20.0000]]
    """
    options = options or _options
    if array.size == 0:
        return "[]"
    edge = options.edgeitems if array.size > options.threshold else None
    shown = array if edge is None else _edges(array, edge)
    notation = _notation_for(shown, options)
    linewidth = options.linewidth

    def lay_out(values: Any, shape: tuple[int, ...], indent: int) -> str:
        if not shape:
            return notation(values)
        size, *inner = shape
        if edge == 0:
            return "[...]"
        items = [lay_out(value, tuple(inner), indent + 1) for value in values]
        if edge is not None and size > 2 * edge:
            items.insert(edge, "..." if inner else " ...")
        if not inner:
            per_line = max(1, int((linewidth - indent) / (notation.width + 2)))
            items = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        separator = "," + "\n" * max(1, len(inner)) + " " * (indent + 1)
        return "[" + separator.join(items) + "]"

    return lay_out(shown.tolist(), array.shape, indent)


def _notation_for(values: Array, options: PrintOptions) -> _Notation:
    kind = values.dtype.kind
    if kind in "biu":
        return _Plain(values)
    return _Complex(values, options) if kind == "c" else _Real(values, options)


def _edges(array: Array, edge: int) -> Array:
    """Return `array` without what a summary leaves out."""
    for dim, size in enumerate(array.shape):
        if size > 2 * edge:
            array = np.delete(array, slice(edge, size - edge), axis=dim)
    return array


def tensor_text(t: Tensor, contents: str | None = None, *, name: str = "tensor") -> str:
    """Return `repr(t)`: its numbers (or `contents` in place of them), then what they do not tell.

    These are the size and the dtype, where not evident, and `grad_fn` or `requires_grad`. `name` is
    the class name of a subclass.

    >>> from gradfn import ones
    >>> tensor_text(ones(2, requires_grad=True) * 2)
    'tensor([2., 2.], grad_fn=<MulBackward0>)'
    """
    indent = len(name) + 1
    if isinstance(t._array, Batched):
        return _batch_text(t._array)
    if contents is None:
        contents = format_array(t._array, indent=indent)
    return _with_suffixes(f"{name}({contents}", _suffixes(t), indent) + ")"


def _batch_text(array: Batched) -> str:
    """What stands for each example inside vmap: the level, and the batch."""
    dim = array.dim if array.batched else None
    values = array.physical.movedim(0, dim) if dim else array.physical
    values = textwrap.indent(repr(values), "    ")
    return f"BatchedTensor(lvl={array.level.number}, bdim={dim}, value=\n{values}\n)"


def parameter_text(p: Tensor, *, name: str = "tensor") -> str:
    """Return `repr(p)` of an `nn.Parameter`; `name` is the class name of a subclass.

    >>> from gradfn import nn, ones
    >>> print(parameter_text(nn.Parameter(ones(2))))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """
    text = tensor_text(p, name=name)
    return "Parameter containing:\n" + (text if name == "tensor" else f"Parameter({text})")


def _suffixes(t: Tensor) -> Iterator[str]:
    shape, default = t._array.shape, get_default_dtype()
    if t._array.size == 0:
        size_evident = len(shape) == 1
        dtype_evident = t.dtype == default
    else:
        size_evident = _options.edgeitems != 0
        dtype_evident = t.dtype in (default, default.to_complex(), int64, bool_)
    if not size_evident:
        yield f"size={shape}"
    if not dtype_evident:
        yield f"dtype={t.dtype}"
    try:
        history = None if t.grad_fn is None else type(t.grad_fn).__name__
    except RuntimeError:  # a view that has lost its history
        history = "Invalid"
    if history is not None:
        yield f"grad_fn=<{history}>"
    elif t.requires_grad:
        yield "requires_grad=True"
    tangent = unpack_dual(t).tangent
    if tangent is not None:
        yield f"tangent={tangent}"


def _with_suffixes(text: str, suffixes: Iterable[str], indent: int) -> str:
    """Append each suffix on the line where `text` ends if there is room, else on a new one."""
    # Two columns more than there are: PyTorch reserves them, but only on the line of the numbers.
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if column + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text
