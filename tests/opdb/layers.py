"""Convolutions, pooling, normalisation, padding and resampling."""

from __future__ import annotations

from typing import Any

from .core import Sample, error, sample, x
from .families import op

F = "nn.functional."
REAL = ("float64", "float32")


def layer(name: str, *samples: Sample, **fields: Any) -> Any:
    """A function of `nn.functional` that has no other form."""
    return op(F + name, samples, "f", dtypes=REAL, refuses_as_pytorch=False, **fields)


def distinct(*shape: int) -> Any:
    """A tensor whose elements differ, so that a maximum has a derivative."""
    size = 1
    for extent in shape:
        size *= extent
    values = [((13 * i) % size) / size for i in range(size)]
    nested: Any = values
    for extent in reversed(shape[1:]):
        nested = [nested[i : i + extent] for i in range(0, len(nested), extent)]
    return x(values=nested)


PLACES = x(dtype="int64", values=[[[[0, 3], [9, 14]], [[5, 2], [8, 11]]]])
LARGE = x(dtype="int64", values=[[[99]]])
SHIFTS = x(values=[[[0.2, 0.6], [0.9, 0.4]]], grad=False)
LABELS = x(dtype="int64", values=[[1, 2], [2, 1]])

OPS = [
    layer(
        "conv1d",
        sample(x(2, 2, 5), x(3, 2, 2), x(3)),
        sample(x(2, 4), x(2, 1, 3), None, stride=2, padding=1, groups=2),
        sample(x(1, 1, 5), x(1, 1, 2), padding="same", dilation=2),
        rows=("convolution", "convolution_input", "convolution_weight"),
    ),
    layer(
        "conv2d",
        sample(x(1, 2, 3, 4), x(2, 2, 2, 2), x(2)),
        sample(x(1, 2, 4, 3), x(2, 1, 2, 1), None, (2, 1), (1, 0), 1, 2),
    ),
    layer("conv3d", sample(x(1, 1, 2, 3, 2), x(2, 1, 1, 2, 2), x(2))),
    layer("conv_transpose1d", sample(x(1, 2, 3), x(2, 2, 2), x(2), 2, 1, 1)),
    layer("conv_transpose2d", sample(x(1, 2, 2, 3), x(2, 1, 2, 2), None, stride=2)),
    layer("conv_transpose3d", sample(x(1, 1, 2, 1, 2), x(1, 1, 2, 2, 1))),
    layer(
        "max_pool1d",
        sample(distinct(2, 2, 6), 2),
        sample(distinct(1, 7), 3, stride=2, padding=1),
    ),
    layer(
        "max_pool2d",
        sample(distinct(1, 2, 4, 4), 2),
        sample(distinct(1, 4, 5), (2, 3), stride=(1, 2), padding=(1, 1), ceil_mode=True),
        rows=("max_pool2d_with_indices", "pick", "unpick"),
    ),
    layer("max_pool3d", sample(distinct(1, 1, 2, 4, 2), 2), rows=("max_pool3d_with_indices",)),
    layer("avg_pool1d", sample(x(2, 1, 5), 2), sample(x(1, 6), 3, stride=2, padding=1)),
    layer(
        "avg_pool2d",
        sample(x(1, 1, 4, 4), 2),
        sample(x(1, 3, 5), (2, 3), stride=1, padding=1, count_include_pad=False),
        rows=("avg_pool",),
    ),
    layer("avg_pool3d", sample(x(1, 1, 2, 4, 2), 2)),
    layer(
        "scaled_dot_product_attention",
        sample(x(1, 2, 3, 4), x(1, 2, 5, 4), x(1, 2, 5, 4)).only("float32"),
        sample(x(2, 1, 3, 2), x(2, 1, 3, 2), x(2, 1, 3, 2), is_causal=True).only("float32"),
        sample(x(3, 2), x(4, 2), x(4, 3), x(3, 4), scale=0.3),
        sample(
            x(1, 2, 2),
            x(1, 3, 2),
            x(1, 3, 2),
            x(dtype="bool", values=[[True, False, True], [False, False, False]]),
        ),
        sample(x(1, 4, 2, 3), x(1, 2, 3, 3), x(1, 2, 3, 3), enable_gqa=True).forward_only(),
        sample(x(2, 2, 3), x(2, 4, 3), x(2, 4, 3)),
        rows=("_scaled_dot_product_flash_attention_for_cpu", "_safe_softmax"),
    ),
    layer("lp_pool1d", sample(x(1, 2, 5, low=0.2), 2.0, 2)),
    layer("lp_pool2d", sample(x(1, 1, 4, 5, low=0.2), 3.0, (2, 3), stride=1)),
    layer("lp_pool3d", sample(x(1, 1, 2, 3, 2, low=0.2), 2.0, 2, ceil_mode=True)),
    layer("pixel_shuffle", sample(x(2, 8, 2, 3), 2), rows=("pixel_shuffle",)),
    layer("pixel_unshuffle", sample(x(1, 4, 6), 2), rows=("pixel_unshuffle",)),
    layer("channel_shuffle", sample(x(2, 6, 2, 1), 3), rows=("channel_shuffle",)),
    layer(
        "unfold",
        sample(x(1, 2, 4, 5), 2),
        sample(x(2, 4, 3), (2, 1), dilation=2, padding=1, stride=(1, 2)),
        rows=("im2col",),
    ),
    layer(
        "fold",
        sample(x(1, 8, 6), (3, 4), 2),
        sample(x(4, 4), (3, 5), (2, 2), padding=1, stride=(2, 4)),
        rows=("col2im",),
    ),
    layer("adaptive_avg_pool1d", sample(x(1, 2, 5), 3)),
    layer("adaptive_avg_pool2d", sample(x(1, 1, 4, 5), (2, 3))),
    layer("adaptive_avg_pool3d", sample(x(1, 1, 2, 3, 2), (1, 2, 2))),
    layer("adaptive_max_pool1d", sample(distinct(1, 2, 5), 3)),
    layer("adaptive_max_pool2d", sample(distinct(1, 1, 4, 5), (2, 3))),
    layer("adaptive_max_pool3d", sample(distinct(1, 1, 2, 3, 2), (1, 2, 2))),
    layer(
        "batch_norm",
        sample(x(4, 3), x(3, grad=False), x(3, low=0.5, grad=False), x(3), x(3)),
        sample(x(3, 2, 2), None, None, x(2), x(2), training=True),
        rows=("native_batch_norm",),
    ),
    layer("instance_norm", sample(x(2, 2, 3)), sample(x(2, 2, 3), None, None, x(2), x(2))),
    layer(
        "layer_norm",
        sample(x(2, 3), (3,)),
        sample(x(2, 2, 3), (2, 3), x(2, 3), x(2, 3)),
        rows=("native_layer_norm",),
    ),
    layer(
        "group_norm",
        sample(x(2, 4, 3), 2),
        sample(x(1, 4, 3), 2, x(4), x(4)),
        rows=("native_group_norm",),
    ),
    op(  # PyTorch's second derivatives are wrong: docs/deviations.md
        "_weight_norm",
        [
            sample(x(3, 4), x(3, 1)),
            sample(x(3, 2, 2), x(1, 1, 2), 2),
            sample(x(2, 3, 2), x(1, 3, 1), dim=1),
            sample(x(2, 3), x(1), -1),
        ],
        "f",
        dtypes=REAL,
        differentiable_in=("float32",),
        refuses_as_pytorch=False,
        rows=("weight_norm_interface",),
    ),
    op(
        "norm_except_dim",
        [sample(x(3, 4)), sample(x(3, 2), 1, 1), sample(x(2, 3), 2, -1)],
        "f",
        dtypes=REAL,
        refuses_as_pytorch=False,
        rows=("norm.all",),
    ),
    layer("rms_norm", sample(x(2, 3), (3,)), sample(x(2, 3), (3,), x(3))),
    layer("local_response_norm", sample(x(1, 4, 3), 2)),
    layer(
        "pad",
        sample(x(2, 3), (1, 2)),
        sample(x(2, 3), (1, -1, 0, 2), value=1.5),
        sample(x(1, 2, 4), (1, 2), "reflect"),
        sample(x(1, 2, 4), (1, 2), "replicate"),
        sample(x(1, 2, 4), (1, 2), "circular"),
        sample(x(1, 3, 3), (1, 1, 0, 2), "reflect"),
        sample(x(1, 3, 3), (1, 1, 0, 2), "replicate"),
        sample(x(1, 2, 2, 2), (1, 0, 0, 1, 1, 1), "reflect"),
        sample(x(1, 2, 2, 2), (1, 0, 0, 1, 1, 1), "replicate"),
        rows=(
            "constant_pad_nd",
            *(f"{mode}_pad{n}d" for mode in ("reflection", "replication") for n in (1, 2, 3)),
        ),
    ),
    layer(
        "interpolate",
        sample(x(1, 1, 3), 5),
        sample(x(1, 1, 3), 5, mode="nearest-exact"),
        sample(x(1, 1, 3), 5, mode="linear"),
        sample(x(1, 1, 2, 3), (3, 4)),
        sample(x(1, 1, 2, 3), (3, 4), mode="nearest-exact"),
        sample(x(1, 1, 2, 3), scale_factor=2, mode="bilinear", align_corners=True),
        sample(x(1, 1, 4, 4), (2, 3), mode="bilinear", antialias=True),
        sample(x(1, 1, 2, 3), (3, 4), mode="bicubic"),
        sample(x(1, 1, 4, 4), (2, 3), mode="bicubic", antialias=True),
        sample(x(1, 1, 1, 2, 2), (2, 3, 2)),
        sample(x(1, 1, 1, 2, 2), (2, 3, 2), mode="nearest-exact"),
        sample(x(1, 1, 1, 2, 2), (2, 3, 2), mode="trilinear"),
        sample(x(1, 1, 4, 4), (2, 3), mode="area"),
        rows=(
            "resample",
            "from_planes",
            "to_planes",
            "upsample_linear1d",
            "upsample_bilinear2d",
            "upsample_bilinear2d_aa",
            "upsample_bicubic2d",
            "upsample_bicubic2d_aa",
            "upsample_trilinear3d",
            *(f"upsample_nearest{kind}{n}d" for kind in ("", "_exact") for n in (1, 2, 3)),
        ),
    ),
    op(
        "cdist",
        [
            sample(x(3, 4), x(2, 4)),
            sample(x(3, 4), x(2, 4), p=1.0),
            sample(x(3, 4), x(2, 4), p=float("inf")),
            sample(x(3, 4), x(2, 4), p=3.5),
            sample(x(3, 4), x(2, 4), p=0.0),
            sample(x(1, 3, 4), x(2, 2, 4)),
            sample(x(0, 4), x(2, 4)),
            sample(x(3, 4), x(2, 4), compute_mode="use_mm_for_euclid_dist"),
        ],
        "f",
        dtypes=REAL,
        refuses_as_pytorch=False,
        rows=("euclidean_dist",),
        errors=(
            error(RuntimeError, "X1 and X2 must have the same number of columns", x(2, 3), x(2, 4)),
            error(RuntimeError, "cdist only supports non-negative p values", x(2, 3), x(2, 3), -1),
        ),
    ),
    op(
        "pdist",
        [
            sample(x(4, 3)),
            sample(x(4, 3), 1.0),
            sample(x(4, 3), float("inf")),
            sample(x(4, 3), 3.5),
            sample(x(1, 3)).forward_only(),
        ],
        "f",
        dtypes=REAL,
        refuses_as_pytorch=False,
        errors=(error(RuntimeError, "pdist only supports 2D tensors, got: 1D", x(3)),),
    ),
    layer(
        "max_unpool2d",
        sample(x(1, 2, 2, 2), PLACES, 2),
        sample(x(1, 2, 2, 2), PLACES, 2, output_size=(5, 5)),
        errors=(
            error(RuntimeError, "Found an invalid max index: 99", x(1, 1, 1), LARGE, 2),
            error(
                ValueError, 'invalid output_size "(9, 9)"', x(1, 1, 1), LARGE, 2, None, 0, (9, 9)
            ),
        ),
    ),
    layer("max_unpool1d", sample(x(1, 2, 2), x(dtype="int64", values=[[[1, 3], [0, 2]]]), 2)),
    layer("max_unpool3d", sample(x(1, 1, 1, 1), x(dtype="int64", values=[[[[3]]]]), 2)),
    layer(
        "fractional_max_pool2d",
        sample(distinct(1, 2, 5, 4), 2, output_size=(2, 3), _random_samples=SHIFTS),
        sample(distinct(1, 2, 5, 4), 2, output_ratio=(0.5, 0.5), _random_samples=SHIFTS),
    ),
    layer(
        "fractional_max_pool3d",
        sample(
            distinct(1, 1, 4, 4, 4),
            2,
            output_size=2,
            _random_samples=x(values=[[[0.2, 0.6, 0.9]]], grad=False),
        ),
    ),
    layer(
        "affine_grid",
        sample(x(2, 2, 3), (2, 1, 3, 2), align_corners=True),
        sample(x(1, 2, 3), (1, 1, 2, 2), align_corners=False),
        sample(x(1, 3, 4), (1, 1, 2, 1, 2), align_corners=False),
        rows=("affine_grid_generator", "affine_grid_generator_backward"),
        errors=(
            error(ValueError, "Expected a batch of 2D affine", x(1, 2, 2), (1, 1, 2, 2), True),
            error(ValueError, "Expected non-zero, positive", x(1, 2, 3), (1, 1, 0, 2), True),
        ),
    ),
    layer(
        "grid_sample",
        *(
            sample(
                x(2, 2, 3, 4),
                x(2, 2, 3, 2, low=-1.3, high=1.3),
                mode,
                padding,
                align_corners=align,
            )
            for mode, padding, align in (
                ("bilinear", "zeros", False),
                ("bilinear", "border", True),
                ("bilinear", "reflection", False),
                ("nearest", "border", False),
                ("bicubic", "zeros", True),
                ("bicubic", "reflection", False),
            )
        ),
        sample(x(1, 1, 2, 3, 2), x(1, 1, 2, 2, 3, low=-1.3, high=1.3), align_corners=True),
        once=True,
        rows=("grid_sampler_2d", "grid_sampler_3d", "grid_sampler"),
        errors=(
            error(ValueError, "nn.functional.grid_sample(): expected mode", x(1), x(1), "cubic"),
        ),
    ),
    layer(
        "ctc_loss",
        sample(x(5, 2, 4), LABELS, [5, 4], [2, 1]).not_smooth(),
        sample(x(5, 2, 4), LABELS, [5, 4], [2, 1], reduction="sum").not_smooth(),
        sample(x(5, 2, 4), LABELS, [5, 4], [2, 0], blank=3, reduction="none").not_smooth(),
        sample(x(5, 2, 4), LABELS, [1, 4], [2, 1], zero_infinity=True).not_smooth(),
        once=True,
        rows=("ctc_loss", "ctc_loss_backward"),
        errors=(
            error(RuntimeError, "blank must be in label range", x(2, 1, 3), LABELS, [2], [1], 3),
            error(RuntimeError, "input_lengths must be of size", x(2, 1, 3), LABELS, [2, 2], [1]),
        ),
    ),
]
