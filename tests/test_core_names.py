"""The names of PyTorch's compiled core that programs use."""

import pytest

import gradfn as torch
from gradfn import _C


def leaf(value):
    return torch.tensor(value, requires_grad=True)


def test_an_undefined_gradient_stays_undefined():
    x = leaf(2.0)
    seen = []
    y = x * 1
    y.register_hook(seen.append)
    _C._functions.UndefinedGrad()(y).backward()
    assert seen == [None] and x.grad is None


def test_a_delayed_error_comes_in_the_backward_pass():
    x = leaf(2.0)
    y = _C._functions.DelayedError("no derivative here", 1)(x)
    assert y.item() == 2.0
    with pytest.raises(RuntimeError, match="no derivative here"):
        y.backward()


def test_the_running_pass_is_known_within_it():
    x, w = leaf(2.0), leaf(3.0)
    a, b = x * w, w * 2
    log = []
    a.register_hook(
        lambda g: log.append(
            (
                _C._current_graph_task_id() != -1,
                _C._will_engine_execute_node(a.grad_fn),
                _C._will_engine_execute_node(b.grad_fn),
            )
        )
    )
    torch.autograd.grad(a * b, x)
    assert log == [(True, True, False)]
    assert _C._current_graph_task_id() == -1
