"""Gated units: one half of the features lets the other through."""

from __future__ import annotations

from typing import Any

from .. import raw
from ..shapes import wrap_dim
from .checking import checked
from .declare import op

__all__: list[str] = []


def _halves(F: Any, self: Any, dim: int) -> tuple[Any, Any]:
    half = self.shape[dim] // 2
    return F.slice_dim(self, dim, 0, half), F.sigmoid(F.slice_dim(self, dim, half, 2 * half))


def _glu_gradient(F: Any, g: Any, self: Any, dim: int) -> Any:
    value, gate = _halves(F, self, dim)
    return F.cat((g * gate, g * value * gate * (1 - gate)), dim)


def _glu_tangent(F: Any, self_t: Any, self: Any, dim: int) -> Any:
    half = self.shape[dim] // 2
    value, gate = _halves(F, self, dim)
    of_value, of_gate = (F.slice_dim(self_t, dim, i * half, (i + 1) * half) for i in (0, 1))
    return of_value * gate + of_gate * value * gate * (1 - gate)


glu_row = op(
    "glu(self, dim=-1)", kernel=raw.glu, refuses="biuc", tangent=_glu_tangent, self=_glu_gradient
)


@checked
def glu(input: Any, dim: int = -1) -> Any:
    """``a * sigmoid(b)`` for the two halves a, b of the dimension `dim`.

    Raises RuntimeError where its size is odd. As `torch.nn.functional.glu`.

    >>> from gradfn import tensor
    >>> glu(tensor([2., 0.]))
    tensor([1.])
    """
    if input.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    axis = wrap_dim(dim, input.ndim)
    if input.shape[axis] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {axis} is size {input.shape[axis]}"
        )
    return glu_row(input, axis)


METHODS = ""
