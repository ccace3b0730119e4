"""Sampling images and volumes at the points of a grid: spatial transformers."""

from __future__ import annotations

import warnings
from functools import partial, reduce
from itertools import product
from operator import mul
from typing import Any

from .. import raw
from ..raw.gridding import BICUBIC, BILINEAR, NEAREST
from ..raw.products import in_wide
from .checking import checked
from .declare import Function, op

__all__ = ["affine_grid_generator", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"]

_SHARPNESS = -0.75  # of the cubic kernel


def _near(d: Any) -> Any:
    return ((_SHARPNESS + 2) * d - (_SHARPNESS + 3)) * d * d + 1


def _near_slope(d: Any) -> Any:
    return (3 * (_SHARPNESS + 2) * d - 2 * (_SHARPNESS + 3)) * d


def _far(d: Any) -> Any:
    return (((d - 5) * d + 8) * d - 4) * _SHARPNESS


def _far_slope(d: Any) -> Any:
    return ((3 * d - 10) * d + 8) * _SHARPNESS


def _weights(t: Any, interpolation_mode: int) -> list[Any]:
    """The weights, along one dimension, of the elements around a point `t` beyond one of them."""
    if interpolation_mode == NEAREST:
        return [1.0]
    if interpolation_mode == BILINEAR:
        return [1 - t, t]
    return [_far(t + 1), _near(t), _near(1 - t), _far(2 - t)]


def _slopes(t: Any, interpolation_mode: int) -> list[Any]:
    """The derivatives of the weights."""
    if interpolation_mode == NEAREST:
        return [0.0]
    if interpolation_mode == BILINEAR:
        return [-1.0, 1.0]
    return [_far_slope(t + 1), _near_slope(t), -_near_slope(1 - t), -_far_slope(2 - t)]


class _Surroundings:
    """The elements around each point of a grid, for all channels: places, weights, slopes."""

    def __init__(self, F: Any, shape: Any, grid: Any, setup: tuple[int, int, bool]) -> None:
        self.sizes = shape[2:]
        offset, self.scale, index, inside = F.grid_offsets(grid, self.sizes, *setup)
        made = (*shape[:2], *grid.shape[1:-1])
        self.index = [F.expand(F.unsqueeze(i, 1), made) for i in F.unbind(index, 0)]
        self.inside = [F.unsqueeze(i, 1) for i in F.unbind(inside, 0)]
        ts = [F.unsqueeze(t, 1) for t in reversed(F.unbind(offset, -1))]
        self.weights = [_weights(t, setup[0]) for t in ts]
        self.slopes = [_slopes(t, setup[0]) for t in ts]

    def values(self, F: Any, input: Any) -> list[Any]:
        """What is at the places, zero where there is nothing."""
        pairs = zip(self.index, self.inside, strict=True)
        return [F.where(i, F.from_planes(input, at, len(self.sizes)), 0) for at, i in pairs]

    def products(self, along: int | None = None) -> list[Any]:
        """The weights of the places, or their derivatives by the position `along` a dimension."""
        factors = list(self.weights)
        if along is not None:
            factors[along] = self.slopes[along]
        return [reduce(mul, corner) for corner in product(*factors)]


def _sampled(self: Any, grid: Any, *setup: Any) -> Any:
    around = _Surroundings(raw, self.shape, grid, setup)
    values = around.values(raw, self)
    return sum(v * w for v, w in zip(values, around.products(), strict=True))


def _input_gradient(
    F: Any, g: Any, self_shape: Any, grid: Any, interpolation_mode: int, padding_mode: int,
    align_corners: bool,
) -> Any:  # fmt: skip
    around = _Surroundings(F, self_shape, grid, (interpolation_mode, padding_mode, align_corners))
    parts = zip(around.index, around.inside, around.products(), strict=True)
    return sum(F.to_planes(F.where(i, g * w, 0), at, around.sizes) for at, i, w in parts)


def _grid_gradient(
    F: Any, g: Any, self: Any, self_shape: Any, grid: Any, interpolation_mode: int,
    padding_mode: int, align_corners: bool,
) -> Any:  # fmt: skip
    around = _Surroundings(F, self_shape, grid, (interpolation_mode, padding_mode, align_corners))
    if interpolation_mode == NEAREST:  # zero, and recorded as a function of `g`
        return F.where(around.scale == 0, 0, F.sum(g))
    pulled = [g * value for value in around.values(F, self)]
    slopes = [
        F.sum(sum(p * w for p, w in zip(pulled, around.products(axis), strict=True)), (1,))
        for axis in reversed(range(len(around.sizes)))
    ]
    return F.stack(slopes, -1) * around.scale


def _for_batches(call: Any) -> Any:
    made = call.run(self=call.front("self").flatten(0, 1), grid=call.front("grid").flatten(0, 1))
    return made.unflatten(0, (call.size, made.shape[0] // call.size))


def _sampler(dims: int) -> Function:
    return op(
        f"grid_sampler_{dims}d(self, grid, interpolation_mode, padding_mode, align_corners)",
        kernel=partial(in_wide, _sampled),
        node=f"GridSampler{dims}DBackward0",
        refuses="biuc",
        batch=_for_batches,
        self=_input_gradient,
        grid=_grid_gradient,
        doc=f"`grid_sample` in {dims} dimensions, its modes by PyTorch's numbers.",
    )


grid_offsets = op(
    "grid_offsets(grid, sizes, interpolation_mode, padding_mode, align_corners)",
    kernel=raw.grid_offsets,
    results=("offset", "slope", "index", "inside"),
    constants=("slope", "index", "inside"),
    tangent=lambda grid_t, slope: (grid_t * slope, None, None, None),
    grid=lambda g_offset, slope: g_offset * slope,
)
grid_sampler_2d, grid_sampler_3d = _sampler(2), _sampler(3)

# The two are linear, and each other's adjoints.
affine_grid_generator = op(
    "affine_grid_generator(theta, size, align_corners)",
    kernel=raw.affine_grid_generator,
    tangent="linear",
    batch="trailing",
    theta=lambda F, g, size, align_corners: F.affine_grid_adjoint(g, size, align_corners),
    doc="`affine_grid`, with the argument `align_corners` given.",
)
affine_grid_adjoint = op(
    "affine_grid_adjoint(grad, size, align_corners)",
    kernel=raw.affine_grid_adjoint,
    tangent="linear",
    batch="trailing",
    grad=lambda F, g, size, align_corners: F.affine_grid_generator(g, size, align_corners),
)


@checked
def grid_sampler(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`grid_sample`, its modes by PyTorch's numbers."""
    _check(input, grid, interpolation_mode)
    row = grid_sampler_2d if input.ndim == 4 else grid_sampler_3d
    return row(input, grid, interpolation_mode, padding_mode, align_corners)


def _check(input: Any, grid: Any, interpolation_mode: int) -> None:
    name, shapes = "grid_sampler()", (list(input.shape), list(grid.shape))
    both = f"but got input with sizes {shapes[0]} and grid with sizes {shapes[1]}"
    if input.shape[:1] != grid.shape[:1]:
        raise RuntimeError(f"{name}: expected grid and input to have same batch size, {both}")
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"{name}: expected grid to have size {input.ndim - 2} in last dimension, but got grid "
            f"with sizes {shapes[1]}"
        )
    for dim, size in enumerate(input.shape[2:], 2):
        if size == 0:
            raise RuntimeError(
                f"{name}: expected input to have non-empty spatial dimensions, but input has sizes "
                f"{shapes[0]} with dimension {dim} being empty"
            )
    if input.ndim not in (4, 5) or input.ndim != grid.ndim:
        raise RuntimeError(
            f"{name}: expected 4D or 5D input and grid with same number of dimensions, {both}"
        )
    if input.ndim == 5 and interpolation_mode == BICUBIC:
        raise RuntimeError(f"{name}: bicubic interpolation only supports 4D input, {both}")
    if input.dtype is not grid.dtype:
        raise RuntimeError(
            f"expected scalar type {input.dtype.scalar_name} but found {grid.dtype.scalar_name}"
        )


_INTERPOLATIONS = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@checked
def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """`input` at the points of `grid`, as `torch.nn.functional.grid_sample`.

    (N, C, H, W) and a grid (N, H', W', 2) of points x, y make (N, C, H', W'), and volumes
    (N, C, D, H, W) with points x, y, z likewise. The input reaches from -1 to 1 in each direction:
    from the centres of its outermost elements with `align_corners`, else from their edges.
    `mode` is ``"bilinear"``, ``"nearest"`` or, for images, ``"bicubic"``; points outside count as
    0 (``"zeros"``), as the nearest element (``"border"``) or are reflected at the border
    (``"reflection"``), as `padding_mode` says. RuntimeError for shapes that do not fit.

    >>> from gradfn import nn, tensor
    >>> image = tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
    >>> nn.functional.grid_sample(image, tensor([[[[0.0, 0.0], [1.0, -1.0]]]]), align_corners=True)
    tensor([[[[1.5000, 1.0000]]]])
    """
    if mode not in _INTERPOLATIONS:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    numbers = _INTERPOLATIONS.index(mode), _PADDINGS.index(padding_mode)
    return grid_sampler(input, grid, *numbers, _aligned(align_corners))


@checked
def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """The grid for `grid_sample` that the affine maps `theta` make.

    (N, 2, 3) and `size` (N, C, H, W) make (N, H, W, 2), (N, 3, 4) and (N, C, D, H, W) likewise: the
    points from which each element of a result of that size comes. ValueError for other shapes and
    for integers. As `torch.nn.functional.affine_grid`.

    >>> from gradfn import nn, tensor
    >>> half = tensor([[[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]]])
    >>> nn.functional.affine_grid(half, (1, 1, 1, 2), align_corners=True)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    size = tuple(size)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if theta.ndim != 3 or theta.shape[1:] != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size "
            f"{size}. Got {theta.shape}."
        )
    align = _aligned(align_corners)
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if size[0] != theta.shape[0]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, "
            f"{dims + 1}] but got: [{theta.shape[0]}, {dims + 1}]."
        )
    return affine_grid_generator(theta, size, align)


def _aligned(align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
            "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
            "documentation of grid_sample for details.",
            stacklevel=4,
        )
    return bool(align_corners)


METHODS = ""
