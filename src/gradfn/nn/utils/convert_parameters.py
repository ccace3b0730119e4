"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...missing import missing
from ...ops.joining import cat
from ...tensor import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Any:
    """The elements of all `parameters`, one after the other, as a vector.

    >>> from gradfn import nn, ones
    >>> parameters_to_vector([nn.Parameter(ones(2)), nn.Parameter(ones(1, 1))])
    tensor([1., 1., 1.], grad_fn=<CatBackward0>)
    """
    return cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make slices of `vec`, without copying, the data of `parameters`.

    TypeError where `vec` is no tensor.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    values: Any = vec
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = values[:count].view_as(parameter).data
        values = values[count:]


__getattr__ = missing(__name__)
