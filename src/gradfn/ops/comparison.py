"""Comparisons, logic, bits, extrema of two tensors, clamping and choosing by a mask."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, raw
from ..autograd.variable import Variable
from .checking import checked, row_for
from .declare import op, variant
from .emit import inplace
from .formulas import constant
from .runtime import SCALARS

__all__ = [
    "allclose",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_max_",
    "clamp_min",
    "clamp_min_",
    "clip",
    "clip_",
    "eq",
    "equal",
    "fmax",
    "fmin",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "le",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "masked_fill",
    "maximum",
    "minimum",
    "ne",
    "not_equal",
    "where",
]

eq = op(
    "eq(self, other: Tensor)",
    kernel=raw.eq,
    promote="number",
    numbers="later",
    doc="""``input == other``, elementwise, as booleans.

    >>> import gradfn
    >>> gradfn.eq(gradfn.tensor([1.0, 2.0]), 2)
    tensor([False,  True])
    """,
)
ne = op(
    "ne(self, other: Tensor)",
    kernel=raw.ne,
    promote="number",
    numbers="later",
    doc="``input != other``, elementwise, as booleans.",
)
gt = op(
    "gt(self, other: Tensor)",
    kernel=raw.gt,
    refuses="c",
    promote="number",
    numbers="later",
    doc="``input > other``, elementwise, as booleans.",
)
ge = op(
    "ge(self, other: Tensor)",
    kernel=raw.ge,
    refuses="c",
    promote="number",
    numbers="later",
    doc="``input >= other``, elementwise, as booleans.",
)
lt = op(
    "lt(self, other: Tensor)",
    kernel=raw.lt,
    refuses="c",
    promote="number",
    numbers="later",
    doc="``input < other``, elementwise, as booleans.",
)
le = op(
    "le(self, other: Tensor)",
    kernel=raw.le,
    refuses="c",
    promote="number",
    numbers="later",
    doc="``input <= other``, elementwise, as booleans.",
)
isnan = op("isnan(self)", kernel=raw.isnan, doc="Whether each element is NaN.")
isinf = op("isinf(self)", kernel=raw.isinf, doc="Whether each element is infinite.")
isfinite = op(
    "isfinite(self)", kernel=raw.isfinite, doc="Whether each element is neither infinite nor NaN."
)
isposinf = op(
    "isposinf(self)", kernel=raw.isposinf, refuses="c", doc="Whether each element is infinity."
)
isneginf = op(
    "isneginf(self)", kernel=raw.isneginf, refuses="c", doc="Whether each element is -infinity."
)
isreal = op("isreal(self)", kernel=raw.isreal, doc="Whether the imaginary part is 0, elementwise.")
isclose = op(
    "isclose(self, other: Tensor, rtol=1e-05, atol=1e-08, equal_nan=False)",
    kernel=raw.isclose,
    doc="""``abs(input - other) <= atol + rtol * abs(other)``, elementwise.

    Infinities are close to themselves only, and NaN to NaN if `equal_nan`. Raises RuntimeError
    where the dtypes differ or a tolerance is negative.
    """,
)


def allclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements are close, as `isclose` says."""
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all())


def equal(input: Any, other: Any) -> bool:
    """Whether the two tensors have the same shape and elements."""
    return np.array_equal(input._array, other._array)


logical_and = op(
    "logical_and(self, other: Tensor)",
    kernel=raw.logical_and,
    doc="Whether both elements are not 0.",
)
logical_or = op(
    "logical_or(self, other: Tensor)",
    kernel=raw.logical_or,
    doc="Whether one of the elements is not 0.",
)
logical_xor = op(
    "logical_xor(self, other: Tensor)",
    kernel=raw.logical_xor,
    doc="Whether exactly one of the elements is not 0.",
)
logical_not = op("logical_not(self)", kernel=raw.logical_not, doc="Whether each element is 0.")
bitwise_and = op(
    "bitwise_and(self, other: Tensor)",
    kernel=raw.bitwise_and,
    promote="number",
    doc="``input & other``, elementwise, for integers and booleans.",
)
bitwise_or = op(
    "bitwise_or(self, other: Tensor)",
    kernel=raw.bitwise_or,
    promote="number",
    doc="``input | other``, elementwise, for integers and booleans.",
)
bitwise_xor = op(
    "bitwise_xor(self, other: Tensor)",
    kernel=raw.bitwise_xor,
    promote="number",
    doc="``input ^ other``, elementwise, for integers and booleans.",
)
bitwise_not = op(
    "bitwise_not(self)", kernel=raw.bitwise_not, doc="``~input``, for integers and booleans."
)
bitwise_left_shift = op(
    "bitwise_left_shift(self, other: Tensor)",
    kernel=raw.bitwise_left_shift,
    refuses="bfc",
    promote="number",
    doc="``input << other``, elementwise, for integers.",
)
bitwise_right_shift = op(
    "bitwise_right_shift(self, other: Tensor)",
    kernel=raw.bitwise_right_shift,
    refuses="bfc",
    promote="number",
    doc="``input >> other``, elementwise, for integers: the sign is kept.",
)

maximum = op(
    "maximum(self, other)",
    kernel=raw.maximum,
    refuses="c",
    promote="number",
    numbers=False,
    tangent="elementwise",
    self=lambda F, g, self, other: _share(F, g, self == other, self < other),
    other=lambda F, g, self, other: _share(F, g, self == other, self > other),
    doc="""The larger of two elements, NaN if one is; where they tie each gets half the gradient.

    >>> import gradfn
    >>> gradfn.maximum(gradfn.tensor([1.0, 4.0]), gradfn.tensor([3.0, 2.0]))
    tensor([3., 4.])
    """,
)
minimum = op(
    "minimum(self, other)",
    kernel=raw.minimum,
    refuses="c",
    promote="number",
    numbers=False,
    tangent="elementwise",
    self=lambda F, g, self, other: _share(F, g, self == other, self > other),
    other=lambda F, g, self, other: _share(F, g, self == other, self < other),
    doc="The smaller of two elements, NaN if one is; where they tie each gets half the gradient.",
)


def _share(F: Any, g: Any, tie: Any, lost: Any) -> Any:
    return F.where(lost, 0, F.where(tie, g / 2, g))


fmax = op(
    "fmax(self, other)",
    kernel=raw.fmax,
    refuses="c",
    promote="number",
    numbers=False,
    tangent="elementwise",
    self=lambda F, g, self, other: F.where(F.logical_or(self >= other, F.isnan(other)), g, 0),
    other=lambda F, g, self, other: F.where(F.logical_or(self >= other, F.isnan(other)), 0, g),
    doc="The larger of two elements; a number rather than NaN.",
)
fmin = op(
    "fmin(self, other)",
    kernel=raw.fmin,
    refuses="c",
    promote="number",
    numbers=False,
    tangent="elementwise",
    self=lambda F, g, self, other: F.where(F.logical_or(self <= other, F.isnan(other)), g, 0),
    other=lambda F, g, self, other: F.where(F.logical_or(self <= other, F.isnan(other)), 0, g),
    doc="The smaller of two elements; a number rather than NaN.",
)


def _inside(F: Any, self: Any, min: Any, max: Any) -> Any:
    """Where the bounds (None: there is none) leave `self` as it is."""
    if min is None:
        return self <= max
    return self >= min if max is None else F.logical_and(self >= min, self <= max)


def _lower_gradient(F: Any, g: Any, self: Any, min: Any, max: Any) -> Any:
    below = self < min
    return F.where(below if max is None else F.logical_and(below, min < max), g, 0)


def _upper_gradient(F: Any, g: Any, self: Any, min: Any, max: Any) -> Any:
    above = self > max
    return F.where(above if min is None else F.logical_or(above, max < min), g, 0)


def _clamp_tangent(
    F: Any, self: Any, min: Any, max: Any, self_t: Any, min_t: Any, max_t: Any
) -> Any:
    """That of a bound where the input does not lie inside, as in PyTorch."""
    if max is None:
        return F.where(self > min, self_t, min_t)
    if min is None:
        return F.where(self < max, self_t, max_t)
    inner = F.where(self < min, min_t, F.where(self > max, max_t, self_t))
    return F.where(min > max, max_t, inner)


clamp_numbers = op(
    "clamp(self, min=None, max=None)",
    kernel=raw.clamp,
    refuses="c",
    promote="number",
    node="ClampBackward1",
    tangent="elementwise",
    self=lambda F, g, self, min, max: F.where(_inside(F, self, min, max), g, 0),
)
clamp_tensors = op(
    "clamp.tensor(self, min: Optional = None, max: Optional = None)",
    kernel=raw.clamp_tensor,
    refuses="c",
    promote="number",
    numbers=False,
    tangent=_clamp_tangent,
    self=lambda F, g, self, min, max: F.where(_inside(F, self, min, max), g, 0),
    min=_lower_gradient,
    max=_upper_gradient,
)
clamp_min_number = op(
    "clamp_min.scalar(self, min)",
    kernel=raw.clamp,
    refuses="c",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self, min: F.where(self >= min, g, 0),
)
clamp_min_tensor = op(
    "clamp_min(self, min)",
    kernel=raw.maximum,
    refuses="c",
    promote="number",
    numbers=False,
    node="ClampMinBackward1",
    tangent="elementwise",
    self=lambda F, g, self, min: F.where(self >= min, g, 0),
    min=lambda F, g, self, min: F.where(self < min, g, 0),
)
clamp_max_number = op(
    "clamp_max.scalar(self, max)",
    kernel=raw.clamp_max,
    refuses="c",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self, max: F.where(self <= max, g, 0),
)
clamp_max_tensor = op(
    "clamp_max(self, max)",
    kernel=raw.minimum,
    refuses="c",
    promote="number",
    numbers=False,
    node="ClampMaxBackward1",
    tangent="elementwise",
    self=lambda F, g, self, max: F.where(self <= max, g, 0),
    max=lambda F, g, self, max: F.where(self > max, g, 0),
)


def _clamp_row(min: Any, max: Any) -> Any:
    bounds = [bound for bound in (min, max) if bound is not None]
    if not bounds:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    rows = [row_for(bound, clamp_tensors, clamp_numbers) for bound in bounds]
    if rows[0] is not rows[-1]:
        raise TypeError(
            "clamp() received an invalid combination of arguments: 'min' and 'max' must be both "
            f"numbers or both tensors, not {type(min).__name__} and {type(max).__name__}"
        )
    return rows[0]


def clamp(input: Any, min: Any = None, max: Any = None, *, out: Any = None) -> Any:
    """``minimum(maximum(input, min), max)``, elementwise; the bounds are numbers or tensors.

    A bound may be None, not both (RuntimeError). At a bound the gradient goes to `input`.

    >>> import gradfn
    >>> gradfn.clamp(gradfn.tensor([-2.0, 0.5, 3.0]), min=-1, max=1)
    tensor([-1.0000,  0.5000,  1.0000])
    """
    return _clamp_row(min, max)(input, min, max, out=out)


def clamp_(self: Any, min: Any = None, max: Any = None) -> Any:
    """`clamp` in place."""
    return inplace(_clamp_row(min, max))(self, min, max)


def clamp_min(input: Any, min: Any, *, out: Any = None) -> Any:
    """`clamp` with a lower bound only."""
    row = clamp_min_number if min.__class__ in SCALARS else clamp_min_tensor
    return row(input, min, out=out)


def clamp_min_(self: Any, min: Any) -> Any:
    """`clamp_min` in place."""
    return inplace(clamp_min_number if min.__class__ in SCALARS else clamp_min_tensor)(self, min)


def clamp_max(input: Any, max: Any, *, out: Any = None) -> Any:
    """`clamp` with an upper bound only."""
    row = clamp_max_number if max.__class__ in SCALARS else clamp_max_tensor
    return row(input, max, out=out)


def clamp_max_(self: Any, max: Any) -> Any:
    """`clamp_max` in place."""
    return inplace(clamp_max_number if max.__class__ in SCALARS else clamp_max_tensor)(self, max)


where_row = op(
    "where(condition: Mask, self, other)",
    kernel=raw.where,
    promote="number",
    tangent="linear",
    self=lambda F, g, condition: F.where(condition, g, 0),
    other=lambda F, g, condition: F.where(condition, 0, g),
)


@checked
def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """`input` where `condition` holds, else `other` (tensors or numbers), elementwise.

    With `condition` alone, the indices of its nonzero elements, one tensor for each dimension.
    Raises RuntimeError for a condition that is not boolean.

    >>> import gradfn
    >>> gradfn.where(gradfn.tensor([1.0, -1.0]) > 0, 10.0, 20.0)
    tensor([10., 20.])
    """
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if condition._array.dtype.char == "B":
        warnings.warn(
            "where received a uint8 condition tensor. This behavior is deprecated: use a boolean "
            "condition instead.",
            UserWarning,
            stacklevel=2,
        )
    if input.__class__ in SCALARS and other.__class__ in SCALARS:
        number: Any = input
        input = Variable.wrap(np.array(number, dtypes.of_scalar(number).numpy))
    return where_row(condition, input, other, out=out)


def where_method(self: Any, condition: Any, other: Any) -> Any:
    """`self` where `condition` holds, else `other`, elementwise."""
    return where(condition, self, other)


masked_fill_number = op(
    "masked_fill(self, mask: Tensor, value)",
    kernel=raw.masked_fill,
    tangent="elementwise",
    self=lambda F, g, mask: F.where(mask, 0, g),
)
masked_fill_tensor = variant(
    masked_fill_number,
    "masked_fill.tensor",
    shares="anything",
    node="MaskedFillBackward1",
    tangent="linear",
    value=lambda F, g, mask: F.where(mask, g, 0),
)


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """`input` with `value`, a number or a 0-d tensor, where the boolean `mask` holds.

    The result has the dtype of `input`; RuntimeError where `value` does not fit into it.

    >>> import gradfn
    >>> x = gradfn.tensor([1.0, -1.0])
    >>> gradfn.masked_fill(x, x < 0, 0)
    tensor([1., 0.])
    """
    return row_for(value, masked_fill_tensor, masked_fill_number)(input, mask, value)


def masked_fill_(self: Any, mask: Any, value: Any) -> Any:
    """`masked_fill` in place."""
    return inplace(row_for(value, masked_fill_tensor, masked_fill_number))(self, mask, value)


def _written(compare: Callable[..., Any]) -> Callable[..., Any]:
    """The in-place form, which keeps a history where its target has one: the gradient is zero."""
    name = compare.operator.name  # type: ignore[attr-defined]
    rows = [
        variant(
            compare,
            f"{name}.in_place{what}",
            node=f"{name.capitalize()}Backward{number}",
            self=constant,
            other=constant,
        )
        for number, what in enumerate(["", "_Tensor"])
    ]
    by_number, by_tensor = map(inplace, rows)

    def compare_(input: Any, other: Any) -> Any:
        return row_for(other, by_tensor, by_number)(input, other)

    compare_.__name__ = compare_.__qualname__ = f"{name}_"
    compare_.__doc__ = f"`{name}` in place: ones and zeros in the dtype of `input`."
    return compare_


eq_, ne_, gt_, ge_, lt_, le_ = map(_written, (eq, ne, gt, ge, lt, le))
logical_and_, logical_or_ = map(inplace, (logical_and, logical_or))
logical_xor_, logical_not_ = map(inplace, (logical_xor, logical_not))
bitwise_and_, bitwise_or_, bitwise_xor_ = map(inplace, (bitwise_and, bitwise_or, bitwise_xor))
bitwise_not_, bitwise_left_shift_ = map(inplace, (bitwise_not, bitwise_left_shift))
bitwise_right_shift_ = inplace(bitwise_right_shift)

not_equal, not_equal_, greater, greater_ = ne, ne_, gt, gt_
greater_equal, greater_equal_, less, less_ = ge, ge_, lt, lt_
less_equal, less_equal_, clip, clip_ = le, le_, clamp, clamp_

METHODS = """
    allclose bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not
    bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor
    bitwise_xor_ clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ eq eq_ equal
    fmax fmin ge ge_ greater greater_ greater_equal greater_equal_ gt gt_ isclose isfinite isinf
    isnan isneginf isposinf isreal le le_ less less_ less_equal less_equal_ logical_and
    logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ lt lt_
    masked_fill masked_fill_ maximum minimum ne ne_ not_equal not_equal_
"""
