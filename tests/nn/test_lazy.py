"""Lazy modules and uninitialized parameters, compared with PyTorch."""

from __future__ import annotations

import copy
import pickle
from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

import gradfn
from gradfn import nn
from gradfn.nn.parameter import is_lazy

LAYERS: dict[str, tuple[int, ...]] = {
    "LazyLinear(3)": (2, 4),
    "LazyLinear(3, bias=False)": (4,),
    "LazyConv1d(4, 2)": (2, 3, 5),
    "LazyConv2d(4, 2, groups=2, bias=False)": (2, 4, 5, 5),
    "LazyConv2d(4, (2, 1), padding='same', padding_mode='circular')": (3, 5, 5),
    "LazyConv3d(2, 2, 2)": (1, 3, 4, 4, 4),
    "LazyConvTranspose1d(4, 2)": (3, 5),
    "LazyConvTranspose2d(4, 3, 2, 1, 1, 2, dilation=2)": (2, 4, 3, 3),
    "LazyConvTranspose3d(2, 2, dtype=torch.float64)": (1, 3, 2, 2, 2),
    "LazyBatchNorm1d()": (3, 4),
    "LazyBatchNorm2d(1e-3, 0.2)": (3, 4, 2, 2),
    "LazyBatchNorm2d(bias=False)": (3, 4, 2, 2),
    "LazyBatchNorm2d(affine=False)": (3, 4, 2, 2),
    "LazyBatchNorm2d(track_running_stats=False)": (3, 4, 2, 2),
    "LazyBatchNorm3d()": (2, 3, 2, 2, 1),
    "LazyInstanceNorm1d()": (3, 4, 5),
    "LazyInstanceNorm2d(affine=False)": (3, 4, 2, 2),
    "LazyInstanceNorm3d(track_running_stats=False)": (2, 3, 2, 2, 2),
}


def made(torch: Any, call: str) -> Any:
    return eval(f"torch.nn.{call}", {"torch": torch})


def batch(torch: Any, *shape: int) -> Any:
    count = gradfn.Size(shape).numel()
    return (torch.arange(float(count)) * 0.37 % 2 - 0.9).reshape(shape)


def first_call(call: str, shape: tuple[int, ...]) -> Program:
    """The layer before and after its first call, and what it gives."""

    def program(torch: Any) -> Any:
        layer = made(torch, call)
        before = [repr(layer), list(layer.state_dict()), layer.has_uninitialized_params()]
        x = batch(torch, *shape).to(torch.float64 if "float64" in call else torch.float32)
        output = layer(x)
        kinds = [isinstance(layer, torch.nn.modules.lazy.LazyModuleMixin), type(layer).__name__]
        return [*before, repr(layer), kinds, layer.state_dict(), output, layer(x)]

    return program


@pytest.mark.parametrize("call", LAYERS)
def test_the_first_input_gives_the_sizes(oracle: ModuleType, call: str) -> None:
    agree(first_call(call, LAYERS[call]), oracle)


def model(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.LazyLinear(3), nn.ReLU(), nn.LazyBatchNorm1d(), nn.LazyLinear(1))


def trained(torch: Any) -> Any:
    net, x = model(torch), batch(torch, 5, 2)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)  # it knows them before their shapes
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
    return [loss, net.state_dict(), repr(net)]


def loaded(torch: Any) -> Any:
    layer = torch.nn.LazyLinear(3)
    keys = layer.load_state_dict(torch.nn.Linear(4, 3).state_dict())
    kind = type(layer).__name__
    output = layer(batch(torch, 1, 4))
    return [repr(keys), kind, layer.weight, output, repr(layer), torch.rand(1)]


def converted(torch: Any) -> Any:
    layer = torch.nn.LazyLinear(3).to(torch.float64)
    return [str(layer.weight.dtype), repr(layer.weight), layer(batch(torch, 1, 4).double())]


def copied(torch: Any) -> Any:
    layer = torch.nn.LazyLinear(3)
    twins = [copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))]
    return [(repr(twin), repr(twin.weight), twin(torch.ones(1, 2)), repr(twin)) for twin in twins]


def own_module(torch: Any) -> Any:
    class Scale(torch.nn.modules.lazy.LazyModuleMixin, torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.factor = torch.nn.UninitializedParameter()

        def initialize_parameters(self, x: Any) -> None:
            self.factor.materialize(x.shape[-1:])
            torch.nn.init.ones_(self.factor)

        def forward(self, x: Any) -> Any:
            return x * self.factor

    scale = Scale()
    return [scale(batch(torch, 2, 3)), type(scale).__name__, len(scale._forward_pre_hooks)]


def uninitialized(torch: Any) -> Any:
    parameter = torch.nn.UninitializedParameter(dtype=torch.float64)
    buffer = torch.nn.UninitializedBuffer(persistent=False)
    values = []
    for tensor in (parameter, buffer):
        values += [repr(tensor), str(tensor.dtype), str(tensor.device), tensor.requires_grad]
        values += [tensor.grad, tensor.is_leaf, torch.nn.parameter.is_lazy(tensor)]
        values += [isinstance(tensor, torch.nn.Parameter), isinstance(tensor, torch.nn.Buffer)]
    parameter.materialize((2, 3))
    buffer.materialize(4, dtype=torch.int64)
    kinds = [type(tensor).__name__ for tensor in (parameter, buffer)]
    shapes = [str(parameter.shape), str(parameter.dtype), str(buffer.shape), str(buffer.dtype)]
    return [values, kinds, shapes, parameter.requires_grad, buffer.persistent]


PROGRAMS: dict[str, Program] = {
    "trained": trained,
    "loaded": loaded,
    "converted": converted,
    "copied": copied,
    "own module": own_module,
    "uninitialized": uninitialized,
    "by keyword": lambda torch: torch.nn.LazyLinear(3)(input=batch(torch, 2, 2)),
    "state of another lazy one": lambda torch: repr(
        torch.nn.LazyLinear(3).load_state_dict(torch.nn.LazyLinear(3).state_dict())
    ),
    "evaluated": lambda torch: torch.nn.LazyBatchNorm2d().eval()(batch(torch, 1, 2, 2, 2)),
    "listed": lambda torch: repr(torch.nn.ParameterList([torch.nn.UninitializedParameter()])),
    "no gradients": lambda torch: torch.nn.LazyLinear(3).zero_grad(),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_lazy_modules_do_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    agree(program, oracle)


def without(torch: Any, initialize: bool) -> Any:
    class Incomplete(torch.nn.modules.lazy.LazyModuleMixin, torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.UninitializedParameter()

        def forward(self, x: Any) -> Any:
            return x * self.weight

    if initialize:
        Incomplete.initialize_parameters = lambda self, x: None
    return Incomplete()(torch.ones(1))


REFUSED: dict[str, Program] = {
    "another width": lambda torch: model(torch)[0](torch.ones(2)) + model(torch)[0].weight,
    "groups": lambda torch: torch.nn.LazyConv2d(4, 2, groups=2)(torch.ones(1, 3, 4, 4)),
    "too few dimensions": lambda torch: torch.nn.LazyConv2d(4, 2)(torch.ones(5, 5)),
    "too few for a norm": lambda torch: torch.nn.LazyBatchNorm2d()(torch.ones(4, 2)),
    "no initialization": lambda torch: without(torch, initialize=False),
    "no full initialization": lambda torch: without(torch, initialize=True),
    "count": lambda torch: torch.nn.LazyLinear(3).weight.numel(),
    "sum": lambda torch: torch.sum(torch.nn.LazyLinear(3).weight),
    "operator": lambda torch: torch.nn.LazyLinear(3).weight + 1,
    "shape": lambda torch: torch.nn.LazyLinear(3).weight.shape,
    "share": lambda torch: torch.nn.LazyLinear(3).share_memory(),
    "integers": lambda torch: torch.nn.UninitializedParameter(dtype=torch.int64),
    "load into another": lambda torch: torch.nn.Linear(4, 3).load_state_dict(
        torch.nn.LazyLinear(3).state_dict()
    ),
    "missing": lambda torch: torch.nn.LazyLinear(3).load_state_dict({"bias": torch.ones(3)}),
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_lazy_modules_refuse_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    refuse(program, oracle)


def test_sizes_of_a_loaded_layer_are_known() -> None:
    layer = nn.LazyConv2d(4, 2)
    layer.load_state_dict(nn.Conv2d(3, 4, 2).state_dict())
    layer(gradfn.ones(1, 3, 4, 4))
    assert repr(layer) == "Conv2d(3, 4, kernel_size=(2, 2), stride=(1, 1))"


def test_buffers_without_shape_can_be_copied() -> None:
    twin = copy.deepcopy(nn.LazyBatchNorm2d())
    assert is_lazy(twin.running_mean)
    assert repr(twin(gradfn.ones(2, 3, 1, 1)).shape) == "torch.Size([2, 3, 1, 1])"


def test_plain_operators_stay_on_the_fast_path() -> None:
    from gradfn.ops.overrides import OVERRIDING

    assert not any(issubclass(nn.UninitializedParameter, kind) for kind in OVERRIDING)
