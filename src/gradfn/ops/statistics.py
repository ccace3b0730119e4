"""Covariances, and counts of values in bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..autograd.batching import is_batched
from ..autograd.variable import Variable
from ..creation import tensor
from ..raw.numbers import Array, refuse
from . import return_types
from .checking import checked
from .complexes import complex
from .products import mm
from .views import squeeze, t, unsqueeze, view

__all__ = ["corrcoef", "cov", "histogram", "histogramdd"]


@checked
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariances of the rows of `input`, whose columns are observations, as `torch.cov`.

    Divided by the number of observations less `correction`. `fweights` say how often each was
    observed (integers), `aweights` how much it counts. RuntimeError for more than two dimensions,
    for booleans, and for weights that do not fit.

    >>> from gradfn import cov, tensor
    >>> cov(tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    _check_rows("cov", input)
    if input.dtype is dtypes.bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows: Any = view(input, (1, -1)) if input.ndim < 2 else input
    count = rows.shape[1]
    weights = _weights(count, fweights, aweights)
    if weights is None:
        sums, total = rows.sum(1), _number(count, rows)
        divisor = total - correction
    else:
        sums, total = (rows * weights).sum(1), weights.sum()
        spread = (weights * aweights).sum() / total if aweights is not None else 1
        divisor = total - correction * spread
    mean = sums / total
    centred = rows - unsqueeze(mean, 1)
    other = t(centred if weights is None else centred * weights)
    products = mm(centred, other.conj())
    if products.is_complex() and products.shape[0] == 1:  # a variance is real
        products = complex(products.real, products.real.new_zeros(1, 1))
    return squeeze(products / divisor.clamp(min=0))


def _check_rows(name: str, input: Any) -> None:
    if input.ndim > 2:
        raise RuntimeError(
            f"{name}(): expected input to have two or fewer dimensions but got an input with "
            f"{input.ndim} dimensions"
        )


def _number(count: int, like: Any) -> Any:
    return tensor(count, dtype=like.dtype if like.is_floating_point() else None)


def _weights(count: int, fweights: Any, aweights: Any) -> Any:
    """What each observation counts, None where all count alike."""
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is None:
            continue
        if weights.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
                f"{weights.ndim} dimensions"
            )
        integral = not (weights.is_floating_point() or weights.is_complex())
        if integral != (name == "fweights"):
            kind = "integral" if name == "fweights" else "floating point"
            raise RuntimeError(
                f"cov(): expected {name} to have {kind} dtype but got {name} with "
                f"{weights.dtype.scalar_name} dtype"
            )
        if weights.numel() != count:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the "
                f"input but got {weights.numel()} != {count}"
            )
        if not is_batched(weights._array) and bool((weights < 0).any()):
            raise RuntimeError(f"cov(): {name} cannot be negative")
    if fweights is None or aweights is None:
        return aweights if fweights is None else fweights
    return fweights * aweights


@checked
def corrcoef(input: Any) -> Any:
    """The correlations of the rows of `input`, between -1 and 1, as `torch.corrcoef`.

    >>> from gradfn import corrcoef, tensor
    >>> corrcoef(tensor([[0.0, 1.0, 2.0], [4.0, 2.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    _check_rows("corrcoef", input)
    covariances = cov(input)
    if covariances.ndim == 0:
        return covariances / covariances
    deviations = covariances.diagonal()
    deviations = (deviations.real if covariances.is_complex() else deviations).sqrt()
    made = covariances / view(deviations, (-1, 1)) / view(deviations, (1, -1))
    if made.is_complex():
        return complex(made.real.clamp(-1, 1), made.imag.clamp(-1, 1))
    return made.clamp(-1, 1)


@checked
def histogram(
    input: Any,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Any = None,
    density: bool = False,
) -> Any:
    """How many elements fall into each bin, and the bins' edges, as `torch.histogram`.

    `bins` is a number of bins of one width in `range` (by default from the least to the greatest
    element), or a tensor of increasing edges. A bin has its left edge, the last one both. Elements
    count `weight`; with `density` the area is 1. RuntimeError where these do not fit,
    NotImplementedError for integers.

    >>> from gradfn import histogram, tensor
    >>> histogram(tensor([1.0, 2.0, 1.0]), bins=2, range=(0.0, 4.0)).hist
    tensor([2., 1.])
    """
    column = view(input.reshape(-1), (-1, 1))
    counts, edges = _counted("histogram", column, [bins], range, _flat(weight), density)
    return return_types.histogram((counts, edges[0]))


def _flat(weight: Any) -> Any:
    return None if weight is None else weight.reshape(-1)


@checked
def histogramdd(
    input: Any,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Any = None,
    density: bool = False,
) -> Any:
    """`histogram` of points, the rows (..., D) of `input`, in D dimensions: `torch.histogramdd`.

    `bins` is a number, or a list of a number or of edges for each dimension; `range` lists the
    least and the greatest of each dimension in turn.

    >>> from gradfn import histogramdd, tensor
    >>> histogramdd(tensor([[0.0, 1.0], [1.0, 0.0]]), bins=[2, 2]).hist
    tensor([[0., 1.],
            [1., 0.]])
    """
    if input.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    size = input.shape[-1]
    given = [bins] * size if isinstance(bins, int) else list(bins)
    if weight is not None and weight.shape != input.shape[:-1]:
        raise _weight_refused(input, weight)
    points = input.reshape(-1, size)
    counts, edges = _counted("histogramdd", points, given, range, _flat(weight), density)
    return return_types.histogramdd((counts, tuple(edges)))


def _weight_refused(input: Any, weight: Any) -> RuntimeError:
    return RuntimeError(
        "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
        f"input tensor excluding its innermost dimension, but got input with shape "
        f"{list(input.shape)} and weight with shape {list(weight.shape)}"
    )


def _counted(
    name: str, points: Any, bins: list[Any], range: Any, weight: Any, density: bool
) -> tuple[Any, list[Any]]:
    values: Array = points._array
    if values.dtype.kind in "biuc" or values.dtype.itemsize < 4:
        refuse("histogramdd", values, "biuc")
    if len(bins) != values.shape[1]:
        raise RuntimeError(
            f"torch.{name}: bins tensor should have one element for each dimension of the points: "
            f"there are {len(bins)} for {values.shape[1]}"
        )
    if weight is not None and weight._array.shape != values.shape[:1]:
        raise _weight_refused(points, weight)
    edges = [_edges(name, d, values[:, d], chosen, range) for d, chosen in enumerate(bins)]
    weights = None if weight is None else weight._array
    counts, _ = np.histogramdd(values, edges, weights=weights, density=density)
    made = Variable.wrap(np.asarray(counts, values.dtype))
    return made, [Variable.wrap(edge) for edge in edges]


def _edges(name: str, dim: int, values: Array, bins: Any, range: Any) -> Array:
    """The edges of the bins of dimension `dim`."""
    if isinstance(bins, Variable) and bins._array.ndim:
        return np.asarray(bins._array, values.dtype)
    count = bins if isinstance(bins, int) else int(bins)
    if count <= 0:
        raise RuntimeError(f"torch.{name}(): bins must be > 0, but got {count} for dimension {dim}")
    if range is not None:
        low, high = range[2 * dim], range[2 * dim + 1]
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} "
                f"for dimension {dim}"
            )
    else:
        low, high = (values.min(), values.max()) if values.size else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, count + 1, dtype=values.dtype)


METHODS = "corrcoef cov histogram"
