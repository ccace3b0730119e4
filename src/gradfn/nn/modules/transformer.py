"""The transformer, its encoder and its decoder: Vaswani et al. (2017)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ...creation import full
from ...ops.shaping import triu
from ...tensor import Tensor
from .. import functional, init
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .multihead import MultiheadAttention
from .normalization import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = str | Callable[[Any], Any]


def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
    """The causal mask: -inf above the diagonal, 0 elsewhere.

    >>> generate_square_subsequent_mask(2)
    tensor([[0., -inf],
            [0., 0.]])
    """
    return triu(full((sz, sz), -math.inf, dtype=dtype, device=device), diagonal=1)


def _activation(activation: Activation) -> Callable[[Any], Any]:
    if activation == "relu":
        return functional.relu
    if activation == "gelu":
        return functional.gelu
    if isinstance(activation, str):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return activation


def _is_causal(mask: Any, is_causal: bool | None, size: int | None) -> bool:
    """Whether `mask` is the causal one: as told, or by looking."""
    if is_causal is not None:
        return is_causal
    if mask is None or size is None:
        return False
    causal = generate_square_subsequent_mask(size, dtype=mask.dtype)
    return bool(mask.size() == causal.size() and (mask == causal).all())


def _length(x: Any, batch_first: bool) -> int | None:
    """The length of the sequences, where there is a batch."""
    if x.dim() == 2:
        return int(x.size(0))
    return int(x.size(1 if batch_first else 0))


class _Layer(Module):
    """What both kinds of layers have: two linear maps after the attention, norms and dropouts."""

    activation: Callable[[Any], Any]
    linear1: Any
    linear2: Any
    norm_first: bool
    self_attn: Any

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        attributes.setdefault("activation", functional.relu)
        super().__setstate__(attributes)

    def _feed_forward(self, x: Any, last: Any) -> Any:
        inner: Any = self.dropout
        return last(self.linear2(inner(self.activation(self.linear1(x)))))

    def _attend(self, x: Any, mask: Any, padding: Any, is_causal: bool) -> Any:
        """Attention of a sequence to itself."""
        first: Any = self.dropout1
        return first(
            self.self_attn(
                x,
                x,
                x,
                attn_mask=mask,
                key_padding_mask=padding,
                need_weights=False,
                is_causal=is_causal,
            )[0]
        )


class TransformerEncoderLayer(_Layer):
    """``x = norm1(x + attention(x))``, ``x = norm2(x + linear2(act(linear1(x))))``.

    `torch.nn.TransformerEncoderLayer`; with `norm_first` the norms come before. (L, N, d_model), or
    (N, L, d_model) with `batch_first`, or (L, d_model).

    >>> from gradfn import nn, ones
    >>> nn.TransformerEncoderLayer(8, 2)(ones(3, 1, 8)).shape
    torch.Size([3, 1, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **options
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **options)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **options)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Any:
        x: Any = src
        given = src_mask, src_key_padding_mask, is_causal
        if self.norm_first:
            x = x + self._attend(self.norm1(x), *given)
            return x + self._feed_forward(self.norm2(x), self.dropout2)
        x = self.norm1(x + self._attend(x, *given))
        return self.norm2(x + self._feed_forward(x, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """An encoder layer that attends to `memory` as well, in between.

    `torch.nn.TransformerDecoderLayer`. Shapes as for `TransformerEncoderLayer`.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        attention: dict[str, Any] = {
            "dropout": dropout,
            "bias": bias,
            "batch_first": batch_first,
            **options,
        }
        self.self_attn = MultiheadAttention(d_model, nhead, **attention)
        self.multihead_attn = MultiheadAttention(d_model, nhead, **attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **options)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **options)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias, **options)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        x: Any = tgt
        own = tgt_mask, tgt_key_padding_mask, tgt_is_causal
        other = memory, memory_mask, memory_key_padding_mask, memory_is_causal
        if self.norm_first:
            x = x + self._attend(self.norm1(x), *own)
            x = x + self._look(self.norm2(x), *other)
            return x + self._feed_forward(self.norm3(x), self.dropout3)
        x = self.norm1(x + self._attend(x, *own))
        x = self.norm2(x + self._look(x, *other))
        return self.norm3(x + self._feed_forward(x, self.dropout3))

    def _look(self, x: Any, memory: Any, mask: Any, padding: Any, is_causal: bool) -> Any:
        """Attention to the memory."""
        return self.dropout2(
            self.multihead_attn(
                x,
                memory,
                memory,
                attn_mask=mask,
                key_padding_mask=padding,
                is_causal=is_causal,
                need_weights=False,
            )[0]
        )


def _copies(layer: Any, count: int) -> Any:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer, and a norm after the last: see `Transformer`."""

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Any = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Any:
        first: Any = self.layers[0].self_attn
        causal = _is_causal(mask, is_causal, _length(src, first.batch_first))
        output: Any = src
        for layer in self.layers:
            output = layer(
                output,
                src_mask=mask,
                is_causal=causal,
                src_key_padding_mask=src_key_padding_mask,
            )
        return output if self.norm is None else self.norm(output)


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer, and a norm after the last: see `Transformer`."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        first: Any = self.layers[0].self_attn
        causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, first.batch_first))
        output: Any = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """Encoder and decoder: `torch.nn.Transformer`.

    ``forward(src, tgt)`` with (S, N, d_model) and (T, N, d_model), N first with `batch_first`,
    gives the shape of `tgt`. Masks as for `MultiheadAttention`.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        setup = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first)
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer: Any = TransformerEncoderLayer(*setup, norm_first, **options)
            norm = LayerNorm(d_model, layer_norm_eps, **options)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            layer = TransformerDecoderLayer(*setup, norm_first, **options)
            norm = LayerNorm(d_model, layer_norm_eps, **options)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, norm)
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    generate_square_subsequent_mask = staticmethod(generate_square_subsequent_mask)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        batched = src.dim() == 3
        dim = 0 if self.batch_first else 1
        if batched and src.size(dim) != tgt.size(dim):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
