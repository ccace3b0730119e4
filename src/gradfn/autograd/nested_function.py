"""Custom functions of nested tuples, lists and dicts of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .function import Function


class NestedIOFunction(Function):
    """A `Function` whose arguments and results are nested tuples, lists and dicts of tensors.

    Subclasses define ``forward_extended(ctx, *args)`` and ``backward_extended(ctx, *grads)``, which
    gets and gives gradients nested like the results and the arguments; call them by `apply`.

    >>> import gradfn
    >>> class Twice(NestedIOFunction):
    ...     @staticmethod
    ...     def forward_extended(ctx, pair):
    ...         return [2 * t for t in pair]
    ...     @staticmethod
    ...     def backward_extended(ctx, grads):
    ...         return [2 * g for g in grads]
    >>> x = gradfn.ones(1, requires_grad=True)
    >>> a, b = Twice.apply([x, x])
    >>> (a + b).backward()
    >>> x.grad
    tensor([4.])
    """

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward_extended` on `args`, and record it."""
        arrangement: list[Any] = [args, None]  # of the arguments, and of the results
        flat = super().apply(arrangement, *_flattened(args))
        return _arranged(iter(flat), arrangement[1])

    @classmethod
    def forward(cls, ctx: Any, arrangement: list[Any], *args: Any) -> Any:
        ctx.arrangement = arrangement
        arrangement[1] = cls.forward_extended(ctx, *_arranged(iter(args), arrangement[0]))
        return tuple(_flattened(arrangement[1]))

    @classmethod
    def backward(cls, ctx: Any, *grads: Any) -> Any:
        nested = _arranged(iter(grads), ctx.arrangement[1])
        results = cls.backward_extended(ctx, *(nested if isinstance(nested, tuple) else (nested,)))
        return (None, *_flattened(results))

    @staticmethod
    def forward_extended(ctx: Any, *args: Any) -> Any:
        """Compute the nested results. To be overridden."""
        raise NotImplementedError("forward_extended is to be overridden")

    @staticmethod
    def backward_extended(ctx: Any, *grads: Any) -> Any:
        """Gradients of the arguments, nested as they are. To be overridden."""
        raise NotImplementedError("backward_extended is to be overridden")


def _flattened(values: Any) -> Iterator[Any]:
    """The leaves of nested tuples, lists and dicts, in order."""
    if isinstance(values, dict):
        values = tuple(values.values())
    if isinstance(values, tuple | list):
        for value in values:
            yield from _flattened(value)
    else:
        yield values


def _arranged(values: Iterator[Any], pattern: Any) -> Any:
    """The next `values` nested as in `pattern`."""
    if isinstance(pattern, dict):
        return {key: _arranged(values, item) for key, item in pattern.items()}
    if isinstance(pattern, tuple | list):
        return type(pattern)(_arranged(values, item) for item in pattern)
    return next(values)
