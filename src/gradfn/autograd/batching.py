"""vmap levels, and the arrays that stand for batches: the part that knows no operator.

Inside `vmap` a function sees each tensor as one example of a batch. Such a tensor's array is a
`Batched`: it has the shape, dtype and strides of one example, so that every check of shapes, every
view and every node works as on plain tensors; but its values are those of `physical`, a tensor
outside of the level that has the batch as its first dimension. Operators inside the level run
as always but for their kernel, which is replaced by the operator itself on the physical tensors
(ops/batching.py). So derivatives nest with batches in any order: nodes recorded inside the level
hold examples, and nodes recorded outside hold batches.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar, NoReturn, ParamSpec

import numpy as np

from .grad_mode import get_mode, set_mode
from .node import Array
from .variable import Variable

P = ParamSpec("P")

RANDOMNESS = ("error", "different", "same")


class Vmap:
    """An open vmap level; called in place of every operator inside it."""

    apply: ClassVar[Callable[..., Any]]  # set by ops/batching.py

    def __init__(self, size: int, randomness: str) -> None:
        mode = get_mode()
        self.size = size
        self.randomness = randomness
        self.outer = outer = mode.intercept  # who intercepted operators before
        self.duals = mode.level  # the dual level that this one is inside of
        self.differentiable = False  # whether something outside that was computed requires grad
        self.number = 1
        while outer is not None:
            self.number += isinstance(outer, Vmap)
            outer = getattr(outer, "outer", None)

    def __call__(self, *call: Any) -> Any:
        return Vmap.apply(self, *call)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Inside of it the level intercepts operators."""
        mode = get_mode()
        set_mode(mode.replace(intercept=self))
        try:
            yield
        finally:
            set_mode(mode)

    @contextmanager
    def left(self) -> Iterator[None]:
        """Inside of it the level is outside: physical tensors are computed with, and their nodes
        concern no dual level that was opened within."""
        mode = get_mode()
        set_mode(mode.replace(intercept=self.outer, level=self.duals))
        try:
            yield
        finally:
            set_mode(mode)

    def check_random(self) -> None:
        """RuntimeError where random numbers were not asked for."""
        if self.randomness == "never":
            raise RuntimeError(
                "vmap: We do not yet support calling random operations inside of vmap. Please "
                "perform random operations outside of vmap as a workaround"
            )
        if self.randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use "
                "the 'same' or 'different' randomness flags on vmap or perform the randomness "
                "operation out of vmap"
            )

    def owns(self, tensor: Any) -> bool:
        """Whether `tensor` stands inside this level."""
        array = tensor._array
        return type(array) is Batched and array.level is self

    def owns_any(self, tree: Any) -> bool:
        """Whether one of the tensors of a structure stands inside this level."""
        from ..utils._pytree import tree_leaves

        return any(isinstance(leaf, Variable) and self.owns(leaf) for leaf in tree_leaves(tree))

    def batch(self, physical: Any, batched: bool = True, dim: int = 0) -> Any:
        """The tensor that stands for each example of `physical`; with `batched` false, for all of
        `physical` in every example. `dim` is where the caller of vmap had the batch."""
        if physical._edge is not None:
            self.differentiable = True
        return Variable.wrap(Batched.of(self, physical, batched, dim))

    def lift(self, tensor: Any) -> Any:
        """`tensor` inside this level."""
        return tensor if self.owns(tensor) else self.batch(tensor, batched=False)

    def given(self, tensor: Any) -> tuple[Any, int | None]:
        """What `tensor` stands for as the caller of vmap has it, and its batch dimension."""
        physical, batched = self.physical(tensor)
        if not batched:
            return physical, None
        dim = tensor._array.dim
        return physical.movedim(0, dim) if dim else physical, dim

    def result(self, tensor: Any, dim: int = 0) -> Any:
        """The batch of what `tensor` stands for, outside of the level, along `dim`."""
        physical, batched = self.physical(tensor)
        if not batched:
            physical = physical.expand(self.size, *physical.shape)
        return physical.movedim(0, dim) if dim else physical

    def physical(self, tensor: Any) -> tuple[Any, bool]:
        """The tensor outside of the level that has the values of `tensor`, and whether its first
        dimension is the batch."""
        array = tensor._array
        return (array.physical, array.batched) if self.owns(tensor) else (tensor, False)


def vmap_level(size: int, randomness: str = "error") -> Vmap:
    """A new level inside of whatever transforms are open."""
    import_module("gradfn.ops.batching")  # what levels do, and what most programs do not need
    return Vmap(size, randomness)


class Batched(np.ndarray[Any, Any]):
    """An array that stands for one example of a batch, or for what all examples share."""

    level: Vmap
    physical: Any  # a Variable
    batched: bool
    dim: int

    @classmethod
    def of(cls, level: Vmap, physical: Any, batched: bool, dim: int = 0) -> Batched:
        array = physical._array
        if batched:  # the first example shows where each lies in memory
            array = array[0, ...] if len(array) else np.empty(array.shape[1:], array.dtype)
        made: Batched = np.ndarray.view(array, cls)
        made.level, made.physical, made.batched, made.dim = level, physical, batched, dim
        return made

    def _with(self, change: Callable[[Any], Any]) -> Batched:
        """What `change` makes of the values, as an array of the same level."""
        with self.level.left():
            return Batched.of(self.level, change(self.physical), self.batched)

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        from ..dtypes import from_numpy

        return self._with(lambda physical: physical.to(from_numpy(np.dtype(dtype))))

    def copy(self, order: Any = "C") -> Any:
        return self._with(lambda physical: physical.clone())

    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)
        return part if isinstance(part, np.ndarray) else self.item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is not Ellipsis:
            raise unbatched("writing to a part of a batched tensor's array")
        write(self, value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> NoReturn:
        raise unbatched(f"NumPy's {ufunc.__name__}")

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in (np.zeros_like, np.ones_like, np.empty_like, np.einsum_path):  # of shapes
            plain = [np.ndarray.view(a, np.ndarray) if type(a) is Batched else a for a in args]
            return func(*plain, **kwargs)
        raise unbatched(f"NumPy's {func.__name__}")

    def item(self, *args: Any) -> NoReturn:
        raise RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over "
            "calling .item() on a Tensor, please try to rewrite what you're doing with other "
            "operations. If error is occurring somewhere inside PyTorch internals, please file a "
            "bug report."
        )

    tolist = item
    __int__ = __float__ = __complex__ = __index__ = item

    def nonzero(self) -> NoReturn:
        raise RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted "
            "to vmap over aten::nonzero"
        )

    def __bool__(self) -> NoReturn:
        raise RuntimeError(
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control "
            "flow. We don't support that yet, please shout over at "
            "https://github.com/pytorch/functorch/issues/257 ."
        )


def unbatched(what: str) -> NotImplementedError:
    """The error for what vmap cannot do with a batch."""
    return NotImplementedError(
        f"Batching rule not implemented for {what}: inside of vmap it would see one example for all"
    )


def write(target: Batched, value: Any) -> None:
    """Write the array `value` of one example to that of `target`, example by example."""
    from_batch = isinstance(value, Batched) and value.batched
    if from_batch and not target.batched:
        raise RuntimeError(
            "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a "
            "Tensor `other` in extra_args that has more elements than `self`. This happened due to "
            "`other` being vmapped over but `self` not being vmapped over in a vmap. Please try to "
            "use out-of-place operators instead of inplace arithmetic. If said operator is being "
            "called inside the PyTorch framework, please file a bug report instead."
        )
    source = value.physical if isinstance(value, Batched) else Variable.wrap(np.asarray(value))
    with target.level.left():
        if from_batch:
            missing = target.ndim - (source._array.ndim - 1)
            source = source.reshape(source.shape[0], *[1] * missing, *source.shape[1:])
        target.physical.copy_(source)


def current_level() -> Vmap | None:
    """The innermost vmap level that is open here, if no other transform is inside it."""
    intercept = get_mode().intercept
    return intercept if isinstance(intercept, Vmap) else None


def innermost_level() -> Vmap | None:
    """The innermost vmap level that is open here."""
    intercept = get_mode().intercept
    while intercept is not None and not isinstance(intercept, Vmap):
        intercept = getattr(intercept, "outer", None)
    return intercept


def drawn(draw: Callable[[Array], Array], like: Array) -> Any:
    """The tensor of random numbers that `draw` makes for an array like `like`; inside vmap they are
    drawn for each example, or once, as the level's randomness says."""
    level = innermost_level()
    if level is None:
        return Variable.wrap(draw(like))
    level.check_random()
    if level.randomness == "same":
        with level.left():
            return drawn(draw, np.empty(like.shape, like.dtype))
    if isinstance(like, Batched) and like.level is level and like.batched:
        like = like.physical._array
    else:
        like = np.empty((level.size, *like.shape), like.dtype)
    with level.left():
        return level.batch(drawn(draw, like))


def for_each(function: Callable[P, Any]) -> Callable[P, Any]:
    """Let `function`, which makes a new tensor like its first argument, make one for each example
    where that is a batch."""

    @functools.wraps(function)
    def make(*args: P.args, **kwargs: P.kwargs) -> Any:
        made = function(*args, **kwargs)
        array = getattr(args[0], "_array", None) if args else None
        if array is None or not is_batched(array):
            return made
        return repeated(made.detach(), array).requires_grad_(made.requires_grad)

    return make


def repeated(tensor: Any, like: Array) -> Any:
    """A copy of `tensor` for each example of the batches that `like` stands in."""
    levels = [array.level for array in (tensor._array, like) if isinstance(array, Batched)]
    if not levels:
        return tensor.clone()
    level = max(levels, key=lambda level: level.number)
    physical, batched = level.physical(tensor)
    inner: Array = like
    with level.left():
        if isinstance(like, Batched) and like.level is level:
            inner = like.physical._array
            if like.batched and not batched:
                physical, batched = physical.expand(level.size, *physical.shape), True
        return level.batch(repeated(physical, inner), batched)


def holds(target: Array, value: Array) -> bool:
    """Whether `value` can be written to `target`: that is repeated wherever `value` is."""
    while isinstance(value, Batched):
        level = value.level
        while isinstance(target, Batched) and target.level.number > level.number:
            target = target.physical._array
        if not isinstance(target, Batched) or target.level is not level:
            return False
        if value.batched and not target.batched:
            return False
        target, value = target.physical._array, value.physical._array
    return True


def inside(tensor: Any) -> Any:
    """`tensor` as it is seen within the innermost vmap level that is open here."""
    level = innermost_level()
    return tensor if level is None else level.lift(tensor)


def requires_grad(tensor: Any) -> bool:
    """Whether `tensor`, or the batch that it is an example of, requires a gradient."""
    while not tensor.requires_grad and is_batched(tensor._array):
        tensor = tensor._array.physical
    return bool(tensor.requires_grad)


def all_values(array: Array) -> Array:
    """The values of all examples, for checks that concern each of them."""
    while isinstance(array, Batched):
        array = array.physical._array
    return array


def is_batched(array: Array) -> bool:
    """Whether `array` stands for an example of a batch."""
    return type(array) is Batched


def _refusing(name: str) -> Callable[..., NoReturn]:
    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise unbatched(f"NumPy's {name}")

    method.__name__ = name
    return method


for _name in [
    "all",
    "any",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "choose",
    "clip",
    "compress",
    "conj",
    "conjugate",
    "cumprod",
    "cumsum",
    "diagonal",
    "dot",
    "dump",
    "dumps",
    "fill",
    "flatten",
    "max",
    "mean",
    "min",
    "partition",
    "prod",
    "put",
    "repeat",
    "round",
    "searchsorted",
    "sort",
    "std",
    "sum",
    "take",
    "tobytes",
    "tofile",
    "trace",
    "var",
]:
    setattr(Batched, _name, _refusing(_name))
