"""Schedules of learning rates: PyTorch's rates, state and warnings."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import gradfn
from gradfn.optim import lr_scheduler

Build = Callable[[Any, Any], Any]  # of the module of schedules and an optimizer

SCHEDULES: dict[str, Build] = {
    "lambda": lambda S, o: S.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (e + 1)]),
    "multiplicative": lambda S, o: S.MultiplicativeLR(o, lambda e: 0.9),
    "step": lambda S, o: S.StepLR(o, 3),
    "multistep": lambda S, o: S.MultiStepLR(o, [2, 5, 5], 0.5),
    "constant": lambda S, o: S.ConstantLR(o, 0.5, 4),
    "linear": lambda S, o: S.LinearLR(o, 0.25, 0.9, 6),
    "exponential": lambda S, o: S.ExponentialLR(o, 0.9),
    "polynomial": lambda S, o: S.PolynomialLR(o, 6, 2.0),
    "cosine": lambda S, o: S.CosineAnnealingLR(o, 5, 0.01),
    "restarts": lambda S, o: S.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "triangular": lambda S, o: S.CyclicLR(o, 0.01, 0.5, 3, 4),
    "triangular2": lambda S, o: S.CyclicLR(o, 0.01, [0.5, 0.7], 2, mode="triangular2"),
    "range": lambda S, o: S.CyclicLR(o, 0.01, 0.5, 3, mode="exp_range", gamma=0.9),
    "one cycle": lambda S, o: S.OneCycleLR(o, [0.5, 0.9], 20),
    "three phases": lambda S, o: S.OneCycleLR(
        o, 0.5, epochs=4, steps_per_epoch=5, three_phase=True, anneal_strategy="linear"
    ),
    "chained": lambda S, o: S.ChainedScheduler([S.ConstantLR(o, 0.5, 4), S.ExponentialLR(o, 0.9)]),
    "sequential": lambda S, o: S.SequentialLR(
        o, [S.LinearLR(o, 0.1, total_iters=3), S.CosineAnnealingLR(o, 6), S.StepLR(o, 2)], [3, 8]
    ),
}


def optimizer_of(torch: Any, **options: Any) -> Any:
    a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
    groups = [{"params": [a]}, {"params": [b], "lr": 0.3}]
    return torch.optim.SGD(groups, **{"lr": 0.1, "momentum": 0.9, **options})


def rates(torch: Any, build: Build) -> list[Any]:
    """The rates and momenta over some epochs."""
    optimizer = optimizer_of(torch)
    schedule = build(torch.optim.lr_scheduler, optimizer)
    seen = []
    for _ in range(18):
        seen += [g["lr"] for g in optimizer.param_groups]
        seen += [g["momentum"] for g in optimizer.param_groups]
        assert schedule.get_last_lr() == [g["lr"] for g in optimizer.param_groups]
        optimizer.step()
        schedule.step()
    return seen


@pytest.mark.parametrize("build", SCHEDULES.values(), ids=SCHEDULES)
def test_rates_are_pytorchs(oracle: ModuleType, build: Build) -> None:
    assert rates(gradfn, build) == pytest.approx(rates(oracle, build), rel=1e-12)


@pytest.mark.parametrize("build", SCHEDULES.values(), ids=SCHEDULES)
def test_a_schedule_goes_on_from_its_state(build: Build) -> None:
    first = optimizer_of(gradfn)
    schedule = build(lr_scheduler, first)
    for _ in range(4):
        first.step()
        schedule.step()
    second = optimizer_of(gradfn)
    again = build(lr_scheduler, second)
    second.load_state_dict(first.state_dict())
    again.load_state_dict(copy.deepcopy(schedule.state_dict()))
    for _ in range(6):
        for optimizer, one in ((first, schedule), (second, again)):
            optimizer.step()
            one.step()
        assert again.get_last_lr() == schedule.get_last_lr()


def test_plateaus_are_pytorchs(oracle: ModuleType) -> None:
    metrics = [1.0, 0.9, 0.9, 0.9, 0.95, 0.5, 0.5, 0.5, 0.5, math.nan, 0.6, 0.1] * 2

    def run(torch: Any, **options: Any) -> list[Any]:
        optimizer = optimizer_of(torch)
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        seen = []
        for metric in metrics:
            schedule.step(torch.tensor(metric))
            seen += schedule.get_last_lr()
        return seen

    for options in (
        {"patience": 1},
        {"patience": 0, "cooldown": 2, "factor": 0.5, "min_lr": [0.01, 0.1]},
        {"mode": "max", "patience": 2, "threshold": 0.1, "threshold_mode": "abs"},
    ):
        assert run(gradfn, **options) == run(oracle, **options)


def test_averages_of_models_are_pytorchs(oracle: ModuleType) -> None:
    def run(torch: Any, swa: Any, **options: Any) -> list[float]:
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2)
        averaged = swa.AveragedModel(model, **options)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        schedule = swa.SWALR(optimizer, swa_lr=0.05, anneal_epochs=4)
        seen: list[float] = []
        for _ in range(6):
            optimizer.zero_grad()
            model(torch.ones(2, 3)).pow(2).sum().backward()
            optimizer.step()
            averaged.update_parameters(model)
            schedule.step()
            seen += [
                schedule.get_last_lr()[0],
                *averaged.module.weight.detach().reshape(-1).tolist(),
            ]
        return [*seen, int(averaged.n_averaged)]

    from torch.optim import swa_utils as theirs

    from gradfn.optim import swa_utils as ours

    right = run(oracle, theirs)
    assert run(gradfn, ours) == pytest.approx(right, rel=1e-5)
    right = run(oracle, theirs, multi_avg_fn=theirs.get_ema_multi_avg_fn(0.9))
    ema = run(gradfn, ours, multi_avg_fn=ours.get_ema_multi_avg_fn(0.9))
    assert ema == pytest.approx(right, rel=1e-5)


def test_the_order_of_calls_is_watched() -> None:
    schedule = lr_scheduler.StepLR(optimizer_of(gradfn), 2)
    with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before"):
        schedule.step()
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        schedule.get_lr()
    with pytest.warns(UserWarning, match="The epoch parameter"):
        schedule.step(4)
    assert schedule.get_last_lr() == pytest.approx([0.001, 0.003])


MISTAKES: dict[str, tuple[type[Exception], Build, str]] = {
    "optimizer": (TypeError, lambda S, o: S.StepLR(3, 1), "int is not an Optimizer"),
    "resumed": (
        KeyError,
        lambda S, o: S.StepLR(o, 1, last_epoch=3),
        "'initial_lr' is not specified",
    ),
    "lambdas": (ValueError, lambda S, o: S.LambdaLR(o, [abs]), "Expected 2 lr_lambdas, but got 1"),
    "factor": (ValueError, lambda S, o: S.ReduceLROnPlateau(o, factor=1.0), "Factor should be < 1"),
    "steps": (ValueError, lambda S, o: S.OneCycleLR(o, 0.1), "define either total_steps OR"),
    "milestones": (
        ValueError,
        lambda S, o: S.SequentialLR(o, [S.StepLR(o, 1)], [1]),
        "one more than the number of milestone",
    ),
    "none": (ValueError, lambda S, o: S.ChainedScheduler([]), "at least one scheduler"),
}


@pytest.mark.parametrize(("kind", "build", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named(kind: type[Exception], build: Build, message: str) -> None:
    with pytest.raises(kind, match=message):
        build(lr_scheduler, optimizer_of(gradfn))
