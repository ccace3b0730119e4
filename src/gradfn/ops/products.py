"""Matrix products."""

from __future__ import annotations

import math
from typing import Any

from .. import raw
from ..shapes import broadcast_shapes
from .checking import checked
from .declare import op
from .emit import inplace
from .out import stored, with_out
from .views import unsafe_view

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addmv_",
    "addr",
    "baddbmm",
    "bilinear",
    "bmm",
    "dot",
    "ger",
    "matmul",
    "mm",
    "mv",
    "outer",
    "vdot",
]


def _scaled(value: Any, factor: Any) -> Any:
    """`value` times the conjugate of a number."""
    return value if factor == 1 else value * factor.conjugate()


mm = op(
    "mm(self, mat2)",
    kernel=raw.mm,
    tangent="bilinear",
    self=lambda F, g, mat2: F.mm(g, mat2.mT.conj()),
    mat2=lambda F, g, self: F.mm(self.mT.conj(), g),
    doc="""The product of two matrices, of shapes (n, k) and (k, m).

    Raises RuntimeError where shapes or dtypes do not fit. As `torch.mm`.

    >>> from gradfn import mm, tensor
    >>> mm(tensor([[1., 2.]]), tensor([[3.], [4.]]))
    tensor([[11.]])
    """,
)
mv = op(
    "mv(self, vec)",
    kernel=raw.mv,
    tangent="bilinear",
    self=lambda F, g, vec: F.outer(g, vec.conj()),
    vec=lambda F, g, self: F.mv(self.mT.conj(), g),
    doc="""The product of a matrix (n, k) and a vector (k), as `torch.mv`.

    >>> from gradfn import mv, tensor
    >>> mv(tensor([[1., 2.], [0., 1.]]), tensor([3., 4.]))
    tensor([11.,  4.])
    """,
)
dot = op(
    "dot(self, tensor)",
    kernel=raw.dot,
    tangent="bilinear",
    self=lambda g, tensor: g * tensor.conj(),
    tensor=lambda g, self: g * self.conj(),
    doc="""The sum of the products of two vectors of one size; nothing is conjugated (see `vdot`).

    As `torch.dot`.

    >>> from gradfn import dot, tensor
    >>> dot(tensor([1., 2.]), tensor([3., 4.]))
    tensor(11.)
    """,
)
vdot = op(
    "vdot(self, other)",
    kernel=raw.vdot,
    tangent=lambda F, self, other, self_t, other_t: F.vdot(self_t, other) + F.vdot(self, other_t),
    self=lambda g, other: g.conj() * other,
    other=lambda g, self: g * self,
    doc="""The sum of ``self.conj() * other`` over two vectors of one size, as `torch.vdot`.

    >>> from gradfn import tensor, vdot
    >>> vdot(tensor([1., 2.]), tensor([3., 4.]))
    tensor(11.)
    """,
)
bmm = op(
    "bmm(self, mat2)",
    kernel=raw.bmm,
    tangent="bilinear",
    self=lambda F, g, mat2: F.bmm(g, mat2.mT.conj()),
    mat2=lambda F, g, self: F.bmm(self.mT.conj(), g),
    doc="""The products of two batches of matrices, of shapes (b, n, k) and (b, k, m).

    As `torch.bmm`; nothing is broadcast (see `matmul`).

    >>> from gradfn import bmm, tensor
    >>> bmm(tensor([[[1., 2.]]]), tensor([[[3.], [4.]]]))
    tensor([[[11.]]])
    """,
)


addmm = op(
    "addmm(self, mat1, mat2, *, beta=1, alpha=1)",
    shares="anything",
    kernel=raw.addmm,
    tangent=lambda F, self_t, mat1, mat1_t, mat2, mat2_t, beta, alpha: F.addmm(
        F.addmm(self_t, mat1_t, mat2, beta=beta, alpha=alpha), mat1, mat2_t, alpha=alpha
    ),
    self=lambda g, beta: _scaled(g, beta),
    mat1=lambda F, g, mat2, alpha: _scaled(F.mm(g, mat2.mT.conj()), alpha),
    mat2=lambda F, g, mat1, alpha: _scaled(F.mm(mat1.mT.conj(), g), alpha),
    doc="""``beta * self + alpha * mat1 @ mat2``, with `self` broadcast; a zero `beta` ignores it.

    As `torch.addmm`.

    >>> from gradfn import addmm, tensor
    >>> addmm(tensor([1.]), tensor([[1., 2.]]), tensor([[3.], [4.]]), beta=2)
    tensor([[13.]])
    """,
)
addmv = op(
    "addmv(self, mat, vec, *, beta=1, alpha=1)",
    shares="anything",
    kernel=raw.addmv,
    tangent=lambda F, self_t, mat, mat_t, vec, vec_t, beta, alpha: F.addmv(
        F.addmv(self_t, mat_t, vec, beta=beta, alpha=alpha), mat, vec_t, alpha=alpha
    ),
    self=lambda g, beta: _scaled(g, beta),
    mat=lambda F, g, vec, alpha: _scaled(F.outer(g, vec.conj()), alpha),
    vec=lambda F, g, mat, alpha: _scaled(F.mv(mat.mT.conj(), g), alpha),
    doc="""``beta * self + alpha * mat @ vec``, with `self` broadcast, as `torch.addmv`.

    >>> from gradfn import addmv, tensor
    >>> addmv(tensor([1.]), tensor([[1., 2.]]), tensor([3., 4.]))
    tensor([12.])
    """,
)
addr = op(
    "addr(self, vec1, vec2, *, beta=1, alpha=1)",
    kernel=raw.addr,
    promote="number",
    numbers=False,
    tangent=lambda F, self_t, vec1, vec1_t, vec2, vec2_t, beta, alpha: F.addr(
        F.addr(self_t, vec1_t, vec2, beta=beta, alpha=alpha), vec1, vec2_t, alpha=alpha
    ),
    self=lambda g, beta: _scaled(g, beta),
    vec1=lambda F, g, vec2, alpha: _scaled(F.sum(g * vec2.conj(), -1), alpha),
    vec2=lambda F, g, vec1, alpha: _scaled(F.sum(g.mT * vec1.conj(), -1), alpha),
    doc="""``beta * self + alpha * outer(vec1, vec2)``, with `self` broadcast, as `torch.addr`.

    >>> from gradfn import addr, tensor
    >>> addr(tensor([1.]), tensor([1., 2.]), tensor([3., 4.]))
    tensor([[4., 5.],
            [7., 9.]])
    """,
)
baddbmm = op(
    "baddbmm(self, batch1, batch2, *, beta=1, alpha=1)",
    shares="anything",
    kernel=raw.baddbmm,
    tangent=lambda F, self_t, batch1, batch1_t, batch2, batch2_t, beta, alpha: F.baddbmm(
        F.baddbmm(self_t, batch1_t, batch2, beta=beta, alpha=alpha), batch1, batch2_t, alpha=alpha
    ),
    self=lambda g, beta: _scaled(g, beta),
    batch1=lambda F, g, batch2, alpha: _scaled(F.bmm(g, batch2.mT.conj()), alpha),
    batch2=lambda F, g, batch1, alpha: _scaled(F.bmm(batch1.mT.conj(), g), alpha),
    doc="""``beta * self + alpha * bmm(batch1, batch2)``, with `self` broadcast.

    As `torch.baddbmm`.

    >>> from gradfn import baddbmm, tensor
    >>> baddbmm(tensor([1.]), tensor([[[1., 2.]]]), tensor([[[3.], [4.]]]))
    tensor([[[12.]]])
    """,
)
addbmm = op(
    "addbmm(self, batch1, batch2, *, beta=1, alpha=1)",
    shares="anything",
    kernel=raw.addbmm,
    tangent=lambda F, self_t, batch1, batch1_t, batch2, batch2_t, beta, alpha: F.addbmm(
        F.addbmm(self_t, batch1_t, batch2, beta=beta, alpha=alpha), batch1, batch2_t, alpha=alpha
    ),
    self=lambda g, beta: _scaled(g, beta),
    batch1=lambda F, g, batch2, alpha: _scaled(F.matmul(g, batch2.mT.conj()), alpha),
    batch2=lambda F, g, batch1, alpha: _scaled(F.matmul(batch1.mT.conj(), g), alpha),
    doc="""``beta * self + alpha * bmm(batch1, batch2).sum(0)``, with `self` broadcast.

    As `torch.addbmm`.

    >>> from gradfn import addbmm, ones, zeros
    >>> addbmm(zeros(1), ones(3, 1, 2), ones(3, 2, 1))
    tensor([[6.]])
    """,
)
trilinear = op(
    "trilinear(input1, weight, input2)",
    kernel=raw.trilinear,
    tangent="bilinear",
    input1=lambda F, g, weight, input2: F.trilinear(
        g, F.permute(weight, (1, 0, 2)).conj(), input2.conj()
    ),
    weight=lambda F, g, input1, input2: _trilinear_weight(F, g, input1.conj(), input2.conj()),
    input2=lambda F, g, input1, weight: F.trilinear(
        g, F.permute(weight, (2, 0, 1)).conj(), input1.conj()
    ),
)


def _trilinear_weight(F: Any, g: Any, input1: Any, input2: Any) -> Any:
    """The sum over the batch of the products of all pairs of features with `g`."""
    batch, rows = input1.shape
    pairs = F.unsqueeze(input1, 2) * F.unsqueeze(input2, 1)
    flat = F.mm(g.mT, F.reshape(pairs, (batch, rows * input2.shape[1])))
    return F.reshape(flat, (g.shape[1], rows, input2.shape[1]))


addmm_, addmv_, addr_, addbmm_, baddbmm_ = map(inplace, (addmm, addmv, addr, addbmm, baddbmm))


@checked
def matmul(input: Any, other: Any, *, out: Any = None) -> Any:
    """The matrix product, also written ``input @ other``, as `torch.matmul`.

    Two vectors give their `dot`, a matrix and a vector `mv`, two matrices `mm`. Otherwise the last
    two dimensions are matrices and those before them are batches, which are broadcast; a vector
    on the left is a row, on the right a column, and its dimension is not in the result.
    RuntimeError where shapes or dtypes do not fit.

    >>> from gradfn import ones
    >>> (ones(2, 1, 3, 4) @ ones(5, 4, 2)).shape
    torch.Size([2, 5, 3, 2])
    """
    if out is not None:
        return stored("matmul", out, matmul(input, other))
    left, right = input._array.ndim, other._array.ndim
    if left == 2 and right == 2:
        return mm(input, other)
    if left == 0 or right == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {left}D and {right}D"
        )
    if right == 1 and left <= 2:
        return dot(input, other) if left == 1 else mv(input, other)
    if left == 1 and right == 2:
        return mm(input.unsqueeze(0), other).squeeze_(0)
    if left == right == 3 and input.shape[0] != other.shape[0]:  # a single matrix folds
        if other.shape[0] == 1 and other.requires_grad:
            return matmul(input, other.squeeze(0))
        if input.shape[0] == 1 and input.requires_grad:
            return matmul(input.squeeze(0), other)
    if right <= 2 and _folds(input, other):
        return _folded(input, other)
    if left <= 2 and _folds(other.mT, input):
        product = _folded(other.mT, input.t() if left == 2 else input)
        return product.mT.contiguous() if left == 2 else product
    return _batched(input, other)


def _folds(batches: Any, other: Any) -> bool:
    """Whether `batches` is multiplied as one tall matrix: always where the other operand wants a
    gradient, which then has no batches to be summed over; else only where that needs no copy."""
    if other.requires_grad or batches.numel() == 0:
        return True
    strides, shape = batches.stride(), batches.shape
    return all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(shape) - 2))


def _folded(batches: Any, other: Any) -> Any:
    """The product of many matrices and one matrix or vector, as a single product."""
    *rows, columns = batches.shape
    tall = batches.reshape(math.prod(rows), columns)
    if other.ndim == 1:
        return unsafe_view(mv(tall, other), rows)
    return unsafe_view(mm(tall, other), (*rows, other.shape[1]))


def _batched(input: Any, other: Any) -> Any:
    """The product of two broadcast batches of matrices."""
    left = input.unsqueeze(0) if input.ndim == 1 else input
    right = other.unsqueeze(1) if other.ndim == 1 else other
    batches = broadcast_shapes(left.shape[:-2], right.shape[:-2])
    rows, inner = left.shape[-2:]
    columns = right.shape[-1]
    count = math.prod(batches)
    left = left.expand(*batches, rows, inner).reshape(count, rows, inner)
    right = right.expand(*batches, *right.shape[-2:]).reshape(count, right.shape[-2], columns)
    shape = [*batches, *([rows] if input.ndim > 1 else []), *([columns] if other.ndim > 1 else [])]
    return unsafe_view(bmm(left, right), shape)


@with_out
@checked
def outer(input: Any, vec2: Any) -> Any:
    """The products of all pairs of elements of two vectors, as `torch.outer`.

    >>> from gradfn import outer, tensor
    >>> outer(tensor([1., 2.]), tensor([3., 4.]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    for name, vector in (("self", input), ("vec2", vec2)):
        if vector.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D")
    return input.reshape(input.shape[0], 1) * vec2


@with_out
def ger(input: Any, vec2: Any) -> Any:
    """`outer` under its older name."""
    return outer(input, vec2)


@checked
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``, as `torch.nn.functional.linear`.

    Shapes: `input` (..., in), `weight` (out, in) or (in), `bias` (out) or ().

    >>> from gradfn import tensor
    >>> linear(tensor([1., 2.]), tensor([[3., 4.]]), tensor([10.]))
    tensor([21.])
    """
    if input.ndim == 0 or weight.ndim == 0:
        raise RuntimeError(
            "both arguments to linear need to be at least 1D, but they are "
            f"{input.ndim}D and {weight.ndim}D"
        )
    if bias is None:
        return matmul(input, weight.t())
    if input.ndim == 2:
        return addmm(bias, input, weight.t())
    if bias.ndim == 1 and input.is_contiguous():
        *rows, columns = input.shape
        flat = addmm(bias, input.view(math.prod(rows), columns), weight.t())
        return flat.view(*rows, weight.shape[0])
    return matmul(input, weight.t()).add_(bias)


@checked
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """``input1 @ weight[k] @ input2 + bias[k]`` for each k, as `torch.nn.functional.bilinear`.

    Shapes: (..., n), (..., m), (out, n, m) and (out).

    >>> from gradfn import ones
    >>> bilinear(ones(2), ones(3), ones(1, 2, 3))
    tensor([6.])
    """
    _check_bilinear(input1, input2, weight, bias)
    count = math.prod(input1.shape[:-1])
    flat1, flat2 = (x.reshape(count, x.shape[-1]) for x in (input1, input2))
    result = trilinear(flat1, weight, flat2).reshape(*input1.shape[:-1], weight.shape[0])
    return result if bias is None else result + bias


def _check_bilinear(input1: Any, input2: Any, weight: Any, bias: Any) -> None:
    if input1.ndim != input2.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}"
        )
    for axis, (a, b) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if a != b:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {axis}: got {a} and {b}"
            )
    for i, x in enumerate((input1, input2), 1):
        if x.shape[-1] != weight.shape[i]:
            raise RuntimeError(
                f"bilinear(): input{i} size does not match weight size: got {x.shape[-1]} but "
                f"expected {weight.shape[i]}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            "bilinear(): bias size does not match weight size: got "
            f"{bias.shape[0]} but expected {weight.shape[0]}"
        )


METHODS = """addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_ bmm dot ger
matmul mm mv outer vdot"""
