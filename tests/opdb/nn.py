"""Activations, losses, embedding, linear maps and dropout."""

from __future__ import annotations

from typing import Any

from .core import FLOAT, FRACTION, INT, NUMBER, Array, Domain, OpInfo, Sample, error, sample, x
from .families import op, unary

F = "nn.functional."
OFF_ZERO: Domain = {"away": (0.0,)}


def labels(*classes: Any) -> Array:
    return Array(values=list(classes), dtype="int64")


def activation(
    name: str,
    *options: dict[str, Any],
    domain: Domain | None = None,
    dtypes: tuple[str, ...] = FLOAT,
    **fields: Any,
) -> OpInfo:
    """A function of one tensor in `nn.functional`, with its options."""
    more = [sample(x(2, 3, **(domain or {})), **chosen) for chosen in options]
    return unary(F + name, "f", dtypes, domain, more, **fields)


def loss(name: str, pairs: list[tuple[Array, Array]], more: list[Sample], **fields: Any) -> OpInfo:
    """A loss in its three reductions."""
    cases = [sample(a, b, reduction=r) for a, b in pairs for r in ("mean", "sum", "none")]
    bad = error(ValueError, "max is not a valid value for reduction", *pairs[0], reduction="max")
    errors = (bad, *fields.pop("errors", ()))
    return op(
        F + name, [*cases, *more], "f", dtypes=fields.pop("dtypes", FLOAT), errors=errors, **fields
    )


OPS = [
    unary("relu", domain=OFF_ZERO, dtypes=FLOAT + INT),
    activation("relu", domain=OFF_ZERO, dtypes=FLOAT + INT),
    activation("leaky_relu", {"negative_slope": 0.2}, domain=OFF_ZERO),
    activation("elu", {"alpha": 2.0}, domain=OFF_ZERO),
    activation("softplus", {"beta": 2.0}, {"beta": 1.5, "threshold": 0.5}, domain={"away": (0.3,)}),
    activation("silu", dtypes=FRACTION, differentiable_in=FLOAT),
    activation(
        "gelu",
        {"approximate": "tanh"},
        {"approximate": "none"},
        special=(float("nan"), 0.0, -0.0, 1.0, -1.5, 2.5),  # infinite ones: docs/deviations.md
    ),
    activation(
        "hardtanh",
        {"min_val": -0.5, "max_val": 1.5},
        domain={"away": (-1.0, 1.0, -0.5, 1.5)},
        dtypes=(*FLOAT, "int64", "int32"),
    ),
    activation("logsigmoid", rows=("log_sigmoid",)),
    activation("selu", domain=OFF_ZERO),
    activation("celu", {"alpha": 2.0}, domain=OFF_ZERO),
    # PyTorch has no second derivative of it, and none in float64 to more than single precision.
    activation(
        "hardsigmoid", domain={"away": (-3.0, 3.0)}, differentiable_in=("float32", "float16")
    ),
    activation("hardswish", domain={"low": -4.0, "high": 4.0, "away": (-3.0, 3.0)}),
    activation("hardshrink", {"lambd": 0.25}, domain={"away": (-0.5, 0.5, -0.25, 0.25)}),
    activation("softshrink", {"lambd": 0.25}, domain={"away": (-0.5, 0.5, -0.25, 0.25)}),
    activation("softsign", dtypes=FRACTION + INT, domain=OFF_ZERO),
    activation("tanhshrink", dtypes=FRACTION + INT),
    activation("mish"),
    op(
        F + "glu",
        [
            sample(x(2, 4)),
            sample(x(4, 3), 0),
            sample(x(3, 4, layout="transposed"), dim=1),
            sample(x(2, 0)),
        ],
        "f",
        dtypes=FLOAT,
        errors=(
            error(RuntimeError, "Halving dimension must be even", x(3)),
            error(RuntimeError, "glu does not support scalars", x()),
            error(IndexError, "Dimension out of range", x(2, 4), 2),
        ),
    ),
    op(
        F + "threshold",
        [sample(x(2, 3, away=(0.25,)), 0.25, 2.0), sample(x(), 0.5, 3.0), sample(x(0, 2), 1.0, 0)],
        "f",
        dtypes=FLOAT + INT,
    ),
    op(
        F + "prelu",
        [
            sample(x(2, 3, **OFF_ZERO), x(3)),
            sample(x(2, 3, **OFF_ZERO), x(1)),
            sample(x(2, 3, **OFF_ZERO), x()),
            sample(x(3, **OFF_ZERO), x(1)),
            sample(x(2, 3, 2, **OFF_ZERO), x(3)),
        ],
        "f",
        dtypes=FLOAT,
        rows=("prelu_kernel",),
    ),
    op(
        F + "softmax",
        [sample(x(2, 3), 0), sample(x(2, 3), dim=-1), sample(x(), 0), sample(x(0, 3), 1)],
        "f",
        dtypes=FLOAT,
        rows=("softmax",),
    ),
    op(
        F + "log_softmax",
        [sample(x(2, 3), 0), sample(x(2, 3), dim=-1), sample(x(), 0)],
        "f",
        dtypes=FLOAT,
    ),
    op(
        F + "one_hot",
        [
            sample(labels(0, 2, 1)),
            sample(labels([0, 1], [3, 0]), 5),
            sample(labels(0), num_classes=2),
            sample(Array((0,), dtype="int64"), 3),
        ],
        "f",
        differentiable_in=(),
        errors=(
            error(RuntimeError, "Class values must be non-negative.", labels(-1)),
            error(RuntimeError, "Class values must be smaller than num_classes.", labels(4), 2),
        ),
    ),
    op(
        F + "embedding",
        [
            sample(labels(0, 2, 0), x(3, 2)),
            sample(labels([0, 1], [1, 1]), x(3, 2)),
            sample(labels(0, 2, 0), x(3, 2), padding_idx=0).not_smooth(),
            sample(Array((0,), dtype="int64"), x(3, 2)).forward_only(),
            sample(labels(0, 1, 1), x(3, 2), scale_grad_by_freq=True).not_smooth(),
            sample(Array(values=1, dtype="int64"), x(3, 2)),
        ],
        "f",
        differentiable_in=FLOAT,
        errors=(error(IndexError, "index out of range in self", labels(3), x(3, 2)),),
        rows=("embedding_dense", "embedding_dense_double", "embedding_renorm"),
    ),
    op(  # PyTorch has no second derivatives of it
        F + "embedding_bag",
        [
            sample(labels(0, 2, 0), x(3, 2), labels(0, 2)),
            sample(labels(0, 2, 0), x(3, 2), labels(0, 0, 3), mode="sum"),
            sample(labels([0, 1], [1, 1]), x(3, 2)),
            sample(labels([0, 1], [2, 1]), x(3, 2), mode="max"),
            sample(labels(0, 2, 1), x(3, 2), labels(0, 2), mode="max", padding_idx=2),
            sample(labels(0, 2, 0), x(3, 2), labels(0, 2), padding_idx=0),
            sample(labels(0, 2), x(3, 2), labels(0), mode="sum", per_sample_weights=x(2)),
            sample(Array((0,), dtype="int64"), x(3, 2), labels(0, 0)).forward_only(),
        ],
        "f",
        dtypes=FLOAT,
        differentiable_in=("float32",),
        refuses_as_pytorch=False,
        errors=(
            error(ValueError, "offsets has to be a 1D Tensor", labels(2), x(3, 2)),
            error(
                RuntimeError,
                "padding_idx must be within the number of embeddings",
                labels([2]),
                x(3, 2),
                padding_idx=3,
            ),
        ),
    ),
    op(
        F + "linear",
        [
            sample(x(2, 3), x(4, 3), x(4)),
            sample(x(2, 3), x(4, 3)),
            sample(x(3), x(2, 3), x(2)),
            sample(x(3), x(2, 3)),
            sample(x(2, 2, 3), x(1, 3), x(1)),
            sample(x(2, 2, 3), x(2, 3)),
            sample(x(0, 3), x(2, 3), x(2)),
            sample(x(3), x(3)),
            sample(x(2, 3), x(3)),
            sample(x(2, 3, layout="transposed"), x(2, 3, layout="strided"), x(2)),
        ],
        "f",
        dtypes=NUMBER,
        rows=("t", "addmm", "mm"),
        errors=(
            error(
                RuntimeError,
                "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x4)",
                x(2, 3),
                x(4, 2),
            ),
        ),
    ),
    loss(
        "mse_loss",
        [(x(2, 3), x(2, 3)), (x(), x()), (x(0), x(0))],
        [sample(x(3, 2, layout="transposed"), x(3, 2))],
    ),
    loss(
        "l1_loss",
        [(x(2, 3), x(2, 3)), (x(), x()), (x(0), x(0))],
        [sample(x(3, 2, layout="strided"), x(3, 2))],
        dtypes=FRACTION,
    ),
    loss(
        "nll_loss",
        [(x(3, 4), labels(0, 3, 1)), (x(4), Array(values=2, dtype="int64"))],
        [
            sample(x(3, 4), labels(0, 3, 1), x(4, low=0.5, grad=False)),
            sample(x(3, 4), labels(0, 3, 1), x(4, low=0.5, grad=False), reduction="sum"),
            sample(x(3, 4), labels(0, 3, 1), ignore_index=3),
            sample(x(2, 3, 2), labels([0, 2], [1, 1])),
            sample(x(2, 3, 2), labels([0, 2], [1, 1]), reduction="none"),
        ],
        rows=("nll_loss2d",),
        errors=(
            error(IndexError, "Target 9 is out of bounds.", x(3, 4), labels(0, 9, 1)),
            error(
                ValueError,
                "Expected input batch_size (3) to match target batch_size (2).",
                x(3, 4),
                labels(0, 1),
            ),
        ),
    ),
    loss(
        "cross_entropy",
        [
            (x(3, 4), labels(0, 3, 1)),
            (x(4), Array(values=2, dtype="int64")),
            (x(3, 4), x(3, 4, low=0, high=1)),
        ],
        [
            sample(x(3, 4), labels(0, 3, 1), x(4, low=0.5, grad=False)),
            sample(x(3, 4), labels(0, 3, 1), ignore_index=3),
            sample(x(3, 4), labels(0, 3, 1), label_smoothing=0.2),
            sample(x(3, 4), labels(0, 3, 1), x(4, low=0.5, grad=False), label_smoothing=0.2),
            sample(x(2, 3, 2), labels([0, 2], [1, 1])),
            # In half precision PyTorch's log_softmax is off by a last place, which this adds up.
            sample(
                x(3, 4),
                x(3, 4, low=0, high=1, grad=False),
                x(4, low=0.5, grad=False),
                label_smoothing=0.1,
            ).only("float64", "float32"),
        ],
        rows=("log_softmax", "nll_loss"),
        errors=(error(IndexError, "Target 9 is out of bounds.", x(3, 4), labels(0, 9, 1)),),
    ),
    loss(
        "binary_cross_entropy",
        [
            (x(2, 3, low=0.1, high=0.9), x(2, 3, low=0.1, high=0.9)),
            (x(low=0.1, high=0.9), x(low=0.1, high=0.9, grad=False)),
        ],
        [
            sample(
                x(2, 3, low=0.1, high=0.9),
                x(2, 3, low=0, high=1, grad=False),
                x(3, low=0.5, grad=False),
            ),
            sample(Array(values=[0.0, 1.0]), Array(values=[0.0, 1.0], grad=False)).not_smooth(),
        ],
        errors=(
            error(
                RuntimeError,
                "all elements of input should be between 0 and 1",
                Array(values=[2.0]),
                Array(values=[0.0]),
            ),
            error(
                ValueError,
                "Using a target size (torch.Size([2])) that is different to the input size",
                x(3, low=0, high=1),
                x(2, low=0, high=1),
            ),
        ),
    ),
    loss(
        "binary_cross_entropy_with_logits",
        [(x(2, 3), x(2, 3, low=0, high=1)), (x(), x(low=0, high=1))],
        [
            sample(x(2, 3), x(2, 3, low=0, high=1), x(3, low=0.5, grad=False)),
            sample(x(2, 3), x(2, 3, low=0, high=1), pos_weight=x(3, low=0.5, grad=False)),
            sample(
                Array(values=[100.0, -100.0]), Array(values=[0.0, 1.0], grad=False)
            ).not_smooth(),
        ],
        errors=(
            error(
                ValueError,
                "Target size (torch.Size([2])) must be the same as input size (torch.Size([3]))",
                x(3),
                x(2),
            ),
        ),
    ),
    op(
        F + "rrelu",
        [
            sample(x(4, 3, **OFF_ZERO)),
            sample(x(4, 3, **OFF_ZERO), training=True),
            sample(x(3, 4, layout="transposed", **OFF_ZERO), 0.2, 0.4, True),
            sample(x(**OFF_ZERO), 0.3, 0.3, training=True),
            sample(x(0), training=True),
        ],
        "f",
        dtypes=("float64", "float32"),
        random=True,
        refuses_as_pytorch=False,
        rows=("rrelu_with_noise", "rrelu_with_noise.of_result"),
        errors=(
            error(RuntimeError, "Lower bound should be less than or equal to", x(2), 1.0, 0.5),
        ),
    ),
    op(
        F + "dropout",
        [
            sample(x(4, 3)),
            sample(x(20), 0.3),
            sample(x(2, 3), p=0.5, training=False),
            sample(x(3), p=0.0),
            sample(x(3), p=1.0),
            sample(x()),
            sample(x(0)),
            sample(x(3, 4, layout="transposed")),
        ],
        "f",
        dtypes=FLOAT,
        random=True,
        errors=(
            error(
                ValueError, "dropout probability has to be between 0 and 1, but got 1.5", x(2), 1.5
            ),
        ),
    ),
]
