"""Repeating and rearranging: new tensors out of the elements of others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import raw
from ..autograd.variable import Variable
from ..device import check_device, contiguous_format
from ..shapes import broadcast_shapes, sizes_of, wrap_dim
from .arithmetic import mul
from .checking import checked
from .conversion import clone
from .declare import op
from .emit import inplace
from .indexing import index_select, masked_select
from .joining import listed_tensors, stack
from .out import with_out
from .reduction import sum
from .view_copies import diagonal_copy
from .views import expand_size, flatten, reshape, unsafe_view, unsqueeze, view_shape

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "block_diag",
    "broadcast_tensors",
    "broadcast_to",
    "cartesian_prod",
    "combinations",
    "diag",
    "diag_embed",
    "diagflat",
    "flip",
    "fliplr",
    "flipud",
    "kron",
    "meshgrid",
    "repeat_interleave",
    "roll",
    "rot90",
    "tile",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
]

repeated = op(
    "repeat(self, repeats)",
    kernel=raw.repeat,
    tangent="linear",
    self=lambda F, g, self_shape, repeats: (
        F.zeros_of(g, self_shape) if 0 in repeats else F.unrepeat(g, self_shape, repeats)
    ),
)
unrepeat = op(
    "repeat_backward(self, shape, repeats)",
    kernel=raw.unrepeat,
    tangent="linear",
    self=lambda F, g, shape, repeats: F.repeat(F.reshape(g, shape), repeats),
)


def repeat(input: Tensor, *times: Any, repeats: Any = None) -> Tensor:
    """Copies of the tensor beside one another: ``x.repeat(2, 1)`` for two below each other."""
    return repeated(input, sizes_of(times) if repeats is None else sizes_of((repeats,)))


@checked
def tile(input: Tensor, *repeats: Any, dims: Any = None) -> Tensor:
    """`repeat`, with ones in front of too few `dims`."""
    times = sizes_of(repeats) if dims is None else sizes_of((dims,))
    return repeated(input, (1,) * (input._array.ndim - len(times)) + times)


flipped = op(
    "flip(self, dims)",
    kernel=raw.flip,
    tangent="linear",
    self=lambda F, g, dims: F.flip(g, dims),
)


def flip(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """A copy with the order of the elements reversed along `dims`.

    >>> import gradfn
    >>> gradfn.flip(gradfn.arange(3), (0,))
    tensor([2, 1, 0])
    """
    return flipped(input, sizes_of(order) if dims is None else sizes_of((dims,)))


def fliplr(input: Tensor) -> Tensor:
    """`flip` along dimension 1."""
    if input._array.ndim < 2:
        raise RuntimeError(f"Input must be >= 2-d, not {input._array.ndim}-d, for fliplr")
    return flipped(input, (1,))


def flipud(input: Tensor) -> Tensor:
    """`flip` along dimension 0."""
    if input._array.ndim < 1:
        raise RuntimeError("Input must be >= 1-d for flipud")
    return flipped(input, (0,))


rolled = op(
    "roll(self, shifts, dims=())",
    kernel=raw.roll,
    tangent="linear",
    self=lambda F, g, shifts, dims: F.roll(g, tuple(-s for s in shifts), dims),
)


def _listed(value: Any) -> tuple[int, ...]:
    if isinstance(value, Variable):
        value = value._array.tolist()
    return (value,) if isinstance(value, int) else tuple(value)


def roll(input: Tensor, shifts: int | Sequence[int], dims: Any = ()) -> Tensor:
    """A copy with the elements moved by `shifts` along `dims`, and round the end.

    Without `dims`, the flattened tensor is rolled. RuntimeError unless there are as many shifts as
    dims.
    """
    return rolled(input, _listed(shifts), _listed(dims))


rot90 = op(
    "rot90(self, k=1, dims=(0, 1))",
    kernel=raw.rot90,
    tangent="linear",
    self=lambda F, g, k, dims: F.rot90(g, -k, dims),
    doc="A copy turned by `k` quarter turns in the plane of `dims`, from the first to the second.",
)
tril = op(
    "tril(self, diagonal=0)",
    kernel=raw.tril,
    tangent="linear",
    self=lambda F, g, diagonal: F.tril(g, diagonal),
    doc="A copy of matrices with zeros above a diagonal.",
)
triu = op(
    "triu(self, diagonal=0)",
    kernel=raw.triu,
    tangent="linear",
    self=lambda F, g, diagonal: F.triu(g, diagonal),
    doc="A copy of matrices with zeros below a diagonal.",
)
tril_, triu_ = map(inplace, (tril, triu))


@checked
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each slice of dimension `dim` (each element, without `dim`) repeated in place.

    `repeats` is a number, or a tensor with one for each slice. Of one argument only, a tensor of
    repeats, gives the positions: ``[0, 0, 1]`` for ``[2, 1]``.
    """
    if repeats is None:
        counts = input._array
        positions = np.repeat(np.arange(counts.size), counts)
        return Variable.wrap(positions.astype(counts.dtype))  # type: ignore[no-any-return]
    if dim is None:
        input, dim = flatten(input), 0
    dim = wrap_dim(dim, input._array.ndim)
    if isinstance(repeats, int):
        return _interleave(input, repeats, dim)
    counts = np.asarray(repeats._array if isinstance(repeats, Variable) else repeats)
    size = input._array.shape[dim] if input._array.ndim else 1
    if counts.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if counts.size not in (1, size):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.size} and input.size({dim}) = {size}"
        )
    if counts.size and counts.min() < 0:
        raise RuntimeError("repeats can not be negative")
    positions = np.repeat(np.arange(size), counts if counts.ndim else int(counts))
    return index_select(input, dim, Variable.wrap(positions))


def _interleave(input: Tensor, repeats: int, dim: int) -> Tensor:
    if repeats < 0:
        raise RuntimeError(f"repeats can not be negative, got {repeats}")
    shape = input._array.shape or (1,)
    spread = expand_size(
        unsqueeze(input, dim + bool(input._array.ndim)),
        (*shape[: dim + 1], repeats, *shape[dim + 1 :]) if input._array.ndim else (repeats,),
    )
    dense = clone(spread, memory_format=contiguous_format)
    return view_shape(dense, (*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :]))


# Diagonals.

diag_embed = op(
    "diag_embed(self, offset=0, dim1=-2, dim2=-1)",
    kernel=raw.diag_embed,
    tangent="linear",
    self=lambda F, g, offset, dim1, dim2: F.diagonal(g, offset, dim1, dim2),
    doc="Matrices of zeros with the last dimension on a diagonal.",
)


@with_out
@checked
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A diagonal of a matrix, as a copy; or the matrix with a vector on a diagonal."""
    if input._array.ndim == 1:
        return diag_embed(input, diagonal)
    if input._array.ndim == 2:
        return diagonal_copy(input, diagonal)
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input._array.ndim}D")


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements on a diagonal."""
    return diag_embed(reshape(input, (-1,)), offset)


blocks = op(
    "block_diag(tensors: Tensors)",
    kernel=raw.blocks,
    tangent="linear",
    tensors=lambda F, g, tensors_shape: F.unblock(g, tensors_shape),
)
unblock = op(
    "block_diag_backward(self, shapes)",
    kernel=raw.unblock,
    results=list,
    tangent="linear",
    self=lambda F, g: F.blocks(g),
)


def block_diag(*tensors: Tensor) -> Tensor:
    """The matrix with the tensors as blocks along its diagonal, zeros elsewhere."""
    return blocks(tensors)


# Broadcasting and products of sets.


def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """A view in a shape that the tensor broadcasts to."""
    return expand_size(input, tuple(size))


def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """The sum over the dimensions that broadcasting to the tensor's shape from `size` repeats."""
    shape, wanted = input._array.shape, sizes_of(size)
    extra = len(shape) - len(wanted)
    fits = zip(shape[max(extra, 0) :], wanted, strict=False)
    if extra < 0 or any(target not in (1, own) for own, target in fits):
        raise RuntimeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(shape)}}}.")
    pairs = enumerate(zip(shape[extra:], wanted, strict=True), extra)
    axes = [*range(extra), *(axis for axis, (own, target) in pairs if own != target)]
    if not wanted:
        return sum(input)
    summed = sum(input, axes, keepdim=True) if axes else input
    return view_shape(summed, wanted) if extra else summed


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of the tensors in the shape that they broadcast to together."""
    several = listed_tensors(tensors)
    shape = broadcast_shapes(*(t._array.shape for t in several))
    return tuple(t if t._array.shape == shape else expand_size(t, shape) for t in several)


def meshgrid(*tensors: Any, indexing: Literal["ij", "xy"] = "ij") -> tuple[Tensor, ...]:
    """Coordinates of a grid: views of each vector along its own dimension, repeated along others.

    ``"xy"`` exchanges the first two dimensions.
    """
    vectors = listed_tensors(tensors)
    if not vectors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for vector in vectors:
        if vector._array.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: a tensor of "
                f"shape {list(vector._array.shape)}"
            )
        if vector._array.dtype != vectors[0]._array.dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    axes = list(range(len(vectors)))
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    shape = tuple(vectors[axis]._array.size for axis in axes)
    grids = []
    for vector, axis in zip(vectors, axes, strict=True):
        along = tuple(vector._array.size if i == axis else 1 for i in range(len(shape)))
        grids.append(expand_size(view_shape(vector, along), shape))
    return tuple(grids)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of one element of each vector, as rows."""
    for vector in tensors:
        if vector._array.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(vector._array.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return stack([reshape(grid, (-1,)) for grid in meshgrid(*tensors)], 1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All ways to choose `r` elements of a vector, as rows, in order."""
    if input._array.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input._array.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return Variable.wrap(np.empty(0, input._array.dtype))  # type: ignore[no-any-return]
    ranks = np.indices((input._array.size,) * r)
    order = np.less_equal if with_replacement else np.less
    chosen = np.ones(ranks.shape[1:], bool)
    for left, right in itertools.pairwise(ranks):
        chosen &= order(left, right)
    mask = Variable.wrap(chosen)
    grids = meshgrid(*[input] * r)
    return stack([masked_select(grid, mask) for grid in grids], 1)


@with_out
@checked
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: each element of `input` times all of `other`, as blocks."""
    left, right = input._array.shape, other._array.shape
    ndim = max(len(left), len(right))
    left = (1,) * (ndim - len(left)) + left
    right = (1,) * (ndim - len(right)) + right
    outer = unsafe_view(input, [n for size in left for n in (size, 1)])
    inner = unsafe_view(other, [n for size in right for n in (1, size)])
    return unsafe_view(mul(outer, inner), [a * b for a, b in zip(left, right, strict=True)])


def _triangle(kernel: Any, row: int, col: int, offset: int, dtype: Any) -> Tensor:
    found = kernel(row, col, offset)
    return Variable.wrap(found if dtype is None else found.astype(dtype.numpy))  # type: ignore[no-any-return]


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
) -> Tensor:
    """The rows and columns of the lower triangle of a matrix, as a tensor of two rows."""
    check_device(device)
    return _triangle(raw.tril_indices, row, col, offset, dtype)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
) -> Tensor:
    """The rows and columns of the upper triangle of a matrix, as a tensor of two rows."""
    check_device(device)
    return _triangle(raw.triu_indices, row, col, offset, dtype)


METHODS = (
    "broadcast_to diag diag_embed diagflat flip fliplr flipud kron repeat repeat_interleave roll "
    "rot90 sum_to_size tile tril tril_ triu triu_"
)
