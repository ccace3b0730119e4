"""Views and in-place writes: histories, versions, flags and gradients, as PyTorch has them.

Each program is run on the library and on PyTorch; what it returns is compared down to the leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import pytest

import gradfn

Program = Callable[[ModuleType, Any], Iterable[Any]]
PROGRAMS: list[Program] = []
REFUSED: list[tuple[str, Program]] = []


def program(function: Program) -> Program:
    PROGRAMS.append(function)
    return function


def refused(phrase: str) -> Callable[[Program], Program]:
    """A program that both libraries refuse with a RuntimeError that has `phrase` in it."""

    def register(function: Program) -> Program:
        REFUSED.append((phrase, function))
        return function

    return register


def graph(node: Any) -> str:
    """The graph under `node`, as nested names."""
    if node is None:
        return "None"
    inputs = ", ".join(graph(below) for below, _ in node.next_functions)
    return f"{type(node).__name__}({inputs})"


def described(t: Any) -> dict[str, Any]:
    base = t._base
    return {
        "graph": graph(t.grad_fn),
        "flags": (t.requires_grad, t.is_leaf, t._is_view(), t.output_nr, t._version),
        "base": None if base is None else (graph(base.grad_fn), base._version),
        "layout": (tuple(t.shape), t.stride(), t.storage_offset()),
        "values": t.detach().numpy().tolist(),
    }


def outcome(torch: ModuleType, run: Program) -> list[Any]:
    """What `run` returns, described, then its gradient and second gradient."""
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=torch.float64, requires_grad=True)
    results = list(run(torch, x))
    found: list[Any] = [described(t) for t in results]
    loss = sum(
        (t * (torch.arange(t.numel()).reshape(t.shape) + 1.0)).sum()
        for t in results
        if t.requires_grad
    )
    if not isinstance(loss, int):
        (grad,) = torch.autograd.grad(loss, x, create_graph=True)
        found.append(grad.detach().numpy().tolist())
        if grad.requires_grad:
            (second,) = torch.autograd.grad((grad * grad).sum(), x)
            found.append(second.numpy().tolist())
    return found


@program
def write_to_base(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    v = y.view(6)
    w = v[1:3]
    y.mul_(2)
    return [y, v, w]


@program
def write_to_view(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    v = y[0]
    v.mul_(x[1])
    return [y, v]


@program
def write_to_view_of_view(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    v = y.t()
    w = v[1]
    w.add_(x.sum())
    return [y, v, w]


@program
def write_to_overlapping_views(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    a = y[0]
    b = y[:, 0]
    a.mul_(2)
    b.mul_(3)
    return [y, a, b]


@program
def write_to_leaf_under_no_grad(torch: ModuleType, x: Any) -> Iterable[Any]:
    with torch.no_grad():
        x.mul_(2)
        x[0] = 1.0
    return [x * x]


@program
def write_to_split_without_gradients(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = torch.zeros(2, 3, dtype=torch.float64)
    a, _b = y.split(1)
    a.mul_(2)
    return [y, a]


@program
def fill_in_a_loop(torch: ModuleType, x: Any) -> Iterable[Any]:
    out = torch.zeros(3, dtype=torch.float64)
    for i in range(3):
        out[i] = x[0, i] * x[1, i]
    return [out]


@program
def fill_from_the_element_before(torch: ModuleType, x: Any) -> Iterable[Any]:
    out = torch.zeros(3, dtype=torch.float64)
    for i in range(3):
        out[i] = out[i - 1] * 2 + x[0, i] if i else x[1, 2] ** 2
    return [out]


@program
def assign_at_mask(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 2
    y[x > 3] = 0.0
    return [y]


@program
def copy_broadcast(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = torch.zeros(2, 3, dtype=torch.float64)
    y.copy_(x[0])
    return [y]


@program
def copy_to_float32(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = torch.zeros(2, 3)
    y.copy_(x)
    return [y]


@program
def detached_shares_memory(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    d = y.detach()
    d.mul_(2)
    return [y * 1]


@program
def write_to_diagonal(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y.diagonal().mul_(x[0, :2])
    return [y]


@program
def write_to_transposed(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y.t().mul_(x.t())
    return [y]


@program
def retained_gradient_follows(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y.retain_grad()
    y.mul_(2)
    return [y]


@program
def write_to_strided_window(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y.as_strided((2, 2), (1, 2)).mul_(2)
    return [y]


@program
def write_to_real_part(torch: ModuleType, x: Any) -> Iterable[Any]:
    c = torch.complex(x, x * 2)
    c.real.mul_(2)
    return [c.real, c.imag]


@program
def fill_view_with_tensor(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y[1].fill_(x[0, 0])
    return [y]


@program
def zero_view(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y[1].zero_()
    return [y]


@program
def unsqueeze_base_in_place(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    v = y.view(6)
    y.unsqueeze_(0)
    v.mul_(2)
    return [y, v]


@program
def transpose_view_in_place(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    v = y.view(3, 2)
    v.t_()
    v.mul_(2)
    return [y, v]


@program
def assign_through_views(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y[0][1:][0] = x[1, 1] ** 2
    return [y]


@program
def write_to_view_of_copy(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = (x * 1)[torch.tensor([0, 0])]
    y[0].mul_(3)
    return [y]


@program
def view_brings_gradient_to_base(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = torch.zeros(2, 3, dtype=torch.float64)
    v = y[0]
    v.add_(x[0])
    return [y, v, y[1]]


@program
def other_view_follows(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = torch.zeros(2, 3, dtype=torch.float64)
    v = y[0]
    w = y[1]
    v.add_(x[0])
    return [w, v]


@program
def augmented_assignment(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y[0] += x[1]
    y[:, 1] *= 2
    return [y]


@program
def assign_other_dtypes(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y[0] = torch.tensor([1, 2, 3])
    y[1, 0] = True
    return [y]


@program
def masked_scatter_in_place(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y.masked_scatter_(x > 2, x * x)
    return [y]


@program
def write_through_other_dtype(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    v = y.view(torch.int64)
    v.zero_()
    return [y]


@refused("a leaf Variable that requires grad is being used in an in-place operation")
def write_to_leaf(torch: ModuleType, x: Any) -> Iterable[Any]:
    x.mul_(2)
    return [x]


@refused("a view of a leaf Variable that requires grad is being used in an in-place")
def write_to_row_of_leaf(torch: ModuleType, x: Any) -> Iterable[Any]:
    x[0].mul_(2)
    return [x]


@refused("a view of a leaf Variable that requires grad is being used in an in-place")
def write_to_flat_leaf(torch: ModuleType, x: Any) -> Iterable[Any]:
    x.view(6).add_(1)
    return [x]


@refused("A view was created in no_grad mode and is being modified inplace")
def write_to_no_grad_view(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    with torch.no_grad():
        v = y[0]
    v.mul_(2)
    return [y]


@refused("is a view and is being modified inplace")
def write_to_split(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    a, _b = y.split(1)
    a.mul_(2)
    return [y]


@refused("is a view and is being modified inplace")
def write_to_unbound(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    a, _b = y.unbind()
    a.mul_(2)
    return [y]


@refused("is a view and is being modified inplace")
def write_to_the_only_chunk(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    (a,) = y.chunk(1)
    a.mul_(2)
    return [y]


@refused("is being modified inplace")
def write_to_view_of_split(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    a, _b = y.split(1)
    a.view(-1).mul_(2)
    return [y]


@refused("one of the variables needed for gradient computation has been modified by an inplace")
def assign_over_saved_values(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 2
    y[0] = y[1] * y[0]
    return [y]


@refused("more than one element of the written-to tensor refers to a single memory location")
def write_to_expanded(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y[0:1].expand(3, 3).mul_(2)
    return [y]


@refused("one of the variables needed for gradient computation has been modified by an inplace")
def detached_write_to_saved(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    z = y * y
    d = y.detach()
    d.mul_(2)
    return [z]


@refused("one of the variables needed for gradient computation has been modified by an inplace")
def view_write_to_saved(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    z = y * y
    y[0].zero_()
    return [z]


@refused("one of the variables needed for gradient computation has been modified by an inplace")
def assign_column_then_read(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y[:, 1] = x[:, 0]
    y[0] = y[0] * y[1]
    return [y]


@refused("A view was created in no_grad mode and is being modified inplace")
def write_to_no_grad_view_of_leaf(torch: ModuleType, x: Any) -> Iterable[Any]:
    with torch.no_grad():
        v = x.view(6)
    v.mul_(2)
    return [v]


@refused("is a view and is being modified inplace")
def write_while_iterating(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    for r in y:
        r.mul_(2)
    return [y]


@refused("a view of a leaf Variable that requires grad is being used in an in-place")
def requires_grad_after_view(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = torch.zeros(3, dtype=torch.float64)
    v = y[1:]
    y.requires_grad_()
    v.mul_(2)
    return [y]


@refused("Inference tensors do not track version counter")
def inference_version(torch: ModuleType, x: Any) -> Iterable[Any]:
    with torch.inference_mode():
        y = torch.ones(2, 3, dtype=torch.float64)
        v = y[0]
        v.mul_(2)
    return [y, v]


@refused("one of the variables needed for gradient computation has been modified by an inplace")
def unary_write_to_saved_input(torch: ModuleType, x: Any) -> Iterable[Any]:
    y = x * 1
    y[0].exp_()
    y[1].sin_()
    return [y]


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_program(oracle: ModuleType, run: Program) -> None:
    assert outcome(gradfn, run) == outcome(oracle, run)


@pytest.mark.parametrize(("phrase", "run"), REFUSED, ids=lambda case: getattr(case, "__name__", ""))
def test_refusal(oracle: ModuleType, phrase: str, run: Program) -> None:
    for torch in (gradfn, oracle):
        with pytest.raises(RuntimeError, match=phrase):
            outcome(torch, run)
