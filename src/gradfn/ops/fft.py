"""Discrete Fourier transforms, as `torch.fft` has them.

Three rows, from complex to complex, real to complex and complex to real, and the functions over
them, which pad or trim their input and turn the name of a norm into what is divided by. In one
dimension a real input goes through the real transform, in several it is made complex first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from .. import dtypes, raw
from ..raw.fft import BY_ROOT, BY_SIZE, UNSCALED
from ..shapes import wrap_dim
from .checking import checked
from .complexes import conj, conj_physical
from .conversion import to
from .declare import op
from .out import with_out
from .padding import constant_pad_nd
from .shaping import roll
from .windows import slice_dim

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__: list[str] = []

Dims = int | Sequence[int] | None

fft_c2c = op(
    "fft_c2c(self, dim, normalization, forward)",
    kernel=raw.fft_c2c,
    node="FftC2CBackward0",
    tangent="linear",
    self=lambda F, g, dim, normalization, forward: F.fft_c2c(g, dim, normalization, not forward),
)


def _r2c_gradient(
    F: Any, g: Any, self_shape: Any, dim: Any, normalization: int, onesided: bool
) -> Any:
    """The half that was left out does not matter to the result, so its gradient is zero."""
    if onesided:
        last = dim[-1]
        shape = (*g.shape[:last], self_shape[last], *g.shape[last + 1 :])
        g = F.slice_backward(g, shape, last, 0, g.shape[last], 1)
    return F.real(F.fft_c2c(g, dim, normalization, False))


fft_r2c = op(
    "fft_r2c(self, dim, normalization, onesided)",
    kernel=raw.fft_r2c,
    node="FftR2CBackward0",
    tangent="linear",
    self=_r2c_gradient,
)


def _c2r_gradient(F: Any, g: Any, dim: Any, normalization: int, last_dim_size: int) -> Any:
    """All but the first (and, of an even size, the last) of the half count twice."""
    half = F.fft_r2c(g, dim, normalization, True)
    last, end = dim[-1], last_dim_size - last_dim_size // 2
    inside = F.slice_dim(half, last, 1, end)
    return half + F.slice_backward(inside, half.shape, last, 1, end, 1)


fft_c2r = op(
    "fft_c2r(self, dim, normalization, last_dim_size)",
    kernel=raw.fft_c2r,
    node="FftC2RBackward0",
    tangent="linear",
    self=_c2r_gradient,
)


def _normalization(norm: str | None, forward: bool) -> int:
    """What a transform with this `norm` is divided by."""
    if norm == "ortho":
        return BY_ROOT
    if norm not in (None, "forward", "backward"):
        raise RuntimeError(
            f'Invalid normalization mode: "{norm}": it may be "forward", "backward" or "ortho"'
        )
    return BY_SIZE if (norm == "forward") is forward else UNSCALED


def _as_float(input: Tensor) -> Tensor:
    """`input` in a dtype that has a transform: integers in the default dtype."""
    if input._array.dtype.kind in "biu":
        return to(input, dtypes.get_default_dtype())
    if input._array.dtype.char not in "fdFD":
        raise RuntimeError(f"Unsupported dtype {input.dtype.scalar_name}")
    return input


def _as_complex(input: Tensor) -> Tensor:
    input = _as_float(input)
    return input if input.is_complex() else to(input, input.dtype.to_complex())


def _as_real(name: str, input: Tensor) -> Tensor:
    if input.is_complex():
        _refuse_complex(name, input)
    return _as_float(input)


def _refuse_complex(name: str, input: Tensor) -> NoReturn:
    if name == "ihfftn":
        raise RuntimeError(
            f"Only supports floating-point dtypes, but found: {input.dtype.scalar_name}"
        )
    kind = "real-valued" if name == "rfftn" else "real"
    raise RuntimeError(f"{name} expects a {kind} input tensor, but got {input.dtype.scalar_name}")


def _check_size(size: int) -> None:
    if size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")


def _one_dim(name: str, input: Tensor, n: int | None, dim: int) -> int:
    """`dim` counted from the front."""
    if n is not None and not hasattr(n, "__index__"):
        raise TypeError(
            f"fft_{name}(): argument 'n' (position 2) must be int, not {type(n).__name__}"
        )
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, input.ndim)


def _resized(input: Tensor, dims: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """`input` trimmed, or padded with zeros, to `sizes` along `dims`."""
    padding = [0] * (2 * input.ndim)
    for dim, size in zip(dims, sizes, strict=True):
        known = input.shape[dim]
        if size < known:
            input = slice_dim(input, dim, 0, size)
        elif size > known:
            padding[2 * (input.ndim - 1 - dim) + 1] = size - known
    if not any(padding):
        return input
    while not padding[-1]:
        del padding[-2:]
    return constant_pad_nd(input, padding)  # type: ignore[no-any-return]


def _from_complex(
    name: str, input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool
) -> Tensor:
    """`fft` or `ifft`."""
    dim, input = _one_dim(name, input, n, dim), _as_float(input)
    size = input.shape[dim] if n is None else n
    _check_size(size)
    input = _resized(input, [dim], [size])
    scale = _normalization(norm, forward)
    if input.is_complex():
        return fft_c2c(input, (dim,), scale, forward)
    result = fft_r2c(input, (dim,), scale, False)
    return result if forward else conj(result)


def _from_real(
    name: str, input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool
) -> Tensor:
    """`rfft` or `ihfft`."""
    dim, input = _one_dim(name, input, n, dim), _as_real(name, input)
    size = input.shape[dim] if n is None else n
    _check_size(size)
    input = _resized(input, [dim], [size])
    result = fft_r2c(input, (dim,), _normalization(norm, forward), True)
    return result if forward else conj(result)


def _to_real(
    name: str, input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool
) -> Tensor:
    """`irfft` or `hfft`."""
    dim, input = _one_dim(name, input, n, dim), _as_complex(input)
    size = 2 * (input.shape[dim] - 1) if n is None else n
    _check_size(size)
    input = _resized(input, [dim], [size // 2 + 1])
    input = conj(input) if forward else input
    return fft_c2r(input, (dim,), _normalization(norm, forward), size)


@with_out
@checked
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The sums of ``x[j] * exp(-2j pi j k / n)`` along `dim`, as `torch.fft.fft`.

    The input is trimmed or padded with zeros to size `n`. `norm` divides by n ("forward"), by its
    root ("ortho") or by nothing ("backward", the default). float32 gives complex64.

    >>> import gradfn
    >>> gradfn.fft.fft(gradfn.tensor([1.0, 0.0, 0.0]))
    tensor([1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _from_complex("fft", input, n, dim, norm, True)


@with_out
@checked
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `fft`, divided by n unless `norm` says otherwise, as `torch.fft.ifft`.

    >>> import gradfn
    >>> gradfn.fft.ifft(gradfn.tensor([2.0, 0.0]))
    tensor([1.-0.j, 1.-0.j])
    """
    return _from_complex("ifft", input, n, dim, norm, False)


@with_out
@checked
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """`fft` of a real input, of which only the first ``n // 2 + 1`` are kept: they tell the rest.

    As `torch.fft.rfft`.

    >>> import gradfn
    >>> gradfn.fft.rfft(gradfn.ones(4)).shape
    torch.Size([3])
    """
    return _from_real("rfft", input, n, dim, norm, True)


@with_out
@checked
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `rfft`, of size `n`, by default even, as `torch.fft.irfft`.

    >>> import gradfn
    >>> gradfn.fft.irfft(gradfn.tensor([2.0, 0.0]))
    tensor([1., 1.])
    """
    return _to_real("irfft", input, n, dim, norm, False)


@with_out
@checked
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """`fft` of what is Hermitian and has a real transform, from its first half.

    As `torch.fft.hfft`.

    >>> import gradfn
    >>> gradfn.fft.hfft(gradfn.tensor([1.0, 0.0]))
    tensor([1., 1.])
    """
    return _to_real("hfft", input, n, dim, norm, True)


@with_out
@checked
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`, as `torch.fft.ihfft`.

    >>> import gradfn
    >>> gradfn.fft.ihfft(gradfn.tensor([2.0, 2.0]))
    tensor([2.-0.j, 0.-0.j])
    """
    return _from_real("ihfft", input, n, dim, norm, False)


def _dims_and_sizes(input: Tensor, s: Dims, dim: Dims) -> tuple[list[int], list[int]]:
    """The dimensions to transform, and their sizes, where -1 stands for the input's."""
    sizes = [s] if isinstance(s, int) else None if s is None else list(s)
    dims = [dim] if isinstance(dim, int) else None if dim is None else list(dim)
    if dims is not None:
        wrapped = [wrap_dim(d, input.ndim) for d in dims]
        if len(set(wrapped)) < len(wrapped):
            raise RuntimeError(f"FFT dims must be unique, but they are {dims}")
        if sizes is not None and len(sizes) != len(dims):
            raise RuntimeError(
                "When given, dim and shape arguments must have the same length, not "
                f"{len(dims)} and {len(sizes)}"
            )
    elif sizes is not None:
        if len(sizes) > input.ndim:
            raise RuntimeError(
                f"Got shape with {len(sizes)} values but input tensor only has {input.ndim} "
                "dimensions."
            )
        wrapped = list(range(input.ndim - len(sizes), input.ndim))
    else:
        wrapped = list(range(input.ndim))
    chosen = [-1] * len(wrapped) if sizes is None else sizes
    known = [input.shape[d] if n == -1 else n for d, n in zip(wrapped, chosen, strict=True)]
    for size in known:
        _check_size(size)
    return wrapped, known


def _at_least_one(name: str, dims: Sequence[int]) -> None:
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")


def _from_complex_n(input: Tensor, s: Dims, dim: Dims, norm: str | None, forward: bool) -> Tensor:
    """`fftn` or `ifftn`."""
    dims, sizes = _dims_and_sizes(input, s, dim)
    input = _resized(_as_complex(input), dims, sizes)
    return fft_c2c(input, tuple(dims), _normalization(norm, forward), forward)


def _to_real_n(
    name: str, input: Tensor, s: Dims, dim: Dims, norm: str | None, forward: bool
) -> Tensor:
    """`irfftn` or `hfftn`."""
    dims, sizes = _dims_and_sizes(input, s, dim)
    _at_least_one(name, dims)
    whole = s is None or (s if isinstance(s, int) else s[-1]) == -1
    size = 2 * (sizes[-1] - 1) if whole else sizes[-1]
    _check_size(size)
    input = _resized(_as_complex(input), dims, [*sizes[:-1], size // 2 + 1])
    scale = _normalization(norm, forward)
    if not forward:
        return fft_c2r(input, tuple(dims), scale, size)
    if dims[:-1]:
        input = fft_c2c(input, tuple(dims[:-1]), scale, True)
    return fft_c2r(conj(input), (dims[-1],), scale, size)


@with_out
@checked
def fftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """`fft` over several dimensions, by default all, trimmed or padded to sizes `s`.

    As `torch.fft.fftn`.

    >>> import gradfn
    >>> gradfn.fft.fftn(gradfn.ones(2, 2))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    return _from_complex_n(input, s, dim, norm, True)


@with_out
@checked
def ifftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of `fftn`, as `torch.fft.ifftn`."""
    return _from_complex_n(input, s, dim, norm, False)


@with_out
@checked
def rfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """`fftn` of a real input, of which half of the last dimension is kept, as `torch.fft.rfftn`."""
    input = _as_real("rfftn", input)
    dims, sizes = _dims_and_sizes(input, s, dim)
    _at_least_one("rfftn", dims)
    return fft_r2c(_resized(input, dims, sizes), tuple(dims), _normalization(norm, True), True)


@with_out
@checked
def irfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of `rfftn`, whose last size is by default even, as `torch.fft.irfftn`."""
    return _to_real_n("irfftn", input, s, dim, norm, False)


@with_out
@checked
def hfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """`hfft` over the last dimension and `fft` over the others, as `torch.fft.hfftn`."""
    return _to_real_n("hfftn", input, s, dim, norm, True)


@with_out
@checked
def ihfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of `hfftn`, as `torch.fft.ihfftn`."""
    input = _as_real("ihfftn", input)
    dims, sizes = _dims_and_sizes(input, s, dim)
    _at_least_one("ihfftn", dims)
    scale = _normalization(norm, False)
    half = fft_r2c(_resized(input, dims, sizes), (dims[-1],), scale, True)
    if not dims[:-1]:
        return conj(half)  # type: ignore[no-any-return]
    return fft_c2c(conj_physical(half), tuple(dims[:-1]), scale, False)


LAST_TWO = (-2, -1)


@with_out
@checked
def fft2(input: Tensor, s: Dims = None, dim: Dims = LAST_TWO, norm: str | None = None) -> Tensor:
    """`fftn` over two dimensions, as `torch.fft.fft2`."""
    return fftn(input, s, dim, norm)


@with_out
@checked
def ifft2(input: Tensor, s: Dims = None, dim: Dims = LAST_TWO, norm: str | None = None) -> Tensor:
    """`ifftn` over two dimensions, as `torch.fft.ifft2`."""
    return ifftn(input, s, dim, norm)


@with_out
@checked
def rfft2(input: Tensor, s: Dims = None, dim: Dims = LAST_TWO, norm: str | None = None) -> Tensor:
    """`rfftn` over two dimensions, as `torch.fft.rfft2`."""
    return rfftn(input, s, dim, norm)


@with_out
@checked
def irfft2(input: Tensor, s: Dims = None, dim: Dims = LAST_TWO, norm: str | None = None) -> Tensor:
    """`irfftn` over two dimensions, as `torch.fft.irfft2`."""
    return irfftn(input, s, dim, norm)


@with_out
@checked
def hfft2(input: Tensor, s: Dims = None, dim: Dims = LAST_TWO, norm: str | None = None) -> Tensor:
    """`hfftn` over two dimensions, as `torch.fft.hfft2`."""
    return hfftn(input, s, dim, norm)


@with_out
@checked
def ihfft2(input: Tensor, s: Dims = None, dim: Dims = LAST_TWO, norm: str | None = None) -> Tensor:
    """`ihfftn` over two dimensions, as `torch.fft.ihfft2`."""
    return ihfftn(input, s, dim, norm)


@checked
def fftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """`input` with frequency 0 moved to the middle, as `torch.fft.fftshift`.

    >>> import gradfn
    >>> gradfn.fft.fftshift(gradfn.tensor([0, 1, -2, -1]))
    tensor([-2, -1,  0,  1])
    """
    dims = _shifted_dims(input, dim)
    return roll(input, [input.shape[d] // 2 for d in dims], dims)


@checked
def ifftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """The inverse of `fftshift`, as `torch.fft.ifftshift`.

    >>> import gradfn
    >>> gradfn.fft.ifftshift(gradfn.tensor([-2, -1, 0, 1]))
    tensor([ 0,  1, -2, -1])
    """
    dims = _shifted_dims(input, dim)
    return roll(input, [(input.shape[d] + 1) // 2 for d in dims], dims)


def _shifted_dims(input: Tensor, dim: Dims) -> list[int]:
    dims = range(input.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    return [wrap_dim(d, input.ndim) for d in dims]


METHODS = ""
