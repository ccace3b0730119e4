"""Custom functions inside vmap: the user's own batching rule, or one generated from `forward`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from .batching import Vmap, vmap_level
from .grad_mode import ModeChange
from .variable import Variable

if TYPE_CHECKING:
    from .function import Function


class VmapInfo(NamedTuple):
    """What a custom function's `vmap` is told of the call."""

    batch_size: int
    randomness: str


def batched_forward(cls: type[Function], level: Vmap, args: tuple[Any, ...], grad: bool) -> Any:
    """The results, inside `level`, of `cls` on `args`; recorded outside of it if `grad`."""
    from .function import Function

    by_user = cls.vmap is not Function.vmap
    if by_user and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and "
            "an overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
            "overridden vmap staticmethod to avoid ambiguity."
        )
    if not by_user and not cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please "
            "override and implement the vmap staticmethod or set generate_vmap_rule=True."
        )
    physical, flags = taken_out(level, args)
    with level.left(), ModeChange(grad=grad):
        if by_user:
            return _by_user(cls, level, args)
        generated, made_flags = _generated(cls, level.size, level.randomness, flags)
        outputs = generated.apply(*physical)
    if isinstance(outputs, tuple):
        return tuple(put_in(level, outputs, made_flags))
    return put_in(level, [outputs], made_flags)[0]


def _by_user(cls: type[Function], level: Vmap, args: tuple[Any, ...]) -> Any:
    """The results by the user's `vmap`, which gets batches as the caller of vmap has them."""
    from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten

    flat, spec = tree_flatten(args)
    given = [level.given(v) if isinstance(v, Variable) else (v, None) for v in flat]
    in_dims = tree_unflatten([dim for _, dim in given], spec)
    info = VmapInfo(level.size, level.randomness)
    answer = cls.vmap(info, in_dims, *tree_unflatten([v for v, _ in given], spec))
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise RuntimeError(
            f"Expected the {cls.__name__} vmap staticmethod to have two returns, an output and "
            "out_dims with pytree structure compatible with the output. Got a "
            f"{type(answer).__name__}"
        )
    outputs, out_dims = answer
    results, structure = tree_flatten(outputs)
    dims = _broadcast_to_and_flatten(out_dims, structure)
    if dims is None:
        raise RuntimeError(
            f"The {cls.__name__} vmap staticmethod returned an incompatible (outputs, out_dims) "
            f"tuple. Expected out_dims={out_dims} to be compatible with the structure of "
            f"`output`, which is {structure}."
        )
    pairs = zip(results, dims, strict=True)
    made = [x if d is None else level.batch(x.movedim(d, 0)) for x, d in pairs]
    return tree_unflatten(made, structure)


def taken_out(level: Vmap, values: Any) -> tuple[list[Any], list[bool]]:
    """Values outside of `level`, and which of them are batches."""
    pairs = [level.physical(v) if isinstance(v, Variable) else (v, False) for v in values]
    return [v for v, _ in pairs], [batched for _, batched in pairs]


def put_in(level: Vmap, values: Any, flags: Any) -> list[Any]:
    """Values inside `level`."""
    return [
        level.batch(v, flag) if isinstance(v, Variable) else v
        for v, flag in zip(values, flags, strict=True)
    ]


def _generated(
    cls: type[Function], size: int, randomness: str, in_flags: list[bool]
) -> tuple[type[Function], list[bool]]:
    """A custom function of batches that runs `cls` inside a level of its own, and a list that
    tells, once it has run, which of its results are batches."""
    from .function import Function

    made_flags: list[bool] = []

    def inside() -> Vmap:
        return vmap_level(size, randomness)

    class Generated(Function):
        @staticmethod
        def forward(*physical: Any) -> Any:
            level = inside()
            with level.entered():
                outputs = cls.forward(*put_in(level, physical, in_flags))
            several = isinstance(outputs, tuple)
            found, flags = taken_out(level, outputs if several else [outputs])
            made_flags[:] = flags
            return tuple(found) if several else found[0]

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            level = inside()
            several = isinstance(output, tuple)
            given = put_in(level, inputs, in_flags)
            made = put_in(level, output if several else [output], made_flags)
            inner = _Context(ctx, level)
            with level.entered():
                cls.setup_context(inner, tuple(given), tuple(made) if several else made[0])
            inner.hand_over()
            ctx.inner = inner

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            level = inside()
            with level.entered():
                found = cls.backward(
                    ctx.inner.at(level, ctx.saved_tensors), *put_in(level, grads, made_flags)
                )
            found = found if isinstance(found, tuple) else (found,)
            return tuple(_summed(level, g, flag) for g, flag in zip(found, in_flags, strict=True))

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            level = inside()
            with level.entered():
                moved = cls.jvp(
                    ctx.inner.at(level, ctx.saved_tensors), *put_in(level, tangents, in_flags)
                )
            several = isinstance(moved, tuple)
            pairs = zip(moved if several else [moved], made_flags, strict=True)
            found = [level.result(t) if due and t is not None else t for t, due in pairs]
            return tuple(found) if several else found[0]

    Generated.__name__ = f"Vmapped{cls.__name__}"
    return Generated, made_flags


def _summed(level: Vmap, grad: Any, batched: bool) -> Any:
    """The gradient of an argument, summed over the examples where they share it."""
    if not isinstance(grad, Variable):
        return grad
    if batched:
        return level.result(grad)
    physical, is_batch = level.physical(grad)
    return physical.sum(0) if is_batch else physical * level.size


class _Context(SimpleNamespace):
    """The ctx that a generated rule gives to the user's methods: what they save is kept outside
    of the level, by the ctx of the batch."""

    def __init__(self, outer: Any, level: Vmap) -> None:
        super().__init__()
        self.__dict__.update(_outer=outer, _level=level, _saved=(), _for_forward=(), _flags=[])
        self.needs_input_grad = outer.needs_input_grad

    def save_for_backward(self, *tensors: Any) -> None:
        self._saved = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        self._for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        raise RuntimeError(
            "NYI: mark_dirty inside of vmap with generate_vmap_rule=True: write to a copy instead"
        )

    def mark_non_differentiable(self, *args: Any) -> None:
        self._outer.mark_non_differentiable(*taken_out(self._level, args)[0])

    def set_materialize_grads(self, value: bool) -> None:
        self._outer.set_materialize_grads(value)

    def hand_over(self) -> None:
        """Let the outer ctx keep what was saved."""
        saved, self._flags = taken_out(self._level, self._saved)
        self._outer.save_for_backward(*saved)
        if self._for_forward:
            kept, _ = taken_out(self._level, self._for_forward)
            self._outer.save_for_forward(*kept)

    def at(self, level: Vmap, saved: Any) -> _Context:
        """This ctx with the tensors `saved`, inside `level`."""
        self.saved_tensors = tuple(put_in(level, saved, self._flags))
        return self
