"""Activations: functions of `nn.functional` as modules."""

from __future__ import annotations

import warnings
from typing import Any

from ...creation import full
from ...missing import missing
from ...tensor import Tensor
from .. import functional
from ..parameter import Parameter
from .module import Module
from .multihead import MultiheadAttention as MultiheadAttention

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


def _listed(module: Module, *names: str) -> str:
    """The settings `names` of a module as text, and whether it works in place."""
    text = [f"{name}={getattr(module, name)}" for name in names]
    if getattr(module, "inplace", False):
        text.append("inplace=True")
    return ", ".join(text)


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``."""

    def forward(self, input: Tensor) -> Any:
        return input.sigmoid()


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Any:
        return input.tanh()


class LogSigmoid(Module):
    """``log(sigmoid(x))``."""

    def forward(self, input: Tensor) -> Any:
        return functional.logsigmoid(input)


class Softsign(Module):
    """``x / (1 + |x|)``."""

    def forward(self, input: Tensor) -> Any:
        return functional.softsign(input)


class Tanhshrink(Module):
    """``x - tanh(x)``."""

    def forward(self, input: Tensor) -> Any:
        return functional.tanhshrink(input)


class _MaybeInplace(Module):
    """An activation without settings but `inplace`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return _listed(self)


class ReLU(_MaybeInplace):
    """``max(x, 0)``.

    >>> from gradfn import nn, tensor
    >>> nn.ReLU()(tensor([-1., 2.]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Any:
        return functional.relu(input, self.inplace)


class SELU(_MaybeInplace):
    """The scaled exponential linear unit."""

    def forward(self, input: Tensor) -> Any:
        return functional.selu(input, self.inplace)


class SiLU(_MaybeInplace):
    """``x * sigmoid(x)``."""

    def forward(self, input: Tensor) -> Any:
        return functional.silu(input, self.inplace)


class Mish(_MaybeInplace):
    """``x * tanh(softplus(x))``."""

    def forward(self, input: Tensor) -> Any:
        return functional.mish(input, self.inplace)


class Hardswish(_MaybeInplace):
    """``x * relu6(x + 3) / 6``."""

    def forward(self, input: Tensor) -> Any:
        return functional.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Hardsigmoid(_MaybeInplace):
    """``relu6(x + 3) / 6``."""

    def forward(self, input: Tensor) -> Any:
        return functional.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Threshold(Module):
    """`value` where ``x <= threshold``, else x."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Any:
        return functional.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return _listed(self, "threshold", "value")


class RReLU(Module):
    """x where it is positive, else x times a random slope; the mean slope in evaluation."""

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Any:
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return _listed(self, "lower", "upper")


class Hardtanh(Module):
    """x clamped to [min_val, max_val]. AssertionError where the interval is empty."""

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None:
            min_val = _renamed("min_value", "min_val", min_value)
        if max_value is not None:
            max_val = _renamed("max_value", "max_val", max_value)
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace

    def forward(self, input: Tensor) -> Any:
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return _listed(self, "min_val", "max_val")


def _renamed(old: str, new: str, value: float) -> float:
    warnings.warn(
        f"keyword argument `{old}` is deprecated and rename to `{new}`", FutureWarning, stacklevel=3
    )
    return value


class ReLU6(Hardtanh):
    """x clamped to [0, 6]."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return _listed(self)


class _Exponential(Module):
    """An activation with `alpha` and `inplace`."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def extra_repr(self) -> str:
        return _listed(self, "alpha")


class ELU(_Exponential):
    """x where it is positive, else ``alpha * (exp(x) - 1)``."""

    def forward(self, input: Tensor) -> Any:
        return functional.elu(input, self.alpha, self.inplace)


class CELU(_Exponential):
    """x where it is positive, else ``alpha * (exp(x / alpha) - 1)``."""

    def forward(self, input: Tensor) -> Any:
        return functional.celu(input, self.alpha, self.inplace)


class LeakyReLU(Module):
    """x where it is positive, else ``negative_slope * x``."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Any:
        return functional.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return _listed(self, "negative_slope")


class GLU(Module):
    """``a * sigmoid(b)`` for the two halves a, b of the dimension `dim`."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Any:
        return functional.glu(input, self.dim)

    def extra_repr(self) -> str:
        return _listed(self, "dim")


class GELU(Module):
    """``x * Φ(x)``, Φ the normal distribution function; `approximate` is "none" or "tanh"."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Any:
        return functional.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Softplus(Module):
    """``log(1 + exp(beta * x)) / beta``; x itself where ``beta * x > threshold``."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Any:
        return functional.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return _listed(self, "beta", "threshold")


class _Shrink(Module):
    """An activation that is 0 within [-lambd, lambd]."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Hardshrink(_Shrink):
    """0 within [-lambd, lambd], else x."""

    def forward(self, input: Tensor) -> Any:
        return functional.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """0 within [-lambd, lambd], else x moved towards 0 by `lambd`."""

    def forward(self, input: Tensor) -> Any:
        return functional.softshrink(input, self.lambd)


class PReLU(Module):
    """x where it is positive, else ``weight * x``, with one weight or one for each channel."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(full((num_parameters,), float(init), device=device, dtype=dtype))

    def reset_parameters(self) -> None:
        """Set the weights to `init` again."""
        self.weight.data.fill_(self.init)

    def forward(self, input: Tensor) -> Any:
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return _listed(self, "num_parameters")


class _AlongDim(Module):
    """A function along `dim`; None is a choice of PyTorch's by the number of dimensions."""

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return _listed(self, "dim")


class Softmax(_AlongDim):
    """``exp(x) / sum(exp(x))`` along `dim`.

    >>> from gradfn import nn, zeros
    >>> nn.Softmax(dim=0)(zeros(2))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Any:
        return functional.softmax(input, self.dim)


class Softmin(_AlongDim):
    """`Softmax` of -x."""

    def forward(self, input: Tensor) -> Any:
        return functional.softmin(input, self.dim)


class LogSoftmax(_AlongDim):
    """The logarithm of `Softmax`."""

    def forward(self, input: Tensor) -> Any:
        return functional.log_softmax(input, self.dim)


class Softmax2d(Module):
    """`Softmax` over the channels of images, (N, C, H, W) or (C, H, W); ValueError for others."""

    def forward(self, input: Tensor) -> Any:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return functional.softmax(input, -3)


__getattr__ = missing(__name__)
