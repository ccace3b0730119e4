"""Sampling of images and volumes at the points of a grid: spatial transformers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from .. import raw
from ..raw.gridding import BICUBIC, BILINEAR, BORDER, NEAREST, REFLECTION, ZEROS
from .checking import checked
from .declare import Function, op
from .formulas import not_implemented

__all__ = ["affine_grid_generator"]

MODES = {"bilinear": BILINEAR, "nearest": NEAREST, "bicubic": BICUBIC}
PADDINGS = {"zeros": ZEROS, "border": BORDER, "reflection": REFLECTION}


def _sampler(dims: int) -> Function:
    setup = "interpolation_mode, padding_mode, align_corners"
    return op(
        f"grid_sampler_{dims}d(self, grid: Tensor, {setup})",
        kernel=raw.grid_sampler,
        node=f"GridSampler{dims}DBackward0",
        batch="trailing",
        joint=lambda F, g, self, grid, interpolation_mode, padding_mode, align_corners: (
            F.grid_sampler_backward(g, self, grid, interpolation_mode, padding_mode, align_corners)
        ),
    )


_SAMPLERS = {dims: _sampler(dims) for dims in (2, 3)}
grid_sampler_backward = op(
    "grid_sampler_backward(grad, self, grid: Tensor, interpolation_mode, padding_mode, "
    "align_corners)",
    kernel=raw.grid_sampler_backward,
    results=("grad_input", "grad_grid"),
    batch="trailing",
    grad=not_implemented("grid_sampler_backward"),
    self=not_implemented("grid_sampler_backward"),
    grid=not_implemented("grid_sampler_backward"),
    doc="The gradients of the input and of the grid of `grid_sample`.",
)
affine_grid_generator = op(
    "affine_grid_generator(theta: Tensor, size, align_corners)",
    kernel=raw.affine_grid_generator,
    tangent="linear",
    batch="trailing",
    theta=lambda F, g, size, align_corners: F.affine_grid_generator_backward(
        g, size, align_corners
    ),
    doc="`nn.functional.affine_grid` without its checks.",
)
affine_grid_generator_backward = op(
    "affine_grid_generator_backward(grad, size, align_corners)",
    kernel=raw.affine_grid_generator_backward,
    tangent="linear",
    batch="trailing",
    grad=lambda F, g, size, align_corners: F.affine_grid_generator(g, size, align_corners),
    doc="The adjoint of `affine_grid_generator`.",
)


def _aligned(name: str, align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(
            f"Default {name} behavior has changed to align_corners=False since 1.3.0. Please "
            "specify align_corners=True if the old behavior is desired. See the documentation of "
            f"{name} for details.",
            stacklevel=4,
        )
    return bool(align_corners)


@checked
def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """The images (N, C, H, W) at the points (N, Ho, Wo, 2): (N, C, Ho, Wo); or volumes, with 3.

    Points are (x, y) with -1 and 1 at the borders: at the centres of the corner elements with
    `align_corners`, else at their outer edges. `mode` is bilinear, nearest or bicubic (images
    only); outside there are zeros, or with `padding_mode` the border or the reflected image. Not
    differentiable twice. RuntimeError for shapes that do not fit, ValueError for unknown modes. As
    `torch.nn.functional.grid_sample`.

    >>> from gradfn import arange, tensor
    >>> image = arange(4.0).reshape(1, 1, 2, 2)
    >>> grid_sample(image, tensor([[[[0.0, 0.0], [-1.0, -1.0]]]]), align_corners=True)
    tensor([[[[1.5000, 0.0000]]]])
    """
    if mode not in MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    aligned = _aligned("grid_sample and affine_grid", align_corners)
    _check(input, grid, mode)
    sampler = _SAMPLERS[input.ndim - 2]
    return sampler(input, grid, MODES[mode], PADDINGS[padding_mode], aligned)


def _check(input: Any, grid: Any, mode: str) -> None:
    sizes = f"input has size {list(input.shape)} and grid {list(grid.shape)}"
    if input.dtype is not grid.dtype:
        raise RuntimeError(
            "grid_sampler(): expected input and grid to have the same dtype, but input has "
            f"{input.dtype.scalar_name} and grid has {grid.dtype.scalar_name}"
        )
    if input.ndim not in (4, 5) or input.ndim != grid.ndim:
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but "
            f"got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but {sizes}"
        )
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but "
            f"got grid with sizes {list(grid.shape)}"
        )
    if 0 in input.shape[2:]:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
            f"sizes {list(input.shape)}"
        )
    if input.ndim == 5 and mode == "bicubic":
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


@checked
def affine_grid(theta: Any, size: Sequence[int], align_corners: bool | None = None) -> Any:
    """The points for `grid_sample` of the affine maps (N, 2, 3): (N, H, W, 2); or (N, 3, 4).

    `size` is that of the images to make, (N, C, H, W) or (N, C, D, H, W). RuntimeError for integers
    and ValueError for shapes that do not fit. As `torch.nn.functional.affine_grid`.

    >>> from gradfn import tensor
    >>> affine_grid(tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2), align_corners=True)
    tensor([[[[-1.,  0.],
              [ 1.,  0.]]]])
    """
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {tuple(size)}"
        )
    if theta.ndim != 3 or tuple(theta.shape[-2:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size "
            f"{tuple(size)}. Got {tuple(theta.shape)}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    return affine_grid_generator(theta, tuple(size), _aligned("affine_grid", align_corners))


METHODS = ""
