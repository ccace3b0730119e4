"""Elementwise operators: what samples and shapes cannot say."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn import Tensor

BINARY = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)


def leaf(*values: float) -> Tensor:
    return gradfn.tensor(list(values), dtype=gradfn.float64, requires_grad=True)


def edges(tensor: Tensor) -> list[str | None]:
    """The names of the nodes that the node of `tensor` points to."""
    assert tensor.grad_fn is not None
    return [node and type(node).__name__ for node, _ in tensor.grad_fn.next_functions]


def name(tensor: Tensor) -> str:
    return type(tensor.grad_fn).__name__


@pytest.mark.parametrize("apply", BINARY)
@pytest.mark.parametrize("foreign", [None, object()])
def test_operators_leave_foreign_operands_to_python(apply: Any, foreign: Any) -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        apply(leaf(1.0), foreign)


def test_comparison_with_foreign_operands() -> None:
    x = leaf(1.0)
    assert (x == None) is False  # noqa: E711
    assert (x != "text") is True
    with pytest.raises(TypeError, match="not supported between"):
        x < "text"  # noqa: B015


def test_tensors_hash_by_identity() -> None:
    x, y = leaf(1.0), leaf(1.0)
    assert len({x, y, x}) == 2


@pytest.mark.parametrize(
    ("made", "node", "parents"),
    [
        (lambda x: x + 2, "AddBackward0", ["AccumulateGrad", None]),
        (lambda x: 2 - x, "RsubBackward1", ["AccumulateGrad"]),
        (lambda x: 2 / x, "MulBackward0", ["ReciprocalBackward0", None]),
        (lambda x: x**2, "PowBackward0", ["AccumulateGrad"]),
        (lambda x: 2**x, "PowBackward2", ["AccumulateGrad"]),
        (lambda x: x**x, "PowBackward1", ["AccumulateGrad", "AccumulateGrad"]),
        (lambda x: x % 2, "RemainderBackward0", ["AccumulateGrad"]),
        (lambda x: x // 2, "NotImplemented", ["AccumulateGrad", None]),
        (lambda x: gradfn.where(x > 0, x, 0.0), "WhereBackward0", ["AccumulateGrad", None]),
        (lambda x: x.masked_fill(x > 0, 0), "MaskedFillBackward0", ["AccumulateGrad"]),
        (lambda x: x.clamp(0, 1), "ClampBackward1", ["AccumulateGrad"]),
        (lambda x: x.clamp(max=x), "ClampBackward0", ["AccumulateGrad", None, "AccumulateGrad"]),
        (lambda x: gradfn.lerp(x, x, 0.5), "LerpBackward0", ["AccumulateGrad"] * 2),
        (lambda x: x.div(2, rounding_mode=None), "DivBackward2", ["AccumulateGrad", None]),
    ],
)
def test_nodes_and_their_edges(made: Any, node: str, parents: list[str | None]) -> None:
    result = made(leaf(1.0, 2.0))
    assert name(result) == node
    assert edges(result) == parents


def test_saving_follows_pytorch_where_results_are_overwritten() -> None:
    """A quotient saves its operands, not itself; an exponential saves itself."""
    x = leaf(1.0, 2.0)
    quotient = 1.5 / x + 0
    quotient = x / quotient
    quotient.add_(1)
    quotient.sum().backward()
    result = leaf(1.0).exp()
    result.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.backward()


def test_numbers_take_no_part_in_promotion_but_by_kind() -> None:
    half, long = gradfn.tensor([1.0], dtype=gradfn.float16), gradfn.tensor([1])
    assert (half * 1e-3).dtype is gradfn.float16
    assert (half * 2**0.5).item() == np.float16(math.sqrt(2))
    assert (long * 0.5).dtype is gradfn.float32
    assert (long * np.float64(0.5)).dtype is gradfn.float32
    assert (gradfn.tensor([0.1], dtype=gradfn.float64) * np.float64(0.1)).item() == 0.1 * 0.1
    assert (long * 1j).dtype is gradfn.complex64
    assert gradfn.where(long > 0, 1.0, 2.0).dtype is gradfn.float32


def test_half_precision_rounds_once() -> None:
    """Numbers stay in single precision beside half tensors in products and quotients."""
    values = np.array([0.1, 0.3333, 1000.0], np.float16)
    expected = (values.astype(np.float32) * np.float32(0.37)).astype(np.float16)
    assert gradfn.from_numpy(values).mul(0.37).tolist() == expected.tolist()


def test_integers_wrap_around() -> None:
    byte = gradfn.tensor([250], dtype=gradfn.uint8)
    assert (byte + 300).item() == (250 + 300) % 256
    assert (byte * -1).item() == 6
    assert gradfn.add(byte, byte, alpha=-1).item() == 0


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_the_dtype_become_infinite_in_silence() -> None:
    assert (gradfn.tensor([1.0]) * 1e60).item() == math.inf
    assert (gradfn.tensor([1]) * -1e60).item() == -math.inf


@pytest.mark.parametrize("divide", [operator.floordiv, operator.mod, gradfn.fmod])
def test_integers_divided_by_zero(divide: Any) -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        divide(gradfn.tensor([1, 2]), gradfn.tensor([1, 0]))
    assert divide(gradfn.tensor([], dtype=gradfn.int64), gradfn.tensor([0])).numel() == 0


def test_integer_powers_with_negative_exponents() -> None:
    base = gradfn.tensor([2, 1, -1, -1, 0])
    assert base.pow(gradfn.tensor([-1, -3, -2, -3, -1])).tolist() == [0, 1, 1, -1, 0]
    with pytest.raises(RuntimeError, match="Integers to negative integer powers"):
        base**-1


@pytest.mark.parametrize(
    ("alpha", "phrase"),
    [
        (0.5, "For integral input tensors, argument alpha must not be a floating point number"),
        (True, "Boolean alpha only supported for Boolean results"),
        (1j, "For non-complex input tensors, argument alpha must not be a complex number"),
    ],
)
def test_alpha_is_of_no_higher_kind_than_the_result(alpha: Any, phrase: str) -> None:
    x = gradfn.tensor([1, 2])
    for form in (gradfn.add, gradfn.sub, gradfn.rsub, Tensor.add_):
        with pytest.raises(RuntimeError, match=phrase):
            form(x, x, alpha=alpha)


@pytest.mark.parametrize(
    "apply",
    [lambda x: x - 1, lambda x: 1 - x, lambda x: x - x, lambda x: gradfn.tensor([1]) - x],
)
def test_booleans_are_not_subtracted(apply: Any) -> None:
    with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with"):
        apply(gradfn.tensor([True]))


@pytest.mark.parametrize(
    ("apply", "at"),
    [
        (lambda x: gradfn.where(x > 0, x, 0.0).sum(), [-1.0, 2.0]),
        (lambda x: gradfn.xlogy(x, x).sum(), [1.0, 2.0]),
        (lambda x: gradfn.atan2(x, x.detach()).sum(), [0.0, 1.0]),
        (lambda x: gradfn.copysign(x, -1.0).sum(), [0.0, 1.0]),
        (lambda x: gradfn.nn.functional.elu(x).sum(), [-1e4, 1e4]),
        (lambda x: gradfn.nn.functional.softplus(x).sum(), [-1e4, 1e4]),
        (lambda x: x.sgn().sum(), [0.0, 1.0]),
        (lambda x: x.pow(2.0).sum(), [0.0, 1.0]),
    ],
)
def test_no_nan_leaks_from_the_branch_not_taken(apply: Any, at: list[float]) -> None:
    x = leaf(*at)
    (first,) = gradfn.autograd.grad(apply(x), x, create_graph=True)
    assert first.isfinite().all()
    if first.requires_grad:
        (second,) = gradfn.autograd.grad(first.sum(), x, allow_unused=True)
        assert second is None or second.isfinite().all()


@pytest.mark.parametrize("form", [gradfn.floor_divide, lambda a, b: gradfn.heaviside(a, b)])
def test_recorded_but_not_differentiable(form: Any) -> None:
    result = form(leaf(3.0), leaf(2.0))
    assert result.requires_grad
    with pytest.raises(RuntimeError, match=r"derivative for aten::\w+ is not implemented"):
        result.sum().backward()


def test_numbers_where_tensors_are_due() -> None:
    x = leaf(1.0)
    for call in (
        lambda: gradfn.maximum(x, 2.0),
        lambda: gradfn.exp(2.0),
        lambda: gradfn.eq(2, x),
        lambda: gradfn.bitwise_or(2, 3),
        lambda: gradfn.clamp(x, x, 1.0),
    ):
        with pytest.raises(TypeError):
            call()


def test_masked_fill_checks_the_value() -> None:
    x, mask = gradfn.tensor([1, 2], dtype=gradfn.uint8), gradfn.tensor([True, False])
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t"):
        x.masked_fill(mask, 300)
    assert x.masked_fill(mask, -1).tolist() == [255, 2]
    with pytest.raises(RuntimeError, match="only supports a 0-dimensional value tensor"):
        x.masked_fill(mask, gradfn.tensor([1, 2]))


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_dropout(p: float) -> None:
    x = gradfn.ones(1000, requires_grad=True)
    gradfn.manual_seed(0)
    result = gradfn.nn.functional.dropout(x, p)
    if p == 0.0:
        assert result is x
        return
    kept = result != 0
    assert abs(kept.float().mean().item() - (1 - p)) < 0.05
    (gradient,) = gradfn.autograd.grad(result.sum(), x)
    assert gradfn.equal(gradient, result.detach())
    assert gradfn.nn.functional.dropout(x, p, training=False) is x


def test_activations_in_place_save_their_result() -> None:
    functional = gradfn.nn.functional
    for form, node in (
        (functional.elu_, "EluBackward1"),
        (functional.leaky_relu_, "LeakyReluBackward1"),
        (functional.celu_, "CeluBackward1"),
    ):
        x = leaf(-1.0, 2.0)
        result = form(x * 1)
        assert name(result) == node
        outer = getattr(functional, form.__name__.removesuffix("_"))(x)
        expected = gradfn.autograd.grad(outer.sum(), x)[0]
        assert gradfn.allclose(gradfn.autograd.grad(result.sum(), x)[0], expected)
