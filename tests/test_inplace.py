"""In-place operators whose operands lie in the memory that they write to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

import gradfn
from opdb import OPS, OpInfo
from opdb.candidate import lib
from opdb.core import Call
from opdb.measure import EXPECTED_WARNINGS, assert_same, noting, pull_back, rounding

pytestmark = [pytest.mark.filterwarnings(text) for text in EXPECTED_WARNINGS]

REFUSED = "some elements of the input tensor and the written-to tensor refer to a single memory"

VIEWS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda y: y,
    "view": lambda y: y.view_as(y),
    "detached": lambda y: y.detach(),
}


def entries() -> list[OpInfo]:
    """The operators in whose samples an operand could be the target."""
    return [op for op in OPS if op.inplace and not op.random and "float64" in op.dtypes]


def aliased(op: OpInfo, call: Call, view: Callable[[Any], Any]) -> tuple[Any, Call, int]:
    """A copy of the receiver, and the call with `view` of it for each operand that is like it."""
    receiver = call.args[op.receiver]
    target = receiver.clone()
    swapped = 0

    def swap(at: int, value: Any) -> Any:
        nonlocal swapped
        alike = isinstance(value, lib.Tensor) and (value.shape, value.dtype) == (
            target.shape,
            target.dtype,
        )
        if at == op.receiver or not alike:
            return target if at == op.receiver else value
        swapped += 1
        return view(target)

    args = [swap(at, value) for at, value in enumerate(call.args)]
    return target, replace(call, args=args), swapped


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("op", entries(), ids=lambda op: op.name)
def test_gradients_are_of_the_values_before_the_write(op: OpInfo, view: str) -> None:
    for case, key in op.cases("float64"):
        with noting(op, case, "float64"):
            call = case.bind(lib, case.arrays("float64", key), op.recording(case, "float64"))
            receiver = call.args[op.receiver]
            if not isinstance(receiver, lib.Tensor):
                continue
            _, outside, swapped = aliased(op, call, VIEWS[view])
            if not swapped:
                continue
            expected = op.run(lib, outside)
            if expected.dtype != receiver.dtype or expected.shape != receiver.shape:
                continue
            _, inside, _ = aliased(op, call, VIEWS[view])
            try:
                result = op.run(lib, inside, op.as_method(op.inplace))
            except RuntimeError as error:
                assert REFUSED in str(error)
                continue
            assert_same([result], [expected], rounding(call), "result")
            if expected.requires_grad and receiver.requires_grad:
                wanted = pull_back(lib, expected, [receiver], key)
                found = pull_back(lib, result, [receiver], key)
                assert_same(found, wanted, rounding(call), "gradient")


CALLS = [
    "y.add_(y)", "y.add_(y.t())", "y.add_(y[0])", "y.add_(y[:,0])", "y[0].add_(y[1])",
    "y.add_(y[:1])", "o.add_(o[0])", "o[0].add_(o)", "o.add_(o.view(1,1)[0])",
    "z[1:].add_(z[:-1])", "z[::2].add_(z[1::2])", "z[::2].add_(z[:2])", "y.t().add_(y.t())",
    "y.copy_(y.t())", "y.copy_(y[0])", "y.copy_(y)", "y.index_add_(0,i,y)",
    "y.index_copy_(0,i,y)", "y.scatter_(0,j,y)", "y.scatter_add_(0,j,y)",
    "y.scatter_reduce_(0,j,y,'sum')", "y.index_reduce_(0,i,y,'prod')", "y.put_(i,y[0])",
    "y.index_put_((i,),y)", "y.index_put_((i,),y[:1])", "i.index_fill_(0,i,3)",
    "i.index_add_(0,i,i)", "i.scatter_(0,i,i)", "i.scatter_(0,i,5)",
    "i.index_copy_(0,i,t.arange(2))", "i.put_(i,t.arange(2))", "y.index_fill_(0,i,y[0,0])",
    "y.masked_fill_(y>2,y[0,0])", "y.fill_(y[0,0])", "y.addr_(y[0],y[1])", "y.lerp_(y,.5)",
    "y.lerp_(y.t(),.5)", "y.lerp_(z.view(2,2),y[0])", "y.addcmul_(y[0],y)",
    "y.addcmul_(z.view(2,2),y.t())", "y.clamp_(y[0])", "y.clamp_(max=y.t())", "y.pow_(y[0])",
    "y.eq_(y.t())", "y.logical_and_(y[0])", "y.sub_(y[1,1])", "y.div_(y.max())",
    "y.mul_(y.expand(2,2))", "i.bitwise_and_(i[:1])", "y.atan2_(y[0])", "y.copysign_(y[0])",
]  # fmt: skip


@pytest.mark.parametrize("code", CALLS)
def test_what_overlaps_is_refused_as_pytorch_does(oracle: ModuleType, code: str) -> None:
    assert outcome(gradfn, code) == outcome(oracle, code)


def outcome(t: Any, code: str) -> Any:
    names = {"t": t, "y": t.arange(1.0, 5).reshape(2, 2), "z": t.arange(4.0), "o": t.ones(1)}
    names |= {"i": t.tensor([1, 0]), "j": t.zeros(2, 2, dtype=t.long)}
    try:
        eval(code, names)
    except RuntimeError as error:
        assert REFUSED in str(error), error
        return "refused"
    return "written"


@pytest.mark.parametrize("code", ["eq_(2)", "ne_(y * 1)", "gt_(y * 1)", "le_(2)", "set_(y * 2)"])
def test_what_has_no_derivative_leaves_no_gradient(oracle: ModuleType, code: str) -> None:
    """Not that of the value which was overwritten."""

    def found(t: Any) -> Any:
        x = t.tensor([2.0, 3.0], requires_grad=True)
        y = x.clone()
        eval(f"y.{code}", {"y": y})
        try:
            return y.grad_fn.name(), t.autograd.grad(y.sum(), x)[0].tolist()
        except RuntimeError as error:
            return str(error)

    assert found(gradfn) == found(oracle)
