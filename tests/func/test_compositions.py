"""Transforms within transforms, for every operator of the database, and over what they capture."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gradfn import func
from opdb import OPS, OpInfo, Sample
from opdb.candidate import lib
from opdb.core import Values
from opdb.mapping import SIZE, mapped, one_call, values
from opdb.measure import EXPECTED_WARNINGS, assert_same, noting, rounding

pytestmark = [pytest.mark.filterwarnings(text) for text in EXPECTED_WARNINGS]


def scalar(op: OpInfo, case: Sample, arrays: Sequence[Values]) -> Callable[..., Any]:
    """A curved function of the differentiable arguments, with a captured leaf at each of them."""
    run = one_call(op, case, arrays)
    wanted = case.differentiated(arrays)
    one = lib.ones((), dtype=lib.float64, requires_grad=True)

    def total(*leaves: Any) -> Any:
        tensors = [*map(lib.from_numpy, arrays)]
        for position, leaf in zip(wanted, leaves, strict=True):
            tensors[position] = leaf * one
        real = [r for r in run(*tensors) if r.is_floating_point() or r.is_complex()]
        parts = [lib.view_as_real(r) if r.is_complex() else r for r in real]
        return sum((part.sin().sum() for part in parts), lib.zeros((), dtype=lib.float64))

    return total


def drawn(arrays: Sequence[Values], wanted: Sequence[int]) -> tuple[Any, ...]:
    """Random directions for the arguments `wanted`, several of them stacked."""
    rng = np.random.default_rng(0)
    return tuple(lib.from_numpy(rng.uniform(-1, 1, (SIZE, *arrays[i].shape))) for i in wanted)


@pytest.mark.parametrize(
    "op",
    [
        op
        for op in OPS
        if mapped(op) and "float64" in op.grad_dtypes and not op.once and op.name != "copy_"
    ],
    ids=lambda op: op.name,
)
def test_forward_over_reverse_is_reverse_over_reverse(op: OpInfo) -> None:
    """On a batch of directions, of points, and of both; of dense points, as tangents are written
    to memory that is laid out as theirs is."""
    for case, key in op.cases("float64", differentiable=True):
        if not case.smooth:
            continue
        with noting(op, case, "float64"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "There is a performance drop", UserWarning)
            arrays = [a.copy("C") for a in values(case, "float64", key, 0)]
            wanted = case.differentiated(arrays)
            total = scalar(op, case, arrays)
            argnums = tuple(range(len(wanted)))
            slope = func.grad(total, argnums)
            at = tuple(lib.from_numpy(arrays[i]) for i in wanted)
            along = drawn(arrays, wanted)

            def pushed(at: Any, along: Any, slope: Any = slope) -> Any:
                return func.jvp(slope, at, along)[1]

            def pulled(at: Any, along: Any, slope: Any = slope, argnums: Any = argnums) -> Any:
                def moved(*at: Any) -> Any:
                    pairs = zip(slope(*at), along, strict=True)
                    return sum((g * v).real.sum() for g, v in pairs)

                return func.grad(moved, argnums)(*at)

            each = [pulled(at, [v[i] for v in along]) for i in range(SIZE)]
            expected = [lib.stack(column) for column in zip(*each, strict=True)]
            points = tuple(x.expand(SIZE, *x.shape) for x in at)
            tolerance = 64 * rounding(case.bind(lib, arrays))
            for found, what in [
                (func.vmap(pushed, (None, 0))(at, along), "directions"),
                (func.vmap(pushed)(points, along), "points and directions"),
                (func.vmap(pulled)(points, along), "reverse over reverse"),
            ]:
                assert_same(list(found), expected, tolerance, what)
            found = func.vmap(pushed, (0, None))(points, tuple(v[0] for v in along))
            expected = [lib.stack([e[0], e[0]]) for e in expected]
            assert_same(list(found), expected, tolerance, "points")


CLOSURES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "smooth": lambda w, b, x: (w @ x + b).tanh().square().sum(),
    "of one result": lambda w, b, x: lib.log_softmax(w @ x, 0)[1],
    "in place": lambda w, b, x: (w @ x).clone().mul_(b).exp_().sum(),
    "in place by a view": lambda w, b, x: _written(w @ x, b).exp().sum(),
    "views": lambda w, b, x: ((w * x).reshape(2, 6).t()[1:4] ** 3).sum(),
    "joined": lambda w, b, x: (lib.cat([w @ x, x, b]) ** 3).prod(),
}


def _written(target: Any, values: Any) -> Any:
    target = target.clone()
    target[1:].mul_(values[:2])
    return target


@pytest.mark.parametrize("recorded", [False, True], ids=["constants", "leaves"])
@pytest.mark.parametrize("name", CLOSURES)
def test_hessians_agree_whatever_is_captured(name: str, recorded: bool) -> None:
    """By any two transforms, alone and mapped, and with them their gradients by what is captured,
    which has one layout here and another there."""
    rng = np.random.default_rng(0)
    w = lib.from_numpy(rng.normal(size=(4, 3))).t().requires_grad_(recorded)
    b = lib.from_numpy(rng.normal(size=3)).requires_grad_(recorded)
    x = lib.from_numpy(rng.normal(size=4))

    def f(x: Any) -> Any:
        return CLOSURES[name](w, b, x)

    def slopes(hessian: Any) -> list[Any]:
        leaves = [leaf for leaf in (w, b) if recorded]
        found = lib.autograd.grad(hessian.pow(2).sum(), leaves, allow_unused=True) if leaves else []
        return [g for g in found if g is not None]

    expected = func.jacrev(func.jacrev(f))(x)
    by_captured = slopes(expected)
    pairs = [(func.jacfwd, func.jacrev), (func.jacfwd, func.jacfwd), (func.jacrev, func.jacfwd)]
    for outer, inner in pairs:
        for found in (
            outer(inner(f))(x),
            func.vmap(outer(inner(f)))(x.expand(2, 4).clone())[1],
            func.vmap(func.linearize(inner(f), x)[1])(lib.eye(4, dtype=x.dtype)),
        ):
            assert_same([found], [expected], 1e-12, f"{outer.__name__} of {inner.__name__}")
            assert_same(slopes(found), by_captured, 1e-12, "gradients by what is captured")
