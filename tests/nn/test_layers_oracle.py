"""Every layer and loss: its text, state, first weights, outputs, graph and gradients."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

from gradfn import nn
from parity import not_mkl


def numbers(torch: Any, *shape: int, grad: bool = True) -> Any:
    """Numbers of both signs, the same for every seed."""
    count = 1
    for size in shape:
        count *= size
    values = torch.arange(count, dtype=torch.float32) * 0.37 % 2 - 0.9
    return values.reshape(shape).clone().requires_grad_(grad)


def graph(node: Any) -> Any:
    return None if node is None else [node.name(), [graph(n) for n, _ in node.next_functions]]


def layer(call: str, *inputs: str) -> Program:
    """Makes the layer, calls it on `inputs`, expressions of `x` and `torch`, and differentiates."""

    def program(torch: Any) -> Any:
        names = {"torch": torch, "x": lambda *shape: numbers(torch, *shape)}
        module = eval(f"torch.nn.{call}", names)
        arguments = [eval(text, names) for text in inputs]
        first = [module.state_dict(), module.extra_repr(), repr(module)]
        output = module(*arguments)
        if output.requires_grad:
            output.sin().sum().backward()
        return [
            *first,
            output,
            graph(output.grad_fn),
            [argument.grad for argument in arguments],
            [parameter.grad for parameter in module.parameters()],
        ]

    return program


ELEMENTWISE = """
    ReLU() | ReLU(True) | ReLU6() | ReLU6(True) | Sigmoid() | Tanh() | LogSigmoid() | Softsign()
    Tanhshrink() | SELU() | SELU(inplace=True) | SiLU() | SiLU(True) | Mish() | Mish(True)
    Hardswish() | Hardswish(True) | Hardsigmoid() | Hardsigmoid(True) | Threshold(0.1, 2.0)
    Threshold(0.1, 2.0, True) | Hardtanh() | Hardtanh(-0.5, 0.2, True) | Hardtanh(min_value=-2.0)
    ELU() | ELU(0.7, True) | CELU() | CELU(0.7, True) | LeakyReLU() | LeakyReLU(0.2, True) | GELU()
    GELU('tanh') | Softplus() | Softplus(2.0, 1.0) | Hardshrink() | Hardshrink(0.2) | Softshrink()
    Softshrink(0.2) | PReLU() | PReLU(3, 0.1) | Softmax(1) | Softmax() | LogSoftmax(-1) | Softmin(0)
    Dropout() | Dropout(0.2, True) | Dropout(0.0) | Dropout(1.0) | Dropout().eval()
    Identity(1, b=2)
    Flatten() | Flatten(0, 1) | Flatten(0) | Unflatten(1, (3, 1)) | Unflatten(-1, [2, 2])
    Linear(4, 5) | Linear(4, 2, bias=False) | Linear(4, 3, dtype=torch.float32)
"""

LAYERS: list[tuple[str, ...]] = [
    ("Unfold(2, padding=1)", "x(2, 1, 3, 3)"),
    ("Unfold((2, 3), 1, 0, (1, 2))", "x(1, 2, 4, 5)"),
    ("Fold((4, 5), (2, 2))", "x(1, 8, 12)"),
    ("Fold(4, 2, stride=2)", "x(4, 4)"),
    ("RReLU()", "x(3, 4)"),
    ("RReLU(0.1, 0.2, True)", "x(3, 4) * 1"),
    ("RReLU().eval()", "x(3, 4)"),
    ("GLU()", "x(2, 4)"),
    ("GLU(0)", "x(2, 4)"),
    ("AlphaDropout(0.4)", "x(4, 3)"),
    ("AlphaDropout(0.4, inplace=True)", "x(4, 3) * 1"),
    ("AlphaDropout(1.0)", "x(4, 3)"),
    ("AlphaDropout().eval()", "x(4, 3) * 1"),
    ("FeatureAlphaDropout(0.4)", "x(4, 3, 2)"),
    ("Dropout1d(0.4)", "x(4, 3, 2)"),
    ("Dropout1d(0.4)", "x(4, 3)"),
    ("Dropout1d(0.4, True)", "x(4, 3) * 1"),
    ("Dropout2d(0.4)", "x(4, 3, 2, 2)"),
    ("Dropout2d(1.0)", "x(4, 3, 2)"),
    ("Dropout3d(0.4)", "x(4, 3, 2, 1, 2)"),
    ("Dropout3d(0.4)", "x(4, 3, 2, 2)"),
    ("Dropout3d(0.0)", "x(4, 3, 2, 2) * 1"),
    ("Linear(3, 4)", "x(3)"),
    ("Linear(3, 4)", "x(2, 2, 3)"),
    ("Linear(0, 4)", "x(2, 0)"),
    ("Bilinear(2, 3, 4)", "x(5, 2)", "x(5, 3)"),
    ("Bilinear(2, 3, 4, bias=False)", "x(5, 2)", "x(5, 3)"),
    ("Softmax2d()", "x(2, 3, 2, 2)"),
    ("Softmax2d()", "x(3, 2, 2)"),
    ("Embedding(5, 3)", "torch.tensor([[1, 4], [0, 1]])"),
    ("Embedding(5, 3, padding_idx=1)", "torch.tensor([[1, 4], [0, 1]])"),
    ("Embedding(5, 3, padding_idx=-2)", "torch.tensor([3, 3])"),
    ("Embedding(5, 3, max_norm=1.0, norm_type=1.0)", "torch.tensor([3, 3, 0])"),
    ("Embedding(5, 3, scale_grad_by_freq=True)", "torch.tensor([3, 3, 0])"),
    ("Embedding.from_pretrained(x(4, 2).detach())", "torch.tensor([3, 0])"),
    ("Embedding.from_pretrained(x(4, 2).detach(), False, 1)", "torch.tensor([1, 0])"),
    ("CosineSimilarity()", "x(2, 3)", "x(2, 3) + 1"),
    ("CosineSimilarity(0, 0.1)", "x(2, 3)", "x(2, 3) + 1"),
    ("PairwiseDistance()", "x(2, 3)", "x(2, 3) + 1"),
    ("PairwiseDistance(1.0, keepdim=True)", "x(2, 3)", "x(2, 3) + 1"),
]

IMAGES: list[tuple[str, ...]] = [
    *(
        (call, f"x(2, 4, {size})")
        for d, size in ((1, "6"), (2, "6, 5"), (3, "4, 3, 3"))
        for call in (
            f"Conv{d}d(4, 6, 3)",
            f"Conv{d}d(4, 6, 2, 2, 1, groups=2, bias=False)",
            f"Conv{d}d(4, 2, 2, padding='same', dilation=2)",
            f"Conv{d}d(4, 2, 3, padding=1, padding_mode='circular')",
            f"Conv{d}d(4, 2, 3, padding=1, padding_mode='replicate')",
            f"ConvTranspose{d}d(4, 6, 2, 2)",
            f"ConvTranspose{d}d(4, 2, 3, 2, 1, 1, 2, False)",
            f"MaxPool{d}d(2)",
            f"MaxPool{d}d(3, 2, 1, ceil_mode=True)",
            f"AvgPool{d}d(2)",
            f"AvgPool{d}d(3, 2, 1, count_include_pad=False)",
            f"LPPool{d}d(2, 2)",
            f"AdaptiveAvgPool{d}d(2)",
            f"AdaptiveMaxPool{d}d(3)",
            f"BatchNorm{d}d(4)",
            f"BatchNorm{d}d(4, momentum=None, affine=False)",
            f"BatchNorm{d}d(4).eval()",
            f"BatchNorm{d}d(4, track_running_stats=False).eval()",
            f"InstanceNorm{d}d(4)",
            f"InstanceNorm{d}d(4, affine=True, track_running_stats=True)",
            f"ConstantPad{d}d(1, 0.5)",
            f"ReflectionPad{d}d(1)",
            f"ReplicationPad{d}d(2)",
            f"ZeroPad{d}d(1)",
            f"CircularPad{d}d(1)",
            "GroupNorm(2, 4)",
            "LocalResponseNorm(2)",
            "SyncBatchNorm(4).eval()",
        )
    ),
    ("Conv2d(4, 2, (1, 3), (2, 1))", "x(4, 6, 5)"),
    ("BatchNorm1d(3)", "x(4, 3)"),
    ("InstanceNorm2d(4)", "x(4, 3, 2)"),
    ("LayerNorm(3)", "x(4, 3)"),
    ("LayerNorm((2, 3), eps=0.1, bias=False)", "x(4, 2, 3)"),
    ("LayerNorm(2, elementwise_affine=False)", "x(3, 2)"),
    ("RMSNorm(3)", "x(4, 3)"),
    ("RMSNorm([2, 3], 0.1, False)", "x(4, 2, 3)"),
    ("Upsample(scale_factor=2)", "x(1, 2, 3)"),
    ("Upsample((4, 5), mode='bilinear')", "x(1, 2, 3, 3)"),
    ("UpsamplingNearest2d(scale_factor=2)", "x(1, 2, 3, 3)"),
    ("UpsamplingBilinear2d((4, 5))", "x(1, 2, 3, 3)"),
    ("PixelShuffle(2)", "x(2, 8, 3, 2)"),
    ("PixelUnshuffle(2)", "x(2, 4, 6)"),
    ("ChannelShuffle(2)", "x(2, 6, 3, 2)"),
    ("MaxUnpool2d(2)", "x(1, 2, 2, 2)", "torch.tensor([[[[0, 3], [9, 14]], [[5, 2], [8, 11]]]])"),
    ("MaxUnpool1d(2, 2)", "x(2, 2)", "torch.tensor([[1, 3], [0, 2]])"),
    ("MaxUnpool3d((1, 2, 2))", "x(1, 1, 1, 1)", "torch.tensor([[[[3]]]])"),
    ("FractionalMaxPool2d(2, output_size=(2, 3))", "x(2, 3, 6, 5)"),
    ("FractionalMaxPool2d(2, output_ratio=0.5)", "x(3, 6, 5)"),
    ("FractionalMaxPool3d(2, output_size=2)", "x(2, 1, 5, 6, 5)"),
    (
        "CTCLoss(zero_infinity=True)",
        "x(5, 2, 4).log_softmax(2)",
        "torch.tensor([[1, 2], [2, 1]])",
        "torch.tensor([5, 4])",
        "torch.tensor([2, 1])",
    ),
]

ATTENTION: list[tuple[str, ...]] = [
    ("MultiheadAttention(4, 2)", "x(3, 2, 4)", "x(5, 2, 4)", "x(5, 2, 4) + 1"),
    ("MultiheadAttention(4, 2, kdim=3, vdim=2)", "x(3, 1, 4)", "x(5, 1, 3)", "x(5, 1, 2)"),
    ("MultiheadAttention(4, 2, 0.0, False, True, True)", *["x(3, 2, 4)"] * 3),
    ("MultiheadAttention(4, 1, batch_first=True)", *["x(2, 3, 4)"] * 3),
    ("TransformerEncoderLayer(4, 2, 8, 0.0)", "x(3, 2, 4)"),
    ("TransformerEncoderLayer(4, 2, 8, 0.0, 'gelu', norm_first=True)", "x(3, 4)"),
    ("TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True)", "x(2, 3, 4)", "CAUSAL"),
    ("TransformerDecoderLayer(4, 2, 8, 0.0, bias=False)", "x(3, 2, 4)", "x(5, 2, 4)", "CAUSAL"),
    (
        "TransformerEncoder(torch.nn.TransformerEncoderLayer(4, 2, 8, 0.0), 2)",
        "x(3, 2, 4)",
        "CAUSAL",
        "torch.tensor([[False, False, True], [False, False, False]])",
    ),
    ("Transformer(4, 2, 1, 2, 8, 0.0)", "x(5, 2, 4)", "x(3, 2, 4)"),
    ("Transformer(4, 2, 1, 1, 8, 0.0, norm_first=True)", "x(5, 4)", "x(3, 4)", "None", "CAUSAL"),
]


@not_mkl
@pytest.mark.parametrize("case", ATTENTION, ids=" ".join)
def test_attention_does_what_pytorchs_does(oracle: ModuleType, case: tuple[str, ...]) -> None:
    """Its state, first weights, outputs and gradients; while gradients are wanted, PyTorch takes
    no other way."""
    causal = "torch.nn.Transformer.generate_square_subsequent_mask(3)"
    call, *inputs = (text.replace("CAUSAL", causal) for text in case)

    def program(torch: Any) -> Any:
        names = {"torch": torch, "x": lambda *shape: numbers(torch, *shape)}
        module = eval(f"torch.nn.{call}", names)
        arguments = [eval(text, names) for text in inputs]
        output = module(*arguments)
        first = output[0] if isinstance(output, tuple) else output
        first.sin().sum().backward()
        grads = [p.grad for p in module.parameters()]
        leaves = [a.grad for a in arguments if a is not None and a.requires_grad and a.is_leaf]
        return [module.state_dict(), repr(module), output, leaves, grads]

    agree(program, oracle, 2e-5)


CLASSES = "torch.tensor([0, 2, 1, 2])"
SIGNS = "torch.tensor([1., -1., -1., 1.])"
LOSSES: list[tuple[str, ...]] = [
    ("L1Loss({})", "x(4, 3)", "x(4, 3) + 1"),
    ("MSELoss({})", "x(4, 3)", "x(4, 3) + 1"),
    ("SmoothL1Loss({})", "x(4, 3)", "x(4, 3) * 3"),
    ("SmoothL1Loss({}, beta=0.3)", "x(4, 3)", "x(4, 3) * 3"),
    ("HuberLoss({}, delta=0.3)", "x(4, 3)", "x(4, 3) * 3"),
    ("SoftMarginLoss({})", "x(4)", SIGNS),
    ("NLLLoss({})", "x(4, 3)", CLASSES),
    ("NLLLoss(torch.tensor([1., 2., 3.]), {}, ignore_index=1)", "x(4, 3)", CLASSES),
    ("CrossEntropyLoss({})", "x(4, 3)", CLASSES),
    ("CrossEntropyLoss({})", "x(4, 3)", "x(4, 3).detach().softmax(1)"),
    ("CrossEntropyLoss({}, label_smoothing=0.1)", "x(4, 3)", CLASSES),
    ("CrossEntropyLoss(torch.tensor([1., 2., 3.]), ignore_index=2, {})", "x(4, 3)", CLASSES),
    ("BCELoss({})", "x(4).sigmoid()", f"{SIGNS}.clamp(0)"),
    ("BCELoss(torch.ones(4) * 2, {})", "x(4).sigmoid()", f"{SIGNS}.clamp(0)"),
    ("BCEWithLogitsLoss({})", "x(4)", f"{SIGNS}.clamp(0)"),
    ("BCEWithLogitsLoss({}, pos_weight=torch.ones(4) * 3)", "x(4)", f"{SIGNS}.clamp(0)"),
    ("MultiLabelSoftMarginLoss({})", "x(4, 3)", "(x(4, 3) > 0).float()"),
    ("MultiLabelMarginLoss({})", "x(2, 3)", "torch.tensor([[0, -1, 1], [1, 2, -1]])"),
    ("MultiMarginLoss({})", "x(4, 3)", CLASSES),
    ("MultiMarginLoss(2, 0.5, torch.ones(3) * 2, {})", "x(4, 3)", CLASSES),
    ("KLDivLoss({})", "x(4, 3)", "x(4, 3).detach().softmax(1)"),
    ("KLDivLoss({}, log_target=True)", "x(4, 3)", "x(4, 3).detach() / 2"),
    ("PoissonNLLLoss({})", "x(4)", "x(4).detach() + 2"),
    ("PoissonNLLLoss(False, True, eps=1e-3, {})", "x(4).exp()", "x(4).detach() + 2"),
    ("GaussianNLLLoss({}, full=True)", "x(4)", "x(4) + 1", "x(4).exp()"),
    ("HingeEmbeddingLoss({})", "x(4)", SIGNS),
    ("HingeEmbeddingLoss(0.5, {})", "x(4)", SIGNS),
    ("CosineEmbeddingLoss({})", "x(4, 3)", "x(4, 3) + 1", SIGNS),
    ("MarginRankingLoss(0.5, {})", "x(4)", "x(4) + 0.2", SIGNS),
    ("TripletMarginLoss({})", "x(4, 3)", "x(4, 3) + 1", "x(4, 3) * 2"),
    ("TripletMarginLoss(2.0, 1.0, swap=True, {})", "x(4, 3)", "x(4, 3) + 1", "x(4, 3) * 2"),
    ("TripletMarginWithDistanceLoss({}, margin=2.0)", "x(4, 3)", "x(4, 3) + 1", "x(4, 3) * 2"),
]


def cases() -> list[tuple[str, ...]]:
    elementwise = [call.strip() for call in ELEMENTWISE.replace("\n", " | ").split(" | ")]
    losses = [
        (
            call.format(f"reduction={reduction!r}"),
            *(text.replace("SIGNS", SIGNS) for text in inputs),
        )
        for call, *inputs in LOSSES
        for reduction in ("mean", "sum", "none")
    ]
    # Some work in place, which leaves must not.
    return [(call, "x(2, 3, 4) * 1") for call in elementwise if call] + LAYERS + IMAGES + losses


@not_mkl
@pytest.mark.parametrize("case", cases(), ids=" ".join)
def test_layers_do_what_pytorchs_do(oracle: ModuleType, case: tuple[str, ...]) -> None:
    agree(layer(*case), oracle, 2e-6)


REFUSED = """
    Unflatten(1, 3) | Unflatten(1, (2., 3)) | Embedding(3, 4, padding_idx=5)
    Embedding(3, 4, padding_idx=-5) | Embedding.from_pretrained(torch.ones(3))
    Embedding(2, 2, _weight=torch.ones(1, 1)) | Bilinear(0, 1, 2) | Hardtanh(1, 0)
    Softmax2d()(torch.ones(2)) | Dropout(2) | Dropout2d(-0.1) | MultiMarginLoss(p=3)
    MultiMarginLoss(weight=torch.ones(1, 1)) | TripletMarginLoss(margin=-1)
    TripletMarginWithDistanceLoss(margin=0) | MSELoss(reduction='x')(torch.ones(1), torch.ones(1))
    Linear(2, 3)(torch.ones(3)) | Sigmoid(1)
"""


@pytest.mark.parametrize("call", [c.strip() for c in REFUSED.replace("\n", "|").split("|")][1:-1])
def test_layers_refuse_what_pytorchs_do(oracle: ModuleType, call: str) -> None:
    refuse(lambda torch: eval(f"torch.nn.{call}", {"torch": torch}), oracle)


# PyTorch's take any arguments, and pass them on.
PASSING_ON = {"RNN", "LSTM", "GRU", "RNNBase"}


@pytest.mark.parametrize("name", sorted({n for n in vars(nn) if n[0].isupper()} - PASSING_ON))
def test_signatures_are_pytorchs(oracle: ModuleType, name: str) -> None:
    mine, theirs = getattr(nn, name), getattr(oracle.nn, name)
    for method in ("__init__", "forward"):
        if hasattr(theirs, method):
            assert parameters(getattr(mine, method)) == parameters(getattr(theirs, method))


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    listed = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, spelled(each.default)) for each in listed]


def spelled(default: Any) -> Any:
    return getattr(default, "__name__", "").removesuffix("_functional") or default


def test_both_spellings_of_an_older_loss_agree(oracle: ModuleType) -> None:
    agree(lambda torch: torch.nn.MSELoss(size_average=False).reduction, oracle)
    agree(lambda torch: torch.nn.NLLLoss(reduce=False).reduction, oracle)
