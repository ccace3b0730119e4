"""Differences, slopes and areas of sampled functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..autograd.variable import Variable
from ..shapes import wrap_dim
from .checking import checked
from .comparison import logical_xor
from .declare import Function
from .joining import cat
from .out import with_out
from .reducing import over, times
from .runtime import is_number
from .windows import narrow, select

__all__ = ["cumulative_trapezoid", "diff", "gradient", "trapezoid", "trapz"]

part: Function = narrow
item: Function = select


@with_out
@checked
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The `n`-th differences ``input[i + 1] - input[i]`` along `dim`, as `torch.diff`.

    `prepend` and `append` are put before and behind first. Booleans are subtracted by ``!=``.
    RuntimeError for 0-d tensors and for shapes that do not fit.

    >>> from gradfn import diff, tensor
    >>> diff(tensor([1, 4, 9]))
    tensor([3, 5])
    """
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = wrap_dim(dim, input.ndim)
    _check_ends(input, dim, prepend, append)
    if n == 0:
        return input.new_zeros(input.shape).copy_(input)
    parts = [part for part in (prepend, input, append) if part is not None]
    made = cat(parts, dim) if len(parts) > 1 else input
    n = min(n, made.shape[dim])
    for _ in range(n):
        size = made.shape[dim] - 1
        later, sooner = part(made, dim, 1, size), part(made, dim, 0, size)
        made = logical_xor(later, sooner) if made.dtype is dtypes.bool_ else later - sooner
    return made


def _check_ends(input: Any, dim: int, *ends: Any) -> None:
    for end in ends:
        if end is None:
            continue
        if end.ndim != input.ndim:
            raise RuntimeError(
                "diff expects prepend or append to be the same dimension as input: they have "
                f"{end.ndim} and {input.ndim} dimensions"
            )
        for axis, (given, due) in enumerate(zip(end.shape, input.shape, strict=True)):
            if axis != dim and given != due:
                raise RuntimeError(
                    "diff expects the shape of tensor to prepend or append to match that of input "
                    f"except along the differencing dimension; input.size({axis}) = {due}, but got "
                    f"tensor.size({axis}) = {given}"
                )


@checked
def trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The area under the samples `y` along `dim` by the trapezoidal rule, as `torch.trapezoid`.

    The samples are at `x`, or `dx` (1) apart. RuntimeError for booleans, and where there is not one
    `x` for each sample.

    >>> from gradfn import tensor, trapezoid
    >>> trapezoid(tensor([1.0, 5.0, 10.0]))
    tensor(10.5000)
    """
    dim = _samples("trapezoid", y, x, dx, dim)
    if y.shape[dim] == 0:
        return y.new_zeros(y.shape[:dim] + y.shape[dim + 1 :])
    if x is not None:
        return over((_sums(y, dim) * _steps("trapezoid", y, x, dim)).sum(dim), 2.0)
    ends = item(y, dim, 0) + item(y, dim, -1)
    return times(y.sum(dim) - times(ends, 0.5), 1.0 if dx is None else dx)


@checked
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The areas from the first sample up to each later one: see `trapezoid`.

    >>> from gradfn import cumulative_trapezoid, tensor
    >>> cumulative_trapezoid(tensor([1.0, 5.0, 10.0]))
    tensor([ 3.0000, 10.5000])
    """
    dim = _samples("cumulative_trapezoid", y, x, dx, dim)
    if x is not None:
        areas = _sums(y, dim) * _steps("cumulative_trapezoid", y, x, dim)
        return over(areas.cumsum(dim), 2.0)
    return times(_sums(y, dim), (1.0 if dx is None else dx) / 2.0).cumsum(dim)


def trapz(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """`trapezoid` under its older name."""
    return trapezoid(y, x, dx=dx if x is None else None, dim=dim)


def _samples(name: str, y: Any, x: Any, dx: Any, dim: int) -> int:
    """The dimension of the samples, counted from the front."""
    if x is not None and dx is not None:
        raise TypeError(f"{name}(): give the places of the samples by x or by dx, not both")
    if dtypes.bool_ in (y.dtype, getattr(x, "dtype", None)):
        where = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{name}: received a bool input for {where}, but bool is not supported")
    if not y.ndim:
        raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, y.ndim)


def _sums(y: Any, dim: int) -> Any:
    """``y[i] + y[i + 1]``."""
    size = max(y.shape[dim] - 1, 0)
    start = min(1, y.shape[dim])
    return part(y, dim, 0, size) + part(y, dim, start, size)


def _steps(name: str, y: Any, x: Any, dim: int) -> Any:
    """``x[i + 1] - x[i]``, its dimension that of the samples."""
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(
                f"{name}: There must be one `x` value for each sample point: there are "
                f"{x.shape[0]} for {y.shape[dim]}"
            )
        x = x.view([-1 if axis == dim else 1 for axis in range(y.ndim)])
    elif x.ndim < y.ndim:
        x = x.view([1] * (y.ndim - x.ndim) + list(x.shape))
    size = x.shape[dim] - 1
    return part(x, dim, 1, size) - part(x, dim, 0, size)


@checked
def gradient(
    input: Any, *, spacing: Any = 1, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> tuple[Any, ...]:
    """The slopes of a sampled function along `dim` (all by default), as `torch.gradient`.

    Central differences of second order inside, one-sided ones of `edge_order` (1 or 2) at the ends.
    `spacing` is the distance of the samples, a list with one for each dimension, or a list of
    vectors of their coordinates. RuntimeError for lists that do not fit.

    >>> from gradfn import gradient, tensor
    >>> gradient(tensor([1.0, 2.0, 4.0, 7.0]))
    (tensor([1.0000, 1.5000, 2.5000, 3.0000]),)
    """
    dims = [dim] if isinstance(dim, int) else list(range(input.ndim) if dim is None else dim)
    places = _places(input, spacing, dim, len(dims))
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims = [wrap_dim(d, input.ndim) for d in dims]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        if input.shape[d] <= edge_order:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1: "
                f"dimension {d} has size {input.shape[d]}"
            )
    return tuple(
        _slopes_at(input, d, place, edge_order)
        if isinstance(place, Variable)
        else _slopes(input, d, place, edge_order)
        for d, place in zip(dims, places, strict=True)
    )


def _places(input: Any, spacing: Any, dim: Any, count: int) -> list[Any]:
    """For each dimension the distance of its samples, or the vector of their coordinates."""
    if isinstance(spacing, Variable):
        if spacing._array.ndim:
            raise TypeError(
                "gradient() received an invalid combination of arguments - got (Tensor, "
                "spacing=Tensor): the coordinates come as a list, one vector for each dimension"
            )
        spacing = spacing._array.item()
    if spacing is None:
        spacing = 1
    if is_number(spacing):
        return [spacing] * count
    places = list(spacing)
    if len(places) != count:
        due = (
            f"a list of length equal to 'self.dim() = {count}', since dim argument was not given, "
            f"but got a list of length {len(places)}"
            if dim is None
            else "it's spacing and dim arguments to have the same length, but got a spacing "
            f"argument of length {len(places)} and a dim argument of length {count}."
        )
        raise RuntimeError(
            f"torch.gradient expected spacing to be unspecified, a scalar{',' * (dim is None)} or "
            f"{due}"
        )
    for place in places:
        if isinstance(place, Variable) and place._array.ndim != 1:
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have one dimension, but got an "
                f"element with {place._array.ndim} dimensions!"
            )
    return places


def _slopes(y: Any, dim: int, h: Any, order: int) -> Any:
    """Slopes of samples that are `h` apart."""
    size = y.shape[dim]

    def at(start: int) -> Any:
        return part(y, dim, start, 1)

    inner = over(over(part(y, dim, 2, size - 2) - part(y, dim, 0, size - 2), 2.0), h)
    if order == 1:
        first, last = at(1) - at(0), at(size - 1) - at(size - 2)
    else:
        first = times(at(0), -1.5) + times(at(1), 2) - times(at(2), 0.5)
        last = times(at(size - 3), 0.5) - times(at(size - 2), 2) + times(at(size - 1), 1.5)
    return cat([over(first, h), inner, over(last, h)], dim)


def _slopes_at(y: Any, dim: int, x: Any, order: int) -> Any:
    """Slopes of samples at the coordinates `x`."""
    size = y.shape[dim]
    steps = diff(x)

    def at(start: int, count: int = 1) -> Any:
        return part(y, dim, start, count)

    def weighted(a: Any, b: Any, c: Any, start: int, count: int = 1) -> Any:
        parts = zip((a, b, c), (start, start + 1, start + 2), strict=True)
        first, second, third = (weight * at(place, count) for weight, place in parts)
        return first + second + third

    shape = [-1 if axis == dim else 1 for axis in range(y.ndim)]
    before, after = part(steps, 0, 0, size - 2), part(steps, 0, 1, size - 2)
    inner = weighted(
        (-after / (before * (before + after))).view(shape),
        ((after - before) / (before * after)).view(shape),
        (before / (after * (before + after))).view(shape),
        0,
        size - 2,
    )
    if order == 1:
        first = (at(1) - at(0)) / item(steps, 0, 0)
        last = (at(size - 1) - at(size - 2)) / item(steps, 0, -1)
        return cat([first, inner, last], dim)

    def step(place: int) -> Any:  # taken anew for each use, as PyTorch's graph has it
        return item(steps, 0, place)

    first = weighted(
        -(times(step(0), 2.0) + step(1)) / (step(0) * (step(0) + step(1))),
        (step(0) + step(1)) / (step(0) * step(1)),
        -step(0) / (step(1) * (step(0) + step(1))),
        0,
    )
    last = weighted(
        step(-1) / (step(-2) * (step(-1) + step(-2))),
        -(step(-1) + step(-2)) / (step(-1) * step(-2)),
        (times(step(-1), 2.0) + step(-2)) / (step(-1) * (step(-1) + step(-2))),
        size - 3,
    )
    return cat([first, inner, last], dim)


METHODS = "diff"
