"""Hooks of modules: their order, what they see, what they replace; compared with PyTorch."""

from __future__ import annotations

from collections import namedtuple
from contextlib import ExitStack
from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

import gradfn
from gradfn import nn

Pair = namedtuple("Pair", "a b")


def noting(notes: list[Any], name: str, result: Any = None) -> Any:
    """A hook that notes its name and what it sees, but for the module."""

    def hook(module: Any, *args: Any) -> Any:
        notes.append([name, type(module).__name__, *args])
        return result

    return hook


def run(torch: Any, module: Any, *inputs: Any, backward: bool = True) -> Any:
    """The output, the gradients of the inputs and the graph after a call and a backward pass."""
    output = module(*inputs)
    first = output[0] if isinstance(output, tuple) else output
    nodes = graph(first.grad_fn)
    if backward:
        first.sum().backward()
    return [output, nodes, [x.grad for x in inputs if torch.is_tensor(x)]]


def graph(node: Any) -> Any:
    if node is None:
        return None
    return [node.name(), [graph(next_node) for next_node, _ in node.next_functions]]


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor([list(values)], requires_grad=True)


def forward_order(torch: Any) -> Any:
    module, notes = torch.nn.Linear(2, 1), []
    module.register_forward_hook(noting(notes, "hook 1"))
    module.register_forward_pre_hook(noting(notes, "pre 1"))
    module.register_forward_hook(noting(notes, "hook 2"))
    module.register_forward_pre_hook(noting(notes, "pre 2"))
    module.register_forward_hook(noting(notes, "hook 0"), prepend=True)
    module.register_forward_pre_hook(noting(notes, "pre 0"), prepend=True)
    return [run(torch, module, leaf(torch, 1.0, 2.0)), notes]


def forward_replaced(torch: Any) -> Any:
    module = torch.nn.Linear(2, 1)
    module.register_forward_pre_hook(lambda module, args: args[0] * 2)
    module.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    module.register_forward_hook(lambda module, args, output: output * 3)
    return run(torch, module, leaf(torch, 1.0, 2.0))


class Keywords:
    """Makes a module that takes a keyword."""

    def __new__(cls, torch: Any) -> Any:
        class Scaled(torch.nn.Module):
            def forward(self, x: Any, scale: float = 1.0, fail: bool = False) -> Any:
                if fail:
                    raise ValueError("on demand")
                return x * scale

        return Scaled()


def with_keywords(torch: Any) -> Any:
    module, notes = Keywords(torch), []
    module.register_forward_pre_hook(
        lambda module, args, kwargs: (args, {"scale": kwargs["scale"] + 1}), with_kwargs=True
    )
    module.register_forward_hook(noting(notes, "hook"), with_kwargs=True)
    module.register_forward_hook(noting(notes, "plain"))
    return [module(leaf(torch, 1.0), scale=2.0), notes]


def after_an_error(torch: Any) -> Any:
    module, notes = Keywords(torch), []
    module.register_forward_hook(noting(notes, "always"), always_call=True)
    module.register_forward_hook(noting(notes, "only on success"))
    module.register_forward_hook(noting(notes, "kwargs"), always_call=True, with_kwargs=True)
    try:
        module(1.0, fail=True)
    except ValueError as error:
        notes.append(str(error))
    return notes


def error_in_a_hook(torch: Any) -> Any:
    module, notes = Keywords(torch), []

    def failing(module: Any, args: Any, output: Any) -> None:
        notes.append("failing")
        raise KeyError("in the hook")

    module.register_forward_hook(failing, always_call=True)
    module.register_forward_hook(noting(notes, "always"), always_call=True)
    try:
        module(1.0)
    except KeyError as error:
        notes.append(str(error))
    return notes


def backward_order(torch: Any) -> Any:
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
    notes: list[Any] = []
    for part in module.modules():
        part.register_full_backward_hook(noting(notes, "hook"))
        part.register_full_backward_hook(noting(notes, "first"), prepend=True)
        part.register_full_backward_pre_hook(noting(notes, "pre"))
        part.register_full_backward_pre_hook(noting(notes, "first pre"), prepend=True)
    return [run(torch, module, leaf(torch, 1.0, 2.0)), notes]


def backward_replaced(torch: Any) -> Any:
    module = torch.nn.Linear(2, 1)
    module.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 2,))
    module.register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] + 10,))
    ran = run(torch, module, leaf(torch, 1.0, 2.0))
    return [ran, module.weight.grad, module.bias.grad]


def several(torch: Any) -> Any:
    """Tensors with and without gradients among other arguments, and a tuple of outputs."""

    class Several(torch.nn.Module):
        def forward(self, a: Any, number: Any, b: Any, c: Any) -> Any:
            return a * number + b, c, None, b * 2

    module, notes = Several(), []
    module.register_full_backward_hook(noting(notes, "hook"))
    module.register_full_backward_pre_hook(noting(notes, "pre"))
    inputs = leaf(torch, 1.0), 3.0, leaf(torch, 2.0), torch.ones(1)
    output = module(*inputs)
    (output[0] + output[3]).sum().backward()
    return [output, inputs[0].grad, inputs[2].grad, notes]


def named_results(torch: Any) -> Any:
    class Named(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return Pair(x * 2, x * 3)

    module = Named()
    module.register_full_backward_hook(noting([], "hook"))
    output = module(leaf(torch, 1.0))
    return [output[0], output[1]]


def without_input_gradients(torch: Any) -> Any:
    module, notes = torch.nn.Linear(2, 1), []
    module.register_full_backward_hook(noting(notes, "hook"))
    return [run(torch, module, torch.ones(1, 2)), notes]


def dictionary(torch: Any) -> Any:
    class Dictionary(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return {"a": x * 2}

    module, notes = Dictionary(), []
    module.register_full_backward_hook(noting(notes, "hook"))
    x = leaf(torch, 1.0)
    module(x)["a"].sum().backward()
    return [x.grad, notes]


def without_grad(torch: Any) -> Any:
    module = torch.nn.Linear(2, 1)
    module.register_full_backward_hook(noting([], "hook"))
    with torch.no_grad():
        return module(leaf(torch, 1.0, 2.0))


def twice_differentiable(torch: Any) -> Any:
    module, notes = torch.nn.Tanh(), []
    module.register_full_backward_hook(noting(notes, "hook"))
    x = leaf(torch, 0.5)
    (gradient,) = torch.autograd.grad(module(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), x)
    return [gradient.detach(), second, len(notes)]


def last_node(torch: Any) -> Any:
    module, notes = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()), []
    module.register_backward_hook(noting(notes, "hook"))
    return [run(torch, module, leaf(torch, 1.0, 2.0)), notes]


def last_node_of_many(torch: Any) -> Any:
    class Many(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return {"a": x.exp(), "b": 3}

    module, notes = Many(), []
    module.register_backward_hook(noting(notes, "hook"))
    module(leaf(torch, 1.0))["a"].sum().backward()
    return notes


def removed(torch: Any) -> Any:
    module, notes = torch.nn.Linear(2, 1), []
    handles = [
        module.register_forward_hook(noting(notes, "h"), with_kwargs=True, always_call=True),
        module.register_forward_pre_hook(noting(notes, "p"), with_kwargs=True),
        module.register_full_backward_hook(noting(notes, "b")),
    ]
    for handle in handles:
        handle.remove()
    ran = run(torch, module, leaf(torch, 1.0, 2.0))
    kept = [len(value) for name, value in vars(module).items() if "hooks" in name]
    return [ran, notes, kept]


def everywhere(torch: Any) -> Any:
    register, notes = torch.nn.modules.module, []
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    module[0].register_forward_hook(noting(notes, "own"))
    module[0].register_forward_pre_hook(noting(notes, "own pre"))
    module[1].register_full_backward_hook(noting(notes, "own backward"))
    with ExitStack() as stack:
        for handle in (
            register.register_module_forward_pre_hook(noting(notes, "pre")),
            register.register_module_forward_hook(noting(notes, "hook")),
            register.register_module_full_backward_pre_hook(noting(notes, "backward pre")),
            register.register_module_full_backward_hook(noting(notes, "backward")),
        ):
            stack.enter_context(handle)
        ran = run(torch, module, leaf(torch, 1.0, 2.0))
    module(leaf(torch, 1.0, 2.0))
    return [ran, notes]


def registrations(torch: Any) -> Any:
    register, notes = torch.nn.modules.module, []

    def note(module: Any, name: str, value: Any) -> None:
        notes.append([type(module).__name__, name, type(value).__name__])

    with ExitStack() as stack:
        for kind in ("parameter", "buffer", "module"):
            add = getattr(register, f"register_module_{kind}_registration_hook")
            stack.enter_context(add(note))
        module = torch.nn.Sequential(torch.nn.Linear(1, 1))
        module.register_buffer("b", torch.ones(1))
    return notes


PROGRAMS = [
    forward_order,
    forward_replaced,
    with_keywords,
    after_an_error,
    error_in_a_hook,
    backward_order,
    backward_replaced,
    several,
    named_results,
    without_input_gradients,
    dictionary,
    without_grad,
    twice_differentiable,
    last_node,
    last_node_of_many,
    removed,
    everywhere,
    registrations,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_hooks_do_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    agree(program, oracle)


def backward_with(hook: Any, inputs_require: bool = True, method: str = "hook") -> Program:
    def program(torch: Any) -> Any:
        module = torch.nn.Linear(2, 1)
        getattr(module, f"register_full_backward_{method}")(hook)
        return module(torch.ones(1, 2, requires_grad=inputs_require)).sum().backward()

    return program


def mixed(first: str, second: str) -> Program:
    def program(torch: Any) -> Any:
        module = torch.nn.Linear(1, 1)
        getattr(module, first)(print)
        return getattr(module, second)(print)

    return program


def wrong_keywords(torch: Any) -> Any:
    module = torch.nn.Linear(1, 1)
    module.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
    return module(torch.ones(1))


REFUSED: dict[str, Program] = {
    "too many gradients": backward_with(lambda module, inputs, outputs: (1, 2)),
    "too many output gradients": backward_with(lambda module, outputs: (1, 2), method="pre_hook"),
    "a gradient nobody wants": backward_with(
        lambda module, inputs, outputs: outputs, inputs_require=False
    ),
    "full after regular": mixed("register_backward_hook", "register_full_backward_hook"),
    "regular after full": mixed("register_full_backward_hook", "register_backward_hook"),
    "arguments that are no pair": wrong_keywords,
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_what_hooks_must_not_do_is_refused(oracle: ModuleType, program: Program) -> None:
    refuse(program, oracle)


def test_the_error_of_forward_is_the_one_that_is_raised() -> None:
    module = Keywords(gradfn)
    module.register_forward_hook(lambda *args: 1 / 0, always_call=True)
    with (
        pytest.raises(ValueError, match="on demand"),
        pytest.warns(UserWarning, match="silenced as another error was raised in forward"),
    ):
        module(1.0, fail=True)


def test_hooks_that_see_only_the_last_node_are_deprecated() -> None:
    module = nn.Tanh()
    module.register_backward_hook(print)
    with pytest.warns(FutureWarning, match="Using a non-full backward hook"):
        module(gradfn.ones(1, requires_grad=True))
