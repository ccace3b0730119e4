"""vmap: every operator of the database on a batch, as one by one; and what is vmap's own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn import func
from opdb import OPS, OpInfo
from opdb.candidate import lib
from opdb.core import Values
from opdb.mapping import SIZE, mapped, one_call, values
from opdb.measure import EXPECTED_WARNINGS, assert_same, noting, rounding

pytestmark = [pytest.mark.filterwarnings(text) for text in EXPECTED_WARNINGS]


def by_mask(op: OpInfo, arrays: Sequence[Values]) -> bool:
    """Whether the elements of a mask are read or written: of how many, depends on the example."""
    indexing = op.base in ("getitem", "setitem", "index_put")
    return indexing and any(array.dtype == bool for array in arrays)


@pytest.mark.parametrize("op", [op for op in OPS if mapped(op)], ids=lambda op: op.name)
def test_a_batch_gives_what_its_examples_give(op: OpInfo) -> None:
    dtype = "float64" if "float64" in op.dtypes else op.dtypes[0]
    for case, key in op.cases(dtype):
        with noting(op, case, dtype), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "There is a performance drop", UserWarning)
            examples = [values(case, dtype, key, i) for i in range(SIZE)]
            run = one_call(op, case, examples[0])
            if not examples[0] or by_mask(op, examples[0]):
                continue
            alone = [run(*map(lib.from_numpy, arrays)) for arrays in examples]
            stacked = [lib.from_numpy(np.stack(column)) for column in zip(*examples, strict=True)]
            together = func.vmap(run)(*stacked)
            expected = [lib.stack(column) for column in zip(*alone, strict=True)]
            assert_same(together, expected, 64 * rounding(case.bind(lib, examples[0])), "batch")


@pytest.mark.parametrize(
    "op",
    [op for op in OPS if mapped(op) and "float64" in op.grad_dtypes and op.name != "copy_"],
    ids=lambda op: op.name,
)
def test_gradients_of_a_batch_are_those_of_its_examples(op: OpInfo) -> None:
    """Inside of vmap, and through it."""
    for case, key in op.cases("float64", differentiable=True):
        with noting(op, case, "float64"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "There is a performance drop", UserWarning)
            examples = [values(case, "float64", key, i) for i in range(SIZE)]
            run = one_call(op, case, examples[0])
            wanted = tuple(case.differentiated(examples[0]))
            others = {i: a for i, a in enumerate(examples[0]) if i not in wanted}
            examples = [[others.get(i, a) for i, a in enumerate(arrays)] for arrays in examples]

            def total(*tensors: Any, run: Any = run) -> Any:
                real = [r for r in run(*tensors) if r.is_floating_point() or r.is_complex()]
                parts = [lib.view_as_real(r) if r.is_complex() else r for r in real]
                return sum((part.sin().sum() for part in parts), lib.zeros(()))

            slope = func.grad(total, wanted)
            alone = [slope(*map(lib.from_numpy, arrays)) for arrays in examples]
            expected = [lib.stack(column) for column in zip(*alone, strict=True)]
            stacked = [lib.from_numpy(np.stack(column)) for column in zip(*examples, strict=True)]
            stacked = [
                lib.from_numpy(others[i]) if i in others else x for i, x in enumerate(stacked)
            ]
            dims = tuple(None if i in others else 0 for i in range(len(stacked)))
            within = func.vmap(slope, dims)(*stacked)
            through = func.grad(
                lambda *xs, f=total, dims=dims: func.vmap(f, dims)(*xs).sum(), wanted
            )(*stacked)
            call = case.bind(lib, examples[0])
            assert_same(list(within), expected, 64 * rounding(call), "gradient inside")
            assert_same(list(through), expected, 64 * rounding(call), "gradient through")


# Dimensions


def test_dimensions_in_and_out() -> None:
    x = gradfn.arange(6.0).reshape(2, 3)
    assert func.vmap(lambda v: v, in_dims=1, out_dims=1)(x).equal(x)
    assert func.vmap(lambda v: v, in_dims=1)(x).equal(x.t())
    assert func.vmap(gradfn.add, in_dims=(0, None))(x, gradfn.ones(3)).equal(x + 1)
    nested = func.vmap(lambda d: d["a"] * d["b"][0], in_dims=({"a": 0, "b": [None]},))
    assert nested({"a": x, "b": [gradfn.tensor(2.0)]}).equal(2 * x)
    shared, each = func.vmap(lambda v: (gradfn.ones(2), v.sum()), out_dims=(None, 0))(x)
    assert shared.shape == (2,)
    assert each.equal(x.sum(1))
    table = func.vmap(func.vmap(gradfn.dot, in_dims=(None, 0)), in_dims=(0, None))(x, x)
    assert table.equal(x @ x.t())


def test_masks_and_positions_of_each_example() -> None:
    x = gradfn.tensor([[1.0, -2.0], [-3.0, 4.0]])

    def positive(v: Any) -> Any:
        v = v.clone()
        v[v < 0] = 0.0
        return v

    assert func.vmap(positive)(x).equal(x.clamp(min=0))
    assert func.vmap(lambda v, i: v[i])(x, gradfn.tensor([1, 0])).equal(gradfn.tensor([-2.0, -3.0]))


def test_chunks_give_the_same() -> None:
    x = gradfn.arange(10.0).reshape(5, 2)
    f = lambda v: (v.sin(), v.sum())  # noqa: E731
    whole = func.vmap(f, out_dims=(1, 0))(x)
    for size in (1, 2, 5, 9):
        parts = func.vmap(f, out_dims=(1, 0), chunk_size=size)(x)
        assert all(a.equal(b) for a, b in zip(whole, parts, strict=True))


def test_writing_inside() -> None:
    x = gradfn.arange(6.0).reshape(3, 2)

    def f(v: Any) -> Any:
        y = v.clone()
        first = y[:1]
        first.mul_(10)
        y[1] = v.sum()
        return y

    expected = gradfn.stack([f(row) for row in x])
    assert func.vmap(f)(x).equal(expected)
    slopes = func.vmap(func.jacrev(f))(x)
    assert slopes.equal(gradfn.tensor([[10.0, 0.0], [1.0, 1.0]]).expand(3, 2, 2))
    written = gradfn.zeros(3, 2)
    func.vmap(lambda target, v: target.copy_(v))(written, x)
    assert written.equal(x)


# Random numbers


def test_random_numbers_by_mode(oracle: ModuleType) -> None:
    """Different, the same, or none: and those that PyTorch draws."""
    from torch.func import vmap as theirs

    def each(torch: Any, vmap: Any, mode: str) -> list[Any]:
        x = torch.zeros(3, 4)
        torch.manual_seed(0)
        draws = [lambda v: torch.rand(2), lambda v: torch.randn(4) + v, lambda v: torch.randperm(5)]
        draws += [lambda v: v.clone().uniform_(), lambda v: torch.randint(9, (2, 2))]
        if mode == "different":
            draws += [lambda v: torch.nn.functional.dropout(v + 1), lambda v: torch.rand_like(v)]
        return [vmap(draw, randomness=mode)(x).numpy() for draw in draws]

    for mode in ("different", "same"):
        for ours, right in zip(
            each(gradfn, func.vmap, mode), each(oracle, theirs, mode), strict=True
        ):
            np.testing.assert_allclose(ours, right, rtol=1e-6)
    with pytest.raises(RuntimeError, match="called random operation while in randomness error"):
        func.vmap(lambda v: v + gradfn.rand(2))(gradfn.zeros(3, 2))


# Mistakes


ones = gradfn.ones
MISTAKES: dict[str, tuple[type[Exception], Callable[[], Any], str]] = {
    "sizes": (ValueError, lambda: func.vmap(gradfn.add)(ones(2), ones(3)), "to have the same size"),
    "no tensor": (ValueError, lambda: func.vmap(gradfn.add)(ones(2), 1.0), "over non-Tensor"),
    "range": (ValueError, lambda: func.vmap(gradfn.sin, in_dims=1)(ones(2)), "of dimensionality 1"),
    "in_dims": (
        ValueError,
        lambda: func.vmap(gradfn.sin, in_dims="0")(ones(2)),
        "in_dims` to be int",
    ),
    "structure": (
        ValueError,
        lambda: func.vmap(gradfn.sin, in_dims=(0, 0))(ones(2)),
        "in_dims is not compatible",
    ),
    "result": (ValueError, lambda: func.vmap(lambda x: 1)(ones(2)), "must only return Tensors"),
    "out_dims": (
        ValueError,
        lambda: func.vmap(gradfn.sin, out_dims=None)(ones(2)),
        "can not return a BatchedTensor",
    ),
    "randomness": (RuntimeError, lambda: func.vmap(gradfn.sin, randomness="x"), "'different'"),
    "branch": (
        RuntimeError,
        lambda: func.vmap(lambda x: x if x > 0 else -x)(ones(2)),
        "data-dependent control flow",
    ),
    "item": (RuntimeError, lambda: func.vmap(lambda x: x.item())(ones(2)), "calling .item"),
    "shape": (RuntimeError, lambda: func.vmap(gradfn.nonzero)(ones(2, 2)), "output dynamic shape"),
    "captured": (
        RuntimeError,
        lambda: func.vmap(lambda x: ones(()).add_(x))(ones(2)),
        "inplace arithmetic",
    ),
    "numpy": (NotImplementedError, lambda: func.vmap(lambda x: x.numpy() + 1)(ones(2)), "NumPy's"),
}


@pytest.mark.parametrize(("kind", "call", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named(kind: type[Exception], call: Callable[[], Any], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_an_operator_without_a_rule_says_so() -> None:
    from gradfn.ops.declare import registry

    assert registry["trilinear"].batch is None
    x, w, y = ones(2, 3), ones(4, 3, 3), ones(2, 3)
    with pytest.warns(UserWarning, match="batching rule for trilinear"):
        func.vmap(lambda a, b: gradfn.nn.functional.bilinear(a, b, w))(x, y)


# Custom functions


class Cube(gradfn.autograd.Function):
    """A custom function whose batching rule is generated."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 30 * x**2 * g  # ten times too much: to see that it is used

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 300 * x**2 * t


class ByHand(Cube):
    """The same with a rule of its own."""

    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        assert info.batch_size == 3
        return ByHand.apply(x.movedim(in_dims[0], 0)), 0


@pytest.mark.parametrize("function", [Cube, ByHand])
def test_custom_functions(function: Any) -> None:
    x = gradfn.tensor([1.0, 2.0, 3.0], dtype=gradfn.float64)
    assert func.vmap(function.apply)(x).equal(x**3)
    inside = func.vmap(func.grad(function.apply))(x)
    through = func.grad(lambda x: func.vmap(function.apply)(x).sum())(x)
    assert inside.equal(30 * x**2)
    assert through.equal(30 * x**2)
    moved = func.jvp(func.vmap(function.apply), (x,), (gradfn.ones_like(x),))[1]
    assert moved.equal(300 * x**2)


def test_custom_functions_without_a_rule_are_refused() -> None:
    class Plain(Cube):
        generate_vmap_rule = False

    with pytest.raises(RuntimeError, match="it does not have vmap support"):
        func.vmap(Plain.apply)(ones(3))
