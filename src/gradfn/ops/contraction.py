"""Sums of products over pairs of dimensions, and chains of matrix products."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from ..autograd.variable import Variable
from ..raw.numbers import c_type
from ..shapes import wrap_dim
from .checking import checked
from .out import with_out
from .products import dot, mm

__all__ = ["chain_matmul", "inner", "tensordot"]


@with_out
@checked
def inner(input: Any, other: Any) -> Any:
    """The sums of products over the last dimension of both, as `torch.inner`.

    A 0-d tensor multiplies the other. RuntimeError where the last dimensions differ.

    >>> from gradfn import inner, tensor
    >>> inner(tensor([[1., 2.], [0., 1.]]), tensor([3., 4.]))
    tensor([11.,  4.])
    """
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return tensordot(input, other, ([-1], [-1]))


@with_out
@checked
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """The sums of products over pairs of dimensions, as `torch.tensordot`.

    `dims` is a pair of lists, the dimensions of `a` and those of `b` that they are paired with,
    or the number n of dimensions: the last n of `a` and the first n of `b`. The result has the
    other dimensions of `a`, then those of `b`.

    >>> from gradfn import ones, tensordot
    >>> tensordot(ones(2, 3, 4), ones(3, 4, 5)).shape
    torch.Size([2, 5])
    """
    left, right = _contracted(a, b, dims)
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"both inputs should have same dtype, but they have {a.dtype}, {b.dtype}"
        )
    for i, j in zip(left, right, strict=True):
        m, n = a.shape[i], b.shape[j]
        if n == 1:
            a = a.sum(i, keepdim=True, dtype=a.dtype)
        elif m == 1:
            b = b.sum(j, keepdim=True, dtype=b.dtype)
        elif m != n:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {m} in dim {i} and "
                f"second has size {n} in dim {j}"
            )
    rows = [i for i in range(a.ndim) if i not in left]
    columns = [j for j in range(b.ndim) if j not in right]
    shape = [*(a.shape[i] for i in rows), *(b.shape[j] for j in columns)]
    count = math.prod(a.shape[i] for i in left)
    first, second = a.permute(*rows, *left), b.permute(*right, *columns)
    if math.prod(shape) == 1:
        if first.is_contiguous() and second.is_contiguous():
            return dot(first.flatten(), second.flatten()).reshape(shape)
        return (first.squeeze() * second.squeeze()).sum(dtype=a.dtype).reshape(shape)
    first = first.reshape(math.prod(a.shape[i] for i in rows), count)
    second = second.reshape(count, math.prod(b.shape[j] for j in columns))
    return mm(first, second).reshape(shape)


def _contracted(a: Any, b: Any, dims: Any) -> tuple[list[int], list[int]]:
    """The paired dimensions that `dims` of `tensordot` names."""
    if isinstance(dims, Variable):
        dims = dims._array.tolist()
    if isinstance(dims, Sequence):
        left, right = ([d] if isinstance(d, int) else list(d) for d in dims)
        if len(left) != len(right):
            raise RuntimeError(
                f"both dimension lists should have same length, but they are {left} and {right}"
            )
    else:
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        left, right = list(range(-dims, 0)), list(range(dims))
    return [wrap_dim(i, a.ndim) for i in left], [wrap_dim(j, b.ndim) for j in right]


@with_out
def multi_dot(tensors: Sequence[Any]) -> Any:
    """The product of two or more matrices in the order of least work, as `torch.linalg.multi_dot`.

    The first may be a vector, taken as a row, and the last one, taken as a column.

    >>> from gradfn import ones
    >>> multi_dot([ones(10, 100), ones(100, 5), ones(5, 50)]).shape
    torch.Size([10, 50])
    """
    count = len(tensors)
    if count < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {count}")
    first, last = tensors[0], tensors[-1]
    for which, tensor in (("first", first), ("last", last)):
        if tensor.ndim not in (1, 2):
            raise RuntimeError(
                f"multi_dot(): the {which} tensor must be 1D or 2D but got {tensor.ndim}D"
            )
    shape = [*first.shape[:-1], *last.shape[1:]]
    chain = [first.unsqueeze(0) if first.ndim == 1 else first, *tensors[1:-1]]
    chain.append(last.unsqueeze(-1) if last.ndim == 1 else last)
    for i, tensor in enumerate(chain):
        _check_link(i, tensor, chain)
    sizes = [chain[0].shape[0], *(t.shape[1] for t in chain)]
    return _multiplied(chain, _cheapest_splits(sizes), 0, count - 1).view(shape)


def _check_link(i: int, tensor: Any, chain: Sequence[Any]) -> None:
    if tensor.ndim != 2:
        raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {tensor.ndim}D")
    if tensor.dtype is not chain[0].dtype:
        raise RuntimeError(
            "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
            f"{c_type(chain[0]._array)} and tensor {i} {c_type(tensor._array)}"
        )
    if i and chain[i - 1].shape[1] != tensor.shape[0]:
        raise RuntimeError(
            f"multi_dot(): tensors {i - 1} and {i} with shapes {list(chain[i - 1].shape)} and "
            f"{list(tensor.shape)} cannot be multiplied"
        )


def _cheapest_splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to split each run of a chain of matrices, of which number i is
    ``sizes[i]`` by ``sizes[i + 1]``, for the fewest multiplications."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    splits = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            choices = [
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            cost[i, j], splits[i, j] = min(choices)
    return splits


def _multiplied(chain: Sequence[Any], splits: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return chain[i]
    k = splits[i, j]
    return mm(_multiplied(chain, splits, i, k), _multiplied(chain, splits, k + 1, j))


def chain_matmul(*matrices: Any) -> Any:
    """`multi_dot` under its older name, deprecated in PyTorch too.

    >>> from gradfn import chain_matmul, ones
    >>> chain_matmul(ones(2, 3), ones(3, 4)).shape # doctest: +SKIP
    torch.Size([2, 4])
    """
    warnings.warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
        "multiple parameters.",
        UserWarning,
        stacklevel=2,
    )
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    return matrices[0] if len(matrices) == 1 else multi_dot(matrices)


METHODS = "inner"
