"""Checkpointing: the same gradients with less memory."""

import tracemalloc

import pytest

import gradfn as torch
from gradfn.utils.checkpoint import (
    CheckpointError,
    CheckpointPolicy,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)


def leaf(value):
    return torch.tensor(value, requires_grad=True)


def block(x):
    return (x * x).exp().sin() * x


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_gradients_are_those_of_the_plain_call(use_reentrant):
    x, y = leaf([0.3, 0.7]), leaf([0.3, 0.7])
    block(x).sum().backward()
    checkpoint(block, y, use_reentrant=use_reentrant).sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


@pytest.mark.parametrize("early_stop", [True, False])
def test_checkpoints_nest(early_stop):
    def outer(t):
        return checkpoint(block, checkpoint(block, t, use_reentrant=False), use_reentrant=False)

    x, y = leaf([0.3, 0.7]), leaf([0.3, 0.7])
    block(block(x)).sum().backward()
    with set_checkpoint_early_stop(early_stop):
        checkpoint(outer, y, use_reentrant=False).sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


def test_a_retained_graph_recomputes_again():
    calls = []

    def counted(t):
        calls.append(1)
        return t.exp()

    x = leaf(1.0)
    y = checkpoint(counted, x, use_reentrant=False)
    y.backward(retain_graph=True)
    y.backward()
    assert len(calls) == 3
    assert x.grad.item() == pytest.approx(2 * 2.7182817, rel=1e-6)


def test_double_backward_goes_through():
    x = leaf(0.5)
    y = checkpoint(lambda t: t * t * t, x, use_reentrant=False)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert h.item() == pytest.approx(3.0)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_random_numbers_are_drawn_again(use_reentrant):
    def noisy(t):
        return t * torch.rand(3)

    x = leaf([1.0, 1.0, 1.0])
    torch.manual_seed(1)
    y = checkpoint(noisy, x, use_reentrant=use_reentrant)
    following = torch.rand(1)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    torch.manual_seed(1)
    torch.rand(3)
    assert torch.rand(1).item() == following.item()


def test_a_different_recomputation_is_refused():
    shapes = [(3,), (1,)]

    def unstable(t):
        return (t.sum() * torch.ones(shapes.pop(0))).exp().sum()

    x = leaf([1.0, 2.0])
    y = checkpoint(unstable, x, use_reentrant=False)
    with pytest.raises(CheckpointError, match="different metadata"):
        y.backward()
    assert x.grad is None


def test_reentrant_needs_a_whole_backward():
    x = leaf(1.0)
    y = checkpoint(block, x, use_reentrant=True)
    with pytest.raises(RuntimeError, match=r"incompatible with \.grad"):
        torch.autograd.grad(y, x)


def test_sequential():
    x, y = leaf([0.3, 0.7]), leaf([0.3, 0.7])
    block(block(block(x))).sum().backward()
    checkpoint_sequential([block] * 3, 2, y, use_reentrant=False).sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


def peak_bytes(run):
    tracemalloc.start()
    run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_memory_falls():
    def deep(t):
        for _ in range(10):
            t = t.sin().exp().cos()
        return t

    def run(call):
        x = torch.zeros(20_000).requires_grad_()
        y = x
        for _ in range(4):
            y = call(y)
        y.sum().backward()

    run(deep)
    plain = peak_bytes(lambda: run(deep))
    saving = peak_bytes(lambda: run(lambda t: checkpoint(deep, t, use_reentrant=False)))
    assert saving < plain / 2


def counting_contexts(policy, **options):
    return lambda: create_selective_checkpoint_contexts(policy, **options)


@pytest.mark.parametrize("policy", [[torch.mm], [torch.ops.aten.mm.default]])
def test_a_selective_checkpoint_keeps_what_the_policy_says(policy):
    runs = []

    def noted(ctx, op, *args):
        runs.append((ctx.is_recompute, op.__name__))
        return CheckpointPolicy.MUST_SAVE if op in policy else CheckpointPolicy.PREFER_RECOMPUTE

    def function(t):
        return t.mm(t).sin().exp()

    x, y = torch.rand(3, 3).requires_grad_(), None
    y = x.detach().clone().requires_grad_()
    function(x).sum().backward()
    checkpoint(
        function, y, use_reentrant=False, context_fn=counting_contexts(noted)
    ).sum().backward()
    assert y.grad.tolist() == x.grad.tolist()
    assert runs[:3] == [(False, "mm"), (False, "sin"), (False, "exp")]
    assert (True, "mm") in runs


def test_kept_results_are_used_once_and_unchanged():
    def run(change):
        kept = []

        def function(t):
            kept.append(t.exp())
            return kept[-1].sin()

        x = leaf([0.3])
        y = checkpoint(function, x, use_reentrant=False, context_fn=counting_contexts([torch.exp]))
        change(kept[0].detach(), y)
        y.backward()

    with pytest.raises(RuntimeError, match="has been mutated"):
        run(lambda kept, y: kept.mul_(2))
    with pytest.raises(RuntimeError, match="only allowed to backward once"):
        run(lambda kept, y: y.backward(retain_graph=True))


def test_policies_are_functions_or_lists_of_operators():
    with pytest.raises(ValueError, match="Expected op in `op_list`"):
        create_selective_checkpoint_contexts([len])
    with pytest.raises(TypeError, match="must be either a function or a list"):
        create_selective_checkpoint_contexts(3)


def _changing():
    """A function that runs other operators the second time."""
    runs = []

    def function(x):
        runs.append(x)
        return x.sin().exp() if len(runs) == 1 else x.sin() * torch.ones(2)

    return function


def test_debug_shows_the_lines_that_saved_tensors():
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError) as caught:
        checkpoint(_changing(), x, use_reentrant=False, debug=True).backward()
    text = str(caught.value)
    assert "because you passed `debug=True` to checkpoint" in text
    assert "x.sin().exp()" in text
    assert "x.sin() * torch.ones(2)" in text
    with (
        set_checkpoint_debug_enabled(False),
        pytest.raises(RuntimeError, match="metadata") as plain,
    ):
        checkpoint(_changing(), x, use_reentrant=False, debug=True).backward()
    assert "x.sin" not in str(plain.value)


def test_recomputation_is_autocast_as_the_first_run_was():
    x = torch.ones(2, 2, requires_grad=True)
    for use_reentrant in (True, False):
        x.grad = None
        with torch.autocast("cpu", dtype=torch.float16):
            y = checkpoint(lambda t: (t @ t).sin(), x, use_reentrant=use_reentrant)
        y.float().sum().backward()
        assert x.grad.dtype == torch.float32


def test_saved_tensors_are_unpacked_once():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            _ = ctx.saved_tensors
            with pytest.raises(CheckpointError, match="already unpacked once"):
                _ = ctx.saved_tensors
            return grad * 2

    x = leaf([1.0])
    checkpoint(lambda t: Twice.apply(t * 1), x, use_reentrant=False).backward()
    assert x.grad.item() == 2.0
