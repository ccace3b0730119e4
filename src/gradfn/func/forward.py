"""Forward mode as function transforms: jvp, linearize, and Jacobians column by column."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import creation
from ..autograd.backward import grad as gradients_of
from ..autograd.forward_ad import check_size, nested_level
from ..autograd.grad_mode import enable_grad
from ..autograd.variable import Variable
from ..utils._pytree import tree_flatten, tree_leaves, tree_map, tree_structure
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


def jvp(
    func: Func, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, ...]:
    """``(func(*primals), J tangents)``: the output and how it moves with the `tangents`.

    `primals` and `tangents` are tuples of tensors or of structures of them, alike. Outputs that do
    not depend on the primals have zero tangents, or with `strict` raise RuntimeError. With
    `has_aux` the result is ``(output, tangent, aux)``. PyTorch's `torch.func.jvp`.

    >>> import gradfn
    >>> jvp(gradfn.sin, (gradfn.zeros(2),), (gradfn.tensor([1.0, 2.0]),))
    (tensor([0., 0.]), tensor([1., 2.]))
    """
    about = "jvp(f, primals, tangents)"
    flat, spec = _arguments(about, "primals", primals)
    move_spec = tree_structure(tangents)
    if spec != move_spec:
        raise RuntimeError(
            f"{about}: Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with "
            f"structure {spec} and tangents with structure {move_spec}"
        )
    moves, _ = _arguments(about, "tangents", tangents)
    for primal, tangent in zip(flat, moves, strict=True):
        check_size(primal, tangent)
    with nested_level() as level:
        duals = []
        for primal, tangent in zip(flat, moves, strict=True):
            dual = primal.view_as(primal)
            level.give(dual, tangent if tangent.dtype == primal.dtype else tangent.to(primal.dtype))
            duals.append(dual)
        with transforming():
            output = func(*rebuilt(duals, spec))
        output, aux = split_aux(about, output, has_aux)
        outputs, out_spec = tensors_returned(about, output)
        moved = [level.tangent_of(o) for o in outputs]
        made = [_without(level, o) for o in outputs]
        aux = with_leaves(aux, lambda tensor: _without(level, tensor))
    if strict and any(tangent is None for tangent in moved):
        raise RuntimeError(
            f"{about}: The output of f is independent of the inputs. This is not allowed with "
            "strict=True."
        )
    pairs = zip(moved, made, strict=True)
    moved = [creation.zeros_like(o.detach()) if t is None else t for t, o in pairs]
    result = rebuilt(made, out_spec), rebuilt(moved, out_spec)
    return (*result, aux) if has_aux else result


def _without(level: Any, tensor: Any) -> Any:
    """`tensor` without its tangent at `level`, but all others."""
    if tensor._dual is None:
        return tensor
    made = Variable.wrap(tensor._array, tensor._edge, tensor.memory())
    if tensor.is_leaf:
        made._accumulator = tensor._accumulator
    made._dual = tensor._dual.besides(level)
    return made


def _arguments(about: str, name: str, given: Any) -> tuple[list[Any], Any]:
    """The tensors of a tuple of arguments, and its structure."""
    if not isinstance(given, tuple):
        raise RuntimeError(
            f"{about}: Expected {name} to be a tuple. E.g. it should be valid to call f(*{name})."
        )
    flat, spec = flat_tensors(
        given,
        lambda leaf: RuntimeError(
            f"{about}: Expected {name} to only contain Tensors, got unsupported type {type(leaf)}"
        ),
    )
    if not flat:
        raise RuntimeError(f"{about}: Expected at least one Tensor in {name}: it is {given}")
    return flat, spec


def linearize(func: Func, *primals: Any) -> tuple[Any, Func]:
    """``(func(*primals), push)``, where ``push(*tangents)`` is ``J tangents`` at these primals.

    `func` is run once; `push` is linear and cheap to call again. Computed by reverse passes through
    a reverse pass. PyTorch's `torch.func.linearize`.

    >>> import gradfn
    >>> output, push = linearize(gradfn.sin, gradfn.zeros(2))
    >>> push(gradfn.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """
    variables = with_leaves(primals, fresh)
    with enable_grad():
        with transforming():
            output = func(*variables)
        flat, spec = tree_flatten(variables)
        outputs, out_spec = tensors_returned("linearize(f, *primals)", output)
        moving = [o for o in outputs if o.requires_grad]
        cotangents = [fresh(creation.zeros_like(o.detach())) for o in moving]
        rows: list[Any] = [None] * len(flat)
        if moving:
            rows = list(
                gradients_of(moving, flat, cotangents, create_graph=True, allow_unused=True)
            )

    def push(*tangents: Any) -> Any:
        """The tangents of the output from those of the primals."""
        moves, given = tree_flatten(tangents)
        if given != spec:
            raise RuntimeError(
                f"Expected the tangents {given} to have the same argspec as the primals {spec}"
            )
        for variable, tangent in zip(flat, moves, strict=True):
            if variable.shape != tangent.shape:
                raise RuntimeError(
                    f"linearize(f, *primals): a tangent has shape {list(tangent.shape)}, its "
                    f"primal {list(variable.shape)}"
                )
        pairs = [(r, t) for r, t in zip(rows, moves, strict=True) if r is not None]
        pairs = [(r, t) for r, t in pairs if r.requires_grad]
        moved: list[Any] = [None] * len(cotangents)
        if pairs:
            linear, started = zip(*pairs, strict=True)
            moved = list(
                gradients_of(
                    linear,
                    cotangents,
                    started,
                    retain_graph=True,
                    create_graph=recorded_outside([*linear, *started], [*flat, *cotangents]),
                    allow_unused=True,
                )
            )
        by_output = iter(moved)
        found = [next(by_output) if o.requires_grad else None for o in outputs]
        pairs = zip(found, outputs, strict=True)  # type: ignore[assignment]
        filled = [creation.zeros_like(o.detach()) if t is None else t for t, o in pairs]
        return rebuilt(taken_out(filled, [*flat, *cotangents]), out_spec)

    return taken_out(output, flat), push


def jacfwd(
    func: Func,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Func:
    """The Jacobian of `func` by its argument number `argnums`, column by column.

    As `jacrev`, but in forward mode: cheaper where there are fewer inputs than outputs. All columns
    are computed together; `randomness` is that of `vmap`. PyTorch's `torch.func.jacfwd`.

    >>> import gradfn
    >>> jacfwd(gradfn.exp)(gradfn.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_numbers("jacfwd", argnums, len(args))
        primals = tuple(args[n] for n in chosen)
        flat, spec = _arguments("jacfwd(f, argnums)", "primals", primals)
        check_real("jacfwd", "inputs", flat)

        def of_chosen(*inputs: Any) -> Any:
            every = list(args)
            for n, value in zip(chosen, inputs, strict=True):
                every[n] = value
            return func(*every, **kwargs)

        def push(basis: Any) -> Any:
            output, *moved = jvp(of_chosen, primals, basis, has_aux=has_aux)
            check_real("jacfwd", "outputs", tree_leaves(output))
            return tuple(moved)

        columns, *aux = vmap(push, randomness=randomness)(rebuilt(_basis(flat), spec))
        result = _by_output(columns, flat, spec, isinstance(argnums, int))
        return (result, with_leaves(aux[0], lambda tensor: tensor[0])) if has_aux else result

    return jacobian


def _basis(flat: list[Any]) -> list[Any]:
    """The columns of the identity for several tensors, stacked for each of them."""
    sizes = [t.numel() for t in flat]
    total = sum(sizes)
    made = []
    for i, tensor in enumerate(flat):
        basis = creation.zeros((total, sizes[i]), dtype=tensor.dtype)
        basis.diagonal(-sum(sizes[:i])).fill_(1)
        made.append(basis.reshape(total, *tensor.shape))
    return made


def _by_output(columns: Any, flat: list[Any], spec: Any, single: bool) -> Any:
    """Stacked columns cut into the derivatives of each output by each input."""
    sizes = [t.numel() for t in flat]

    def blocks(stacked: Any) -> Any:
        parts = stacked.movedim(0, -1).split(sizes, -1)
        pairs = zip(parts, flat, strict=True)
        made = rebuilt([p.reshape(*p.shape[:-1], *t.shape) for p, t in pairs], spec)
        return made[0] if single else made

    return tree_map(blocks, columns)
