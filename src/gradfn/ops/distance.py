"""Distances and angles between vectors, and the losses made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dtypes import promote_types
from ..shapes import broadcast_shapes
from .checking import checked
from .declare import variant
from .norms import vector_norm
from .reducing import at_least, choose, minus, number, plus, reduced
from .runtime import wrapped_number

__all__ = [
    "cosine_embedding_loss",
    "cosine_similarity",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "pairwise_distance",
    "triplet_margin_loss",
]

norm_of_rows = variant(vector_norm, "norm.rows", node="NormBackward1")


@checked
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along `dim`, as `torch.cosine_similarity`.

    The inputs are broadcast; norms count as at least `eps`.

    >>> from gradfn import cosine_similarity, tensor
    >>> cosine_similarity(tensor([3., 4.]), tensor([4., 3.]), dim=0)
    tensor(0.9600)
    """
    shape = broadcast_shapes(x1.shape, x2.shape)
    if not (x1.is_floating_point() or x2.is_floating_point()):
        raise RuntimeError(
            "expected common dtype to be floating point, yet common dtype is "
            f"{x1.dtype.scalar_name}"
        )
    if x1.dtype is not x2.dtype:
        x1, x2 = (x.to(promote_types(x1.dtype, x2.dtype)) for x in (x1, x2))
    x1, x2 = (x if x.shape == shape else x.expand(shape) for x in (x1, x2))
    units = [x / at_least(vector_norm(x, 2, (dim,), True), eps) for x in (x1, x2)]
    return (units[0] * units[1]).sum(dim)


@checked
def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension, as `torch.pairwise_distance`.

    >>> from gradfn import pairwise_distance, tensor
    >>> pairwise_distance(tensor([[3., 4.]]), tensor([[0., 0.]]))
    tensor([5.0000])
    """
    return norm_of_rows(plus(x1 - x2, eps), p, (-1,), keepdim)


@checked
def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Any:
    """`input` over its p-norm along `dim`, as `torch.nn.functional.normalize`.

    Norms count as at least `eps`.

    >>> from gradfn import tensor
    >>> normalize(tensor([[3., 4.]]))
    tensor([[0.6000, 0.8000]])
    """
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


@checked
def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The distance `input` where `target` is 1, ``max(0, margin - input)`` where it is -1.

    >>> from gradfn import tensor
    >>> hinge_embedding_loss(tensor([0.5, 0.5]), tensor([1., -1.]), reduction="none")
    tensor([0.5000, 0.5000])
    """
    kind = number(choose(reduction, size_average, reduce))
    far = (wrapped_number(margin) - input).clamp_min(0)
    zeros = input.new_zeros(())
    losses = far.where(target != 1, zeros) + input.where(target != -1, zeros)
    return reduced(losses, kind)


@checked
def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """``max(0, margin - target * (input1 - input2))`` for targets 1 and -1.

    >>> from gradfn import tensor
    >>> margin_ranking_loss(tensor([1.]), tensor([3.]), tensor([1.]))
    tensor(2.)
    """
    kind = number(choose(reduction, size_average, reduce))
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return reduced(plus(-target * (input1 - input2), float(margin)).clamp_min(0), kind)


@checked
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """``1 - cos`` where `target` is 1, ``max(0, cos - margin)`` where it is -1.

    >>> from gradfn import tensor
    >>> cosine_embedding_loss(tensor([[3., 4.]]), tensor([[4., 3.]]), tensor([1.]))
    tensor(0.0400)
    """
    kind = number(choose(reduction, size_average, reduce))
    if target.ndim > 1:
        raise RuntimeError(
            "0D or 1D target tensor expected, multi-target not supported; the target has "
            f"{target.ndim} dimensions"
        )
    dim, eps = target.ndim, 1e-12
    if not input1.ndim == input2.ndim == dim + 1:
        raise RuntimeError(
            f"{dim}D target tensor expects {dim + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    product = (input1 * input2).sum(dim)
    sizes = plus((input1 * input1).sum(dim), eps) * plus((input2 * input2).sum(dim), eps)
    cosine = product / sizes.sqrt()
    zeros = cosine.new_zeros(cosine.shape)
    alike = (wrapped_number(1) - cosine).where(target == 1, zeros)
    unlike = minus(cosine, margin).clamp_min(0).where(target == -1, zeros)
    return reduced(alike + unlike, kind)


def _check_triplet(anchor: Any, positive: Any, negative: Any, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs"
        )


@checked
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """``max(0, margin + d(anchor, positive) - d(anchor, negative))``, d being `pairwise_distance`.

    `swap` takes the distance between positive and negative where that is smaller.

    >>> from gradfn import tensor
    >>> triplet_margin_loss(tensor([[0.]]), tensor([[1.]]), tensor([[0.5]]))
    tensor(1.5000)
    """
    kind = number(choose(reduction, size_average, reduce))
    _check_triplet(anchor, positive, negative, margin)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return reduced((plus(near, margin) - far).clamp_min(0), kind)


@checked
def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """`triplet_margin_loss` for any distance, by default `pairwise_distance`.

    >>> from gradfn import tensor
    >>> triplet_margin_with_distance_loss(tensor([[0.]]), tensor([[1.]]), tensor([[0.5]]))
    tensor(1.5000)
    """
    kind = number(reduction)
    _check_triplet(anchor, positive, negative, margin)
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((margin + near - far).clamp_min(0), kind)


METHODS = ""
