"""Scaled dot product attention: Vaswani et al. (2017)."""

from __future__ import annotations

import math
from contextvars import ContextVar
from typing import Any

import numpy as np

from .. import raw
from ..autograd.variable import Variable
from .checking import checked
from .comparison import masked_fill
from .declare import op
from .dropouts import dropout
from .products import matmul
from .reducing import times
from .runtime import wrapped_number
from .shaping import repeat_interleave
from .views import transpose

__all__: list[str] = []


def _attention_gradients(
    F: Any, g: Any, query: Any, key: Any, value: Any, mask: Any, scale: float, needs: Any
) -> tuple[Any, ...]:
    """Through the weights P, computed anew: ``gS = P (gP - sum of gP P)`` in the scores S."""
    scores = query @ key.mT * scale
    weights = F.safe_softmax(scores if mask is None else scores + mask, -1)
    through = F.softmax_backward(g @ value.mT, weights, -1) * scale
    return (
        through @ key if needs[0] else None,
        through.mT @ query if needs[1] else None,
        weights.mT @ g if needs[2] else None,
        None,
    )


safe_softmax = op(
    "_safe_softmax(self, dim)",
    kernel=raw.safe_softmax,
    tangent=lambda F, self_t, result, dim: F.softmax_backward(self_t, result, dim),
    self=lambda F, g, result, dim: F.softmax_backward(g, result, dim),
    doc="softmax along `dim`, and zeros where all elements are -inf.",
)


def _on_batches(call: Any) -> Any:
    """All examples at once, for vmap: attention takes any leading dimensions."""
    names = [name for name in call.tensors if name != "mask"]
    rank = max(map(call.rank, names))
    changes = {name: call.aligned(name, rank) for name in call.tensors}
    return call.run(**{n: x.expand(call.size, *x.shape[-rank:]) for n, x in changes.items()})


attention = op(
    "_scaled_dot_product_flash_attention_for_cpu(query: Tensor, key: Tensor, value: Tensor, "
    "mask: Optional, scale)",
    kernel=raw.attention,
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    batch=_on_batches,
    joint=_attention_gradients,
)


@checked
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """``softmax(q kᵀ scale + mask) v``: `torch.nn.functional.scaled_dot_product_attention`.

    Shapes: query (..., L, E), key (..., S, E), value (..., S, V), result (..., L, V). The mask
    broadcasts to (..., L, S): False, or -inf, where a query does not see a key; `is_causal` lets
    it see those up to its own number. `scale` is by default 1/√E. With `enable_gqa` each head of
    key and value serves several of the query. Weights are dropped with probability `dropout_p`.
    RuntimeError for shapes, dtypes and options that do not fit.

    >>> from gradfn import nn, ones, zeros
    >>> nn.functional.scaled_dot_product_attention(zeros(2, 3), ones(4, 3), ones(4, 1))
    tensor([[1.],
            [1.]])
    """
    _check(query, key, value, attn_mask, is_causal)
    if enable_gqa:
        shares = query.size(-3) // key.size(-3)
        key, value = (repeat_interleave(x, shares, -3) for x in (key, value))
    if is_causal:
        attn_mask = Variable.wrap(np.tri(query.size(-2), key.size(-2), dtype=bool))
    mask = _additive(attn_mask, query)
    if FLASH_ATTENTION in allowed.get() and _fused(query, key, value, mask, dropout_p):
        factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
        return attention(query, key, value, mask, factor)
    if MATH not in allowed.get():
        raise RuntimeError(
            "No viable backend for scaled_dot_product_attention was found. This is likely due to "
            "turning off both the math kernel and the fused kernels."
        )
    root = math.sqrt(1 / math.sqrt(query.size(-1)) if scale is None else scale)
    factor = wrapped_number(root)
    scores = matmul(times(query, factor), times(transpose(key, -2, -1), factor))
    weights = safe_softmax(scores if mask is None else scores + mask, -1)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p, True)
    return matmul(weights, value)


def _additive(mask: Any, query: Any) -> Any:
    """A mask as what is added to the scores."""
    if mask is None or mask._array.dtype != np.bool_:
        return mask
    zeros = query.new_zeros(mask.shape)
    return masked_fill(zeros, ~mask, -math.inf)


# The ways to compute attention that `nn.attention.sdpa_kernel` allows, by PyTorch's numbers.
MATH, FLASH_ATTENTION = 0, 1
allowed: ContextVar[frozenset[int]] = ContextVar(
    "gradfn_attention", default=frozenset((MATH, FLASH_ATTENTION))
)


def _fused(query: Any, key: Any, value: Any, mask: Any, dropout_p: float) -> bool:
    """Whether PyTorch computes it by one operator, and so records one node."""
    shapes = [x.shape for x in (query, key, value)]
    alike = all(len(shape) == 4 for shape in shapes) and len({s[:2] for s in shapes}) == 1
    sizes = len({shape[-1] for shape in shapes}) == 1 and 0 not in query.shape + key.shape
    constant = mask is None or not mask.requires_grad
    return alike and sizes and constant and dropout_p == 0


def _check(query: Any, key: Any, value: Any, mask: Any, is_causal: bool) -> None:
    if any(x.ndim < 2 for x in (query, key, value)):
        raise RuntimeError(
            "scaled_dot_product_attention: Expected query, key, and value to all be at least 2 "
            f"dimensional, but got query.dim(): {query.ndim}, key.dim(): {key.ndim} and "
            f"value.dim(): {value.ndim} instead."
        )
    if len({x.dtype for x in (query, key, value)}) > 1:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype} key.dtype: {key.dtype} and value.dtype: {value.dtype} instead."
        )
    if mask is not None and mask._array.dtype != np.bool_ and mask.dtype is not query.dtype:
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {mask.dtype} and query.dtype: {query.dtype} instead."
        )
    if mask is not None and is_causal:
        raise RuntimeError(
            "scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )


METHODS = ""
