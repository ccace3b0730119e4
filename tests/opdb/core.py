"""What an entry of the operator database is made of.

An `OpInfo` describes one operator: where it is found, the dtypes it takes, samples of its
arguments and its error cases. A `Sample` holds arguments in which `Array` stands for a tensor and
`DType` for a dtype, so the database belongs to no library: NumPy makes the values, and
`Sample.bind` hands them to whichever module plays the part of `torch`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from types import ModuleType
from typing import Any, Literal, cast

import numpy as np

Layout = Literal["contiguous", "transposed", "strided", "expanded"]
Values = np.ndarray[Any, Any]

FLOAT = ("float64", "float32", "float16")
COMPLEX = ("complex128", "complex64")
INT = ("int64", "int32", "uint8")
BOOL = ("bool",)
REAL = FLOAT + INT
NUMBER = FLOAT + COMPLEX + INT
ALL = NUMBER + BOOL
FRACTION = FLOAT + COMPLEX
NOT_HALF = tuple(d for d in ALL if d != "float16")  # NumPy has no complex half
LAYOUTS: tuple[Layout, ...] = ("transposed", "strided", "expanded")

Domain = dict[str, Any]
"""The fields of an `Array` that say where its values lie: `low`, `high`, `away`, `distinct`."""

MARGIN = 0.1
"""How far values keep from the kinks and poles that an `Array` names."""


@dataclass(frozen=True)
class DType:
    """A dtype argument, by name."""

    name: str


@dataclass(frozen=True, repr=False)
class Array:
    """A tensor argument: uniform values from `low` to `high`, or the given `values`."""

    shape: tuple[int, ...] = ()
    dtype: str | None = None  # None: the dtype under test
    low: float = -2.0
    high: float = 2.0
    away: tuple[float, ...] = ()
    distinct: bool = False  # no two values are equal, whatever the dtype (bool aside)
    layout: Layout = "contiguous"
    values: Any = None
    grad: bool = True

    def __repr__(self) -> str:
        """The arguments that differ from their defaults."""
        named = [(f.name, getattr(self, f.name)) for f in fields(self) if f.name != "shape"]
        given = {f.name: f.default for f in fields(self)}
        chosen = [f"{name}={value!r}" for name, value in named if value != given[name]]
        return f"x({', '.join([*map(repr, self.shape), *chosen])})"

    def numpy(self, rng: np.random.Generator, dtype: str) -> Values:
        """The values, laid out in memory as asked."""
        kind = np.dtype(self.dtype or dtype)
        if self.values is not None:
            return _lay_out(np.array(self.values, kind), self.layout)
        return _lay_out(self._draw(rng, kind), self.layout)

    def _draw(self, rng: np.random.Generator, kind: np.dtype[Any]) -> Values:
        if self.distinct:
            return self._shuffled(rng, kind)
        if kind.kind == "b":
            return rng.integers(0, 2, self.shape).astype(kind)
        if kind.kind in "iu":
            low = max(self.low, 0) if kind.kind == "u" else self.low
            top = max(int(np.floor(self.high)), int(np.ceil(low)))
            return self._clear(rng.integers(int(np.ceil(low)), top + 1, self.shape), 1).astype(kind)
        drawn = self._clear(rng.uniform(self.low, self.high, self.shape), 2 * MARGIN)
        if kind.kind == "c":
            sign = rng.choice((-1.0, 1.0), self.shape)  # to either side of the branch cuts
            drawn = drawn + 1j * sign * rng.uniform(2 * MARGIN, 1.0, self.shape)
        return np.asarray(drawn, kind)

    def _clear(self, drawn: Any, step: float) -> Values:
        """`drawn`, its values too near to a kink moved up by `step`."""
        for kink in self.away:
            drawn = np.where(np.abs(drawn - kink) < MARGIN, drawn + step, drawn)
        return np.asarray(drawn)

    def _shuffled(self, rng: np.random.Generator, kind: np.dtype[Any]) -> Values:
        size = int(np.prod(self.shape))
        order = rng.permutation(size).reshape(self.shape)
        if kind.kind == "b":
            return (order % 2).astype(kind)
        if kind.kind in "iu":
            return order.astype(kind)
        return (self.low + (self.high - self.low) * (order + 0.5) / max(size, 1)).astype(kind)


def _lay_out(array: Values, layout: Layout) -> Values:
    if layout == "contiguous" or array.ndim == 0 or array.size == 0:
        return np.ascontiguousarray(array).reshape(array.shape)
    if layout == "transposed":
        return np.copy(array, order="F")
    if layout == "strided":
        return np.repeat(array, 2, axis=-1)[..., ::2]
    first = np.array(array[0])
    strides = (0, *first.strides)
    return np.lib.stride_tricks.as_strided(first, array.shape, strides, writeable=True)


@dataclass
class Call:
    """Arguments of one call in one library; `leaves` are those `tensors` that want gradients."""

    args: list[Any]
    kwargs: dict[str, Any]
    tensors: list[Any]
    leaves: list[Any]

    def with_leaves(self, leaves: Sequence[Any]) -> Call:
        """The call with other tensors in place of the leaves."""
        swap = {id(old): new for old, new in zip(self.leaves, leaves, strict=True)}
        args, kwargs, tensors = _map(
            lambda value: swap.get(id(value), value), (self.args, self.kwargs, self.tensors)
        )
        return Call(args, kwargs, tensors, list(leaves))


@dataclass(frozen=True, repr=False)
class Sample:
    """Arguments for one call, with `Array` and `DType` standing for tensors and dtypes."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ALL
    differentiable: bool = True
    smooth: bool = True  # finite differences tell the derivative

    def __repr__(self) -> str:
        """The call that this sample stands for."""
        named = [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return f"sample({', '.join([*map(repr, self.args), *named])})"

    def only(self, *dtypes: str) -> Sample:
        """This sample for these dtypes under test only."""
        return replace(self, dtypes=dtypes)

    def forward_only(self) -> Sample:
        """This sample for values only."""
        return replace(self, differentiable=False)

    def not_smooth(self) -> Sample:
        """This sample at a kink, or in low precision: no finite differences."""
        return replace(self, smooth=False)

    def arrays(self, dtype: str, key: str) -> list[Values]:
        """The values of every tensor argument, the same for the same key."""
        rng = np.random.default_rng(zlib.crc32(key.encode()))
        return [marker.numpy(rng, dtype) for marker in self.markers()]

    def markers(self) -> list[Array]:
        """The tensor arguments in the order of `arrays`."""
        return [leaf for leaf in _leaves((self.args, self.kwargs)) if isinstance(leaf, Array)]

    def differentiated(self, arrays: Sequence[Values]) -> list[int]:
        """The positions in `arrays` of the tensors that want gradients."""
        pairs = enumerate(zip(self.markers(), arrays, strict=True))
        return [i for i, (marker, array) in pairs if marker.grad and array.dtype.kind in "fc"]

    def with_leaves(self, arrays: Sequence[Values], leaves: Sequence[Values]) -> list[Values]:
        """`arrays` with other values for the tensors that want gradients."""
        changed = dict(zip(self.differentiated(arrays), leaves, strict=True))
        return [changed.get(i, array) for i, array in enumerate(arrays)]

    def bind(self, lib: ModuleType, arrays: Sequence[Values], requires_grad: bool = False) -> Call:
        """The arguments as tensors of `lib`."""
        wanted = self.differentiated(arrays)
        tensors = [lib.from_numpy(array) for array in arrays]
        leaves = [tensors[i] for i in wanted]
        if requires_grad:
            for leaf in leaves:
                leaf.requires_grad_()
        supply = iter(tensors)

        def give(leaf: Any) -> Any:
            if isinstance(leaf, Array):
                return next(supply)
            return getattr(lib, leaf.name) if isinstance(leaf, DType) else leaf

        args, kwargs = _map(give, (self.args, self.kwargs))
        return Call(list(args), kwargs, tensors, leaves)


def x(*shape: int, **fields: Any) -> Array:
    """A tensor argument of the given shape."""
    return Array(shape, **fields)


def sample(*args: Any, **kwargs: Any) -> Sample:
    """A sample written as the call it stands for."""
    return Sample(args, kwargs)


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, list | tuple):
        for branch in tree:
            yield from _leaves(branch)
    elif isinstance(tree, dict):
        yield from _leaves(list(tree.values()))
    else:
        yield tree


def _map(change: Callable[[Any], Any], tree: Any) -> Any:
    if isinstance(tree, list | tuple):
        return type(tree)(_map(change, branch) for branch in tree)
    if isinstance(tree, dict):
        return {key: _map(change, branch) for key, branch in tree.items()}
    return change(tree)


@dataclass(frozen=True)
class ErrorCase:
    """A mistaken call, the exception it raises and the words its message starts with."""

    sample: Sample
    exception: type[Exception]
    phrase: str
    dtype: str = "float64"


def error(
    exception: type[Exception], phrase: str, *args: Any, dtype: str = "float64", **kwargs: Any
) -> ErrorCase:
    """An error case written as the call that makes it."""
    return ErrorCase(Sample(args, kwargs), exception, phrase, dtype)


@dataclass(frozen=True)
class OpInfo:
    """One operator.

    `name` is PyTorch's, with `~variant` added when an operator has several forms. `function`,
    `method` and `inplace` are where it is found in the library; None says that PyTorch has no
    such form, and then no library may have it. `syntax` is an operator that only Python's syntax
    reaches. `receiver` is the position of the method's `self` among the function's arguments.
    `rows` names the rows of the declaration table that it covers besides its own.
    `differentiable_in` is empty for an operator without a derivative; `once` marks one whose
    gradient has none, and so no tangents either. `refuses_as_pytorch` is False
    where gradfn does not yet refuse all that PyTorch refuses: other dtypes, and what is no tensor.
    """

    name: str
    samples: tuple[Sample, ...]
    dtypes: tuple[str, ...] = ALL
    function: str | None = None
    method: str | None = None
    inplace: str | None = None
    syntax: Callable[..., Any] | None = None
    operator: Callable[..., Any] | None = None
    receiver: int = 0
    differentiable_in: tuple[str, ...] = ALL
    random: bool = False
    once: bool = False
    refuses_as_pytorch: bool = True
    errors: tuple[ErrorCase, ...] = ()
    rows: tuple[str, ...] = ()

    @property
    def base(self) -> str:
        """The operator's name without its variant and module."""
        return self.name.split("~")[0].rsplit(".", 1)[-1]

    @property
    def grad_dtypes(self) -> tuple[str, ...]:
        """The dtypes under test in which some sample has gradients."""
        found = [d for d in self.dtypes if any(True for _ in self.cases(d, differentiable=True))]
        return tuple(found)

    def recording(self, case: Sample, dtype: str) -> bool:
        """Whether a result has a history when an argument has one."""
        return case.differentiable and dtype in self.differentiable_in

    def cases(self, dtype: str, differentiable: bool = False) -> Iterator[tuple[Sample, str]]:
        """The samples for a dtype, or those with gradients, each with the key to its values."""
        for i, case in enumerate(self.samples):
            key = f"{self.name}/{i}"
            if dtype in case.dtypes and not (differentiable and self._constant(case, dtype, key)):
                yield case, key

    def _constant(self, case: Sample, dtype: str, key: str) -> bool:
        """Whether the sample has no gradient, by declaration or for want of a leaf."""
        return not self.recording(case, dtype) or not case.differentiated(case.arrays(dtype, key))

    def find(self, lib: ModuleType) -> Callable[..., Any]:
        """The operator as a function of all its arguments."""
        if self.syntax is not None:
            return self.syntax
        if self.function is not None:
            return cast(Callable[..., Any], lookup(lib, self.function))
        assert self.method is not None
        return self.as_method(self.method)

    def as_method(self, name: str) -> Callable[..., Any]:
        """The method `name`, taking its arguments in the function's order."""

        def call(*args: Any, **kwargs: Any) -> Any:
            rest = args[: self.receiver] + args[self.receiver + 1 :]
            return getattr(args[self.receiver], name)(*rest, **kwargs)

        return call

    def run(self, lib: ModuleType, call: Call, form: Callable[..., Any] | None = None) -> Any:
        """The result of `call`, by the given form or by the operator's main one."""
        if self.random:
            lib.manual_seed(0)
        return (form or self.find(lib))(*call.args, **call.kwargs)


def lookup(lib: ModuleType, path: str) -> Any:
    """What a dotted path names in a library."""
    return reduce(getattr, path.split("."), lib)
