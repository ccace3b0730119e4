"""Reverse mode as function transforms: grad, vjp, and Jacobians row by row."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import creation
from ..autograd.backward import grad as gradients_of
from ..autograd.grad_mode import enable_grad
from ..autograd.variable import Variable
from ..ops.joining import cat
from ..utils._pytree import tree_flatten, tree_leaves, tree_map
from .levels import (
    check_real,
    chosen_numbers,
    flat_tensors,
    fresh,
    rebuilt,
    recorded_outside,
    split_aux,
    taken_out,
    tensors_returned,
    transforming,
    with_leaves,
)
from .mapping import vmap

Func = Callable[..., Any]
Argnums = int | tuple[int, ...]


def grad(func: Func, argnums: Argnums = 0, has_aux: bool = False) -> Func:
    """The gradient of `func`, which returns one element, by its argument number `argnums`.

    Several numbers give a tuple. Arguments may be structures of tensors; the gradient is structured
    alike, and zero where `func` does not depend on it. With `has_aux`, `func` returns
    ``(output, aux)`` and the result is ``(gradient, aux)``. RuntimeError where the output is not a
    single element. PyTorch's `torch.func.grad`.

    >>> import gradfn
    >>> grad(grad(gradfn.sin))(gradfn.tensor(0.5))
    tensor(-0.4794)
    """

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        if has_aux:
            grads, (_, aux) = found
            return grads, aux
        return found[0]

    return gradient


def grad_and_value(func: Func, argnums: Argnums = 0, has_aux: bool = False) -> Func:
    """``(gradient, value)`` of `func`, or ``(gradient, (value, aux))``: see `grad`.

    >>> import gradfn
    >>> grad_and_value(gradfn.exp)(gradfn.tensor(0.0))
    (tensor(1.), tensor(1.))
    """

    @functools.wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        about = "grad_and_value(f)(*args)"
        args, chosen = _variables(about, args, argnums)
        with enable_grad(), transforming():
            output, aux = split_aux(about, func(*args, **kwargs), has_aux)
        _check_scalar(output)
        variables = [v for v in tree_leaves(chosen) if isinstance(v, Variable)]
        grads = _pulled_back([output], variables, [None], keep=False)
        found = iter(taken_out(grads, variables))
        result = with_leaves(chosen, lambda _: next(found))
        value, aux = taken_out((output, aux), variables)
        return (result, (value, aux)) if has_aux else (result, value)

    return both


def vjp(func: Func, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """``(func(*primals), pull)``, where ``pull(*cotangents)`` gives ``cotangentᵀ J``.

    `pull` takes cotangents structured as the output and returns one for each of `primals`; it may
    be called again, and mapped by `vmap`. With `has_aux` the result is ``(output, pull, aux)``.
    PyTorch's `torch.func.vjp`.

    >>> import gradfn
    >>> output, pull = vjp(gradfn.sin, gradfn.zeros(2))
    >>> pull(gradfn.tensor([1.0, 2.0]))
    (tensor([1., 2.]),)
    """
    about = "vjp(f, *primals)"
    primals = with_leaves(primals, fresh)
    variables, spec = flat_tensors(
        primals,
        lambda leaf: RuntimeError(f"{about}: Expected all primals to be Tensors, got {type(leaf)}"),
    )
    with enable_grad(), transforming():
        output, aux = split_aux(about, func(*primals), has_aux)
    outputs, out_spec = tensors_returned(about, output)

    def pull(
        *cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> tuple[Any, ...]:
        """The cotangents of the primals from those of the output."""
        given: Any = cotangents[0] if len(cotangents) == 1 else cotangents
        if isinstance(output, tuple) and len(output) == 1 and isinstance(given, Variable):
            given = (given,)
        flat, given_spec = tree_flatten(given)
        if given_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {given_spec}, primal output: {out_spec}"
            )
        grads = _pulled_back(outputs, variables, flat, retain_graph, create_graph)
        result: tuple[Any, ...] = rebuilt(taken_out(grads, variables), spec)
        return result

    made, aux = taken_out((output, aux), variables)
    return (made, pull, aux) if has_aux else (made, pull)


def _variables(about: str, args: tuple[Any, ...], argnums: Argnums) -> tuple[Any, Any]:
    """The arguments with fresh variables in those of `argnums`, and these alone."""
    numbers = chosen_numbers(about, argnums, len(args))
    made = list(args)
    for n in numbers:
        made[n] = with_leaves(args[n], fresh)
    chosen = made[numbers[0]] if isinstance(argnums, int) else tuple(made[n] for n in numbers)
    return tuple(made), chosen


def _check_scalar(output: Any) -> None:
    if not isinstance(output, Variable):
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got "
            f"{type(output).__name__}"
        )
    if output._array.ndim != 0:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor "
            f"with {output._array.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs "
            "instead?"
        )


def _pulled_back(
    outputs: list[Any],
    variables: list[Any],
    cotangents: list[Any],
    keep: bool,
    create_graph: bool | None = None,
) -> list[Any]:
    """The gradients of `variables`, zeros where there are none; recorded where something outside
    wants a derivative of them."""
    pairs = [(o, c) for o, c in zip(outputs, cotangents, strict=True) if o._edge is not None]
    found: list[Any] = [None] * len(variables)
    if pairs and variables:
        moving = [o for o, _ in pairs] + [c for _, c in pairs if c is not None]
        if create_graph is None:
            create_graph = recorded_outside(moving, variables)
        started_at, given = zip(*pairs, strict=True)
        found = list(
            gradients_of(
                started_at,
                variables,
                given,
                retain_graph=keep or create_graph,
                create_graph=create_graph,
                allow_unused=True,
            )
        )
    pairs = zip(found, variables, strict=True)  # type: ignore[assignment]
    return [creation.zeros_like(v.detach()) if g is None else g for g, v in pairs]


def jacrev(
    func: Func,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Func:
    """The Jacobian of `func` by its argument number `argnums`, row by row.

    ``J[i, j] = ∂output[i] / ∂input[j]``, of the output's shape followed by the input's; structures
    of outputs and inputs give structures of them. The rows are computed together, `chunk_size` at a
    time. PyTorch's `torch.func.jacrev`.

    >>> import gradfn
    >>> jacrev(gradfn.exp)(gradfn.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_numbers("jacrev", argnums, len(args))

        def of_chosen(*inputs: Any) -> Any:
            every = list(args)
            for n, value in zip(chosen, inputs, strict=True):
                every[n] = value
            return func(*every, **kwargs)

        check_real("jacrev", "inputs", tree_leaves([args[n] for n in chosen]))
        output, pull, *aux = vjp(of_chosen, *(args[n] for n in chosen), has_aux=has_aux)
        check_real("jacrev", "outputs", tree_leaves(output))
        blocks = _rows(output, pull, [args[n] for n in chosen], chunk_size)
        single = isinstance(argnums, int)
        result = tree_map(lambda b: b[0] if single else b, blocks, is_leaf=_is_block)
        return (result, *aux) if has_aux else result

    return jacobian


class _Block(tuple[Any, ...]):
    """The derivatives of one output, by input."""


def _is_block(value: Any) -> bool:
    return isinstance(value, _Block)


def _rows(output: Any, pull: Func, inputs: list[Any], chunk_size: int | None) -> Any:
    """For each output the tuple, over inputs, of its derivatives."""
    outputs, spec = tree_flatten(output)
    sizes = [o.numel() for o in outputs]
    total = sum(sizes)
    bounds = [sum(sizes[:i]) for i in range(len(sizes) + 1)]
    step = chunk_size or max(total, 1)
    parts = []
    for start in range(0, max(total, 1), step):
        rows = min(step, total - start)
        basis = [_basis(o, b, start, rows) for o, b in zip(outputs, bounds, strict=False)]
        if chunk_size == 1:  # no vmap: for functions that it cannot map
            row = pull(rebuilt([b.squeeze(0) for b in basis], spec))
            parts.append(tree_map(lambda t: t.unsqueeze(0), row))
        else:
            parts.append(vmap(lambda c: pull(c))(rebuilt(basis, spec)))
    flats = [tree_flatten(part)[0] for part in parts]
    whole = [cat(column) if len(column) > 1 else column[0] for column in zip(*flats, strict=True)]
    _, in_spec = tree_flatten(tuple(inputs))
    made = []
    for o, start, size in zip(outputs, bounds, sizes, strict=False):
        derivatives = [w.narrow(0, start, size).reshape(*o.shape, *w.shape[1:]) for w in whole]
        made.append(_Block(rebuilt(derivatives, in_spec)))
    return rebuilt(made, spec)


def _basis(output: Any, offset: int, start: int, rows: int) -> Any:
    """Rows of the identity, `start` and those after it, in columns from `offset` on."""
    size = output.numel()
    basis: Any = creation.zeros((rows, size), dtype=output.dtype)
    first, last = max(start, offset), min(start + rows, offset + size)
    if first < last:
        basis[first - start : last - start].diagonal(first - offset).fill_(1)
    return basis.reshape(rows, *output.shape)


def hessian(func: Func, argnums: Argnums = 0) -> Func:
    """The Hessian of `func`, forward over reverse: ``jacfwd(jacrev(func))``.

    >>> import gradfn
    >>> hessian(lambda x: x.prod())(gradfn.tensor([2.0, 3.0]))
    tensor([[0., 1.],
            [1., 0.]])
    """
    from .forward import jacfwd

    return jacfwd(jacrev(func, argnums), argnums)
