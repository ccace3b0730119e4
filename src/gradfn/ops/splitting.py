"""Splitting. The parts are views, on which PyTorch refuses recorded in-place writes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import raw
from ..autograd.variable import Variable
from ..shapes import sizes_of, wrap_dim
from .checking import checked
from .declare import op, variant
from .windows import slice_dim

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "chunk",
    "dsplit",
    "hsplit",
    "split",
    "split_with_sizes",
    "tensor_split",
    "unbind",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "vsplit",
]

split_by_size = op(
    "split(self, split_size, dim=0)",
    kernel=raw.split,
    results=list,
    view=True,
    tangent="linear",
    self=lambda F, g, dim: F.cat(g, dim),
)
split_by_sizes = op(
    "split_with_sizes(self, split_sizes, dim=0)",
    kernel=raw.split_with_sizes,
    results=list,
    view=True,
    tangent="linear",
    self=lambda F, g, dim: F.cat(g, dim),
)
unbound = op(
    "unbind(self, dim=0)",
    kernel=raw.unbind,
    results=list,
    view=True,
    tangent="linear",
    self=lambda F, g, dim: F.stack(g, dim),
)
unsafe_by_size = variant(split_by_size, "unsafe_split", kernel=raw.unsafe_split, view=False)
unsafe_by_sizes = variant(
    split_by_sizes, "unsafe_split_with_sizes", kernel=raw.unsafe_split_with_sizes, view=False
)


def split(
    tensor: Tensor, split_size_or_sections: Any = None, dim: int = 0, *, split_size: Any = None
) -> tuple[Tensor, ...]:
    """Views of consecutive parts of dimension `dim`: of one size (the last may be smaller), or of
    the sizes listed, which must add up.

    >>> import gradfn
    >>> gradfn.split(gradfn.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    wanted = split_size_or_sections if split_size is None else split_size
    if isinstance(wanted, Variable) and not wanted._array.ndim:
        wanted = wanted._array.item()
    if isinstance(wanted, int):
        return tuple(split_by_size(tensor, wanted, dim))
    return tuple(split_by_sizes(tensor, sizes_of((wanted,)), dim))


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """`split` into parts of the given sizes."""
    return split(input, list(split_sizes), dim)


def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`split`, but the parts are tensors of their own."""
    return tuple(unsafe_by_size(input, split_size, dim))


def unsafe_split_with_sizes(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """`split_with_sizes`, but the parts are tensors of their own."""
    return tuple(unsafe_by_sizes(input, tuple(split_sizes), dim))


def _chunk(input: Tensor, chunks: int, dim: int, by_size: Any, by_sizes: Any) -> tuple[Tensor, ...]:
    if not input._array.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    total = input._array.shape[wrap_dim(dim, input._array.ndim)]
    if not total:
        return tuple(by_sizes(input, (0,) * chunks, dim))
    return tuple(by_size(input, -(-total // chunks), dim))


@checked
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of at most `chunks` parts of dimension `dim`, of one size but for the last."""
    return _chunk(input, chunks, dim, split_by_size, split_by_sizes)


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`chunk`, but the parts are tensors of their own."""
    return _chunk(input, chunks, dim, unsafe_by_size, unsafe_by_sizes)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the slices of dimension `dim`, which goes.

    >>> import gradfn
    >>> gradfn.unbind(gradfn.arange(2))
    (tensor(0), tensor(1))
    """
    return tuple(unbound(input, dim))


def tensor_split(
    input: Tensor,
    indices_or_sections: Any,
    dim: int = 0,
    *,
    indices: Any = None,
    sections: Any = None,
) -> tuple[Tensor, ...]:
    """Views of parts of dimension `dim`: of a number of almost equal ones, or between indices."""
    where = next(w for w in (indices, sections, indices_or_sections) if w is not None)
    shape = input._array.shape
    if not shape:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    total = shape[wrap_dim(dim, len(shape))]
    if isinstance(where, Variable):
        if where._array.ndim > 1 or where._array.dtype != np.int64:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                f"one-dimensional tensor of dtype int64, but got {where.dtype} of shape "
                f"{list(where._array.shape)}"
            )
        where = where._array.tolist()
    if isinstance(where, int):
        if where <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {where}")
        size, extra = divmod(total, where)
        bounds = [0, *itertools.accumulate([size + 1] * extra + [size] * (where - extra))]
        pairs = list(itertools.pairwise(bounds))
    else:
        ends = [*where, total]
        pairs = list(zip([0, *where], ends, strict=True))
    return tuple(slice_dim(input, dim, start, end) for start, end in pairs)


def _split_along(name: str, input: Tensor, where: Any, least: int, dim: int) -> tuple[Tensor, ...]:
    ndim = input._array.ndim
    if ndim < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension"
            f"{'s' * (least > 1)}, but got a tensor with {ndim} dimensions!"
        )
    size = input._array.shape[dim]
    if isinstance(where, int) and (where == 0 or size % where):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
            f"{size} is not divisible by the split_size {where}!"
        )
    return tensor_split(input, where, dim)


def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` by columns: along dimension 1, or 0 for vectors."""
    return _split_along("hsplit", input, indices_or_sections, 1, int(input._array.ndim > 1))


def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` by rows: along dimension 0."""
    return _split_along("vsplit", input, indices_or_sections, 2, 0)


def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` by depth: along dimension 2."""
    return _split_along("dsplit", input, indices_or_sections, 3, 2)


METHODS = (
    "chunk dsplit hsplit split split_with_sizes tensor_split unbind unsafe_chunk unsafe_split "
    "unsafe_split_with_sizes vsplit"
)
