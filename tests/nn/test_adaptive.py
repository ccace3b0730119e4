"""AdaptiveLogSoftmaxWithLoss, compared with PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse


def layer(torch: Any, cutoffs: Any = (4, 8), **options: Any) -> Any:
    return torch.nn.AdaptiveLogSoftmaxWithLoss(16, 12, list(cutoffs), **options)


def rows(torch: Any, *shape: int) -> Any:
    size = torch.Size(shape).numel()
    return (torch.arange(float(size)).view(shape) * 0.37 % 2 - 0.9).requires_grad_()


def trained(targets: Any, *cutoffs: int, **options: Any) -> Program:
    def program(torch: Any) -> Any:
        made = layer(torch, cutoffs or (4, 8), **options)
        shape = (16,) if isinstance(targets, int) else (len(targets), 16)
        x = rows(torch, *shape)
        result = made(x, torch.tensor(targets))
        result.loss.backward()
        return [
            repr(made),
            made.cutoffs,
            made.state_dict(),
            list(result),
            x.grad,
            [parameter.grad for parameter in made.parameters()],
        ]

    return program


def predicted(count: int, bias: float) -> Program:
    """The head prefers the clusters by `bias`."""

    def program(torch: Any) -> Any:
        made, x = layer(torch, head_bias=True), rows(torch, count, 16)
        with torch.no_grad():
            made.head.bias[4:] += bias
        return [made.predict(x), made.log_prob(x)]

    return program


PROGRAMS: dict[str, Program] = {
    "targets everywhere": trained([0, 5, 9, 11, 3]),
    "targets in the head": trained([0, 1]),
    "one row": trained([9]),
    "without batch": trained(5),
    "one cutoff": trained([0, 7, 11], 4),
    "options": trained([0, 7, 11], div_value=2.0, head_bias=True, dtype=None),
    "frequent": predicted(4, -9.0),
    "rare": predicted(4, 9.0),
    "some rare": predicted(6, 0.3),
    "nothing": predicted(0, 0.0),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_it_is_pytorchs(oracle: ModuleType, program: Program) -> None:
    agree(program, oracle)


def called(torch: Any, shape: tuple[int, ...], targets: Any) -> Any:
    return layer(torch)(rows(torch, *shape), torch.tensor(targets))


REFUSED: dict[str, Program] = {
    "no cutoffs": lambda torch: layer(torch, []),
    "from zero": lambda torch: layer(torch, [0]),
    "twice": lambda torch: layer(torch, [4, 4]),
    "decreasing": lambda torch: layer(torch, [8, 4]),
    "all classes": lambda torch: layer(torch, [12]),
    "fraction": lambda torch: layer(torch, [4.5]),
    "fewer targets": lambda torch: called(torch, (3, 16), [0, 1]),
    "target without batch": lambda torch: called(torch, (3, 16), 0),
    "matrix of targets": lambda torch: called(torch, (1, 16), [[0]]),
    "large target": lambda torch: called(torch, (2, 16), [0, 12]),
    "negative target": lambda torch: called(torch, (2, 16), [0, -1]),
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_it_refuses_what_pytorchs_does(oracle: ModuleType, program: Program) -> None:
    refuse(program, oracle)
