"""Subclasses of Tensor, and `__torch_function__`."""

from typing import ClassVar

import pytest

import gradfn as torch
from gradfn import _C


class Plain(torch.Tensor):
    pass


class Logged(torch.Tensor):
    log: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


def plain(*values):
    return torch.tensor(values).as_subclass(Plain)


def test_results_are_of_the_subclass():
    m = plain(1.0, 2.0)
    other = torch.ones(2)
    for result in (m * 2, 2 * m, other + m, m.sum(), m[0], m.view(1, 2), torch.cat([other, m])):
        assert type(result) is Plain
    assert [type(part) for part in m.max(0)] == [Plain, Plain]
    assert type(other * 2) is torch.Tensor
    assert repr(m) == "Plain([1., 2.])"


def test_gradients_flow_through_a_subclass():
    m = plain(1.0, 2.0).requires_grad_()
    (m * m).sum().backward()
    assert m.grad.tolist() == [2.0, 4.0]


def test_parameters_give_plain_tensors():
    assert type(torch.nn.Parameter(torch.ones(2)) * 2) is torch.Tensor


def test_an_override_sees_the_calls():
    Logged.log.clear()
    x = torch.ones(2).as_subclass(Logged).requires_grad_()
    y = (x * 3).exp().sum()
    assert Logged.log[-3:] == ["mul", "exp", "sum"] and type(y) is Logged


def test_an_override_may_answer_itself():
    class Constant(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return (func.__name__, len(args), sorted(kwargs or {}))

    c = torch.ones(2).as_subclass(Constant)
    assert torch.exp(c) == ("exp", 1, [])
    with _C.DisableTorchFunctionSubclass():
        assert type(torch.exp(c)) is torch.Tensor


def test_a_subclass_comes_before_its_superclass():
    seen = []

    class Upper(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(cls.__name__)
            return NotImplemented

    class Lower(Upper):
        pass

    upper, lower = torch.ones(1).as_subclass(Upper), torch.ones(1).as_subclass(Lower)
    with pytest.raises(TypeError, match="no implementation found for 'mul'"):
        torch.mul(upper, lower)
    assert seen == ["Lower", "Upper"]
