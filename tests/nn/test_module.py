"""nn.Module: attributes, the tree, conversions, printing, copies; compared with PyTorch."""

from __future__ import annotations

import copy
import pickle
import sys
from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

import gradfn
from gradfn import nn


def tree(torch: Any) -> Any:
    """Modules in modules, with everything that a module can have."""
    nn = torch.nn

    class Scale(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor = nn.Parameter(torch.ones(2))
            self.offset = nn.Buffer(torch.zeros(2))
            self.register_buffer("count", torch.tensor(3), persistent=False)
            self.register_buffer("nothing", None)
            self.register_parameter("no_bias", None)
            self.plain = 7

        def forward(self, x: Any) -> Any:
            return x * self.factor + self.offset

        def extra_repr(self) -> str:
            return "one line\nanother"

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(2, 3)
            self.body = nn.Sequential(nn.Linear(3, 2), Scale(), nn.ReLU())
            self.again = self.first
            self.missing = None

        def forward(self, x: Any) -> Any:
            return self.body(self.first(x))

    return Net()


def assigned(value: Any) -> Program:
    """Gives each kind of attribute another value of the kind that `value` makes."""

    def program(torch: Any) -> Any:
        made = []
        for name in ("weight", "bias", "sub", "buffer", "plain"):
            module = torch.nn.Linear(1, 1)
            module.sub = torch.nn.Identity()
            module.register_buffer("buffer", torch.ones(1))
            module.plain = 3
            try:
                setattr(module, name, value(torch))
            except (KeyError, TypeError) as error:
                made.append(str(error))
            made.append([list(module._parameters), list(module._buffers), list(module._modules)])
            made.append(name in vars(module))
        return made

    return program


PROGRAMS: dict[str, Program] = {
    "repr": lambda torch: repr(tree(torch)),
    "call": lambda torch: tree(torch)(torch.ones(1, 2)),
    "names": lambda torch: [name for name, _ in tree(torch).named_modules()],
    "names twice": lambda torch: [n for n, _ in tree(torch).named_modules(remove_duplicate=False)],
    "names prefixed": lambda torch: [name for name, _ in tree(torch).named_modules(prefix="p")],
    "children": lambda torch: [name for name, _ in tree(torch).named_children()],
    "modules": lambda torch: [type(module).__name__ for module in tree(torch).modules()],
    "parameters": lambda torch: [
        *dict(tree(torch).named_parameters()),
        *dict(tree(torch).named_parameters("p", recurse=False)),
        *dict(tree(torch).named_parameters(remove_duplicate=False)),
        len(list(tree(torch).parameters())),
    ],
    "buffers": lambda torch: [
        *dict(tree(torch).named_buffers()),
        len(list(tree(torch).buffers(recurse=False))),
    ],
    "submodule": lambda torch: [
        tree(torch).get_submodule("body.0"),
        tree(torch).get_parameter("body.1.factor"),
        tree(torch).get_buffer("body.1.offset"),
        type(tree(torch).get_submodule("")).__name__,
    ],
    "apply": lambda torch: visited(tree(torch)),
    "assign parameters": assigned(lambda torch: torch.nn.Parameter(torch.ones(2))),
    "assign modules": assigned(lambda torch: torch.nn.ReLU()),
    "assign tensors": assigned(lambda torch: torch.ones(2)),
    "assign buffers": assigned(lambda torch: torch.nn.Buffer(torch.ones(2), persistent=False)),
    "assign None": assigned(lambda torch: None),
    "assign numbers": assigned(lambda torch: 3),
    "double": lambda torch: tree(torch).double().state_dict(),
    "half": lambda torch: tree(torch).half().state_dict(),
    "to float64": lambda torch: tree(torch).to(torch.float64).state_dict(),
    "to like": lambda torch: tree(torch).to(torch.ones(1, dtype=torch.float64)).state_dict(),
    "to cpu": lambda torch: tree(torch).to("cpu", torch.float64, non_blocking=True).state_dict(),
    "to by name": lambda torch: tree(torch).to(device="cpu", dtype=torch.float64).state_dict(),
    "to complex": lambda torch: str(tree(torch).to(torch.complex64).first.weight.dtype),
    "type": lambda torch: str(torch.nn.Linear(1, 1).type(torch.float64).weight.dtype),
    "keeps identity": lambda torch: same_after(tree(torch), lambda module: module.double()),
    "train": lambda torch: [module.training for module in tree(torch).eval().modules()],
    "requires_grad_": lambda torch: [
        parameter.requires_grad for parameter in tree(torch).requires_grad_(False).parameters()
    ],
    "zero_grad": lambda torch: zeroed(tree(torch), torch),
    "set_submodule": lambda torch: replaced(tree(torch), torch),
    "delete": lambda torch: deleted(tree(torch)),
    "own attributes": lambda torch: list(vars(torch.nn.Module())),
    "grad converted": lambda torch: grad_converted(torch),
    "deepcopy": lambda torch: copy.deepcopy(tree(torch)).state_dict(),
    "pickle": lambda torch: pickle.loads(
        pickle.dumps(torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.ReLU()))
    ).state_dict(),
    "dir": lambda torch: [
        name in dir(tree(torch)) for name in ("first", "body", "forward", "weight", "0")
    ],
    "call_super_init": lambda torch: both_bases(torch),
}


def visited(module: Any) -> list[str]:
    seen: list[str] = []
    module.apply(lambda each: seen.append(type(each).__name__))
    return seen


def same_after(module: Any, convert: Any) -> list[bool]:
    before = list(module.parameters())
    convert(module)
    return [a is b for a, b in zip(before, module.parameters(), strict=True)]


def zeroed(module: Any, torch: Any) -> list[Any]:
    module(torch.ones(1, 2)).sum().backward(create_graph=True)
    module.zero_grad(set_to_none=False)
    zeros = [parameter.grad for parameter in module.parameters()]
    module.zero_grad()
    return [zeros, [parameter.grad for parameter in module.parameters()]]


def replaced(module: Any, torch: Any) -> str:
    module.set_submodule("body.0", torch.nn.Identity())
    module.set_submodule("new", torch.nn.Tanh())
    return repr(module)


def deleted(module: Any) -> list[Any]:
    del module.body[1].factor, module.body[1].count, module.body[1].plain, module.first
    scale = module.body[1]
    return [list(module.state_dict()), sorted(scale._non_persistent_buffers_set)]


def grad_converted(torch: Any) -> Any:
    module = torch.nn.Linear(1, 1)
    module(torch.ones(1)).backward()
    return module.double().weight.grad


def both_bases(torch: Any) -> list[Any]:
    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

    class Both(torch.nn.Module, Named):
        call_super_init = True

        def __init__(self) -> None:
            super().__init__("both")

    return [Both().name, Both().training]


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_modules_do_what_pytorch_does(oracle: ModuleType, program: Program) -> None:
    agree(program, oracle)


def unready(torch: Any, value: Any) -> Any:
    class Unready(torch.nn.Module):
        def __init__(self) -> None:
            self.attribute = value

    return Unready()


def computed(torch: Any) -> Any:
    parameter = torch.nn.Parameter(torch.ones(1), requires_grad=False)
    return parameter.mul_(torch.ones(1, requires_grad=True))


REFUSED: dict[str, Program] = {
    "parameter that was computed": lambda torch: torch.nn.Module().register_parameter(
        "p", computed(torch)
    ),
    "parameter too early": lambda torch: unready(torch, torch.nn.Parameter(torch.ones(1))),
    "module too early": lambda torch: unready(torch, torch.nn.Identity()),
    "buffer too early": lambda torch: unready(torch, torch.nn.Buffer(torch.ones(1))),
    "no attribute": lambda torch: torch.nn.Linear(1, 1).nonesuch,
    "no attribute to delete": lambda torch: torch.nn.Linear(1, 1).__delattr__("nonesuch"),
    "arguments": lambda torch: torch.nn.Module(1),
    "keywords": lambda torch: torch.nn.Module(a=1),
    "no forward": lambda torch: torch.nn.Module()(1),
    "buffer with a dot": lambda torch: torch.nn.Module().register_buffer("a.b", None),
    "buffer without name": lambda torch: torch.nn.Module().register_buffer("", None),
    "buffer named 3": lambda torch: torch.nn.Module().register_buffer(3, None),
    "buffer named as a method": lambda torch: torch.nn.Module().register_buffer("apply", None),
    "buffer 3": lambda torch: torch.nn.Module().register_buffer("b", 3),
    "parameter with a dot": lambda torch: torch.nn.Module().register_parameter("a.b", None),
    "parameter without name": lambda torch: torch.nn.Module().register_parameter("", None),
    "parameter named 3": lambda torch: torch.nn.Module().register_parameter(3, None),
    "parameter named as a method": lambda torch: torch.nn.Module().register_parameter("to", None),
    "parameter 3": lambda torch: torch.nn.Module().register_parameter("p", 3),
    "parameter that is a tensor": lambda torch: torch.nn.Module().register_parameter(
        "p", torch.ones(1)
    ),
    "module with a dot": lambda torch: torch.nn.Module().add_module("a.b", None),
    "module without name": lambda torch: torch.nn.Module().add_module("", None),
    "module named 3": lambda torch: torch.nn.Module().register_module(3, None),
    "module 3": lambda torch: torch.nn.Module().add_module("m", 3),
    "module named as a method": lambda torch: torch.nn.Module().add_module("to", None),
    "no submodule": lambda torch: tree(torch).get_submodule("a.b"),
    "parameter as submodule": lambda torch: tree(torch).get_submodule("first.weight"),
    "no parameter": lambda torch: tree(torch).get_parameter("nonesuch"),
    "buffer as parameter": lambda torch: tree(torch).get_parameter("body.1.offset"),
    "parameter as buffer": lambda torch: tree(torch).get_buffer("first.weight"),
    "set without name": lambda torch: tree(torch).set_submodule("", torch.nn.Identity()),
    "set what is no module": lambda torch: tree(torch).set_submodule("first", 3),
    "set strictly": lambda torch: tree(torch).set_submodule("n", torch.nn.ReLU(), strict=True),
    "set a parameter": lambda torch: tree(torch).set_submodule("first.bias", torch.nn.ReLU()),
    "train 3": lambda torch: torch.nn.Linear(1, 1).train(3),
    "to int": lambda torch: torch.nn.Linear(1, 1).to(torch.int32),
    "cuda": lambda torch: torch.nn.Linear(1, 1).cuda(),
    "to cuda": lambda torch: torch.nn.Linear(1, 1).to("cuda"),
    "get_extra_state": lambda torch: torch.nn.Module().get_extra_state(),
    "set_extra_state": lambda torch: torch.nn.Module().set_extra_state(1),
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_modules_refuse_what_pytorch_refuses(oracle: ModuleType, program: Program) -> None:
    refuse(program, oracle)


def test_a_copy_shares_nothing() -> None:
    module = tree(gradfn)
    twin = copy.deepcopy(module)
    with gradfn.no_grad():
        twin.first.weight.fill_(0)
    assert module.first.weight.count_nonzero() == 6
    assert twin.again is twin.first


def test_calls_without_hooks_go_straight_to_forward() -> None:
    frames = []

    class Watching(nn.Module):
        def forward(self) -> None:
            frames.append(sys._getframe(1).f_code.co_qualname)

    Watching()()
    assert frames == ["Module.__call__"]
