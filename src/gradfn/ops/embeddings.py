"""Rows of a table picked by number."""

from __future__ import annotations

import warnings
from typing import Any

from .. import raw
from ..autograd.grad_mode import no_grad
from ..autograd.variable import Variable
from ..ranges import arange
from ..raw.embeddings import MAX, MEAN, SUM
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


def _bag_rows(F: Any, g: Any, bag: Any, sizes: Any, reduction: int) -> Any:
    """What reaches each index of the gradient of its bag."""
    rows = F.index_select(g, 0, bag)
    if reduction == MEAN:
        return rows / F.index_select(sizes, 0, bag).reshape((-1, 1)).clip(1, None)
    return rows


def _bag_gradient(
    F: Any, g_result0: Any, weight_shape: Any, indices: Any, per_sample_weights: Any, result1: Any,
    result2: Any, result3: Any, reduction: int, padding_idx: int, scale_grad_by_freq: bool,
) -> Any:  # fmt: skip
    if reduction == MAX:
        filled = g_result0 * (result2 > 0).reshape((-1, 1))
        return F.gather_backward(filled, weight_shape, 0, result3)
    rows = _bag_rows(F, g_result0, result1, result2, reduction)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape((-1, 1))
    return F.embedding_dense_backward(
        rows, indices, weight_shape[0], padding_idx, scale_grad_by_freq
    )


def _sample_weight_gradient(
    F: Any, g_result0: Any, weight: Any, indices: Any, result1: Any, padding_idx: int
) -> Any:
    picked = F.index_select(weight, 0, indices) * (indices != padding_idx).reshape((-1, 1))
    return F.sum(F.index_select(g_result0, 0, result1) * picked, 1)


embedding_bag_of = op(
    "embedding_bag(weight, indices: Tensor, offsets: Tensor, scale_grad_by_freq=False, "
    "reduction=0, sparse=False, per_sample_weights=None, padding_idx=-1)",
    kernel=raw.embedding_bag,
    results=("result0", "result1", "result2", "result3"),
    constants=("result1", "result2", "result3"),
    weight=_bag_gradient,
    per_sample_weights=_sample_weight_gradient,
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


_MODES = {"sum": SUM, "mean": MEAN, "max": MAX}


@checked
def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """The sum, mean or maximum (`mode`) of the rows of `weight` with the numbers in each bag.

    `input` is a matrix whose rows are the bags, or a vector in which they start at `offsets`, which
    ends with the end of the last one if `include_last_offset`. Numbers that are `padding_idx` do
    not count; an empty bag gives 0. In a sum, `per_sample_weights`, of the shape of `input`,
    multiply the rows. RuntimeError for numbers that are no row. As
    `torch.nn.functional.embedding_bag`.

    >>> from gradfn import tensor
    >>> embedding_bag(tensor([[0, 1], [1, 1]]), tensor([[1., 2.], [3., 4.]]))
    tensor([[2., 3.],
            [3., 4.]])
    """
    if weight.dtype.name == "int64" and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage "
            "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
            "`embedding_bag(input, weight, ...)`.",
            stacklevel=3,
        )
        input, weight = weight, input
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then "
            f"it must have the same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(
            f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}"
        )
    input, offsets, per_sample_weights = _bags(
        input, offsets, per_sample_weights, include_last_offset
    )
    _check_mode(mode, scale_grad_by_freq, sparse, weight, per_sample_weights)
    rows = weight.size(0)
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but "
            f"got {padding_idx}"
        )
    padding = -1 if padding_idx is None else padding_idx % rows
    if max_norm is not None:
        with no_grad():
            weight.copy_(embedding_renorm(weight, input, max_norm, norm_type))
    return embedding_bag_of(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        _MODES[mode],
        sparse,
        per_sample_weights,
        padding,
    )[0]


def _bags(input: Any, offsets: Any, weights: Any, ends: bool) -> tuple[Any, Any, Any]:
    """The numbers of all bags as a vector, where they start, and the weights as a vector."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                f"of fixed length sequences. However, found offsets of type {type(offsets)}"
            )
        starts: Any = arange(0, input.numel(), input.size(1))
        return input.reshape(-1), starts, None if weights is None else weights.reshape(-1)
    if input.dim() != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}"
        )
    if not isinstance(offsets, Variable):
        raise ValueError(f"offsets has to be a 1D Tensor but got {type(offsets)}")
    starts = offsets
    if starts.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    if not ends:
        return input, starts, weights
    if starts.numel() == 0:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    end = int(starts[-1])
    if end < input.numel():
        input, weights = input[:end], None if weights is None else weights[:end]
    return input, starts[:-1], weights


def _check_mode(mode: str, by_frequency: bool, sparse: bool, weight: Any, weights: Any) -> None:
    if mode not in _MODES:
        raise ValueError(f"mode has to be one of sum, mean or max; it is {mode!r}")
    if mode == "max" and by_frequency:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if sparse and weight.requires_grad:
        raise NotImplementedError(
            "embedding_bag(sparse=True): sparse gradients are not in gradfn yet"
        )
    if weights is None:
        return
    if mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}')."
        )
    if weights.dtype is not weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "
            f"#1 'per_sample_weights'; but type torch.{weight.dtype.scalar_name}Tensor does not "
            f"equal torch.{weights.dtype.scalar_name}Tensor (while checking arguments for "
            "embedding_bag)"
        )


METHODS = ""
