"""Sizes and the arithmetic of shapes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, overload

Shape = tuple[int, ...]


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple with `numel`, printed as ``torch.Size([2, 3])``.

    >>> Size((2, 3)).numel()
    6
    """

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        return super().__new__(cls, map(_index, sizes))

    def numel(self) -> int:
        """The number of elements: the product of the sizes."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> Size: ...
    def __getitem__(self, key: SupportsIndex | slice) -> int | Size:
        item = super().__getitem__(key)
        return Size(item) if isinstance(item, tuple) else item

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(
                f"can only concatenate tuple (not {type(other).__name__}) to torch.Size"
            )
        return Size(tuple(self) + other)

    def __radd__(self, other: tuple[int, ...]) -> Size:
        return Size(other + tuple(self))

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(super().__mul__(times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)


def _index(size: Any) -> int:
    try:
        return int(size.__index__())
    except (AttributeError, TypeError) as error:
        raise TypeError(
            f"torch.Size() takes an iterable of 'int', but got {type(size).__name__!r}"
        ) from error


def wrap_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front; 0-d tensors take -1 and 0. IndexError when out of range."""
    span = max(ndim, 1)
    if -span <= dim < span:
        return dim + span if dim < 0 else dim
    raise IndexError(
        f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {dim})"
    )


def wrap_dims(dim: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The dimensions that `dim` names, counted from the front; None or () means all of them."""
    if dim is None:
        return tuple(range(ndim))
    if not isinstance(dim, Sequence):
        return (wrap_dim(dim, ndim),)
    dims = tuple(wrap_dim(d, ndim) for d in dim) or tuple(range(ndim))
    if len(set(dims)) < len(dims):
        twice = next(d for d in dims if dims.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return dims


def sizes_of(sizes: tuple[Any, ...]) -> Shape:
    """The shape in ``f(2, 3)`` or ``f((2, 3))``: PyTorch takes both."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    return tuple([size if size.__class__ is int else size.__index__() for size in sizes])


def infer_size(shape: Sequence[int], numel: int) -> Shape:
    """`shape` with its one -1 replaced so that it holds `numel` elements."""
    known = math.prod(size for size in shape if size != -1)
    if any(size < -1 for size in shape):
        bad = next(size for size in shape if size < -1)
        raise RuntimeError(f"invalid shape dimension {bad} in {list(shape)}")
    if (free := list(shape).count(-1)) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if free and known == 0 and numel == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    if (known != numel) if not free else (known == 0 or numel % known):
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return tuple(numel // known if size == -1 else size for size in shape)


def broadcast_shapes(*shapes: Sequence[int]) -> Shape:
    """The shape that all `shapes` broadcast to; RuntimeError names the sizes that disagree.

    >>> broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    ndim = max(map(len, shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        for axis, size in enumerate(shape, ndim - len(shape)):
            if size == 1 or size == result[axis]:
                continue
            if result[axis] != 1:
                raise RuntimeError(
                    f"The size of tensor a ({result[axis]}) must match the size of tensor b "
                    f"({size}) at non-singleton dimension {axis}"
                )
            result[axis] = size
    return tuple(result)


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of a dense row-major array of `shape`."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * max(shape[axis + 1], 1)
    return tuple(strides)
