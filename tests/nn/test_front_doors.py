"""The smaller doors of torch.nn: paths of modules, kinds of attention, gradients, options."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

import gradfn
from gradfn import nn


def test_modules_are_found_where_pytorch_has_them(oracle: ModuleType) -> None:
    absent = []
    for found in pkgutil.iter_modules(oracle.nn.modules.__path__):
        theirs = importlib.import_module(f"torch.nn.modules.{found.name}")
        for name in getattr(theirs, "__all__", ()):
            if name not in vars(nn):
                continue
            mine = importlib.import_module(f"gradfn.nn.modules.{found.name}")
            if not hasattr(mine, name):
                absent.append(f"{found.name}.{name}")
    assert not absent


def attention(torch: Any, *backends: str, **options: Any) -> Any:
    """Attention by the backends of these names, and the nodes that it records."""
    x = (torch.arange(12.0).view(1, 1, 3, 4) / 7).requires_grad_()
    chosen = [getattr(torch.nn.attention.SDPBackend, name) for name in backends]
    with torch.nn.attention.sdpa_kernel(chosen, **options):
        output = torch.nn.functional.scaled_dot_product_attention(x, x, x)
    output.sin().sum().backward()
    return [output, x.grad, torch.nn.functional.scaled_dot_product_attention(x, x, x)]


def decorated(torch: Any) -> Any:
    backend = torch.nn.attention.SDPBackend.MATH

    @torch.nn.attention.sdpa_kernel(backend)
    def attend(x: Any) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(x, x, x)

    return [str(backend), repr(backend), attend(torch.ones(1, 1, 2, 2, requires_grad=True))]


def convolution(dims: int) -> Program:
    def program(torch: Any) -> Any:
        def numbers(*shape: int) -> Any:
            size = torch.Size(shape).numel()
            return (torch.arange(float(size)).view(shape) * 0.37 % 2 - 0.9).requires_grad_()

        x, w = numbers(1, 4, *[5] * dims), numbers(2, 2, *[2] * dims)
        layout = {"stride": 2, "padding": 1, "groups": 2}
        g = numbers(1, 2, *[3] * dims)
        by_input = getattr(torch.nn.grad, f"conv{dims}d_input")(x.shape, w, g, **layout)
        by_weight = getattr(torch.nn.grad, f"conv{dims}d_weight")(x, w.shape, g, **layout)
        (by_input.sin().sum() + by_weight.sin().sum()).backward()
        return [by_input, by_weight, g.grad]

    return program


def unwrapped(torch: Any) -> Any:
    state = torch.nn.DataParallel(torch.nn.Sequential(torch.nn.Linear(1, 1))).state_dict()
    utils = importlib.import_module(f"{torch.nn.modules.__name__}.utils")
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    return [list(state), sorted(state._metadata)]


def per_dimension(torch: Any) -> Any:
    utils = importlib.import_module(f"{torch.__name__}.nn.modules.utils")
    types = importlib.import_module(f"{torch.__name__}.nn.common_types")
    made = [utils._single(3), utils._pair([1, 2]), utils._triple(0), utils._ntuple(4)("ab")]
    return [made, utils._reverse_repeat_tuple((1, 2), 2), hasattr(types, "_size_2_t")]


def options(**given: Any) -> Program:
    return lambda torch: sorted(torch.nn.factory_kwargs(given).items())


PROGRAMS: dict[str, Program] = {
    "math": lambda torch: attention(torch, "MATH"),
    "flash": lambda torch: attention(torch, "FLASH_ATTENTION"),
    "either": lambda torch: attention(torch, "MATH", "FLASH_ATTENTION"),
    "in order": lambda torch: attention(torch, "FLASH_ATTENTION", "MATH", set_priority=True),
    "decorated": decorated,
    **{f"gradients in {dims}d": convolution(dims) for dims in (1, 2, 3)},
    "unwrapped": unwrapped,
    "per dimension": per_dimension,
    "no options": lambda torch: torch.nn.factory_kwargs(None),
    "options": options(device="cpu", dtype=None),
    "nested options": options(factory_kwargs={"dtype": 1}, device=2),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_they_do_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    agree(program, oracle, tolerance=1e-5)


REFUSED: dict[str, Program] = {
    "no way": lambda torch: attention(torch),
    "a way of GPUs": lambda torch: attention(torch, "CUDNN_ATTENTION"),
    "no backend": lambda torch: torch.nn.attention.sdpa_kernel("math").__enter__(),
    "unknown option": options(color="red"),
    "option twice": options(factory_kwargs={"dtype": 1}, dtype=2),
    "dimensions": lambda torch: torch.nn.grad.conv2d_input(
        (1, 2, 4), torch.ones(2, 2, 2, 2), torch.ones(1, 2, 3, 3)
    ),
    "sizes": lambda torch: torch.nn.grad.conv2d_input(
        (1, 2, 9, 9), torch.ones(2, 2, 2, 2), torch.ones(1, 2, 3, 3)
    ),
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_they_refuse_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    refuse(program, oracle)


def test_data_parallel_calls_the_module() -> None:
    layer, x = nn.Linear(2, 1), gradfn.ones(1, 2)
    assert gradfn.equal(nn.parallel.data_parallel(layer, x), layer(x))


def test_the_size_of_a_storage_is_that_of_its_bytes() -> None:
    empty, full = (gradfn.ones(count).untyped_storage() for count in (0, 10))
    assert sys.getsizeof(full) - sys.getsizeof(empty) == 40
