"""`multi_head_attention_forward`: what `nn.MultiheadAttention` computes."""

from __future__ import annotations

import math
from typing import Any

from ..creation import zeros
from ..dtypes import bool_
from ..ops.attention import scaled_dot_product_attention
from ..ops.dropouts import dropout
from ..ops.joining import cat
from ..ops.products import baddbmm, bmm, linear
from ..ops.softmaxes import nn_softmax as softmax
from ..tensor import Tensor


def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Attention of several heads, and its weights: see `nn.MultiheadAttention`.

    Shapes: query (L, N, E), key (S, N, ·), value (S, N, ·), or all without N.
    """
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint: it says that the mask is causal"
        )
    if not batched:
        query, key, value = _unsqueezed(query, key, value)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, n, width = query.shape
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    key_padding_mask = _float_mask(key_padding_mask, query, "key_padding_mask")
    hint = is_causal and key_padding_mask is None and not need_weights
    attn_mask = None if hint else _float_mask(attn_mask, query, "attn_mask")
    weights = (
        (q_proj_weight, k_proj_weight, v_proj_weight)
        if use_separate_proj_weight
        else in_proj_weight
    )
    q, k, v = _projected(query, key, value, weights, in_proj_bias, use_separate_proj_weight)
    if attn_mask is not None and attn_mask.dim() == 2:
        attn_mask = attn_mask.unsqueeze(0)
    if bias_k is not None and bias_v is not None:
        k, v = cat([k, bias_k.repeat(1, n, 1)]), cat([v, bias_v.repeat(1, n, 1)])
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    head = width // num_heads
    q = q.view(length, n * num_heads, head).transpose(0, 1)
    k = _heads(k, n, num_heads, head) if static_k is None else static_k
    v = _heads(v, n, num_heads, head) if static_v is None else static_v
    if add_zero_attn:
        nothing = zeros((n * num_heads, 1, head), dtype=k.dtype)
        k, v = cat([k, nothing], 1), cat([v, nothing], 1)
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    attn_mask = _merged(attn_mask, key_padding_mask, n, num_heads, k.size(1))
    p = dropout_p if training else 0.0
    if need_weights:
        output, shares = _with_weights(q, k, v, attn_mask, p)
        output = output.transpose(0, 1).reshape(length * n, width)
        output = linear(output, out_proj_weight, out_proj_bias).view(length, n, -1)
        shares = shares.view(n, num_heads, length, k.size(1))
        shares = shares.mean(1) if average_attn_weights else shares
        return (output, shares) if batched else (output.squeeze(1), shares.squeeze(0))
    output = _without_weights(q, k, v, attn_mask, p, hint, (n, num_heads, length, head))
    output = output.permute(2, 0, 1, 3).contiguous().view(n * length, width)
    output = linear(output, out_proj_weight, out_proj_bias).view(length, n, -1)
    return (output if batched else output.squeeze(1)), None


def _heads(x: Any, n: int, heads: int, size: int) -> Any:
    """(S, N, E) as (N * heads, S, E / heads)."""
    return x.view(x.shape[0], n * heads, size).transpose(0, 1)


def _with_weights(q: Any, k: Any, v: Any, mask: Any, p: float) -> tuple[Any, Any]:
    scaled = q * math.sqrt(1.0 / float(q.shape[-1]))
    turned = k.transpose(-2, -1)
    scores = bmm(scaled, turned) if mask is None else baddbmm(mask, scaled, turned)
    shares = softmax(scores, dim=-1)
    if p > 0.0:
        shares = dropout(shares, p, True)
    return bmm(shares, v), shares


def _without_weights(
    q: Any, k: Any, v: Any, mask: Any, p: float, causal: bool, sizes: tuple[int, int, int, int]
) -> Any:
    n, heads, length, head = sizes
    if mask is not None:
        alone = mask.size(0) == 1 and mask.dim() == 3
        mask = mask.unsqueeze(0) if alone else mask.view(n, heads, -1, k.size(1))
    q = q.view(n, heads, length, head)
    k, v = (x.view(n, heads, k.size(1), head) for x in (k, v))
    return scaled_dot_product_attention(q, k, v, mask, p, causal)


def _projected(query: Any, key: Any, value: Any, weights: Any, bias: Any, separate: bool) -> Any:
    """Query, key and value through their linear maps, in one product where they are the same."""
    width = query.size(-1)
    if not separate and key is value and query is key:
        return _together(linear(query, weights, bias), 3, width)
    if not separate and key is value:
        own, others = weights.split([width, 2 * width])
        first = rest = None
        if bias is not None:
            first, rest = bias.split([width, 2 * width])
        k, v = _together(linear(key, others, rest), 2, width)
        return linear(query, own, first), k, v
    parts = (None, None, None) if bias is None else bias.chunk(3)
    given = zip((query, key, value), weights if separate else weights.chunk(3), parts, strict=True)
    q, k, v = (linear(x, w, b) for x, w, b in given)
    return q, k, v


def _together(product: Any, count: int, width: int) -> Any:
    """One product as `count` of the same width."""
    parts = product.unflatten(-1, (count, width)).unsqueeze(0).transpose(0, -2)
    parts = parts.squeeze(-2).contiguous()
    return tuple(parts[number] for number in range(count))


def _float_mask(mask: Any, query: Any, name: str) -> Any:
    """A mask as what is added to the scores."""
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype is not bool_:
        raise AssertionError(
            f"only bool and floating types of {name} are supported: it is {mask.dtype}"
        )
    return zeros(mask.shape, dtype=query.dtype).masked_fill_(mask, -math.inf)


def _one_more(mask: Any) -> Any:
    """A mask that lets one more key be seen."""
    from ..ops.padding import pad

    return None if mask is None else pad(mask, (0, 1))


def _merged(mask: Any, padding: Any, n: int, heads: int, keys: int) -> Any:
    """Both masks in one."""
    if padding is None:
        return mask
    wide = padding.view(n, 1, 1, keys).expand(-1, heads, -1, -1).reshape(n * heads, 1, keys)
    return wide if mask is None else mask + wide


def _unsqueezed(query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
    """With a batch of one; what was the same tensor stays so."""
    made = {id(t): t.unsqueeze(1) for t in (query, key, value)}
    return made[id(query)], made[id(key)], made[id(value)]


def _check_shapes(query: Any, key: Any, value: Any, padding: Any, mask: Any, heads: int) -> bool:
    """Whether there is a batch; AssertionError where the dimensions do not fit."""
    if not isinstance(query, Tensor) or query.dim() not in (2, 3):
        dims = getattr(query, "dim", lambda: None)()
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor"
        )
    batched = query.dim() == 3
    what = "batched" if batched else "unbatched"
    if key.dim() != query.dim() or value.dim() != query.dim():
        raise AssertionError(
            f"For {what} ({query.dim()}-D) `query`, expected `key` and `value` to be "
            f"{query.dim()}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if padding is not None and padding.dim() != query.dim() - 1:
        raise AssertionError(
            f"For {what} ({query.dim()}-D) `query`, expected `key_padding_mask` to be `None` or "
            f"{query.dim() - 1}-D but found {padding.dim()}-D tensor instead"
        )
    if mask is not None and mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {what} ({query.dim()}-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D "
            f"but found {mask.dim()}-D tensor instead"
        )
    return batched


def _check_sizes(query: Any, key: Any, value: Any, width: int, heads: int, separate: bool) -> None:
    if query.size(-1) != width:
        raise AssertionError(
            f"was expecting embedding dimension of {width}, but got {query.size(-1)}"
        )
    if width // heads * heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")
    if separate:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's "
                f"{value.shape[:2]}"
            )
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
