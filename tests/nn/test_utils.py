"""nn.utils: clipping and vectors, compared with PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse


def parameters(torch: Any) -> Any:
    """Two parameters with gradients, one without, one that is complex."""
    made = [torch.nn.Parameter(torch.ones(2)) for _ in range(3)]
    made.append(torch.nn.Parameter(torch.ones(1, dtype=torch.complex64)))
    made[0].grad, made[1].grad = torch.tensor([3.0, -4.0]), torch.tensor([0.5, 12.0])
    made[3].grad = torch.tensor([3 + 4j])
    return made


def clipped(name: str, *arguments: Any, only: slice = slice(None), **options: Any) -> Program:
    def program(torch: Any) -> Any:
        chosen = parameters(torch)[only]
        norm = getattr(torch.nn.utils, name)(chosen, *arguments, **options)
        grads = [parameter.grad for parameter in chosen]
        return [norm, [g if g is None or not g.is_complex() else str(g) for g in grads]]

    return program


def infinite(torch: Any) -> Any:
    made = parameters(torch)
    made[0].grad[0] = float("inf")
    return torch.nn.utils.clip_grad_norm_(made, 1.0, error_if_nonfinite=True)


def spread(torch: Any) -> Any:
    made = [torch.nn.Parameter(torch.ones(2, 2)), torch.nn.Parameter(torch.ones(()))]
    vector = torch.arange(6.0)
    torch.nn.utils.vector_to_parameters(vector, made)
    vector[0] = 9
    return made


PROGRAMS: dict[str, Program] = {
    "norm": clipped("clip_grad_norm_", 1.0),
    "large enough": clipped("clip_grad_norm_", 100.0),
    "largest": clipped("clip_grad_norm_", 2, float("inf")),
    "absolute values": clipped("clip_grad_norm_", 2.0, norm_type=1),
    "nothing": clipped("clip_grad_norm_", 2.0, only=slice(2, 3)),
    "values": clipped("clip_grad_value_", 3.5, only=slice(0, 3)),
    "one tensor": lambda torch: torch.nn.utils.clip_grad_norm_(parameters(torch)[0], 1.0),
    "an iterator": lambda torch: torch.nn.utils.clip_grad_norm_(iter(parameters(torch)), 1.0),
    "older name": lambda torch: torch.nn.utils.clip_grad_norm(parameters(torch), 1.0),
    "total norm": lambda torch: torch.nn.utils.get_total_norm([torch.ones(3), torch.ones(1)], 3.0),
    "vector": lambda torch: torch.nn.utils.parameters_to_vector(parameters(torch)[:2]),
    "spread": spread,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_utilities_do_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    agree(program, oracle)


REFUSED: dict[str, Program] = {
    "not finite": infinite,
    "no vector": lambda torch: torch.nn.utils.vector_to_parameters([1.0], []),
    "too short": lambda torch: torch.nn.utils.vector_to_parameters(
        torch.ones(1), parameters(torch)
    ),
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_utilities_refuse_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    refuse(program, oracle)
