"""Forward mode: tensors that carry a tangent, PyTorch's `torch.autograd.forward_ad`.

While a dual level is open it intercepts every operator (ops/forward.py computes the tangents), so
that outside nothing is paid for it. A tensor's tangent is kept on the tensor.

Note [Tangents of views]: a view's tangent is that view of its base's tangent, so that in-place
writes to one are seen by the other. `make_dual` and `unpack_dual` return views, but no tangent
passes between these and what they view: each begins a family of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple
from weakref import WeakSet

from ..device import contiguous_format
from ..raw.copying import dense_axes
from ..raw.strided import geometry
from ..raw.views import storage, storage_offset_of, zeros_laid_as
from .batching import holds, is_batched, repeated
from .grad_mode import Mode, ModeChange, get_mode, set_mode
from .node import Array, Node
from .variable import Variable

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


class Dual:
    """What a level knows of a tensor: its tangent, and the base whose tangent it is a view of.
    `below` is what other levels know."""

    __slots__ = ("__weakref__", "base", "below", "level", "tangent")

    def __init__(self, level: Level, tangent: Any, base: Any, below: Dual | None = None) -> None:
        self.level = level
        self.tangent = tangent
        self.base = base
        self.below = below

    def without_tangent(self) -> Dual:
        """The same place among views."""
        return Dual(self.level, None, self.base, self.below)

    def at(self, level: Level) -> Dual | None:
        """What `level` knows."""
        dual: Dual | None = self
        while dual is not None and dual.level is not level:
            dual = dual.below
        return dual

    def besides(self, level: Level) -> Dual | None:
        """What open levels other than `level` know."""
        below = None if self.below is None else self.below.besides(level)
        if self.level is level or self.level.closed:
            return below
        dual = Dual(self.level, self.tangent, self.base, below)
        self.level.duals.add(dual)
        return dual


class Level:
    """An open dual level; called in place of every operator."""

    number = 0
    closed = False
    apply: ClassVar[Callable[..., Any]]  # set by ops/forward.py

    def __init__(self, outer: Callable[..., Any] | None, below: Level | None = None) -> None:
        self.outer = outer  # who intercepted operators before
        self.below = below  # the level that this one is inside of
        self.duals: WeakSet[Dual] = WeakSet()
        self.node: Node | None = None  # the first that the operator running now has recorded

    def __call__(self, *call: Any) -> Any:
        return Level.apply(self, *call)

    def close(self) -> None:
        """Drop all tangents."""
        self.closed = True
        for dual in list(self.duals):
            dual.tangent = dual.base = None

    def recorded(self, node: Node) -> None:
        """Called for each new node."""
        level: Level | None = self
        while level is not None:
            if level.node is None:
                level.node = node
            level = level.below

    def _known(self, tensor: Any) -> Dual | None:
        dual: Dual | None = tensor._dual
        return None if dual is None else dual.at(self)

    def base_of(self, tensor: Any) -> Any:
        """The tensor of whose tangent this one's is a view, or None."""
        dual = self._known(tensor)
        return tensor._base if dual is None else dual.base

    def attach(self, tensor: Any, tangent: Any, base: Any) -> None:
        """Let `tensor` carry `tangent`, a view of the tangent of `base` unless that is None."""
        known: Dual | None = tensor._dual
        below = None if known is None else known.besides(self)
        tensor._dual = dual = Dual(self, tangent, base, below)
        self.duals.add(dual)

    def follow(self, view: Any, viewed: Any) -> None:
        """Note that `view` was made of `viewed`, neither of which has a tangent yet."""
        base = self.base_of(viewed)
        if base is None:
            base = viewed
        if base is not view._base:
            self.attach(view, None, base)

    def tangent_of(self, tensor: Any) -> Any:
        """The tangent of `tensor`, or None: Note [Tangents of views]."""
        dual = self._known(tensor)
        known = None if dual is None else dual.tangent
        base = self.base_of(tensor)
        if base is None:
            return known
        whole = self.tangent_of(base)
        if whole is None or (known is not None and is_part(known, whole)):
            return known
        tangent = whole._window(geometry(base._array, tensor._array))
        self.attach(tensor, tangent, base)
        return tangent

    def give(self, tensor: Any, tangent: Any) -> None:
        """Let the new `tensor` carry `tangent`, or a copy laid out as `tensor` is."""
        self.attach(tensor, laid_out_as(tensor, tangent), None)

    def write(self, tensor: Any, tangent: Any) -> None:
        """Make `tangent` that of `tensor`, which was written to, and so of its base and views."""
        known = self.tangent_of(tensor)
        if known is not None and holds(known._array, tangent._array):
            known.copy_(tangent)
            return
        base = self.base_of(tensor)
        if base is None:
            self.give(tensor, tangent)
        elif same_layout(tangent._array, base._array) and same_layout(
            tangent._array, tensor._array
        ):
            self.attach(base, tangent, None)
            self.attach(tensor, tangent, base)
        else:
            whole = Variable.wrap(zeros_laid_as(base._array, base._array.dtype))
            if is_batched(tangent._array):
                whole = repeated(whole, tangent._array)
            if (before := self.tangent_of(base)) is not None:  # of too few examples
                whole = repeated(whole, before._array).copy_(before)
            self.attach(base, whole, None)
            part = whole._window(geometry(base._array, tensor._array))
            part.copy_(tangent)
            self.attach(tensor, part, base)


def is_part(tangent: Any, whole: Any) -> bool:
    """Whether `tangent` is a view of `whole`, and not of what was its base's tangent before."""
    return tangent is whole or tangent._base is (whole if whole._base is None else whole._base)


def check_size(tensor: Any, tangent: Any) -> None:
    """Refuse a tangent of another shape than its tensor."""
    if tangent._array.shape != tensor._array.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(tensor.shape)} while the "
            f"given forward gradient is of size {list(tangent.shape)}."
        )


def same_layout(one: Array, other: Array) -> bool:
    """Whether two arrays lie alike in memories of the same size."""
    if one.shape != other.shape:
        return False
    if not one.size:
        return True
    steps = zip(one.strides, other.strides, one.shape, strict=True)
    scale, other_scale = one.itemsize, other.itemsize
    if any(s // scale != o // other_scale and size > 1 for s, o, size in steps):
        return False
    if (one.base is None and other.base is None) or is_batched(one) or is_batched(other):
        return True
    memory, other_memory = storage(one), storage(other)
    offset, other_offset = storage_offset_of(one, memory), storage_offset_of(other, other_memory)
    return memory.size == other_memory.size and offset == other_offset


def laid_out_as(tensor: Any, tangent: Any) -> Any:
    """`tangent`, or a copy of it, laid out in memory as `tensor` is."""
    if same_layout(tangent._array, tensor._array):
        return tangent
    if is_batched(tangent._array):  # as each example is
        axes = dense_axes(tensor._array)
        return tangent.permute(axes).clone(memory_format=contiguous_format).permute(_inverse(axes))
    like = zeros_laid_as(tensor._array, tangent._array.dtype)
    return Variable.wrap(like).copy_(tangent)


def _inverse(axes: tuple[int, ...]) -> list[int]:
    return sorted(range(len(axes)), key=axes.__getitem__)


def open_level(mode: Mode) -> Level | None:
    """The level that `mode` computes tangents for."""
    return mode.intercept if isinstance(mode.intercept, Level) else None


def without_tangents(mode: Mode) -> Mode:
    """`mode` with forward mode turned off."""
    level = open_level(mode)
    return mode if level is None else mode.replace(forward=False, intercept=level.outer)


@contextmanager
def nested_level() -> Iterator[Level]:
    """A level inside of whatever levels are open, for function transforms."""
    mode = get_mode()
    level = Level(mode.intercept, mode.level)
    set_mode(mode.replace(level=level, intercept=level, forward=True))
    try:
        yield level
    finally:
        set_mode(mode)
        level.close()


def carry_tangents(source: Any, target: Any) -> Any:
    """Let `target`, another tensor of the same values, carry all tangents that `source` has."""
    level = get_mode().level
    levels = []
    while level is not None:
        levels.append(level)
        level = level.below
    for level in reversed(levels):
        tangent = level.tangent_of(source)
        if tangent is not None:
            level.attach(target, tangent, None)
    return target


class UnpackedDualTensor(NamedTuple):
    """The two parts of a dual tensor; `tangent` is None where it has none."""

    primal: Any
    tangent: Any


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """A view of `tensor` that carries `tangent`: what is computed from it has one, too.

    The tangent has the shape of the tensor; it is not copied, unless it is laid out otherwise.
    RuntimeError outside of `dual_level`, ValueError for tensors of integers.

    >>> import gradfn
    >>> with dual_level():
    ...     x = make_dual(gradfn.tensor(3.0), gradfn.tensor(1.0))
    ...     unpack_dual(x * x).tangent
    tensor(6.)
    """
    if _number(level) < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, value in (("primal", tensor), ("tangent", tangent)):
        if not (value.is_floating_point() or value.is_complex()):
            raise ValueError(
                f"Expected {name} to be floating point or complex, but got: {value.dtype}"
            )
    current = _current(level)
    if current.tangent_of(tangent) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level "
            f"{current.number} is not supported."
        )
    if current.tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            f"same level {current.number} is not supported."
        )
    check_size(tensor, tangent)
    dual = tensor.view_as(tensor)
    current.give(dual, tangent)
    return dual


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """``(primal, tangent)`` of a tensor: a view of it without the tangent, and the tangent.

    The tangent is None where there is none, as it is for all tensors outside of `dual_level`.
    """
    if _number(level) < 0:
        return UnpackedDualTensor(tensor, None)
    current = _current(level)
    primal = tensor._identity()
    current.attach(primal, None, None)
    enabled = open_level(get_mode()) is current
    return UnpackedDualTensor(primal, current.tangent_of(tensor) if enabled else None)


def enter_dual_level() -> int:
    """Open a level, inside of which tensors can carry tangents; RuntimeError inside another."""
    mode = get_mode()
    if mode.level is not None:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment: a dual level is open already"
        )
    level = Level(mode.intercept)
    set_mode(mode.replace(level=level, intercept=level if mode.forward else mode.intercept))
    return level.number


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: all tangents are dropped."""
    mode = get_mode()
    number = _number(level)
    if number < 0:
        raise RuntimeError("Dual level must be a positive number.")
    current = mode.level
    if current is None or number != current.number:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            "not supported."
        )
    intercept = mode.intercept if open_level(mode) is None else current.outer
    set_mode(mode.replace(level=None, intercept=intercept))
    current.close()


@contextmanager
def dual_level() -> Iterator[int]:
    """A level as a context manager, or as a decorator; see `enter_dual_level`.

    >>> with dual_level() as level:
    ...     level
    0
    """
    level = enter_dual_level()
    try:
        yield level
    finally:
        exit_dual_level(level=level)


class _set_fwd_grad_enabled(ModeChange):  # noqa: N801
    """Turn forward mode on or off: at once when called, until the block's end when used as one."""

    def __init__(self, mode: bool) -> None:
        level, intercept = get_mode().level, get_mode().intercept
        if level is not None:
            intercept = level if mode else level.outer
        super().__init__(forward=bool(mode), intercept=intercept)
        self._change()

    def __enter__(self) -> None:
        """The change is made by the call itself, as in PyTorch."""


def _is_fwd_grad_enabled() -> bool:
    """Whether tangents are computed where a level is open."""
    return get_mode().forward


def _number(level: int | None) -> int:
    """The number of the level meant, -1 where none is open."""
    if level is not None:
        return level
    current = get_mode().level
    return -1 if current is None else current.number


def _current(number: int | None) -> Level:
    current = get_mode().level
    if current is None or (number is not None and number != current.number):
        raise RuntimeError(
            "Trying to access a forward AD level with an invalid index. This index was either not "
            "created or is already deleted."
        )
    return current


def __getattr__(name: str) -> Any:
    if name == "_current_level":
        return _number(None)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
