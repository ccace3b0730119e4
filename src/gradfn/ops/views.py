"""Views: other shapes and windows over the same memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import raw
from ..autograd.variable import Variable
from ..device import contiguous_format
from ..dtypes import dtype as DType
from ..raw.strided import strided_base, strided_view
from ..shapes import infer_size, sizes_of, wrap_dim
from .checking import checked
from .conversion import clone
from .declare import op, variant

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "adjoint",
    "flatten",
    "moveaxis",
    "movedim",
    "permute",
    "ravel",
    "reshape",
    "squeeze",
    "swapaxes",
    "swapdims",
    "t",
    "transpose",
    "unflatten",
    "unsqueeze",
]

# The history of a view whose base was written to, and its adjoint: Note [In-place and views].
view_of = op(
    "view_of(self, where)",
    kernel=strided_view,
    node="AsStridedBackward0",
    tangent="linear",
    self=lambda F, g, where: F.base_of(g, where),
)
base_of = op(
    "base_of(self, where)",
    kernel=strided_base,
    tangent="linear",
    self=lambda F, g, where: F.view_of(g, where),
)
Variable._view_of = view_of

alias = op("alias(self)", kernel=raw.alias, view=True, tangent="linear", self=lambda g: g)
identity = op(
    "identity(self)",
    kernel=raw.alias,
    node="Identity",
    view=True,
    tangent="linear",
    self=lambda g: g,
)
Variable._identity = identity

# Shapes.

view_shape = op(
    "view(self, shape)",
    kernel=raw.view,
    view=True,
    tangent="linear",
    self=lambda F, g, self_shape: F.reshape(g, self_shape),
)
view_dtype = op("view.dtype(self: Tensor, dtype)", kernel=raw.view_dtype)
reshape_alias = variant(view_shape, "_reshape_alias", kernel=raw.reshape)
unsafe_view = variant(view_shape, "_unsafe_view", kernel=raw.unsafe_view, view=False)


def view(input: Tensor, *shape: Any, dtype: Any = None, size: Any = None) -> Tensor:
    """The same memory in another shape, one size of which may be -1; or read as another dtype.

    ``x.view(2, -1)``, ``x.view((2, -1))``, ``x.view(torch.int32)``. RuntimeError where the layout
    of the elements does not allow it: `reshape` copies then.
    """
    if len(shape) == 1 and shape[0].__class__ is DType:
        (dtype,) = shape
    if dtype is None:
        return view_shape(input, _sizes(shape) if size is None else sizes_of((size,)))
    out: Tensor = view_dtype(input, dtype.numpy)
    out._memory = input.memory()
    return out


def _sizes(sizes: tuple[Any, ...]) -> tuple[Any, ...]:
    """`sizes_of` for who does not save them: NumPy makes what integers it needs."""
    return sizes if len(sizes) != 1 or sizes[0].__class__ is int else sizes_of(sizes)


@checked
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """`view` in the shape of `other`."""
    return view_shape(input, other._array.shape)


@checked
def reshape(input: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """The elements in another shape, one size of which may be -1: a view where possible, or a copy.

    RuntimeError where the numbers of elements differ.

    >>> import gradfn
    >>> gradfn.reshape(gradfn.arange(4), (2, -1))
    tensor([[0, 1],
            [2, 3]])
    """
    wanted = _sizes(sizes) if shape is None else sizes_of((shape,))
    array = input._array
    if array.flags.c_contiguous:
        return view_shape(input, wanted)
    if _viewable(array, wanted):
        return reshape_alias(input, wanted)
    dense = clone(input, memory_format=contiguous_format)
    return unsafe_view(dense, wanted)


def _viewable(array: Any, shape: tuple[int, ...]) -> bool:
    """Whether another shape needs no copy. RuntimeError where it does not fit at all."""
    try:
        array.reshape(infer_size(shape, array.size), copy=False)
    except ValueError:
        return False
    return True


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """`reshape` in the shape of `other`."""
    return reshape(input, other._array.shape)


@checked
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from `start_dim` to `end_dim` into one.

    A view where possible, the tensor itself where there is nothing to merge. RuntimeError where
    `start_dim` comes after `end_dim`.

    >>> import gradfn
    >>> gradfn.flatten(gradfn.zeros(2, 3, 4), start_dim=1).shape
    torch.Size([2, 12])
    """
    shape = input._array.shape
    if start_dim == 0 and end_dim == -1 and len(shape) > 1:
        return reshape(input, (input._array.size,))
    start, end = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if start > end:
        raise RuntimeError(
            "flatten() has invalid args: start_dim cannot come after end_dim; they are "
            f"{start_dim} and {end_dim}"
        )
    if not shape:
        return reshape(input, (1,))
    if start == end:
        return input
    merged = 1
    for size in shape[start : end + 1]:
        merged *= size
    return reshape(input, (*shape[:start], merged, *shape[end + 1 :]))


@checked
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Split dimension `dim` into `sizes`, one of which may be -1: the reverse of `flatten`."""
    shape = input._array.shape
    at = wrap_dim(dim, len(shape))
    if not len(sizes):
        raise RuntimeError("unflatten: sizes must be non-empty")
    new = list(sizes)
    known = 1
    for size in new:
        known *= size if size != -1 else 1
    if -1 in new and known > 0 and shape[at] % known == 0:
        new[new.index(-1)] = shape[at] // known
    elif known != shape[at]:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({shape[at]}) in the input tensor"
        )
    return view_shape(input, (*shape[:at], *new, *shape[at + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension: a view where the tensor is contiguous."""
    if not input._array.flags.c_contiguous:
        input = clone(input, memory_format=contiguous_format)
    return view_shape(input, (-1,))


# Dimensions.

transpose = op(
    "transpose(self, dim0, dim1)",
    kernel=raw.transpose,
    view=True,
    tangent="linear",
    self=lambda F, g, dim0, dim1: F.transpose(g, dim0, dim1),
    doc="""A view with two dimensions exchanged; IndexError for dimensions out of range.

    >>> import gradfn
    >>> gradfn.transpose(gradfn.zeros(2, 3), 0, 1).shape
    torch.Size([3, 2])
    """,
)
swapdims = transpose
t = op(
    "t(self)",
    kernel=raw.t,
    view=True,
    tangent="linear",
    self=lambda F, g: F.t(g),
    doc="A view of a matrix, transposed; vectors stay. RuntimeError for more dimensions.",
)


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """A view with two dimensions exchanged: NumPy's name for `transpose`."""
    return transpose(input, axis0, axis1)


def _inverse(dims: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes `dims`."""
    wrapped = [dim % len(dims) for dim in dims]
    return tuple(map(wrapped.index, range(len(dims))))


permute_dims = op(
    "permute(self, dims)",
    kernel=raw.permute,
    view=True,
    tangent="linear",
    self=lambda F, g, dims: F.permute(g, _inverse(dims)),
)


def permute(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """A view with the dimensions in another order: ``x.permute(2, 0, 1)``.

    >>> import gradfn
    >>> gradfn.permute(gradfn.zeros(2, 3, 4), (2, 0, 1)).shape
    torch.Size([4, 2, 3])
    """
    return permute_dims(input, sizes_of(order) if dims is None else sizes_of((dims,)))


@checked
def movedim(input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """A view with the dimensions `source` moved to the positions `destination`."""
    ndim = input._array.ndim
    sources = [source] if isinstance(source, int) else list(source)
    destinations = [destination] if isinstance(destination, int) else list(destination)
    if len(sources) != len(destinations):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({sources} dims) should contain the same number of dims as destination "
            f"({destinations} dims)"
        )
    starts, ends = ([wrap_dim(d, ndim) for d in dims] for dims in (sources, destinations))
    for name, dims in (("source", starts), ("destination", ends)):
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({dims})")
    if not ndim:
        return alias(input)
    order = [d for d in range(ndim) if d not in starts]
    for end, start in sorted(zip(ends, starts, strict=True)):
        order.insert(end, start)
    return permute_dims(input, tuple(order))


moveaxis = movedim


def _reversed_dims(input: Tensor) -> Tensor:
    """A view with all dimensions reversed: the transposed matrix, for matrices."""
    return permute_dims(input, tuple(range(input._array.ndim))[::-1])


def _matrix_transpose(input: Tensor) -> Tensor:
    """A view with the last two dimensions exchanged."""
    if input._array.ndim < 2:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got "
            f"{input._array.ndim}-D tensor."
        )
    return transpose(input, -2, -1)


def _conjugate(input: Tensor) -> Tensor:
    return input.conj() if input._array.dtype.kind == "c" else input


def _hermitian(input: Tensor) -> Tensor:
    """The conjugate transposed matrix."""
    if input._array.ndim not in (0, 2):
        raise RuntimeError(
            "tensor.H is only supported on matrices (2-D tensors). Got "
            f"{input._array.ndim}-D tensor.{' For batches of matrices, use mH' * (input.ndim > 2)}"
        )
    return adjoint(input)


def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged, and complex numbers conjugated: ``x.mH``."""
    if not input._array.ndim:
        return _conjugate(input)
    if input._array.ndim < 2:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got "
            f"{input._array.ndim}-D tensor."
        )
    return _conjugate(transpose(input, -2, -1))


unsqueeze = op(
    "unsqueeze(self, dim)",
    kernel=raw.unsqueeze,
    view=True,
    tangent="linear",
    self=lambda F, g, dim: F.squeeze(g, dim),
    doc="""A view with a new dimension of size one at `dim`.

    >>> import gradfn
    >>> gradfn.unsqueeze(gradfn.zeros(2, 3), -1).shape
    torch.Size([2, 3, 1])
    """,
)


def unsqueeze_to(F: Any, g: Any, shape: Sequence[int], dim: Any = None) -> Any:
    """Put back what squeezing an array of `shape` took away."""
    dims = range(len(shape)) if dim is None else (dim,) if isinstance(dim, int) else dim
    for d in sorted(d % len(shape) for d in dims if shape):
        if shape[d] == 1:
            g = F.unsqueeze(g, d)
    return g


squeeze_all = op(
    "squeeze(self)",
    kernel=raw.squeeze,
    view=True,
    tangent="linear",
    self=lambda F, g, self_shape: unsqueeze_to(F, g, self_shape),
)
squeeze_dim = op(
    "squeeze.dim(self, dim)",
    kernel=raw.squeeze,
    node="SqueezeBackward1",
    view=True,
    tangent="linear",
    self=lambda F, g, self_shape, dim: unsqueeze_to(F, g, self_shape, dim),
)
squeeze_dims = variant(squeeze_dim, "squeeze.dims", node="SqueezeBackward2")


def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """A view without the dimensions of size one, or without those of them that `dim` names.

    >>> import gradfn
    >>> gradfn.squeeze(gradfn.zeros(1, 2, 1), 0).shape
    torch.Size([2, 1])
    """
    if dim is None:
        return squeeze_all(input)
    return (squeeze_dim if isinstance(dim, int) else squeeze_dims)(input, dim)


expand_size = op(
    "expand(self, size, *, implicit=False)",
    kernel=raw.expand,
    view=True,
    tangent="linear",
    self=lambda g: g,
)


def expand(input: Tensor, *sizes: Any, size: Any = None, implicit: bool = False) -> Tensor:
    """A view in which dimensions of size one repeat without copies; -1 keeps a size.

    RuntimeError where another size would have to change.
    """
    return expand_size(input, sizes_of(sizes) if size is None else sizes_of((size,)))


@checked
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """`expand` to the shape of `other`."""
    return expand_size(input, other._array.shape)


def _is_view(input: Tensor) -> bool:
    """Whether this tensor is a differentiable view of another, its `_base`."""
    return input._base is not None and not input._inference


PROPERTIES = {
    "T": property(_reversed_dims),
    "mT": property(_matrix_transpose),
    "H": property(_hermitian),
    "mH": property(adjoint),
}
METHODS = (
    "_is_view adjoint expand expand_as flatten moveaxis movedim permute ravel reshape reshape_as "
    "squeeze swapaxes swapdims t transpose unflatten unsqueeze view view_as"
)
