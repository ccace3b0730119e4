"""Activations, with the signatures of `torch.nn.functional`."""

from __future__ import annotations

import math
from typing import Any

from .. import raw
from .arithmetic import plain_add, plain_sub, true_divide
from .checking import checked
from .declare import op, variant
from .emit import inplace
from .formulas import constant
from .rounding import abs
from .transcendental import tanh

__all__ = [
    "celu",
    "celu_",
    "hardshrink",
    "prelu",
    "relu",
    "relu_",
    "selu",
    "selu_",
    "threshold",
    "threshold_",
]

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946

threshold_backward = op(
    "threshold_backward(grad_output, self, threshold)",
    kernel=raw.threshold_backward,
    promote="number",
    tangent="elementwise",
    grad_output=lambda F, g, self, threshold: F.threshold_backward(g, self, threshold),
    self=constant,
)
relu = op(
    "relu(self)",
    kernel=raw.relu,
    refuses="c",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, result: F.threshold_backward(g, result, 0),
    doc="""``maximum(input, 0)``, elementwise; its gradient at 0 is 0.

    >>> import gradfn
    >>> gradfn.relu(gradfn.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """,
)
relu_ = inplace(relu)


def relu_functional(input: Any, inplace: bool = False) -> Any:
    """`relu`, in place if asked."""
    return relu_(input) if inplace else relu(input)


leaky_relu_backward = op(
    "leaky_relu_backward(grad_output, self, negative_slope)",
    kernel=raw.leaky_relu_backward,
    promote="number",
    tangent="elementwise",
    grad_output=lambda F, g, self, negative_slope: F.leaky_relu_backward(g, self, negative_slope),
    self=constant,
)
leaky_relu_row = op(
    "leaky_relu(self, negative_slope)",
    kernel=raw.leaky_relu,
    refuses="biuc",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self, negative_slope: F.leaky_relu_backward(g, self, negative_slope),
)
leaky_relu_of_result = op(
    "leaky_relu.of_result(self, negative_slope)",
    kernel=raw.leaky_relu,
    refuses="biuc",
    promote="number",
    node="LeakyReluBackward1",
    tangent="elementwise",
    self=lambda F, g, result, negative_slope: F.leaky_relu_backward(
        g, result, _not_negative(negative_slope)
    ),
)


def _not_negative(negative_slope: float) -> float:
    if negative_slope < 0:
        raise RuntimeError(
            "In-place leakyReLu backward calculation is triggered with a negative slope which is "
            "not supported: the result does not tell the sign of the input. Use the out-of-place "
            "form."
        )
    return negative_slope


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """`input` where it is positive, else ``negative_slope * input``."""
    return leaky_relu_(input, negative_slope) if inplace else leaky_relu_row(input, negative_slope)


def leaky_relu_(input: Any, negative_slope: float = 0.01) -> Any:
    """`leaky_relu` in place."""
    return inplace(leaky_relu_of_result)(input, negative_slope)


def _elu_gradient(
    F: Any,
    g: Any,
    self: Any,
    alpha: float,
    scale: float,
    input_scale: float,
) -> Any:
    below = F.exp(F.clamp(self, max=0) * input_scale) * (alpha * scale * input_scale)
    return F.where(self <= 0, g * below, g * scale)


def _elu_gradient_of_result(
    F: Any,
    g: Any,
    result: Any,
    alpha: float,
    scale: float,
    input_scale: float,
) -> Any:
    below = (result + alpha * scale) * input_scale
    return F.where(result <= 0, g * below, g * scale)


elu_row = op(
    "elu(self, alpha, scale, input_scale)",
    kernel=raw.elu,
    refuses="biuc",
    promote="number",
    tangent="elementwise",
    self=_elu_gradient,
)
elu_of_result = op(
    "elu.of_result(self, alpha, scale, input_scale)",
    kernel=raw.elu,
    refuses="biuc",
    promote="number",
    node="EluBackward1",
    tangent="elementwise",
    self=_elu_gradient_of_result,
)
celu_row = op(
    "celu(self, alpha)",
    kernel=raw.celu,
    refuses="biuc",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self, alpha: _elu_gradient(F, g, self, alpha, 1.0, 1.0 / alpha),
)
celu_of_result = op(
    "celu.of_result(self, alpha)",
    kernel=raw.celu,
    refuses="biuc",
    promote="number",
    node="CeluBackward1",
    tangent="elementwise",
    self=lambda F, g, result, alpha: _elu_gradient_of_result(F, g, result, alpha, 1.0, 1.0 / alpha),
)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """`input` where it is positive, else ``alpha * (exp(input) - 1)``."""
    return elu_(input, alpha) if inplace else elu_row(input, alpha, 1.0, 1.0)


def elu_(input: Any, alpha: float = 1.0) -> Any:
    """`elu` in place."""
    return inplace(elu_of_result)(input, alpha, 1.0, 1.0)


def selu(input: Any, inplace: bool = False) -> Any:
    """``scale * elu(input, alpha)`` with the constants that keep mean 0 and variance 1."""
    return selu_(input) if inplace else elu_row(input, SELU_ALPHA, SELU_SCALE, 1.0)


def selu_(input: Any) -> Any:
    """`selu` in place."""
    return inplace(elu_of_result)(input, SELU_ALPHA, SELU_SCALE, 1.0)


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """`input` where it is positive, else ``alpha * (exp(input / alpha) - 1)``."""
    if inplace:
        return celu_(input, alpha)
    _check_celu(alpha)
    return celu_row(input, alpha)


def celu_(input: Any, alpha: float = 1.0) -> Any:
    """`celu` in place."""
    _check_celu(alpha)
    return inplace(celu_of_result)(input, alpha)


def _check_celu(alpha: float) -> None:
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")


softplus = op(
    "softplus(self, beta=1, threshold=20)",
    kernel=raw.softplus,
    refuses="biuc",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self, beta, threshold: F.where(
        self * beta > threshold, g, g * F.sigmoid(self * beta)
    ),
    doc="``log(1 + exp(beta * input)) / beta``; `input` where ``beta * input > threshold``.",
)


def _silu_gradient(F: Any, g: Any, self: Any) -> Any:
    share = F.sigmoid(self)
    return g * (share * (1 + self * (1 - share))).conj()


silu_row = op(
    "silu(self)",
    kernel=raw.silu,
    refuses="biu",
    promote="number",
    tangent="elementwise",
    self=_silu_gradient,
)


def silu(input: Any, inplace: bool = False) -> Any:
    """``input * sigmoid(input)``, elementwise."""
    return silu_(input) if inplace else silu_row(input)


silu_ = inplace(silu_row)


def _gelu_gradient(F: Any, g: Any, self: Any, approximate: str) -> Any:
    if approximate == "none":
        distribution = 0.5 * (1 + F.erf(self * math.sqrt(0.5)))
        density = F.exp(-0.5 * (self * self)) * (1 / math.sqrt(2 * math.pi))
        return g * (distribution + self * density)
    scale, cubic = math.sqrt(2 / math.pi), 0.044715
    bent = F.tanh(scale * (self + cubic * self * self * self))
    slope = scale * (1 + 3 * cubic * self * self)
    return g * (0.5 * (1 + bent) + 0.5 * self * (1 - bent * bent) * slope)


gelu_row = op(
    "gelu(self, approximate)",
    kernel=raw.gelu,
    refuses="biuc",
    promote="number",
    tangent="elementwise",
    self=_gelu_gradient,
)


def gelu(input: Any, *, approximate: str = "none", out: Any = None) -> Any:
    """`input` times the standard normal distribution at `input`, exact or through tanh.

    Raises RuntimeError unless `approximate` is "none" or "tanh".
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError(
            f"approximate argument must be either none or tanh, not {approximate!r}."
        )
    return gelu_row(input, approximate, out=out)


hardtanh_backward = op(
    "hardtanh_backward(grad_output, self, min_val, max_val)",
    kernel=raw.hardtanh_backward,
    promote="number",
    tangent="elementwise",
    grad_output=lambda F, g, self, min_val, max_val: F.hardtanh_backward(g, self, min_val, max_val),
    self=constant,
)
hardtanh_row = op(
    "hardtanh(self, min_val, max_val)",
    kernel=raw.clamp,
    refuses="bc",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self, min_val, max_val: F.hardtanh_backward(g, self, min_val, max_val),
)


@checked
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """`input` clamped to [min_val, max_val]; unlike that of `clamp`, its gradient there is 0."""
    if inplace:
        return hardtanh_(input, min_val, max_val)
    _check_hardtanh(input, min_val, max_val)
    return hardtanh_row(input, *_integral(input, min_val, max_val))


@checked
def hardtanh_(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """`hardtanh` in place."""
    _check_hardtanh(input, min_val, max_val)
    return inplace(hardtanh_row)(input, *_integral(input, min_val, max_val))


def _integral(input: Any, *bounds: float) -> tuple[float, ...]:
    """The bounds as integers where `input` has such: its dtype is kept."""
    return tuple(int(b) for b in bounds) if input._array.dtype.kind in "iu" else bounds


def _check_hardtanh(input: Any, min_val: float, max_val: float) -> None:
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if input._array.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if input._array.dtype.kind == "u" and min_val < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")


@checked
def relu6(input: Any, inplace: bool = False) -> Any:
    """`input` clamped to [0, 6]."""
    return hardtanh(input, 0.0, 6.0, inplace)


hardsigmoid_row = op(
    "hardsigmoid(self)",
    kernel=raw.hardsigmoid,
    refuses="biuc",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self: F.where(F.logical_and(self > -3, self < 3), g / 6, 0),
)
hardswish_row = op(
    "hardswish(self)",
    kernel=raw.hardswish,
    refuses="biuc",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self: F.where(self <= -3, 0, F.where(self < 3, g * (self / 3 + 0.5), g)),
)


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """``clamp(input + 3, 0, 6) / 6``, elementwise."""
    return hardsigmoid_(input) if inplace else hardsigmoid_row(input)


def hardswish(input: Any, inplace: bool = False) -> Any:
    """``input * clamp(input + 3, 0, 6) / 6``, elementwise."""
    return hardswish_(input) if inplace else hardswish_row(input)


hardsigmoid_, hardswish_ = inplace(hardsigmoid_row), inplace(hardswish_row)

hardshrink_backward = op(
    "hardshrink_backward(grad_out, self, lambd)",
    kernel=raw.hardshrink_backward,
    promote="number",
    tangent="elementwise",
    grad_out=lambda F, g, self, lambd: F.hardshrink_backward(g, self, lambd),
    self=constant,
)
hardshrink = op(
    "hardshrink(self, lambd=0.5)",
    kernel=raw.hardshrink,
    refuses="biuc",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self, lambd: F.hardshrink_backward(g, self, lambd),
    doc="0 within [-lambd, lambd], `input` elsewhere.",
)
softshrink_row = op(
    "softshrink(self, lambd)",
    kernel=raw.softshrink,
    refuses="biuc",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self, lambd: F.hardshrink_backward(g, self, lambd),
)


def softshrink(input: Any, lambd: float = 0.5, *, out: Any = None) -> Any:
    """`input` moved towards 0 by `lambd`, and 0 within. Raises RuntimeError for a negative one."""
    if not lambd >= 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd:g}.")
    return softshrink_row(input, lambd, out=out)


def tanhshrink(input: Any) -> Any:
    """``input - tanh(input)``, elementwise."""
    return plain_sub(input, tanh(input))


def softsign(input: Any) -> Any:
    """``input / (1 + abs(input))``, elementwise."""
    return true_divide(input, plain_add(abs(input), 1))


logsigmoid = op(
    "log_sigmoid(self)",
    kernel=raw.logsigmoid,
    refuses="biuc",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self: g * F.sigmoid(-self),
    doc="``log(sigmoid(input))``, elementwise, without overflow.",
)


def _mish_gradient(F: Any, g: Any, self: Any) -> Any:
    bent = F.tanh(F.log1p(F.exp(self)))
    return g * (bent + self * F.sigmoid(self) * (1 - bent * bent))


mish_row = op(
    "mish(self)",
    kernel=raw.mish,
    refuses="biuc",
    promote="number",
    tangent="elementwise",
    self=_mish_gradient,
)


def mish(input: Any, inplace: bool = False) -> Any:
    """``input * tanh(softplus(input))``, elementwise."""
    return mish_(input) if inplace else mish_row(input)


mish_ = inplace(mish_row)


threshold_row = op(
    "threshold(self, threshold, value)",
    kernel=raw.threshold,
    refuses="bc",
    promote="number",
    tangent="elementwise",
    self=lambda F, g, self, threshold: F.threshold_backward(g, self, threshold),
)
threshold_of_target = variant(threshold_row, "threshold.in_place", node="ThresholdBackward1")


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """`input` where it is above `threshold`, else `value`."""
    if inplace:
        return threshold_(input, threshold, value)
    return threshold_row(input, threshold, value)


def threshold_(input: Any, threshold: float, value: float) -> Any:
    """`threshold` in place."""
    return inplace(threshold_of_target)(input, threshold, value)


prelu_kernel = op(
    "prelu_kernel(self, weight)",
    kernel=raw.prelu,
    refuses="biuc",
    tangent="elementwise",
    self=lambda F, g, self, weight: F.where(self > 0, g, g * weight),
    weight=lambda F, g, self: F.where(self > 0, 0, g * self),
)


@checked
def prelu(input: Any, weight: Any) -> Any:
    """`input` where it is positive, else ``weight * input``.

    `weight` has one element, or one for each channel, the second dimension of `input`. Raises
    RuntimeError where it has not, and where the dtypes differ.
    """
    shape = input._array.shape
    _check_prelu(input, weight, shape[1] if len(shape) > 1 else 1)
    if weight._array.ndim != len(shape):
        sizes = [weight._array.size if axis == 1 else 1 for axis in range(len(shape))]
        weight = weight.view(sizes)
    return prelu_kernel(input, weight)


def _check_prelu(input: Any, weight: Any, channels: int) -> None:
    count, ndim = weight._array.size, weight._array.ndim
    if input.dtype is not weight.dtype:
        kinds = f"{input.dtype.scalar_name} and {weight.dtype.scalar_name}"
        raise RuntimeError(f"prelu: Type promoting not supported. Got {kinds}")
    if count != 1 and not input._array.ndim:
        raise RuntimeError("Not allow zero-dim input tensor.")
    if count not in (1, channels):
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{count} and channel size = {channels}."
        )
    if ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {ndim}"
        )


METHODS = "hardshrink prelu relu relu_"
