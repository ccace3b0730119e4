"""Attention layers."""

from __future__ import annotations

from typing import Any

from ...creation import empty
from ...tensor import Tensor
from .. import functional, init
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention of `num_heads` heads, between linear maps: `torch.nn.MultiheadAttention`.

    ``out_proj(concat(softmax(q_h k_hᵀ / √d + mask) v_h))``, heads of ``d = embed_dim / num_heads``.
    Shapes: query (L, N, E), key (S, N, kdim) and value (S, N, vdim), or (N, L, E) and so on with
    `batch_first`, or all without N; the result as the query, and weights (N, L, S), averaged over
    the heads or (N, heads, L, S). `key_padding_mask` (N, S) and `attn_mask` (L, S) or
    (N * heads, L, S) are True, or -inf, where a key is not to be seen. Vaswani et al. (2017).

    >>> from gradfn import nn, ones
    >>> output, weights = nn.MultiheadAttention(4, 2)(ones(3, 1, 4), ones(5, 1, 4), ones(5, 1, 4))
    >>> output.shape, weights.shape
    (torch.Size([3, 1, 4]), torch.Size([1, 3, 5]))
    """

    in_proj_weight: Any
    in_proj_bias: Any
    q_proj_weight: Any
    k_proj_weight: Any
    v_proj_weight: Any
    bias_k: Any
    bias_v: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        options = {"device": device, "dtype": dtype}
        self._register_projections(bias, options)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, **options)
        if add_bias_kv:
            self.bias_k = Parameter(empty((1, 1, embed_dim), **options))
            self.bias_v = Parameter(empty((1, 1, embed_dim), **options))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _register_projections(self, bias: bool, options: dict[str, Any]) -> None:
        """One matrix for query, key and value, or one for each where they differ in size."""
        e = self.embed_dim
        separate = {"q_proj_weight": e, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        for name, size in separate.items():
            there = not self._qkv_same_embed_dim
            parameter = Parameter(empty((e, size), **options)) if there else None
            self.register_parameter(name, parameter)
        joint = Parameter(empty((3 * e, e), **options)) if self._qkv_same_embed_dim else None
        self.register_parameter("in_proj_weight", joint)
        first = Parameter(empty(3 * e, **options)) if bias else None
        self.register_parameter("in_proj_bias", first)

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            init.xavier_uniform_(self.q_proj_weight)
            init.xavier_uniform_(self.k_proj_weight)
            init.xavier_uniform_(self.v_proj_weight)
        if self.in_proj_bias is not None and self.out_proj.bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
        if self.bias_v is not None:
            init.xavier_normal_(self.bias_v)

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        attributes.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(attributes)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        batched = query.dim() == 3
        if self.batch_first and batched:
            moved = {id(t): t.transpose(1, 0) for t in (query, key, value)}
            query, key, value = (moved[id(t)] for t in (query, key, value))
        separate = {}
        if not self._qkv_same_embed_dim:
            separate = {
                "use_separate_proj_weight": True,
                "q_proj_weight": self.q_proj_weight,
                "k_proj_weight": self.k_proj_weight,
                "v_proj_weight": self.v_proj_weight,
            }
        output, weights = functional.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            **separate,
        )
        if self.batch_first and batched:
            output = output.transpose(1, 0)
        return output, weights
