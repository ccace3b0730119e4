"""Rows of a table picked by number."""

from __future__ import annotations

from typing import Any

from .. import raw
from ..autograd.grad_mode import no_grad
from .checking import checked
from .declare import op

__all__: list[str] = []

embedding_of = op(
    "embedding(weight, indices: Tensor, padding_idx=-1, scale_grad_by_freq=False, sparse=False)",
    kernel=raw.embedding,
    tangent="bilinear",
    weight=lambda F, g, indices, weight_shape, padding_idx, scale_grad_by_freq: (
        F.embedding_dense_backward(g, indices, weight_shape[0], padding_idx, scale_grad_by_freq)
    ),
)
embedding_dense_backward = op(
    "embedding_dense_backward(grad_output, indices: Tensor, num_weights, padding_idx, "
    "scale_grad_by_freq)",
    kernel=raw.embedding_dense_backward,
    tangent="bilinear",
    grad_output=lambda F, g, indices, padding_idx: F.embedding_dense_double_backward(
        g, indices, padding_idx
    ),
)
embedding_dense_double_backward = op(
    "embedding_dense_double_backward(grad, indices: Tensor, padding_idx)",
    kernel=raw.embedding_dense_double_backward,
    tangent="bilinear",
    grad=lambda F, g, indices, grad_shape, padding_idx: F.embedding_dense_backward(
        g, indices, grad_shape[0], padding_idx, False
    ),
)
embedding_renorm = op(
    "embedding_renorm(weight: Tensor, indices: Tensor, max_norm, norm_type)",
    kernel=raw.embedding_renorm,
)
one_hot = op(
    "one_hot(self: Tensor, num_classes=-1)",
    kernel=raw.one_hot,
    doc="""Class numbers as rows that are 1 at the class and 0 elsewhere, in a new last dimension.

    `input` is of dtype int64; `num_classes` is one more than the largest class unless given.
    RuntimeError for negative and too large classes. As `torch.nn.functional.one_hot`.

    >>> from gradfn import nn, tensor
    >>> nn.functional.one_hot(tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """,
)


@checked
def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` with the numbers in `input`, as `torch.nn.functional.embedding`.

    The row `padding_idx` gets no gradient. With `max_norm`, the rows used are first scaled down
    to that norm, in place. `scale_grad_by_freq` divides the gradient of a row by how often it is
    used. IndexError for numbers that are no row.

    >>> from gradfn import tensor
    >>> embedding(tensor([1, 0]), tensor([[1., 2.], [3., 4.]]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    if sparse and weight.requires_grad:
        raise NotImplementedError("embedding(sparse=True): sparse gradients are not in gradfn yet")
    if weight.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, but it has shape {list(weight.shape)}")
    rows = weight.size(0)
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise AssertionError(
            f"Padding_idx must be within num_embeddings: it is {padding_idx}, with {rows} rows"
        )
    padding = -1 if padding_idx is None else padding_idx % rows
    if max_norm is not None:
        with no_grad():
            weight.copy_(embedding_renorm(weight, input, max_norm, norm_type))
    return embedding_of(weight, input, padding, scale_grad_by_freq, sparse)


METHODS = ""
