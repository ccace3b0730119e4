"""state_dict and load_state_dict, compared with PyTorch."""

from __future__ import annotations

from collections import OrderedDict
from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

import gradfn
from gradfn import nn


def net(torch: Any) -> Any:
    nn = torch.nn
    module = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU(), nn.Linear(3, 1)))
    module.register_buffer("step", torch.tensor(4))
    module.register_buffer("scratch", torch.ones(2), persistent=False)
    module._version = 5
    return module


def with_extra_state(torch: Any) -> Any:
    class Extra(torch.nn.Linear):
        def get_extra_state(self) -> Any:
            return {"epoch": getattr(self, "epoch", 0)}

        def set_extra_state(self, state: Any) -> None:
            self.epoch = state["epoch"]

    return Extra(1, 1)


def loaded(torch: Any, state: Any, **options: Any) -> Any:
    """What loading `state` reports, and the parameters afterwards."""
    module = net(torch)
    report = module.load_state_dict(state(torch), **options)
    requires = [parameter.requires_grad for parameter in module.parameters()]
    return [repr(report), *report, module.state_dict(), requires]


def other_state(torch: Any) -> Any:
    torch.manual_seed(1)
    return net(torch).state_dict()


def changed(**changes: Any) -> Any:
    """A state with other tensors under these names, `_` for a dot; None removes the name."""

    def state(torch: Any) -> Any:
        made = other_state(torch)
        for name, change in changes.items():
            key = name.replace("_", ".")
            if change is None:
                del made[key]
            else:
                made[key] = change(torch) if callable(change) else change
        return made

    return state


def hooked(register: str, hook: Any, run: Any) -> Program:
    """Registers ``hook(notes, ...)`` by the method `register`, then runs; gives the notes too."""

    def program(torch: Any) -> Any:
        module, notes = net(torch), []
        getattr(module[1], register)(lambda *arguments: hook(notes, *arguments))
        return [run(torch, module), notes]

    return program


def saved(torch: Any, module: Any) -> Any:
    return module.state_dict()


def load_other(torch: Any, module: Any) -> Any:
    return [repr(module.load_state_dict(other_state(torch), strict=False)), module.state_dict()]


def rename(notes: list[Any], state: Any, prefix: str, metadata: Any, *rest: Any) -> None:
    notes += [prefix, metadata, *rest]
    state[prefix + "1.weight"] = state.pop(prefix + "1.weight") * 0


def missed(notes: list[Any], module: Any, keys: Any) -> None:
    notes += [type(module).__name__, keys.missing_keys, keys.unexpected_keys]
    keys.missing_keys.append("added by the hook")


PROGRAMS: dict[str, Program] = {
    "state": lambda torch: net(torch).state_dict(),
    "metadata": lambda torch: net(torch).state_dict()._metadata,
    "prefix": lambda torch: net(torch).state_dict(prefix="p."),
    "destination": lambda torch: net(torch).state_dict(destination=OrderedDict(a=1), prefix="b."),
    "positional": lambda torch: net(torch).state_dict(OrderedDict(a=1), "b.", True),
    "keep_vars": lambda torch: net(torch).state_dict(keep_vars=True),
    "extra state": lambda torch: with_extra_state(torch).state_dict(),
    "type": lambda torch: type(net(torch).state_dict()).__name__,
    "shares memory": lambda torch: shared(torch),
    "load": lambda torch: loaded(torch, other_state),
    "load a dict": lambda torch: loaded(torch, lambda torch: dict(other_state(torch))),
    "assign": lambda torch: loaded(torch, other_state, assign=True),
    "assign doubles": lambda torch: loaded(
        torch, changed(step=lambda torch: torch.tensor(1.5, dtype=torch.float64)), assign=True
    ),
    "convert": lambda torch: loaded(
        torch, changed(**{"0_bias": lambda torch: torch.ones(3, dtype=torch.float64)})
    ),
    "old scalars": lambda torch: loaded(torch, changed(step=lambda torch: torch.tensor([7]))),
    "loose": lambda torch: loaded(
        torch, changed(**{"1_1_bias": None, "new": 3, "0_new": 4}), strict=False
    ),
    "load extra state": lambda torch: extra_loaded(torch),
    "pre-hook of state_dict": hooked(
        "register_state_dict_pre_hook", lambda notes, *args: notes.extend(args[1:]), saved
    ),
    "post-hook of state_dict": hooked(
        "register_state_dict_post_hook",
        lambda notes, module, state, prefix, metadata: notes.extend(
            [list(state), prefix, metadata]
        ),
        saved,
    ),
    "private hook of state_dict": hooked(
        "_register_state_dict_hook", lambda notes, module, state, *rest: OrderedDict(a=1), saved
    ),
    "pre-hook of load_state_dict": hooked("_register_load_state_dict_pre_hook", rename, load_other),
    "pre-hook with module": hooked(
        "register_load_state_dict_pre_hook",
        lambda notes, module, *rest: rename(notes, *rest),
        load_other,
    ),
    "post-hook of load_state_dict": hooked(
        "register_load_state_dict_post_hook", missed, load_other
    ),
}


def shared(torch: Any) -> Any:
    module = net(torch)
    module.state_dict()["0.bias"].fill_(7)
    return module[0].bias


def extra_loaded(torch: Any) -> int:
    module = with_extra_state(torch)
    state = module.state_dict()
    state["_extra_state"] = {"epoch": 9}
    module.load_state_dict(state)
    return int(module.epoch)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_states_are_pytorchs(oracle: ModuleType, program: Program) -> None:
    agree(program, oracle)


REFUSED: dict[str, Program] = {
    "no mapping": lambda torch: net(torch).load_state_dict(3),
    "missing": lambda torch: loaded(torch, changed(**{"1_1_bias": None})),
    "unexpected": lambda torch: loaded(torch, changed(**{"1_1_new": 3, "new": 3, "7_a": 3})),
    "both": lambda torch: loaded(torch, changed(**{"1_1_bias": None, "new": 3})),
    "shape": lambda torch: loaded(torch, changed(step=lambda torch: torch.ones(2, 2))),
    "shape, loosely": lambda torch: loaded(
        torch, changed(step=lambda torch: torch.ones(2, 2)), strict=False
    ),
    "no tensor": lambda torch: loaded(torch, changed(step=3)),
    "extra state is missing": lambda torch: with_extra_state(torch).load_state_dict(
        torch.nn.Linear(1, 1).state_dict()
    ),
    "extra state is unexpected": lambda torch: torch.nn.Linear(1, 1).load_state_dict(
        with_extra_state(torch).state_dict()
    ),
    "post-hook with a result": hooked(
        "register_state_dict_post_hook", lambda notes, *args: {}, saved
    ),
    "loading hook with a result": hooked(
        "register_load_state_dict_post_hook", lambda notes, *args: 3, load_other
    ),
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_what_pytorch_refuses_to_load_is_refused(oracle: ModuleType, program: Program) -> None:
    refuse(program, oracle)


def test_all_differences_are_told_at_once() -> None:
    module = nn.Linear(2, 3)
    with pytest.raises(RuntimeError) as caught:
        module.load_state_dict({"weight": gradfn.ones(1), "a": 3, "b.c": 4})
    assert str(caught.value).splitlines() == [
        "Error(s) in loading state_dict for Linear:",
        '\tMissing key(s) in state_dict: "bias". ',
        '\tUnexpected key(s) in state_dict: "a", "b.c". ',
        "\tsize mismatch for weight: copying a param with shape torch.Size([1]) from checkpoint, "
        "the shape in current model is torch.Size([3, 2]).",
    ]


def test_a_state_of_pytorchs_can_be_loaded(oracle: ModuleType) -> None:
    theirs = net(oracle)
    arrays = {name: tensor.numpy() for name, tensor in theirs.state_dict().items()}
    mine = net(gradfn)
    mine.load_state_dict({name: gradfn.from_numpy(array) for name, array in arrays.items()})
    x = [[1.0, 2.0]]
    output = mine(gradfn.tensor(x)).item()
    assert output == pytest.approx(theirs(oracle.tensor(x)).item())
