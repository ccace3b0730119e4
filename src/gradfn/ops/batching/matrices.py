"""Batching rules of products and of linear algebra: leading dimensions are batches anyway."""

from __future__ import annotations

from typing import Any

from .calls import Call
from .rules import aligned, batches

batches("linalg_cholesky_ex", "cholesky", "linalg_matrix_exp", "linalg_det", "linalg_slogdet")(
    aligned
)
batches("linalg_inv_ex", "linalg_svd", "linalg_eigh", "linalg_eig")(aligned)
batches("linalg_lu_factor_ex", "linalg_lu", "cholesky_inverse", "linalg_pinv", "cofactors")(aligned)
batches("geqrf", "cofactors_tangent")(aligned)


@batches("linalg_householder_product")
def _reflected(call: Call) -> Any:
    return call.run(input=call.front("input"), tau=call.front("tau"))


@batches("ormqr")
def _multiplied(call: Call) -> Any:
    names = ("self", "input2", "input3")
    return call.run(**{name: call.front(name) for name in names})


def _pair(call: Call, first: str, second: str) -> tuple[Any, Any]:
    """Two inputs, lined up behind the batch."""
    rank = max(call.rank(first), call.rank(second))
    return call.aligned(first, rank), call.aligned(second, rank)


@batches("mm")
def _matrix_product(call: Call) -> Any:
    call.check(self=2, mat2=2)
    return call["self"] @ call["mat2"]


@batches("bmm")
def _batch_product(call: Call) -> Any:
    call.check(self=3, mat2=3)
    return call["self"] @ call["mat2"]


@batches("mv")
def _by_vector(call: Call) -> Any:
    call.check(self=2, vec=1)
    return (call["self"] @ call["vec"].unsqueeze(-1)).squeeze(-1)


@batches("dot")
def _dot(call: Call) -> Any:
    call.check(self=1, tensor=1)
    return _inner(call["self"], call["tensor"])


@batches("vdot")
def _vdot(call: Call) -> Any:
    call.check(self=1, other=1)
    return _inner(call["self"].conj(), call["other"])


def _inner(a: Any, b: Any) -> Any:
    return (a.unsqueeze(-2) @ b.unsqueeze(-1)).squeeze(-1).squeeze(-1)


def _plus(call: Call, product: Any, rank: int) -> Any:
    """``beta * self + alpha * product``; beta = 0 ignores what self holds."""
    alpha, beta = call["alpha"], call["beta"]
    scaled = product if alpha == 1 else product * alpha
    if beta == 0:
        return scaled
    added = call.aligned("self", rank)
    return scaled + (added if beta == 1 else added * beta)


@batches("addmm")
def _addmm(call: Call) -> Any:
    return _plus(call, call["mat1"] @ call["mat2"], 2)


@batches("addmv")
def _addmv(call: Call) -> Any:
    return _plus(call, (call["mat"] @ call["vec"].unsqueeze(-1)).squeeze(-1), 1)


@batches("baddbmm")
def _baddbmm(call: Call) -> Any:
    return _plus(call, call["batch1"] @ call["batch2"], 3)


@batches("addbmm")
def _addbmm(call: Call) -> Any:
    return _plus(call, (call["batch1"] @ call["batch2"]).sum(-3), 2)


@batches("addr")
def _addr(call: Call) -> Any:
    return _plus(call, call["vec1"].unsqueeze(-1) * call["vec2"].unsqueeze(-2), 2)


@batches("linalg_cross")
def _cross(call: Call) -> Any:
    call.check(self=call.rank("other"))
    rank, dim = call.rank("self"), call["dim"]
    a, b = call.widened("self", rank), call.widened("other", rank)
    return call.run(self=a, other=b, dim=dim if dim < 0 else dim - rank)


def _columns(call: Call, matrix: str, right: str) -> tuple[Any, Any, bool]:
    """A matrix and its right-hand sides, lined up; whether these are vectors."""
    shape_a, shape_b = (_example_shape(call, name) for name in (matrix, right))
    vector = len(shape_b) == 1 or (len(shape_b) == len(shape_a) - 1 and shape_b == shape_a[:-1])
    b = call[right].unsqueeze(-1) if vector else call[right]
    rank = max(len(shape_a), len(shape_b) + vector)
    pairs = ((call[matrix], call.batched[matrix]), (b, call.batched[right]))
    lined = []
    for tensor, batched in pairs:
        if batched:
            missing = rank - (tensor.ndim - 1)
            tensor = tensor.reshape(call.size, *[1] * missing, *tensor.shape[1:])
        lined.append(tensor)
    return lined[0], lined[1], vector


def _example_shape(call: Call, name: str) -> tuple[int, ...]:
    return tuple(call[name].shape[call.batched[name] :])


@batches("linalg_solve_ex")
def _solved(call: Call) -> Any:
    a, b, vector = _columns(call, "A", "B")
    rank = max(a.ndim, b.ndim)
    a, b = (t.expand(*[1] * (rank - t.ndim), *t.shape) if t.ndim < rank else t for t in (a, b))
    result, info = call.run(A=a, B=b)
    shape = _example_shape(call, "A")[:-2]
    info = info.reshape(*info.shape[: call.batched["A"]], *shape).expand(call.size, *shape)
    return [result.squeeze(-1) if vector else result, info]


@batches("linalg_solve_triangular")
def _solved_triangular(call: Call) -> Any:
    a, b = _pair(call, "self", "B")
    return call.run(self=a, B=b)


@batches("triangular_solve")
def _solved_triangular_old(call: Call) -> Any:
    b, a = _pair(call, "self", "A")
    return call.run(self=b, A=a)


@batches("cholesky_solve")
def _solved_by_cholesky(call: Call) -> Any:
    b, factor = _pair(call, "self", "input2")
    return call.run(self=b, input2=factor)


@batches("block_diag")
def _blocks(call: Call) -> Any:
    pairs = zip(call["tensors"], call.batched["tensors"], strict=True)
    blocks = [call.fronted(tensor, batched) for tensor, batched in pairs]
    blocks = [b.reshape(call.size, *[1] * (3 - b.ndim), *b.shape[1:]) for b in blocks]
    rows, columns = (sum(b.shape[dim] for b in blocks) for dim in (1, 2))
    result = blocks[0].new_zeros(call.size, rows, columns)
    row = column = 0
    for block in blocks:
        _, height, width = block.shape
        result = result.slice_scatter(
            result[:, row : row + height].slice_scatter(block, 2, column, column + width),
            1,
            row,
            row + height,
        )
        row, column = row + height, column + width
    return result


@batches("linalg_qr")
def _qr(call: Call) -> Any:
    Q, R = call.run()
    return [R.new_zeros(call.size, 0) if call["kind"] == "r" else Q, R]
