"""Transforms of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

from ...ops.decompositions import linalg_cholesky
from ...ops.padding import pad
from ...ops.softmaxes import softmax
from ...queries import finfo
from .. import constraints
from ..utils import softplus
from .scalars import SigmoidTransform
from .transform import Transform


class SoftmaxTransform(Transform):
    """``y = softmax(x)``, along the last dimension: not a bijection."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Any) -> Any:
        return softmax(x, dim=-1)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """Vectors of K-1 numbers to probabilities of K categories, by breaking a stick."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = Transform.__hash__

    def _offset(self, x: Any) -> Any:
        return x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)

    def _call(self, x: Any) -> Any:
        z = SigmoidTransform()(x - self._offset(x).log())
        rest = (1 - z).cumprod(-1)
        return pad(z, [0, 1], value=1) * pad(rest, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        cropped = y[..., :-1]
        offset = y.shape[-1] - cropped.new_ones(cropped.shape[-1]).cumsum(-1)
        rest = (1 - cropped.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return cropped.log() - rest.log() + offset.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._offset(x).log()
        log_z = -softplus(-x)
        return (-x + log_z + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] - 1)


class LowerCholeskyTransform(Transform):
    """Matrices to lower-triangular ones with a positive diagonal, by its exponential."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Matrices to positive definite ones, by their Cholesky factors."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(linalg_cholesky(y))


class CorrCholeskyTransform(Transform):
    """Vectors of D(D-1)/2 numbers to Cholesky factors of correlation matrices of width D.

    The tanh of each number is a canonical partial correlation (Lewandowski et al. 2009).
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        x = x.tanh()
        eps = finfo(x.dtype).eps
        x = x.clamp(min=-1 + eps, max=1 - eps)
        r = _below_diagonal(x)
        z1m_cumprod_sqrt = (1 - r**2).sqrt().cumprod(-1)
        identity = r.new_ones(r.size(-1)).diag()
        return (r + identity) * pad(z1m_cumprod_sqrt[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        t = _vector_below(y) / _vector_below(left.clamp(min=1e-38)).sqrt()
        return ((1 + t) / (1 - t)).log() / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        rest = 1 - (y * y).cumsum(-1)
        stick = _vector_below(rest, -2) if y.size(-1) > 2 else rest.new_zeros((*rest.shape[:-2], 0))
        return 0.5 * stick.log().sum(-1) - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        n = shape[-1]
        width = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if width * (width - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], width, width)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2 or shape[-2] != shape[-1]:
            raise ValueError("Input is not a square matrix")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


def _below_diagonal(vector: Any) -> Any:
    """Matrices with `vector` below the diagonal, row by row."""
    n = vector.size(-1)
    width = round((0.25 + 2 * n) ** 0.5 + 0.5)
    if width * (width - 1) // 2 != n:
        raise ValueError(f"The size of last dimension is {n} which is no triangular number")
    out = vector.new_zeros((*vector.shape[:-1], width, width))
    out[..., out.new_ones(width, width).tril(-1).bool()] = vector
    return out


def _vector_below(matrix: Any, diagonal: int = -1) -> Any:
    width = matrix.size(-1)
    return matrix[..., matrix.new_ones(width, width).tril(diagonal).bool()]
