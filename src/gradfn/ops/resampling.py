"""Interpolation to another size."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from operator import index
from typing import Any

from .. import raw
from ..raw.resampling import interpolation, nearest_places
from .adaptive import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .declare import Function, op

__all__: list[str] = []


def _interpolations(
    mode: str,
    shape: Sequence[int],
    output_size: Sequence[int],
    align_corners: bool,
    scales: Sequence[float | None],
) -> list[Any]:
    sizes = shape[-len(output_size) :]
    return [
        interpolation(mode, size, new, align_corners, scale)
        for size, new, scale in zip(sizes, output_size, scales, strict=True)
    ]


def _upsample(name: str, node: str, mode: str) -> Function:
    """The row of a separable interpolation."""

    def kernel(self: Any, output_size: Any, align_corners: Any, scales: Any) -> Any:
        matrices = _interpolations(mode, self.shape, output_size, align_corners, scales)
        if self.dtype.kind == "u":
            return raw.round(raw.resample(self.astype("f4"), matrices)).astype(self.dtype)
        return raw.resample(self, matrices)

    def gradient(
        F: Any, g: Any, self_shape: Any, output_size: Any, align_corners: Any, scales: Any
    ) -> Any:
        matrices = _interpolations(mode, self_shape, output_size, align_corners, scales)
        return F.resample(g, [m.T for m in matrices])

    return op(
        f"{name}(self, output_size, align_corners, scales)",
        kernel=kernel,
        node=f"{node}Backward0",
        refuses="bic",
        tangent="linear",
        self=gradient,
    )


def _nearest(dims: int, exact: bool) -> Function:
    """The row that repeats the nearest elements."""

    def places(shape: Any, output_size: Any, scales: Any) -> list[Any]:
        return [
            nearest_places(size, new, exact, scale)
            for size, new, scale in zip(shape[-dims:], output_size, scales, strict=True)
        ]

    return op(
        f"upsample_nearest{'_exact' if exact else ''}{dims}d(self, output_size, scales)",
        kernel=lambda self, output_size, scales: raw.pick(
            self, places(self.shape, output_size, scales)
        ),
        node=f"UpsampleNearest{'Exact' if exact else ''}{dims}DBackward0",
        refuses="bic",
        tangent="linear",
        self=lambda F, g, self_shape, output_size, scales: F.unpick(
            g, self_shape[-dims:], places(self_shape, output_size, scales)
        ),
    )


_NEAREST = {
    mode: [_nearest(dims, mode == "nearest-exact") for dims in (1, 2, 3)]
    for mode in ("nearest", "nearest-exact")
}
_SMOOTH = {
    "linear": _upsample("upsample_linear1d", "UpsampleLinear1D", "linear"),
    "bilinear": _upsample("upsample_bilinear2d", "UpsampleBilinear2D", "linear"),
    "trilinear": _upsample("upsample_trilinear3d", "UpsampleTrilinear3D", "linear"),
    "bicubic": _upsample("upsample_bicubic2d", "UpsampleBicubic2D", "cubic"),
}
_ANTIALIASED = {
    "bilinear": _upsample("upsample_bilinear2d_aa", "UpsampleBilinear2DAa", "linear-antialias"),
    "bicubic": _upsample("upsample_bicubic2d_aa", "UpsampleBicubic2DAa", "cubic-antialias"),
}
_DIMS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """The spatial dimensions of (N, C, ...) brought to `size`, or to `scale_factor` times theirs.

    `mode` is ``"nearest"``, ``"nearest-exact"``, ``"linear"``, ``"bilinear"``, ``"trilinear"``,
    ``"bicubic"`` or ``"area"``. With `align_corners` the corners keep their values; else elements
    are areas, and those of input and result cover the same whole. `antialias` widens the kernels
    of bilinear and bicubic downsampling. ValueError for sizes and options that do not fit,
    NotImplementedError for other modes. As `torch.nn.functional.interpolate`.

    >>> from gradfn import nn, tensor
    >>> nn.functional.interpolate(tensor([[[1., 3.]]]), scale_factor=2, mode="linear")
    tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
    """
    dims = input.ndim - 2
    if mode not in _DIMS and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | "
            "bilinear | bicubic | trilinear"
        )
    new, scales = _new_size(input, size, scale_factor, recompute_scale_factor)
    if antialias and not (mode in _ANTIALIASED and dims == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and 4-D input"
        )
    if mode in _NEAREST and 1 <= dims <= 3:
        return _NEAREST[mode][dims - 1](input, new, scales)
    if mode == "area" and 1 <= dims <= 3:
        adaptive = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)
        return adaptive[dims - 1](input, new)
    if _DIMS.get(mode) == dims:
        rows = _ANTIALIASED if antialias else _SMOOTH
        return rows[mode](input, new, bool(align_corners), scales)
    if mode in _DIMS:
        raise NotImplementedError(
            f"Got {input.ndim}D input, but {mode} mode needs {_DIMS[mode] + 2}D input"
        )
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the "
        "modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got "
        f"{mode})"
    )


def _new_size(
    input: Any, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[tuple[int, ...], list[float | None]]:
    """The new sizes, and the scales by which positions are found where these are given."""
    old = input.shape[2:]
    dims = len(old)
    if (size is None) == (scale_factor is None):
        which = "either size or scale_factor should be defined"
        both = "only one of size or scale_factor should be defined"
        raise ValueError(which if size is None else both)
    named = "size" if scale_factor is None else "scale_factor"
    given = size if scale_factor is None else scale_factor
    given = tuple(given) if isinstance(given, Sequence) else (given,) * dims
    if len(given) != dims:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(old)} and {named} of {list(given)}"
        )
    scales: list[float | None] = [None] * dims
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        new = tuple(map(index, given))
    else:
        new = tuple(math.floor(n * float(f)) for n, f in zip(old, given, strict=True))
        if not recompute:
            scales = [float(f) for f in given]
    if min((*old, *new), default=1) <= 0:
        raise RuntimeError(
            "Input and output sizes should be greater than 0, but got input "
            f"{list(old)} and output {list(new)}"
        )
    return new, scales


def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:
    """`interpolate`, by its older name."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` with the nearest elements."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """Bilinear `interpolate` with aligned corners."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=3,
    )


METHODS = ""
