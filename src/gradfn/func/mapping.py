"""vmap: a function of one example as a function of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..autograd.batching import RANDOMNESS, Vmap, vmap_level
from ..autograd.variable import Variable
from ..ops.joining import cat
from ..random import get_rng_state, set_rng_state
from ..utils._pytree import (
    TreeSpec,
    _broadcast_to_and_flatten,
    tree_flatten,
    tree_leaves,
    tree_unflatten,
)

Dims = Any  # an int or None, or a structure of them


def vmap(
    func: Callable[..., Any],
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """`func`, a function of single examples, as a function of batches: ``y[i] = func(x[i])``.

    `in_dims` names for each argument (or each tensor within it) the dimension to map over, None for
    what all examples share; `out_dims` where the batch comes in the results. The examples are
    computed together, `chunk_size` of them at a time. `randomness` says whether random numbers are
    an "error", "different" for each example, or the "same" for all. Keyword arguments are shared.
    ValueError where dimensions and arguments do not fit, RuntimeError where `func` looks at values
    of an example, as ``if x > 0`` does. PyTorch's `torch.func.vmap`.

    >>> import gradfn
    >>> x = gradfn.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> vmap(gradfn.dot)(x, x)
    tensor([ 5., 25.])
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        flat, dims, spec, size = _inputs(func, in_dims, args)

        def run(flat: list[Any], size: int) -> Any:
            return _mapped(func, flat, dims, spec, size, out_dims, randomness, kwargs)

        if chunk_size is None or chunk_size >= size:
            return run(flat, size)
        state = get_rng_state() if randomness == "same" else None
        parts = []
        for start in range(0, size, chunk_size):
            if state is not None:
                set_rng_state(state)
            parts.append(run(*_chunk(flat, dims, start, min(chunk_size, size - start))))
        return _chunks_joined(func, out_dims, parts)

    return mapped


def _chunk(flat: list[Any], dims: list[Any], start: int, size: int) -> tuple[list[Any], int]:
    """The part of the batch that begins at `start`."""
    pairs = zip(flat, dims, strict=True)
    return [x if d is None else x.narrow(d, start, size) for x, d in pairs], size


def _chunks_joined(func: Callable[..., Any], out_dims: Dims, parts: list[Any]) -> Any:
    """The results of chunks in one; what is not batched is the last chunk's."""
    flats, specs = zip(*(tree_flatten(part) for part in parts), strict=True)
    dims = _out_dims(func, out_dims, specs[0])
    columns = zip(dims, zip(*flats, strict=True), strict=True)
    joined = [c[-1] if d is None else cat(c, d) for d, c in columns]
    return tree_unflatten(joined, specs[0])


def _inputs(
    func: Callable[..., Any], in_dims: Dims, args: tuple[Any, ...]
) -> tuple[list[Any], list[Any], TreeSpec, int]:
    """The arguments' leaves, the dimension of each, their structure, and the batch's size."""
    name = _name(func)
    if not isinstance(in_dims, int | tuple):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a "
            f"(potentially nested) tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs. The latter is unsupported."
        )
    flat, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    about = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if dims is None:
        raise ValueError(
            f"{about}in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    dims = [_in_dim(about, arg, dim) for arg, dim in zip(flat, dims, strict=True)]
    sizes = [arg.shape[dim] for arg, dim in zip(flat, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): at least one Tensor must be mapped "
            "over, and no in_dim is an integer"
        )
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return flat, dims, spec, sizes[0]


def _in_dim(about: str, arg: Any, dim: Any) -> int | None:
    """The dimension of `arg` to map over, checked and counted from the front."""
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{about}Got in_dim={dim} for an input but in_dim must be either an integer dimension "
            "or None."
        )
    if not isinstance(arg, Variable):
        raise ValueError(
            f"{about}Got in_dim={dim} for an input but the input is of type {type(arg)}. We cannot "
            "vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    rank = arg._array.ndim
    if not -rank <= dim < rank:
        raise ValueError(
            f"{about}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
            f"{rank} so expected in_dim to satisfy -{rank} <= in_dim < {rank}."
        )
    return dim % rank


def _mapped(
    func: Callable[..., Any],
    flat: list[Any],
    dims: list[Any],
    spec: TreeSpec,
    size: int,
    out_dims: Dims,
    randomness: str,
    kwargs: dict[str, Any],
) -> Any:
    """`func` called once inside a new level, and its results taken out of it."""
    level = vmap_level(size, randomness)
    pairs = zip(flat, dims, strict=True)
    examples = [
        x if d is None else level.batch(x.movedim(d, 0) if d else x, dim=d) for x, d in pairs
    ]
    with level.entered():
        outputs = func(*tree_unflatten(examples, spec), **kwargs)
    results, structure = tree_flatten(outputs)
    wanted = _out_dims(func, out_dims, structure)
    made = [_taken_out(level, func, r, d) for r, d in zip(results, wanted, strict=True)]
    return tree_unflatten(made, structure)


def _out_dims(func: Callable[..., Any], out_dims: Dims, structure: TreeSpec) -> list[Any]:
    for dim in tree_leaves(out_dims):
        if not isinstance(dim, int) and dim is not None:
            raise ValueError(
                f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None "
                "or a python collection of ints representing where in the outputs the vmapped "
                "dimension should appear."
            )
    if structure.is_leaf() and isinstance(out_dims, tuple) and len(out_dims) == 1:
        (out_dims,) = out_dims
    dims = _broadcast_to_and_flatten(out_dims, structure)
    if dims is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible "
            f"with the structure of `outputs`. out_dims has structure {tree_flatten(out_dims)[1]} "
            f"but outputs has structure {structure}."
        )
    return dims


def _taken_out(level: Vmap, func: Callable[..., Any], result: Any, dim: int | None) -> Any:
    """A result as the caller sees it, the batch in dimension `dim`."""
    name = _name(func)
    if not isinstance(result, Variable):
        if dim is None:
            return result
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(result)}. Did "
            "you mean to set out_dims= to None for output?"
        )
    physical, batched = level.physical(result)
    if dim is None:
        if batched:
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return physical
    rank: int = result._array.ndim + 1
    if not -rank <= dim < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got "
            f"{dim})"
        )
    return level.result(result, dim)


def _name(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", repr(func))
