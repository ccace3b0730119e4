"""Convolutions, pooling, normalisation, padding and resampling."""

from __future__ import annotations

from typing import Any

from .core import Array, Sample, error, sample, x
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


CORNERS = Array(values=[[[0, 2], [6, 8]]], dtype="int64")

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
    layer(
        "max_unpool1d",
        sample(x(2, 1, 3), Array(values=[[[1, 2, 5]], [[0, 3, 4]]], dtype="int64"), 2),
        sample(x(1, 2), Array(values=[[0, 4]], dtype="int64"), 2, output_size=(5,)),
    ),
    layer(
        "max_unpool2d",
        sample(x(1, 2, 2), CORNERS, 2),
        sample(x(1, 2, 2), CORNERS, 2, (2, 1), output_size=(5, 3)),
        rows=("max_unpool2d",),
        errors=(
            error(ValueError, "invalid output_size", x(1, 2, 2), CORNERS, 2, output_size=(9, 9)),
            error(RuntimeError, "elements in indices should be", x(1, 2, 2), x(1, 2, 2), 2),
            error(RuntimeError, "Expected shape of indices", x(1, 2, 3), CORNERS, 2),
            error(RuntimeError, "Found an invalid max index", x(1, 2, 2), CORNERS, 1),
        ),
    ),
    layer(
        "max_unpool3d",
        sample(x(1, 1, 1, 2), Array(values=[[[[3, 9]]]], dtype="int64"), 2),
        rows=("max_unpool3d",),
    ),
    layer(
        "fractional_max_pool2d",
        sample(distinct(2, 1, 5, 6), 2, output_size=(2, 3)),
        sample(distinct(2, 5, 5), (2, 1), output_ratio=(0.5, 0.7)),
        rows=("fractional_max_pool2d",),
        random=True,
        errors=(
            error(ValueError, "fractional_max_pool2d requires specifying", x(1, 4, 4), 2),
            error(
                RuntimeError,
                "fractional_max_pool2d(): pool height 2 too large",
                x(1, 4, 4),
                2,
                output_size=4,
            ),
        ),
    ),
    layer(
        "fractional_max_pool3d",
        sample(distinct(1, 1, 4, 3, 5), 2, output_size=(2, 1, 3)),
        rows=("fractional_max_pool3d",),
        random=True,
    ),
    layer(
        "gumbel_softmax",
        sample(x(2, 3)),
        sample(x(3, 2), tau=0.5, dim=0),
        sample(x(2, 3), hard=True).not_smooth(),
        random=True,
    ),
]
