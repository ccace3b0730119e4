"""What emitted operators call off the fast path: numbers, promotion, views, refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import Mode
from ..autograd.inplace import ViewKind
from ..autograd.memory import Memory
from ..autograd.node import Array
from ..autograd.variable import LEAF, Variable
from ..autograd.where import user_frame
from ..raw.numbers import HALF, cast, refuse_bool
from ..raw.quiet import hush, unhush
from ..shapes import broadcast_shapes
from .declare import LIST, OPTIONAL, PLAIN, Operator

if TYPE_CHECKING:
    from ..dtypes import dtype

SCALARS = {bool: dtypes.BOOL, int: dtypes.INT, float: dtypes.FLOAT, complex: dtypes.COMPLEX}
_WIDE = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}
NUMBERS: dict[tuple[Any, ...], Array] = {}
MANY_NUMBERS = 4096
_CATEGORY = {"b": dtypes.BOOL, "u": dtypes.INT, "i": dtypes.INT, "c": dtypes.COMPLEX}


def category(array: Any) -> int:
    """The category of an array's dtype: bool < integer < floating < complex."""
    return _CATEGORY.get(array.dtype.kind, dtypes.FLOAT)


def operand_category(operand: Any) -> int:
    """The category of a tensor's dtype, or of a number."""
    if isinstance(operand, Variable):
        return category(operand._array)
    return SCALARS.get(operand.__class__, dtypes.BOOL)


def differentiable(array: Array) -> bool:
    """Whether a result of this dtype can require a gradient."""
    return category(array) >= dtypes.FLOAT


def scalar(value: Any, like: Array) -> Any:
    """The number `value` as an array in the dtype of `like`, or in full where that would lose its
    kind. Programs use the same few numbers again and again: `NUMBERS` keeps their arrays."""
    kind = value.__class__
    array: Array = np.array(value, _WIDE[kind])
    if SCALARS[kind] <= category(like) and like.dtype.char not in HALF:
        narrow: Array = narrowed(array, like.dtype)
        if kind is not int or narrow == array:  # promotion decides about integers that do not fit
            array = narrow
    array.setflags(write=False)
    if value != 0 or kind is int:  # -0.0 is found as 0.0
        if len(NUMBERS) >= MANY_NUMBERS:
            NUMBERS.clear()
        NUMBERS[value, kind, like.dtype] = array
    return array


def narrowed(array: Any, dtype: np.dtype[Any]) -> Any:
    """`array` in `dtype`: integers wrap around, floats become infinite."""
    token = hush()
    try:
        return cast(np.asanyarray(array), dtype)
    finally:
        unhush(token)


def result_type(values: Sequence[Any], arrays: Sequence[Any]) -> dtype:
    """PyTorch's promotion: tensors with dimensions, then 0-d tensors, then numbers; the later
    matter only where they are of a higher category."""
    ranks: list[dtype | None] = [None, None, None]
    for value, array in zip(values, arrays, strict=True):
        if array is None:
            continue
        if _is_wrapped(value):
            rank, own = 2, dtypes.of_scalar(array.dtype.type())
        else:
            rank, own = int(array.ndim == 0), dtypes.from_numpy(array.dtype)
        known = ranks[rank]
        ranks[rank] = own if known is None else dtypes.promote_types(known, own)
    result: dtype | None = None
    for lower in ranks:
        if result is None:
            result = lower
        elif lower is not None and lower.category > result.category:
            if lower.is_complex and result.is_floating_point:
                result = result.to_complex()
            else:
                result = dtypes.promote_types(result, lower)
    assert result is not None
    return result


def promote(
    operator: Operator, values: tuple[Any, ...], arrays: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The arrays in the dtype that PyTorch computes `operator` in."""
    target = result_type(values, arrays)
    if operator.promote == "no bool":
        refuse_bool(*arrays)
    if operator.promote == "float" and target.category < dtypes.FLOAT:
        target = dtypes.get_default_dtype()
    kinds = [target.numpy] * len(arrays)
    if operator.exact_numbers and target.numpy.char in HALF:
        kinds = [np.dtype(np.float32) if _is_wrapped(v) else target.numpy for v in values]
    return tuple(
        a if a is None or a.dtype == kind else narrowed(a, kind)
        for a, kind in zip(arrays, kinds, strict=True)
    )


def _is_wrapped(value: Any) -> bool:
    return value.__class__ in SCALARS or getattr(value, "_number", False)


def fallback(operator: Operator, kind: str, arguments: tuple[Any, ...], out: Any = None) -> Any:
    """Call again with numbers as tensors; refuse what is neither number nor tensor."""
    from .emit import BINARY, form

    if not any(isinstance(value, Variable | list | tuple) for value in arguments):
        given = ", ".join(type(value).__name__ for value in arguments)
        raise TypeError(
            f"{operator.name}() received an invalid combination of arguments - got ({given}), "
            "none of which is a Tensor"
        )
    converted: list[Any] = []
    keywords: dict[str, Any] = {} if out is None else {"out": out}
    for position, (p, value) in enumerate(zip(operator.parameters, arguments, strict=True)):
        if kind == BINARY and isinstance(value, np.ndarray):
            value = wrapped_array(value)
        fits = p.kind == PLAIN or _is_tensor_argument(value, p.kind)
        allowed = operator.numbers if position else operator.number_first and kind != BINARY
        if not fits and allowed and is_number(value):
            value = wrapped_number(value)
        elif not fits:
            if kind == BINARY and position:
                return NotImplemented
            wanted = "tuple of Tensors" if p.kind == LIST else "Tensor"
            name = "input" if p.name == "self" else p.name
            raise TypeError(
                f"{operator.name}(): argument '{name}' (position {position + 1}) must be {wanted}, "
                f"not {type(value).__name__}"
            )
        if p.keyword_only:
            keywords[p.name] = value
        else:
            converted.append(value)
    return form(operator, kind)(*converted, **keywords)


def explain(operator: Operator, error: Exception, arrays: Sequence[Any]) -> None:
    """Raise PyTorch's error in place of NumPy's `error` about shapes or dtypes, if it is one."""
    text = str(error)
    tensors = [a for a in arrays if isinstance(a, np.ndarray | np.generic)]
    if isinstance(error, ValueError):
        if "broadcast" in text:
            broadcast_shapes(*(a.shape for a in tensors))
        return
    if "boolean negative" in text:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        ) from None
    if "boolean subtract" in text:
        refuse_bool(*tensors)
    if "ufunc" in text:
        raise unsupported(operator, tensors) from None


def unsupported(operator: Operator, arrays: Sequence[Any]) -> NotImplementedError:
    """The error for an operator that does not compute in a dtype; shapes are checked first."""
    tensors = [a for a in arrays if a is not None]
    broadcast_shapes(*(a.shape for a in tensors))
    kinds = " and ".join(dict.fromkeys(dtypes.from_numpy(a.dtype).scalar_name for a in tensors))
    return NotImplementedError(f"\"{operator.name}\" not implemented for '{kinds}'")


def _is_tensor_argument(value: Any, kind: str) -> bool:
    if kind == LIST:
        return isinstance(value, Sequence) and all(isinstance(v, Variable) for v in value)
    return isinstance(value, Variable) or (kind == OPTIONAL and value is None)


def is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex | np.number | np.bool_)


def wrapped_number(value: Any) -> Any:
    """A number as a 0-d tensor that keeps a number's low rank in type promotion."""
    plain = value.item() if isinstance(value, np.generic) else value
    tensor = Variable.wrap(np.array(plain, _WIDE[plain.__class__]))
    tensor._number = True
    return tensor


def unwrapped_number(operator: Operator, name: str, value: Any) -> Any:
    """The number in a NumPy scalar or a 0-d tensor that no gradient is wanted for."""
    if isinstance(value, Variable) and (value._array.ndim or value._edge is not None):
        raise TypeError(f"{operator.name}(): argument '{name}' must be Number, not Tensor")
    return (value._array if isinstance(value, Variable) else value).item()


def wrapped_array(array: Array) -> Any:
    """A NumPy array as a tensor; TypeError where PyTorch has no such dtype."""
    dtypes.from_numpy(array.dtype)
    return Variable.wrap(array)


def unrecorded(operator: Operator, outs: Sequence[Any], mode: Mode, cut: bool) -> None:
    """Mark results that have no history: inference tensors, and where a history was cut."""
    for out in outs:
        if mode.inference and (out._base is None or out._base._inference):
            out._inference = True
        if cut:
            if not mode.grad:
                why = f"{operator.name} ran under no_grad"
            elif not differentiable(out._array):
                why = f"{operator.name} has a result of dtype {out.dtype}"
            else:
                why = f"{operator.name} has no derivative"
            note_cut(out, why)
            # PyTorch's views keep requires_grad, without a history.
            if not mode.grad and out._base is not None and not out._inference:
                out._edge = LEAF if differentiable(out._array) else None


def note_cut(tensor: Any, why: str) -> None:
    """Remember why `tensor` has no history, for the error that says so, and the user's line."""
    frame = user_frame(2)
    tensor._cut = (why, frame.f_code, frame.f_lasti)


def memory_of(tensor: Any) -> Memory:
    """A version counter for a tensor that has none yet, and that a node is about to save."""
    if tensor._inference:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
            "inference mode in computation tracked by autograd. To work around this, you can make "
            "a clone to get a normal tensor and use it in autograd."
        )
    tensor._memory = memory = Memory()
    return memory


def as_view(base: Any, outs: Sequence[Any], mode: Mode) -> None:
    """Make `outs` views of `base`: they share its memory, and follow its history."""
    memory = base.memory()
    root = base if base._base is None else base._base
    if memory.views is None:
        memory.views = []
    kind = ViewKind.MULTIPLE if isinstance(outs, list) else base._view_kind
    if mode.inference:
        kind = ViewKind.INFERENCE
    elif not mode.grad:
        kind = ViewKind.NO_GRAD
    for out in outs:
        out._memory = memory
        if base._inference:  # inference tensors keep no track of their views
            out._inference = True
            continue
        out._base = root
        if kind is not None:
            out._view_kind = kind
        memory.views.append(ref(out))
    if len(memory.views) > memory.prune_at:
        memory.views = [view for view in memory.views if view() is not None]
        memory.prune_at = 2 * len(memory.views) + 8
