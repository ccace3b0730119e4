"""Exponentials normalised along a dimension."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from .. import raw
from .arithmetic import neg
from .checking import checked
from .declare import op

if TYPE_CHECKING:
    from ..dtypes import dtype as DType
    from ..tensor import Tensor

__all__ = ["log_softmax", "logsumexp", "softmax"]

softmax_of = op(
    "softmax(self, dim)",
    kernel=raw.softmax,
    tangent=lambda F, self_t, result, dim: F.softmax_backward(self_t, result, dim),
    self=lambda F, g, result, dim: F.softmax_backward(g, result, dim),
)
log_softmax_of = op(
    "log_softmax(self, dim)",
    kernel=raw.log_softmax,
    tangent=lambda F, self_t, result, dim: self_t - F.sum(self_t * F.exp(result), dim, True),
    self=lambda F, g, result, dim: F.log_softmax_backward(g, result, dim),
)
# Rows of their own, as in PyTorch: they are exact to the last digit in float16 too.
softmax_backward = op(
    "softmax_backward(grad, output, dim)",
    kernel=raw.softmax_backward,
    node="SoftmaxBackwardDataBackward0",
    grad=lambda F, g, output, dim: F.softmax_backward(g, output, dim),
    output=lambda F, g, grad, output, dim: (
        g * (grad - F.sum(grad * output, dim, True)) - grad * F.sum(g * output, dim, True)
    ),
    doc="The gradient through a softmax whose result was `output`.",
)
log_softmax_backward = op(
    "log_softmax_backward(grad, output, dim)",
    kernel=raw.log_softmax_backward,
    node="LogSoftmaxBackwardDataBackward0",
    grad=lambda F, g, output, dim: g - F.sum(g * F.exp(output), dim, True),
    output=lambda F, g, grad, output, dim: -(g * F.exp(output) * F.sum(grad, dim, True)),
    doc="The gradient through a log_softmax whose result was `output`.",
)
logsumexp = op(
    "logsumexp(self, dim, keepdim=False)",
    kernel=raw.logsumexp,
    tangent="contracted",
    promote="float",
    self=lambda F, g, self, result, self_shape, dim, keepdim: (
        F.unsum(g, self_shape, dim, keepdim)
        * F.exp(self - F.unsum(result, self_shape, dim, keepdim)).conj()
    ),
    doc="""The logarithm of the sum of exponentials over `dim` (an int or a tuple).

    >>> import gradfn
    >>> gradfn.logsumexp(gradfn.tensor([1000.0, 1000.0]), 0)
    tensor(1000.6932)
    """,
)


def softmax(
    input: Tensor,
    dim: int | None = None,
    dtype: DType | None = None,
    *,
    axis: int | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """``exp(x) / sum(exp(x))`` along `dim`; `dtype` converts first.

    NotImplementedError for integers and complex numbers.

    >>> import gradfn
    >>> gradfn.softmax(gradfn.tensor([0.0, 0.0]), 0)
    tensor([0.5000, 0.5000])
    """
    return softmax_of(input if dtype is None else input.to(dtype), dim, axis=axis, out=out)


def log_softmax(
    input: Tensor,
    dim: int | None = None,
    dtype: DType | None = None,
    *,
    axis: int | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The logarithm of `softmax`, computed without overflow.

    >>> import gradfn
    >>> gradfn.log_softmax(gradfn.tensor([0.0, 0.0]), 0)
    tensor([-0.6931, -0.6931])
    """
    return log_softmax_of(input if dtype is None else input.to(dtype), dim, axis=axis, out=out)


def _implicit_dim(name: str, input: Tensor, dim: int | None) -> int:
    """The dimension that `nn.functional` takes where none is given."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if input.dim() in (0, 1, 3) else 1


def nn_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """`softmax` as `nn.functional` has it."""
    return softmax(input, _implicit_dim("softmax", input, dim), dtype)


def nn_log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """`log_softmax` as `nn.functional` has it."""
    return log_softmax(input, _implicit_dim("log_softmax", input, dim), dtype)


def nn_softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """The softmax of ``-input``."""
    return softmax(neg(input), _implicit_dim("softmin", input, dim), dtype)


@checked
def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """Samples of the Gumbel-Softmax distribution: softmax of `logits` with noise, over `tau`.

    With `hard` they are one-hot, with the gradient of the soft ones. Jang, Gu and Poole,
    "Categorical Reparameterization with Gumbel-Softmax" (2017); as
    `torch.nn.functional.gumbel_softmax`.

    >>> import gradfn
    >>> gumbel_softmax(gradfn.zeros(2, 3), hard=True).sum(-1)
    tensor([1., 1.])
    """
    noise = -logits.detach().new_empty(logits.shape).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = soft.detach().new_zeros(soft.shape)
    chosen = chosen.scatter(dim, soft.detach().argmax(dim, keepdim=True), 1.0)
    return chosen - soft.detach() + soft


METHODS = "log_softmax logsumexp softmax"
