"""nn.init: PyTorch's numbers for PyTorch's seeds."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

import gradfn
from gradfn.nn import init
from parity import not_mkl

FILLED = """
    uniform_(e(20)) | uniform_(e(3), -1, 5) | normal_(e(20)) | normal_(e(3), 1, 2)
    constant_(e(2, 2), 3) | ones_(e(2)) | zeros_(e(2)) | eye_(e(2, 3)) | eye_(e(3, 2))
    dirac_(e(4, 2, 3), 2) | dirac_(e(2, 3, 3, 3)) | dirac_(e(3, 2, 1, 2, 3))
    xavier_uniform_(e(4, 5), 2.0) | xavier_normal_(e(4, 5)) | xavier_uniform_(e(3, 2, 3))
    kaiming_uniform_(e(4, 5)) | kaiming_uniform_(e(4, 5), 0.3, 'fan_out')
    kaiming_normal_(e(4, 5), nonlinearity='relu') | kaiming_normal_(e(4, 5, 2), mode='FAN_OUT')
    orthogonal_(e(3, 3)) | orthogonal_(e(2, 5), 2.0) | orthogonal_(e(5, 2))
    orthogonal_(e(3, 2, 2)) | orthogonal_(e(0, 2)) | sparse_(e(6, 3), 0.4)
    sparse_(e(6, 3), 0.0, 2.0)
    trunc_normal_(e(40)) | trunc_normal_(e(40), 1, 2, -1, 0.5) | trunc_normal_(e(40), 5, 1)
    trunc_normal_(e(40), 0, 1, 1, 3) | trunc_normal_(e(2, 2), 0.0, 0.02)
    normal_(e(3, dtype=torch.float64)) | kaiming_uniform_(e(0, 2)) | uniform(e(3)) | normal(e(3))
"""


def calls(table: str) -> list[str]:
    return [call.strip() for call in table.replace("\n", " | ").split(" | ") if call.strip()]


def calling(call: str) -> Program:
    def program(torch: Any) -> Any:
        names = vars(torch.nn.init) | {"torch": torch, "e": torch.empty}
        return eval(call, names)

    return program


@not_mkl
@pytest.mark.parametrize("call", calls(FILLED))
def test_tensors_are_filled_as_pytorchs(oracle: ModuleType, call: str) -> None:
    agree(calling(call), oracle)


@pytest.mark.parametrize("name", [*init._GAINS, "leaky_relu"])
def test_gains_are_pytorchs(oracle: ModuleType, name: str) -> None:
    agree(lambda torch: torch.nn.init.calculate_gain(name), oracle)


REFUSED = """
    calculate_gain('gelu') | calculate_gain('leaky_relu', True) | calculate_gain('leaky_relu', 'a')
    eye_(e(2)) | dirac_(e(2, 2)) | dirac_(e(3, 2, 2), 2) | xavier_uniform_(e(2))
    kaiming_uniform_(e(2, 2), mode='f') | orthogonal_(e(2)) | sparse_(e(2), 0.1)
"""
WRONG = [
    call.strip() for line in REFUSED.splitlines() for call in line.split(" | ") if call.strip()
]


@pytest.mark.parametrize("call", calls(REFUSED))
def test_what_pytorch_refuses_is_refused(oracle: ModuleType, call: str) -> None:
    refuse(calling(call), oracle)


def test_nothing_is_recorded() -> None:
    weight = gradfn.nn.Parameter(gradfn.ones(4, 3))
    for fill in (init.uniform_, init.zeros_, init.eye_, init.orthogonal_, init.trunc_normal_):
        assert fill(weight) is weight
        assert weight.is_leaf
        assert weight.requires_grad


def test_the_numbers_of_a_generator_are_used() -> None:
    def drawn() -> gradfn.Tensor:
        return init.xavier_normal_(gradfn.empty(2, 2), generator=gradfn.Generator().manual_seed(3))

    assert drawn().equal(drawn())


def test_empty_and_odd_initialisations_warn() -> None:
    with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
        init.kaiming_uniform_(gradfn.empty(0, 2))
    with pytest.warns(UserWarning, match="mean is more than 2 std from"):
        init.trunc_normal_(gradfn.empty(2), 5)
    with pytest.warns(FutureWarning, match=r"`nn\.init\.uniform` is now deprecated"):
        init.uniform(gradfn.empty(2))
