"""Optimizers: the same steps as PyTorch's, state that both understand, and their mistakes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn import optim

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd momentum": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1}),
    "sgd nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    "adam": ("Adam", {"lr": 0.1}),
    "adam decay": ("Adam", {"lr": 0.1, "weight_decay": 0.1, "amsgrad": True, "eps": 1e-3}),
    "adamw": ("AdamW", {"lr": 0.1, "betas": (0.5, 0.9), "maximize": True}),
    "adamw amsgrad": ("AdamW", {"lr": 0.1, "amsgrad": True, "weight_decay": 0.3}),
    "adamax": ("Adamax", {"lr": 0.1, "weight_decay": 0.1}),
    "nadam": ("NAdam", {"lr": 0.1}),
    "nadam decoupled": (
        "NAdam",
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "momentum_decay": 0.1},
    ),
    "radam": ("RAdam", {"lr": 0.1, "weight_decay": 0.1}),
    "radam decoupled": (
        "RAdam",
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "betas": (0.9, 0.9)},
    ),
    "rmsprop": ("RMSprop", {"lr": 0.1, "weight_decay": 0.1}),
    "rmsprop centered": ("RMSprop", {"lr": 0.1, "centered": True, "momentum": 0.9, "alpha": 0.9}),
    "adagrad": (
        "Adagrad",
        {"lr": 0.5, "lr_decay": 0.1, "initial_accumulator_value": 0.1, "weight_decay": 0.1},
    ),
    "adadelta": ("Adadelta", {"lr": 1.0, "rho": 0.8, "weight_decay": 0.1}),
    "rprop": ("Rprop", {"lr": 0.1}),
    "rprop bounds": ("Rprop", {"lr": 0.1, "etas": (0.3, 2.0), "step_sizes": (0.05, 0.2)}),
    "asgd": ("ASGD", {"lr": 0.1, "t0": 3, "weight_decay": 0.1, "lambd": 0.1}),
    "adafactor": ("Adafactor", {"lr": 0.1, "weight_decay": 0.1}),
    "lbfgs": ("LBFGS", {"lr": 0.1, "max_iter": 5}),
    "lbfgs wolfe": ("LBFGS", {"lr": 1.0, "max_iter": 5, "line_search_fn": "strong_wolfe"}),
    "lbfgs history": (
        "LBFGS",
        {"max_iter": 20, "history_size": 2, "line_search_fn": "strong_wolfe"},
    ),
    "muon": ("Muon", {"lr": 0.1}),
}

each_case = pytest.mark.parametrize(("name", "options"), CASES.values(), ids=CASES)


def start(torch: Any, dtype: str, name: str) -> list[Any]:
    """Parameters of several shapes, one without elements, one 0-d."""
    rng = np.random.default_rng(0)
    shapes = [(4, 3)] if name == "Muon" else [(4, 3), (5,), (), (2, 3, 2)]
    shapes += [(0, 2)] if name not in ("Muon", "Adafactor") else []
    real = [rng.standard_normal(shape) for shape in shapes]
    arrays = [a + 1j * rng.standard_normal(a.shape) if "complex" in dtype else a for a in real]
    return [torch.from_numpy(np.array(a, dtype)).requires_grad_() for a in arrays]


def objective(params: list[Any]) -> Any:
    """Neither quadratic nor symmetric, and real."""
    total = 0
    for number, p in enumerate(params):
        x = p.abs() if p.is_complex() else p
        total = total + (number + 1) * (x**2).sum() + (x + 0.5).sin().sum()
    return total


def steps(torch: Any, name: str, options: dict[str, Any], dtype: str, count: int) -> Any:
    """The optimizer and the parameters after some steps, and the losses."""
    params = start(torch, dtype, name)
    optimizer = getattr(torch.optim, name)(params, **options)
    losses = []

    def closure() -> Any:
        optimizer.zero_grad()
        loss = objective(params)
        loss.backward()
        return loss

    for _ in range(count):
        losses.append(optimizer.step(closure).item())
    return optimizer, params, losses


def assert_alike(ours: Any, theirs: Any, tolerance: float) -> None:
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(
            a.detach().numpy(), b.detach().numpy(), rtol=tolerance, atol=tolerance
        )


@each_case
def test_steps_are_pytorchs(oracle: ModuleType, name: str, options: dict[str, Any]) -> None:
    for dtype, tolerance in (("float64", 1e-10), ("float32", 2e-5), ("complex128", 1e-10)):
        if dtype == "complex128" and name in ("Adafactor", "Muon", "LBFGS"):
            continue
        if dtype == "float32" and name == "LBFGS":  # whose search decides by the last bits
            continue
        tolerance = 3e-2 if name == "Muon" else tolerance  # bfloat16 inside
        _, ours, losses = steps(gradfn, name, options, dtype, 12)
        _, theirs, right = steps(oracle, name, options, dtype, 12)
        assert_alike(ours, theirs, tolerance)
        np.testing.assert_allclose(losses, right, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize(
    "limits", [{"max_iter": 1}, {"max_iter": 3}, {"max_iter": 4, "max_eval": 2}, {"lr": 2}]
)
def test_lbfgs_evaluates_where_pytorch_does(
    oracle: ModuleType, limits: dict[str, Any], search: str | None
) -> None:
    def losses(torch: Any) -> list[float]:
        x = torch.tensor([-1.2, 1.0, 0.5], dtype=torch.float64, requires_grad=True)
        options = {"lr": 1 if search else 1e-3, **limits, "line_search_fn": search}
        optimizer, seen = torch.optim.LBFGS([x], **options), []

        def closure() -> Any:
            optimizer.zero_grad()
            loss = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
            loss.backward()
            seen.append(loss.item())
            return loss

        for _ in range(3):
            optimizer.step(closure)
        return seen

    np.testing.assert_allclose(losses(gradfn), losses(oracle), rtol=1e-6)


@each_case
def test_state_goes_to_pytorch_and_back(
    oracle: ModuleType, name: str, options: dict[str, Any]
) -> None:
    ours, our_params, _ = steps(gradfn, name, options, "float64", 3)
    theirs, their_params, _ = steps(oracle, name, options, "float64", 3)
    mine, right = ours.state_dict(), theirs.state_dict()
    assert mine["param_groups"] == right["param_groups"]
    assert mine["state"].keys() == right["state"].keys()
    for number, state in right["state"].items():
        assert state.keys() == mine["state"][number].keys()
        for key, value in state.items():
            if isinstance(value, oracle.Tensor):
                got = mine["state"][number][key]
                assert str(got.dtype) == str(value.dtype), key
                assert tuple(got.shape) == tuple(value.shape), key
    if name == "LBFGS":
        return
    again = getattr(gradfn.optim, name)(start(gradfn, "float64", name), **options)
    again.load_state_dict(_converted(right, oracle))
    for a, b, c in zip(again.param_groups[0]["params"], our_params, their_params, strict=True):
        a.data.copy_(b.data)
        a.grad, b.grad, c.grad = gradfn.ones_like(a), gradfn.ones_like(b), oracle.ones_like(c)
    for optimizer in (again, ours, theirs):
        optimizer.step()
    assert_alike(again.param_groups[0]["params"], their_params, 3e-2 if name == "Muon" else 1e-9)


def _converted(tree: Any, torch: Any) -> Any:
    """A state of PyTorch's with tensors of gradfn."""
    if isinstance(tree, torch.Tensor):
        return gradfn.from_numpy(tree.detach().numpy().copy())
    if isinstance(tree, dict):
        return {key: _converted(value, torch) for key, value in tree.items()}
    return [_converted(v, torch) for v in tree] if isinstance(tree, list) else tree


# Without PyTorch


@each_case
def test_a_bowl_is_descended(name: str, options: dict[str, Any]) -> None:
    if options.get("maximize"):
        options = {**options, "maximize": False}
    _, _, losses = steps(gradfn, name, options, "float64", 30)
    assert losses[-1] < losses[0]


DIFFERENTIABLE = [n for n, (name, _) in CASES.items() if name not in ("LBFGS", "Muon", "Adafactor")]


@pytest.mark.parametrize("case", DIFFERENTIABLE)
def test_a_step_can_be_differentiated(case: str) -> None:
    """The parameters after steps are functions of the gradient."""
    name, options = CASES[case]

    def after(start: Any, first: Any, second: Any) -> Any:
        p = start.clone()
        optimizer = getattr(optim, name)([p], differentiable=True, **options)
        for gradient in (first, second):
            p.grad = gradient.clone()
            optimizer.step()
        return p

    rng = np.random.default_rng(1)
    values = [gradfn.from_numpy(rng.uniform(0.5, 1.5, 3)).requires_grad_() for _ in range(3)]
    plain = values[0].detach().clone().requires_grad_()
    optimizer = getattr(optim, name)([plain], **options)
    for gradient in values[1:]:
        plain.grad = gradient.detach().clone()
        optimizer.step()
    assert after(*values).detach().allclose(plain.detach(), rtol=1e-12)
    if name != "Rprop":  # whose steps are constant in the gradient
        assert gradfn.autograd.gradcheck(after, values)


def test_writes_are_noticed_and_named() -> None:
    w = gradfn.ones(2, requires_grad=True)
    loss = (w * w).sum()
    w.grad = gradfn.ones(2)
    optim.SGD([w], lr=0.1).step()
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*SGD\.step"):
        loss.backward()


def test_parameters_without_gradients_stay() -> None:
    a, b = gradfn.ones(2, requires_grad=True), gradfn.ones(2, requires_grad=True)
    optimizer = optim.Adam([a, b], lr=0.1)
    a.sum().backward()
    optimizer.step()
    assert b.equal(gradfn.ones(2))
    assert list(optimizer.state) == [a]
    optimizer.zero_grad()
    assert a.grad is None
    a.sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert a.grad.equal(gradfn.zeros(2))


def test_groups_and_their_options(oracle: ModuleType) -> None:
    def build(torch: Any) -> Any:
        a, b, c = (torch.ones(2, requires_grad=True) for _ in range(3))
        groups = [{"params": [a]}, {"params": b, "lr": 0.5, "weight_decay": 0.1}]
        optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
        optimizer.add_param_group({"params": [c], "nesterov": True})
        return optimizer

    assert repr(build(gradfn)) == repr(build(oracle))
    ours, theirs = build(gradfn).state_dict(), build(oracle).state_dict()
    assert ours == theirs


def test_names_of_parameters_are_kept() -> None:
    layer = gradfn.nn.Linear(2, 1)
    optimizer = optim.SGD(layer.named_parameters(), lr=0.1)
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


def test_hooks_run_around_a_step() -> None:
    seen: list[str] = []
    x = gradfn.ones(1, requires_grad=True)
    optimizer = optim.SGD([x], lr=0.1)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("before"))
    handle = optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after"))
    everywhere = optim.optimizer.register_optimizer_step_pre_hook(
        lambda o, args, kwargs: seen.append("all")
    )
    optimizer.step()
    handle.remove()
    everywhere.remove()
    optimizer.step()
    assert seen == ["all", "before", "after", "before"]
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    assert optimizer.state_dict()["more"] == 1


def test_copies_and_pickles_go_on() -> None:
    def run(optimizer: Any) -> Any:
        (p,) = optimizer.param_groups[0]["params"]
        p.grad = gradfn.full((2,), 0.3)
        optimizer.step()
        return p.detach()

    x = gradfn.ones(2, requires_grad=True)
    optimizer = optim.Adam([x], lr=0.1)
    run(optimizer)
    copies = [copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))]
    expected = run(optimizer)
    for copied in copies:
        assert run(copied).equal(expected)


def test_the_learning_rate_may_be_a_tensor() -> None:
    x = gradfn.ones(1, requires_grad=True)
    rate = gradfn.tensor(0.5)
    optimizer = optim.Adam([x], lr=rate)
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    x.sum().backward()
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == 0.25


w = gradfn.ones(2, requires_grad=True)
MISTAKES: dict[str, tuple[type[Exception], Callable[[], Any], str]] = {
    "tensor": (TypeError, lambda: optim.SGD(w), "should be an iterable of Tensors or dicts"),
    "empty": (ValueError, lambda: optim.SGD([]), "empty parameter list"),
    "number": (TypeError, lambda: optim.SGD([1.0]), "can only optimize Tensors"),
    "non-leaf": (ValueError, lambda: optim.SGD([w * 2]), "can't optimize a non-leaf Tensor"),
    "twice": (ValueError, lambda: optim.SGD([w, w]), "appear more than once"),
    "two groups": (
        ValueError,
        lambda: optim.SGD([{"params": w}, {"params": w}]),
        "more than one parameter group",
    ),
    "set": (TypeError, lambda: optim.SGD([{"params": {w}}]), "ordered collections"),
    "lr": (ValueError, lambda: optim.SGD([w], lr=-1), "Invalid learning rate: -1"),
    "beta": (ValueError, lambda: optim.Adam([w], betas=(0.9, 1.0)), "parameter at index 1: 1.0"),
    "eps": (ValueError, lambda: optim.AdamW([w], eps=-1), "Invalid epsilon value: -1"),
    "nesterov": (ValueError, lambda: optim.SGD([w], nesterov=True), "requires a momentum"),
    "groups": (
        ValueError,
        lambda: optim.LBFGS([{"params": w}, {"params": gradfn.ones(1)}]),
        "per-parameter options",
    ),
    "vector": (ValueError, lambda: optim.Muon([w]), "only supports 2D parameters"),
    "state": (
        ValueError,
        lambda: optim.SGD([w]).load_state_dict({"state": {}, "param_groups": []}),
        "different number of parameter groups",
    ),
    "sparse": (NotImplementedError, lambda: optim.SparseAdam([w]), "sparse gradients"),
}


@pytest.mark.parametrize(("kind", "call", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named(kind: type[Exception], call: Callable[[], Any], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
