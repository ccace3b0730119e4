"""Gradients made smaller, in place."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from ...autograd.grad_mode import no_grad
from ...creation import tensor as new_tensor
from ...missing import missing
from ...ops.joining import stack
from ...ops.norms import vector_norm
from ...tensor import Tensor

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Scale the gradients of `parameters` so that their norm together is at most `max_norm`.

    Returns the norm that they had. Raises RuntimeError where it is not finite, if
    `error_if_nonfinite`.

    >>> from gradfn import nn, ones
    >>> weight = nn.Parameter(ones(2))
    >>> (weight * 4).sum().backward()
    >>> clip_grad_norm_(weight, 1.0), weight.grad
    (tensor(5.6569), tensor([0.7071, 0.7071]))
    """
    parameters = _listed(parameters)
    grads = [parameter.grad for parameter in parameters if parameter.grad is not None]
    total_norm = get_total_norm(grads, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total_norm)
    return total_norm


@no_grad()
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """The `norm_type`-norm of all elements of `tensors` together."""
    norms = [vector_norm(tensor, norm_type) for tensor in _listed(tensors)]
    if not norms:
        return new_tensor(0.0)
    total_norm = vector_norm(stack(norms), norm_type)
    if error_if_nonfinite and not total_norm.isfinite():
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite "
            f"({total_norm.item()}), so it cannot be clipped. To disable this error and scale the "
            "gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total_norm


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Any,
    foreach: bool | None = None,
) -> None:
    """Scale the gradients of `parameters`, whose norm is `total_norm`, down to `max_norm`."""
    # Always multiplied, so that nothing waits for the norm to be looked at.
    scale = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for parameter in _listed(parameters):
        if parameter.grad is not None:
            parameter.grad.mul_(scale)


@no_grad()
def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Clamp the gradients of `parameters` to [-clip_value, clip_value]."""
    for parameter in _listed(parameters):
        if parameter.grad is not None:
            parameter.grad.clamp_(-clip_value, clip_value)


def clip_grad_norm(*args: Any, **kwargs: Any) -> Any:
    """The older name of `clip_grad_norm_`."""
    warnings.warn(
        "torch.nn.utils.clip_grad_norm is now deprecated in favor of "
        "torch.nn.utils.clip_grad_norm_.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(*args, **kwargs)


def _listed(tensors: Tensor | Iterable[Tensor]) -> list[Any]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


__getattr__ = missing(__name__)
