"""Forward mode: dual tensors, their views, in-place operations, both modes together."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn.autograd import Function, forward_ad, grad
from gradfn.autograd.forward_ad import dual_level, make_dual, unpack_dual
from opdb import OPS, OpInfo, Sample
from opdb.candidate import lib
from opdb.core import Call, Values
from opdb.measure import (
    EXPECTED_WARNINGS,
    assert_same,
    directions,
    in_place,
    is_tensor,
    noting,
    tensors,
    to_numpy,
    tolerance,
)

STEP = 1e-6

OLD_NEWS = "ignore:`torch.jit.script` is deprecated:DeprecationWarning"  # PyTorch's own use of it

pytestmark = [pytest.mark.filterwarnings(text) for text in (*EXPECTED_WARNINGS, OLD_NEWS)]


@pytest.fixture
def level() -> Iterator[int]:
    with dual_level() as number:
        yield number


def dual(value: Any, tangent: Any) -> Any:
    """A dual tensor of numbers."""
    return make_dual(gradfn.tensor(value), gradfn.tensor(tangent))


def tangent(tensor: Any) -> Any:
    """The tangent as numbers, or None."""
    found = unpack_dual(tensor).tangent
    return None if found is None else found.tolist()


# Every operator


def with_tangents(lib: Any, call: Call, key: str) -> Call:
    """The call with dual tensors for its leaves."""
    pairs = zip(call.leaves, directions(lib, call.leaves, key), strict=True)
    return call.with_leaves([lib.autograd.forward_ad.make_dual(leaf, d) for leaf, d in pairs])


def tangents(lib: Any, result: Any) -> list[Any]:
    """The tangents of all results, in their dtypes; zeros where there is none."""
    found = []
    for output in tensors(result):
        if output.requires_grad:
            moved = lib.autograd.forward_ad.unpack_dual(output).tangent
            found.append(lib.zeros_like(output.detach()) if moved is None else moved.detach())
            found[-1] = found[-1].to(output.dtype)
    return found


DIFFERENTIABLE = [op for op in OPS if "float64" in op.grad_dtypes]


@pytest.mark.parametrize("info", DIFFERENTIABLE, ids=[op.name for op in DIFFERENTIABLE])
def test_tangents_are_the_finite_differences(info: OpInfo) -> None:
    for case, key in info.cases("float64", differentiable=True):
        arrays = case.arrays("float64", key)
        leaves = [arrays[i] for i in case.differentiated(arrays)]
        if case.smooth and all(leaf.dtype == float and _own_memory(leaf) for leaf in leaves):
            with noting(info, case, "float64"):
                _check_tangents(info, case, arrays, key)


def _own_memory(array: Values) -> bool:
    """Whether each element has its own: a tangent is laid out as its tensor is."""
    return all(step or size < 2 for step, size in zip(array.strides, array.shape, strict=True))


def _check_tangents(info: OpInfo, case: Sample, arrays: list[Values], key: str) -> None:
    inputs = [arrays[i] for i in case.differentiated(arrays)]
    call = case.bind(lib, arrays, requires_grad=True)
    along = [to_numpy(d) for d in directions(lib, call.leaves, key)]
    if info.once:
        refused = pytest.raises(NotImplementedError, match="Trying to use forward AD with")
        with dual_level(), refused:
            info.run(lib, with_tangents(lib, call, key))
        return
    with dual_level():
        result = info.run(lib, with_tangents(lib, call, key))
        found = [to_numpy(t) for t in tangents(lib, result)]
        moving = [t.requires_grad for t in tensors(result)]

    def moved(step: float) -> list[Values]:
        varied = [np.copy(a, order="K") for a in inputs]
        for a, d in zip(varied, along, strict=True):
            a += step * d
        run = info.run(lib, case.bind(lib, case.with_leaves(arrays, varied)))
        return [to_numpy(t) for t, moves in zip(tensors(run), moving, strict=True) if moves]

    for i, (ahead, behind) in enumerate(zip(moved(STEP), moved(-STEP), strict=True)):
        slope = (ahead - behind) / (2 * STEP)
        np.testing.assert_allclose(found[i], slope, rtol=1e-5, atol=1e-6, err_msg=f"result {i}")


# Where PyTorch's tangents are not the derivatives, which the finite differences above confirm.
PYTORCH_DIFFERS = {
    "pow": "it drops the imaginary part where a real input has a complex power",
    "pow~scalar": "it drops the imaginary part where a real input has a complex power",
    "scatter_reduce~prod": "they are zero",
    "nn.functional.binary_cross_entropy": "NaN at inputs of 0 and 1",
    "cholesky_inverse": "off, even where all is lower triangular",
    "triangular_solve": "it takes the tangents of the other triangle into account",
    "logsumexp": "NaN for what is empty",
}

EACH_DTYPE = [
    (op, dtype)
    for op in OPS
    for dtype in ("float64", "float32", "complex128")
    if dtype in op.grad_dtypes and op.name not in PYTORCH_DIFFERS
]


@pytest.mark.parametrize(
    ("op", "dtype"), EACH_DTYPE, ids=[f"{op.name}-{dtype}" for op, dtype in EACH_DTYPE]
)
def test_tangents_are_pytorchs(oracle: ModuleType, op: OpInfo, dtype: str) -> None:
    for case, key in op.cases(dtype, differentiable=True):
        with noting(op, case, dtype):
            _compare_tangents(oracle, op, case, dtype, key, lambda lib, call: op.run(lib, call))


EACH_IN_PLACE = [(op, dtype) for op, dtype in EACH_DTYPE if op.inplace and dtype != "float32"]


@pytest.mark.parametrize(
    ("op", "dtype"), EACH_IN_PLACE, ids=[f"{op.name}-{dtype}" for op, dtype in EACH_IN_PLACE]
)
def test_tangents_of_what_is_written_to(oracle: ModuleType, op: OpInfo, dtype: str) -> None:
    for case, key in op.cases(dtype, differentiable=True):
        with noting(op, case, dtype):
            _compare_tangents(
                oracle, op, case, dtype, key, lambda lib, call: in_place(op, lib, call)[1]
            )


def _compare_tangents(
    oracle: ModuleType,
    op: OpInfo,
    case: Sample,
    dtype: str,
    key: str,
    run: Callable[[Any, Call], Any],
) -> None:
    """The tangents, or nothing where PyTorch refuses the call or has no tangents for it."""
    own = case.bind(lib, case.arrays(dtype, key), True)
    torch = case.bind(oracle, case.arrays(dtype, key), True)
    if not is_tensor(torch.args[op.receiver]):
        return
    with oracle.autograd.forward_ad.dual_level():
        try:
            result = run(oracle, with_tangents(oracle, torch, key))
        except RuntimeError:
            return
        expected, limit = tangents(oracle, result), tolerance(torch, result)
    with dual_level():
        found = tangents(lib, run(lib, with_tangents(lib, own, key)))
    assert_same(found, expected, limit, "tangent")


# Dual tensors


def test_closed_forms(level: int) -> None:
    x = dual([0.5, 2.0], [1.0, 10.0])
    assert tangent(x * x) == [1.0, 40.0]
    assert tangent(3 - 2 * x) == [-2.0, -20.0]
    assert tangent((x.exp() * x).sum()) == pytest.approx(1.5 * math.exp(0.5) + 30 * math.exp(2))
    assert tangent(x.prod()) == pytest.approx(0.5 * 10 + 2.0)
    assert tangent(x.max()) == 10.0
    assert tangent(gradfn.stack([x, gradfn.ones(2)])) == [[1.0, 10.0], [0.0, 0.0]]


def test_packing_shares_everything(level: int) -> None:
    x, t = gradfn.ones(2), gradfn.zeros(2)
    pair = make_dual(x, t)
    primal, found = unpack_dual(pair)
    assert found is t
    assert unpack_dual(x).tangent is unpack_dual(primal).tangent is None
    x.add_(1)
    assert primal.tolist() == pair.tolist() == [2.0, 2.0]
    assert x._version == primal._version == pair._version == 1
    assert isinstance(unpack_dual(pair), forward_ad.UnpackedDualTensor)


def test_a_tangent_laid_out_otherwise_is_copied(level: int) -> None:
    x, t = gradfn.zeros(2, 3), gradfn.ones(3, 2).t()
    found = unpack_dual(make_dual(x, t)).tangent
    assert found is not t
    assert found.stride() == x.stride()
    part = gradfn.zeros(5).narrow(0, 0, 4).detach()
    whole = make_dual(part, gradfn.ones(4)).as_strided((5,), (1,), 0)
    assert tangent(whole) == [1.0, 1.0, 1.0, 1.0, 0.0]


def test_tangents_go_with_the_level() -> None:
    t = gradfn.ones(2)
    with dual_level():
        x = make_dual(gradfn.ones(2), t)
        y = x.exp()
        assert tangent(y) is not None
    assert unpack_dual(y) == (y, None)
    with dual_level():
        assert tangent(x) is tangent(y) is None
        assert tangent(make_dual(x, t)) == [1.0, 1.0]


def test_nothing_keeps_a_tangent_alive() -> None:
    gc.disable()
    try:
        with dual_level():
            t = gradfn.ones(2, requires_grad=True)
            known = weakref.ref(t)
            x = make_dual(gradfn.ones(2), t)
            assert tangent(x * 2) == [2.0, 2.0]
            del t
            assert known() is not None
            del x
            assert known() is None
        with dual_level():
            t = gradfn.ones(2, requires_grad=True)
            known = weakref.ref(t)
            y = make_dual(gradfn.ones(2), t).exp()
            del t
        assert known() is None
        assert y.tolist() == pytest.approx([math.e, math.e])
    finally:
        gc.enable()


def test_printing(level: int) -> None:
    assert repr(dual([2.0], [1.0])) == "tensor([2.], tangent=tensor([1.]))"
    assert repr(dual(2.0, 1.0)) == "tensor(2., tangent=1.0)"
    leaf = gradfn.tensor([2.0], requires_grad=True)
    y = make_dual(leaf, gradfn.ones(1)) * 2
    assert repr(y) == "tensor([4.], grad_fn=<MulBackward0>, tangent=tensor([2.]))"
    assert "tangent" not in repr(unpack_dual(y).primal)


def test_nodes_of_packing(level: int) -> None:
    leaf = gradfn.ones(2, requires_grad=True)
    x = make_dual(leaf, gradfn.ones(2))
    assert type(x.grad_fn).__name__ == "ViewBackward0"
    assert type(unpack_dual(x).primal.grad_fn).__name__ == "Identity"


def test_mistakes() -> None:
    x = gradfn.ones(2)
    with pytest.raises(RuntimeError, match="Trying to create a dual Tensor for forward AD but no"):
        make_dual(x, x)
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        forward_ad.exit_dual_level()
    with pytest.raises(RuntimeError, match="Trying to access a forward AD level with an invalid"):
        unpack_dual(x, level=0)
    with dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            forward_ad.enter_dual_level()
        with pytest.raises(RuntimeError, match="exit a forward AD level that was not the last"):
            forward_ad.exit_dual_level(level=1)
        with pytest.raises(RuntimeError, match="has a different size than that of the original"):
            make_dual(x, gradfn.ones(3))
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex"):
            make_dual(gradfn.arange(2), x)
        with pytest.raises(ValueError, match="Expected tangent to be floating point or complex"):
            make_dual(x, gradfn.arange(2))
        pair = make_dual(x, x.clone())
        with pytest.raises(RuntimeError, match="that already has a forward gradient"):
            make_dual(pair, x)
        with pytest.raises(RuntimeError, match="itself has a forward gradient at the same level"):
            make_dual(x, pair)
        for arguments, out in (((pair, 1), gradfn.ones(2)), ((x, 1), pair)):
            with pytest.raises(NotImplementedError, match="because it is an out= function"):
                gradfn.add(*arguments, out=out)


def test_the_level_as_functions_and_as_a_decorator() -> None:
    assert forward_ad._current_level == -1
    assert forward_ad.enter_dual_level() == forward_ad._current_level == 0
    forward_ad.exit_dual_level()
    assert forward_ad._current_level == -1

    @dual_level()
    def slope(x: float) -> Any:
        return tangent(dual(x, 1.0) ** 3)

    assert slope(2.0) == slope(-2.0) == 12.0


def test_forward_mode_can_be_turned_off(level: int) -> None:
    x = dual([1.0], [1.0])
    assert forward_ad._is_fwd_grad_enabled()
    with forward_ad._set_fwd_grad_enabled(False):
        assert not forward_ad._is_fwd_grad_enabled()
        assert unpack_dual(x).tangent is None
        y = x * 2
        with forward_ad._set_fwd_grad_enabled(True):
            assert tangent(x * 2) == [2.0]
    assert tangent(y) is None
    assert tangent(x) == [1.0]


def test_what_stops_a_tangent(level: int) -> None:
    x = dual([1.0, 2.0], [1.0, 1.0])
    assert tangent(x.detach() * 2) is tangent(x.data * 2) is None
    with gradfn.no_grad():
        assert tangent(x * 2) == [2.0, 2.0]
    assert tangent(x.long()) is tangent(x > 1) is tangent(x.argmax()) is None
    assert tangent(x.ceil()) == [0.0, 0.0]
    assert tangent(gradfn.zeros_like(x)) is None
    y = x.clone().detach_()
    assert tangent(y) is None


# Views and in-place operations


def test_views_share_their_tangents(level: int) -> None:
    x = dual([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    head, rest = x[:1], x[1:]
    head.mul_(5)
    assert tangent(x) == [5.0, 1.0, 1.0]
    x.mul_(2)
    assert tangent(head) == [10.0]
    rest[0] = 7.0
    assert tangent(x) == [10.0, 0.0, 2.0]


def test_a_view_gives_its_base_a_tangent(level: int) -> None:
    base = gradfn.zeros(2, 2)
    early, column = base.view(4), base.t()[0]
    column.copy_(dual([1.0, 2.0], [3.0, 4.0]))
    assert tangent(base) == [[3.0, 0.0], [4.0, 0.0]]
    assert tangent(early) == [3.0, 0.0, 4.0, 0.0]
    early.mul_(2)
    assert tangent(column) == [6.0, 8.0]


def test_packing_ends_a_family_of_views(level: int) -> None:
    x, t = gradfn.tensor([1.0, 2.0]), gradfn.ones(2)
    pair = make_dual(x, t)
    pair[:1].mul_(3)
    assert x.tolist() == [3.0, 2.0]
    assert tangent(x) is None
    assert t.tolist() == [3.0, 1.0]
    primal = unpack_dual(pair).primal
    primal[1:].copy_(dual([8.0], [8.0]))
    assert tangent(pair) == [3.0, 1.0]
    assert tangent(primal) == [0.0, 8.0]


def test_in_place_operations_see_the_old_value(level: int) -> None:
    x = dual([2.0], [1.0])
    x.mul_(x)
    assert (x.tolist(), tangent(x)) == ([4.0], [4.0])
    x.pow_(2)
    assert (x.tolist(), tangent(x)) == ([16.0], [32.0])
    x.zero_()
    assert tangent(x) == [0.0]
    y = gradfn.ones(1)
    y.add_(dual([1.0], [2.0]))
    assert tangent(y) == [2.0]


def test_results_do_not_share_the_tangents_of_arguments(level: int) -> None:
    x = dual([1.0], [1.0])
    for y in (x + 1, x.clone(), gradfn.zeros(1).copy_(x), gradfn.zeros(1).fill_(x[0])):
        y.mul_(2)
        assert (tangent(x), tangent(y)) == ([1.0], [2.0])


# Both modes together


def test_gradients_through_tangents(level: int) -> None:
    x = gradfn.tensor([1.0, 2.0], requires_grad=True)
    t = gradfn.tensor([1.0, 3.0], requires_grad=True)
    y = make_dual(x, t).pow(3)
    primal, moved = unpack_dual(y)
    assert grad(primal.sum(), [x, t], allow_unused=True, retain_graph=True)[0].tolist() == [3, 12]
    to_x, to_t = grad(moved.sum(), [x, t])
    assert to_x.tolist() == [6.0, 36.0]
    assert to_t.tolist() == [3.0, 12.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_tangents_of_gradients(level: int, create_graph: bool) -> None:
    """Values that nodes saved, arguments as well as results, have kept their tangents."""
    cases: list[tuple[Any, Any]] = [
        (lambda x: x.pow(3), lambda x: 6 * x),
        (lambda x: x.exp(), math.exp),
        (lambda x: (x * 1).sin_(), lambda x: -math.sin(x)),
        (lambda x: gradfn.stack([x * x, x]).prod(0), lambda x: 6 * x),
    ]
    for f, second in cases:
        x = make_dual(gradfn.tensor(2.0, requires_grad=True), gradfn.tensor(1.0))
        (slope,) = grad(f(x), x, create_graph=create_graph)
        assert tangent(slope) == pytest.approx(second(2.0), rel=1e-6)


def test_hessian_times_vector_by_forward_over_reverse() -> None:
    x = gradfn.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with dual_level():
        y = make_dual(x, gradfn.tensor([1.0, 0.0, 2.0]))
        (slopes,) = grad((y.prod() * y).sum(), y)
        found = tangent(slopes)
    expected = gradfn.autograd.functional.hvp(
        lambda x: (x.prod() * x).sum(), x, gradfn.tensor([1.0, 0.0, 2.0])
    )[1]
    assert found == pytest.approx(expected.tolist())


def test_backward_fills_grad_without_tangents(level: int) -> None:
    x = gradfn.tensor([2.0], requires_grad=True)
    for total in (12.0, 24.0):
        make_dual(x, gradfn.ones(1)).pow(3).sum().backward()
        assert x.grad.tolist() == [total]
        assert tangent(x.grad) is None


def test_jacobians_and_hessians() -> None:
    functional = gradfn.autograd.functional
    x, y = gradfn.tensor([1.0, 2.0]), gradfn.tensor([[3.0], [4.0]])
    how: dict[str, Any] = {"strategy": "forward-mode", "vectorize": True}

    def f(x: Any, y: Any) -> Any:
        return x * y.sum(), x.exp()

    found, expected = functional.jacobian(f, (x, y), **how), functional.jacobian(f, (x, y))
    for row, due in zip(found, expected, strict=True):
        assert [block.tolist() for block in row] == [block.tolist() for block in due]
    cube = functional.hessian(
        lambda x: (x**3).prod(), x, outer_jacobian_strategy="forward-mode", vectorize=True
    )
    assert cube.tolist() == [[48.0, 36.0], [36.0, 12.0]]
    assert functional.jacobian(gradfn.sin, gradfn.ones(0), **how).shape == (0, 0)


# Custom functions


def function(forward: Any, jvp: Any) -> Callable[..., Any]:
    class Custom(Function):
        pass

    custom: Any = Custom
    custom.forward, custom.jvp = staticmethod(forward), staticmethod(jvp)
    applied: Callable[..., Any] = custom.apply
    return applied


def test_a_custom_function_with_jvp(level: int) -> None:
    def forward(ctx: Any, x: Any, y: Any, n: int) -> Any:
        assert not forward_ad._is_fwd_grad_enabled()
        ctx.save_for_forward(x, y)
        ctx.save_for_backward(x)
        return x * y * n

    def jvp(ctx: Any, x_t: Any, y_t: Any, n_t: Any) -> Any:
        assert n_t is None
        x, y = ctx.saved_tensors
        return 2 * (x_t * y + x * y_t)

    apply = function(forward, jvp)
    x, y = dual([3.0], [1.0]), gradfn.tensor([4.0])
    assert tangent(apply(x, y, 2)) == [8.0]
    assert tangent(apply(y, x, 2)) == [8.0]
    assert tangent(apply(x, x, 2)) == [12.0]
    assert tangent(apply(y, y, 2)) is None


def test_jvp_without_materialized_tangents(level: int) -> None:
    given = []

    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x + y

    def jvp(ctx: Any, x_t: Any, y_t: Any) -> Any:
        given.append((x_t, y_t))
        return x_t

    t = gradfn.ones(1)
    function(forward, jvp)(make_dual(gradfn.ones(1), t), gradfn.ones(1))
    assert given[0][0] is t
    assert given[0][1] is None


def test_a_custom_function_that_writes_or_views(level: int) -> None:
    def double(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    x = dual([1.0, 2.0], [1.0, 3.0])
    assert function(double, lambda ctx, x_t: x_t.mul_(2))(x) is x
    assert tangent(x) == [2.0, 6.0]
    with pytest.raises(RuntimeError, match="is not modifying the forward mode gradients inplace"):
        function(double, lambda ctx, x_t: x_t * 2)(x)

    def head(ctx: Any, x: Any) -> Any:
        return x[:1]

    view = function(head, lambda ctx, x_t: x_t[:1])(x)
    assert unpack_dual(view).tangent._base is unpack_dual(x).tangent
    for jvp, message in (
        (lambda ctx, x_t: x_t[:1].clone(), "but the jvp is not returning a view"),
        (lambda ctx, x_t: x_t.clone()[:1], "not returning a view of the given grad input"),
    ):
        with pytest.raises(RuntimeError, match=message):
            function(head, jvp)(x)
    with pytest.raises(RuntimeError, match="not returning a view of the same base as the given"):
        function(head, lambda ctx, x_t: x_t.clone()[:1])(x.view(2))


@pytest.mark.parametrize(
    ("jvp", "message"),
    [
        (Function.jvp, "You must implement the jvp function for custom autograd.Function"),
        (lambda ctx, t: (t, t), r"invalid number of forward gradients \(expected 1 but got 2\)"),
        (lambda ctx, t: t.sum(), "has a different size than that of the original Tensor"),
        (lambda ctx, t: 3, r"expected Variable or None \(got int\)"),
    ],
)
def test_wrong_jvps(level: int, jvp: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        function(lambda ctx, x: x * 2, jvp)(dual([1.0, 2.0], [1.0, 1.0]))


def test_no_tangent_for_what_is_not_differentiable(level: int) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        marked = x.clone()
        ctx.mark_non_differentiable(marked)
        return x * 2, marked, x.long()

    x = dual([1.0], [1.0])
    results = function(forward, lambda ctx, t: (2 * t, None, None))(x)
    assert [tangent(result) for result in results] == [[2.0], None, None]
    for jvp in (lambda ctx, t: (t, t, None), lambda ctx, t: (t, None, t)):
        with pytest.raises(RuntimeError, match="You should return None at that position instead"):
            function(forward, jvp)(x)


def test_a_batch_of_tangents_is_laid_out_as_its_tensor() -> None:
    x = lib.zeros(2, 3).t()

    def tangent(t: Any) -> Any:
        with dual_level():
            made = forward_ad.unpack_dual(forward_ad.make_dual(x, t)).tangent
            assert made.stride() == x.stride()
            return made

    given = lib.randn(4, 3, 2)
    assert lib.func.vmap(tangent)(given).equal(given)
