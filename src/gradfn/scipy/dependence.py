"""What a function depends on beside its variables, and operations that SciPy computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.function import Function
from ..autograd.grad_mode import ModeChange, enable_grad
from ..autograd.variable import Variable
from ..dtypes import FLOAT
from ..func.levels import fresh, taken_out
from ..func.modules import functional_call
from ..nn.modules.module import Module
from ..ops.joining import stack
from ..utils._pytree import tree_flatten
from .evaluation import Func, pushed_forward

Tensors = Sequence[Any]


class Dependence:
    """The tensors that ``f(..., *args)`` can be differentiated by, beside its first arguments.

    `tensors` are those of floating point in `args`, also in dicts, lists and tuples there, and the
    parameters of `f` where that is a module. The function and its arguments can be had with other
    tensors in their place.
    """

    def __init__(self, f: Any, args: tuple[Any, ...]) -> None:
        self.f = f
        self._leaves, self._spec = tree_flatten(args)
        self._places = [place for place, leaf in enumerate(self._leaves) if _is_variable(leaf)]
        parameters = dict(f.named_parameters()) if isinstance(f, Module) else {}
        self._names = list(parameters)
        self.tensors = [*(self._leaves[place] for place in self._places), *parameters.values()]

    def args(self, tensors: Tensors) -> tuple[Any, ...]:
        """The arguments with `tensors` in place of their own."""
        leaves = list(self._leaves)
        for place, tensor in zip(self._places, tensors, strict=False):
            leaves[place] = tensor
        args: tuple[Any, ...] = self._spec.unflatten(leaves)
        return args

    def function(self, tensors: Tensors) -> Func:
        """The function of its first arguments alone, with `tensors` in place of its own."""
        args = self.args(tensors)
        if not self._names:
            return lambda *variables: self.f(*variables, *args)
        parameters = dict(zip(self._names, tensors[len(self._places) :], strict=True))
        return lambda *variables: functional_call(self.f, parameters, (*variables, *args))

    def check_closed(self, values: Tensors, name: str) -> None:
        """RuntimeError where `values`, computed from tensors without a graph, have one."""
        if any(value.requires_grad for value in values):
            raise RuntimeError(
                f"{name} depends on a tensor that requires grad and is not among its arguments, so "
                "that its gradient would be missing: pass it as an argument, or make the function "
                "a module with it as a parameter, or detach() it"
            )


def _is_variable(leaf: Any) -> bool:
    return isinstance(leaf, Variable) and leaf.dtype.category >= FLOAT


class Remembered:
    """The last result of a function of tensors, for the very same arrays.

    So what a forward pass has computed serves the backward passes, without being kept in the
    graph, where a batch of vmap would hold one result for all of its examples.
    """

    def __init__(self) -> None:
        self._arrays: list[Any] = []
        self._result: Any = None

    def of(self, compute: Callable[[Tensors], Any], tensors: Tensors) -> Any:
        """``compute(tensors)``, computed now or the last time."""
        arrays = [tensor._array for tensor in tensors]
        known = len(arrays) == len(self._arrays)
        if not known or any(a is not b for a, b in zip(arrays, self._arrays, strict=True)):
            self._result, self._arrays = compute(tensors), arrays
        return self._result


class Numeric(Function):
    """A custom function that SciPy computes, of something that is no tensor and of tensors.

    `compute` gets plain tensors, outside of all transforms. `backward` is made of differentiable
    operations, which gives forward mode, too; inside vmap it all runs once for each example.
    """

    @staticmethod
    def compute(what: Any, tensors: Tensors) -> Tensors:
        """The results. To be overridden."""
        raise NotImplementedError

    @classmethod
    def forward(cls, what: Any, *tensors: Any) -> Any:
        with ModeChange(intercept=None, level=None, saved_hooks=()):
            return tuple(cls.compute(what, [tensor.detach() for tensor in tensors]))

    @classmethod
    def setup_context(cls, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep the results and the tensors that they were computed from."""
        ctx.what, ctx.results = inputs[0], len(output)
        ctx.save_for_backward(*output, *inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @classmethod
    def jvp(cls, ctx: Any, _: None, *tangents: Any) -> Any:
        """The tangents of the results."""
        with enable_grad():
            variables = [fresh(tensor) for tensor in ctx.saved_tensors]
            outputs = cls.apply(ctx.what, *variables)
            return tuple(taken_out(list(pushed_forward(outputs, variables, tangents)), variables))

    @classmethod
    def vmap(cls, info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """The results for all examples, stacked."""
        results = []
        for example in range(info.batch_size):
            pairs = zip(args, in_dims, strict=True)
            results.append(cls.apply(*(a if d is None else a.select(d, example) for a, d in pairs)))
        outputs = tuple(stack(column) for column in zip(*results, strict=True))
        return outputs, (0,) * len(outputs)
