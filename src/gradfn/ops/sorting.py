"""Sorting, and what is read off sorted values: the largest, the distinct, histograms.

NaN counts as larger than every number. Sorts are stable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import raw
from . import return_types
from .declare import op, variant
from .formulas import no_derivative
from .reduction import UNSET
from .runtime import is_number, wrapped_number

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "argsort",
    "bincount",
    "histc",
    "isin",
    "msort",
    "sort",
    "topk",
    "unique",
    "unique_consecutive",
]


def _to_places(F: Any, g_values: Any, indices: Any, self_shape: Any, dim: int) -> Any:
    """Each gradient goes back to where its value came from."""
    return F.unselect(g_values, dim, indices, self_shape)


def _from_places(F: Any, self_t: Any, indices: Any, dim: int) -> Any:
    """The tangents where the values came from."""
    return F.gather(self_t, dim, indices), None


def _no_derivative(name: str) -> Any:
    def refuse(g_result: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return refuse


sort_of = op(
    "sort(self, dim=-1, descending=False)",
    kernel=raw.sort,
    results=return_types.sort,
    tangent=_from_places,
    self=_to_places,
)
sort_stable = variant(sort_of, "sort.stable", node="SortBackward1")
argsort_of = op("argsort(self, dim=-1, descending=False)", kernel=raw.argsort)
topk = op(
    "topk(self, k, dim=-1, largest=True, sorted=True)",
    kernel=raw.topk,
    results=return_types.topk,
    tangent=_from_places,
    self=_to_places,
    doc="""The `k` largest (or smallest) elements along `dim`, in order, and where they are.

    RuntimeError where there are fewer than `k`.

    >>> import gradfn
    >>> gradfn.topk(gradfn.tensor([1.0, 3.0, 2.0]), 2).values
    tensor([3., 2.])
    """,
)
_DISTINCT = ("result", "inverse", "counts")
unique_of_all = op(
    "_unique2(self)",
    kernel=raw.unique_dim,
    node="Unique2Backward0",
    results=_DISTINCT,
    self=_no_derivative("_unique2"),
)
unique_dim = op(
    "unique_dim(self, dim)",
    kernel=raw.unique_dim,
    results=_DISTINCT,
    self=_no_derivative("unique_dim"),
)
runs = op(
    "unique_consecutive(self, dim=None)",
    kernel=raw.unique_consecutive,
    results=_DISTINCT,
    self=_no_derivative("unique_consecutive"),
)
bincount = op(
    "bincount(self, weights: Optional=None, minlength=0)",
    kernel=raw.bincount,
    node="torch::autograd::NotImplemented",
    weights=no_derivative("bincount"),
    doc="""How often each of 0, 1, 2, ... occurs in a 1-d integer tensor, or the `weights` there.

    RuntimeError for negative numbers and other shapes. Not differentiable.

    >>> import gradfn
    >>> gradfn.bincount(gradfn.tensor([1, 2, 1]))
    tensor([0, 2, 1])
    """,
)
histc = op(
    "histc(self, bins=100, min=0, max=0)",
    kernel=raw.histc,
    doc="""How many elements fall into each of `bins` equal parts of [min, max].

    Where `min` equals `max`, the range is that of the elements; RuntimeError if it is infinite.

    >>> import gradfn
    >>> gradfn.histc(gradfn.tensor([1.0, 2.0, 1.0]), 3, 0, 3)
    tensor([0., 2., 1.])
    """,
)

members = op(
    "isin(elements: Tensor, test_elements: Tensor, assume_unique=False, invert=False)",
    kernel=raw.isin,
)


def isin(
    elements: Any,
    test_elements: Any,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Any = None,
) -> Any:
    """Whether each of `elements` is among `test_elements` (or is not, with `invert`).

    One of the two may be a number. `assume_unique` is a hint that is not needed. TypeError for two
    numbers, RuntimeError for booleans and complex numbers.

    >>> import gradfn
    >>> gradfn.isin(gradfn.tensor([1, 2, 3]), gradfn.tensor([3, 1]))
    tensor([ True, False,  True])
    """
    if is_number(elements) and is_number(test_elements):
        raise TypeError(
            "isin() received an invalid combination of arguments: one of elements and "
            "test_elements must be a Tensor"
        )
    both = (wrapped_number(v) if is_number(v) else v for v in (elements, test_elements))
    return members(*both, assume_unique, invert, out=out)


def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool | None = UNSET,
    **names: Any,
) -> Any:
    """The elements in order along `dim`, and where each came from.

    >>> import gradfn
    >>> gradfn.sort(gradfn.tensor([3.0, 1.0, 2.0])).indices
    tensor([1, 2, 0])
    """
    row = sort_of if stable is UNSET else sort_stable
    return row(input, dim, descending, **names)


def argsort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False, **names: Any
) -> Any:
    """Where the elements in order along `dim` come from: the indices of `sort`.

    >>> import gradfn
    >>> gradfn.argsort(gradfn.tensor([3.0, 1.0, 2.0]))
    tensor([1, 2, 0])
    """
    return argsort_of(input, dim, descending, **names)


def msort(input: Tensor) -> Any:
    """The elements in order along the first dimension.

    >>> import gradfn
    >>> gradfn.msort(gradfn.tensor([3.0, 1.0, 2.0]))
    tensor([1., 2., 3.])
    """
    return sort(input, 0)[0]


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements, or slices along `dim`, in order (`sorted` or not).

    With `return_inverse` also where each element went; with `return_counts` how many went there.

    >>> import gradfn
    >>> gradfn.unique(gradfn.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    found = unique_of_all(input) if dim is None else unique_dim(input, dim)
    return _asked_for(found, return_inverse, return_counts)


def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """`input` with each run of equal elements, or slices along `dim`, made one. See `unique`.

    >>> import gradfn
    >>> gradfn.unique_consecutive(gradfn.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    return _asked_for(runs(input, dim), return_inverse, return_counts)


def _asked_for(found: Any, inverse: bool, counts: bool) -> Any:
    asked = [found[0]] + [found[1]] * inverse + [found[2]] * counts
    return tuple(asked) if len(asked) > 1 else asked[0]


METHODS = "argsort bincount histc msort sort topk unique unique_consecutive"
