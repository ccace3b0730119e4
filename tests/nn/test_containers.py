"""Sequential, ModuleList, ModuleDict, ParameterList and ParameterDict, compared with PyTorch."""

from __future__ import annotations

from collections import OrderedDict
from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

import gradfn
from gradfn import nn


def on(make: str, action: str) -> Program:
    """Evaluates `action` on the container that `make` makes; gives the container too."""

    def program(torch: Any) -> Any:
        names = {"torch": torch, "nn": torch.nn, "OrderedDict": OrderedDict}
        container = eval(make, names)
        scope = names | {"c": container}
        try:
            result = eval(action, scope)
        except SyntaxError:
            exec(action, scope)
            result = None
        container = scope["c"]
        return [str(result), repr(container), list(container.state_dict()), len(container)]

    return program


ROW = "nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Tanh())"
NAMED = "nn.Sequential(OrderedDict(a=nn.Linear(1, 2), b=nn.ELU(2.0)))"
LIST = "nn.ModuleList([nn.Linear(1, 2), nn.Linear(1, 2), nn.ReLU()])"
DICT = "nn.ModuleDict({'z': nn.ReLU(), 'a': nn.Linear(1, 1)})"
NUMBERS = "nn.ParameterList([torch.ones(2), nn.Parameter(torch.ones(3, 1)), 3, nn.ReLU(), 'a'])"
NAMES = "nn.ParameterDict({'a': torch.ones(2), 'b': nn.Parameter(torch.ones(3)), 'c': 3})"

ACTIONS = {
    ROW: """c[0]|c[-1]|c[1:]|c[:2].append(nn.GELU())|c(torch.ones(1))|c + c|c * 2|2 * c
        |c.append(nn.Sigmoid())|c.insert(1, nn.Sigmoid())|c.insert(-1, nn.Sigmoid())|c.pop(0)
        |c.pop(slice(0, 2))|c.extend([nn.ReLU()])|c.extend(nn.Sequential(nn.ReLU()))
        |c.__iadd__(nn.Sequential(nn.ELU()))|c.__imul__(3)|list(c)|del c[0]|del c[-1]|del c[0:2]
        |c[1] = nn.Sigmoid()
        |list(c._modules)|'0' in dir(c)|c.eval().training|c[0].weight""",
    NAMED: "c.a|c[1]|c[0:1]|c.append(nn.Tanh())|del c[0]|c.pop(1)|c[0] = nn.Tanh()|c.b.alpha",
    LIST: """c[0]|c[-1]|c[0:2]|c + [nn.ReLU()]|c.append(nn.Tanh())|c.extend([nn.ReLU(), nn.ReLU()])
        |c.insert(1, nn.Tanh())|c.pop(0)|c.pop(-1)|c.__iadd__([nn.ELU()])|del c[0]|del c[0:2]
        |c[1] = nn.Tanh()|list(reversed(c))|nn.ReLU() in c|c.append(None)
        |c.append(nn.ModuleList(c))""",
    DICT: """c['a']|list(c)|'z' in c|c.pop('z')|c.clear()|list(c.keys())|list(c.items())
        |list(c.values())|c.update({'b': nn.Tanh(), 'a': nn.ELU()})|c.update([('b', nn.Tanh())])
        |c.update(c)|c['new'] = nn.Tanh()|del c['a']|c.z""",
    NUMBERS: """c[0]|c[2]|c[-1]|c[1:3]|c.append(torch.ones(1))|c.extend([torch.ones(1), 5])
        |c.__iadd__([torch.ones(1)])|c[0] = torch.ones(7)|c[2] = torch.ones(7)|len(list(c))
        |list(c._parameters)|list(c.parameters())|'0' in dir(c)""",
    NAMES: """c['a']|c['c']|c.a|list(c)|'a' in c|c.pop('a')|c.popitem()|c.get('a')|c.get('z', 4)
        |c.setdefault('a')|c.setdefault('g', torch.ones(1))|c.fromkeys(['x', 'y'], 1)|c.copy()
        |c | {'r': torch.ones(1)}|{'r': torch.ones(1)} | c|c.__ior__({'y': torch.ones(1)})
        |c.update([('y', 2)])|list(c.keys())|list(c.items())|list(c.values())|list(reversed(c))
        |c.clear()|del c['a']|c['a'] = torch.ones(5)|c['k'] = nn.ReLU()""",
}
CASES = [
    (make, action.strip())
    for make, actions in ACTIONS.items()
    for action in actions.replace(" | ", " OR ").split("|")
]

REFUSED = {
    ROW: """c[3]|c[-4]|c['1']|c + 3|c * 0|c * 1.5|c.append(3)|c.insert(9, nn.Tanh())|c.insert(1, 3)
        |c.extend(3)|c.__iadd__(3)|c.__imul__(0)|nn.Sequential(3)
        |nn.Sequential({'a': nn.ReLU()})""",
    LIST: "c[3]|c[-4]|c['a']|c + 3|c.append(3)|c.extend(3)|c.pop(9)|c(1)|nn.ModuleList(3)",
    DICT: """c['q']|c.pop('q')|c.update(3)|c.update([3])|c.update([(1, 2, 3)])|c.update([(1, 2)])
        |c(1)|nn.ModuleDict({'keys': nn.ReLU()})""",
    NUMBERS: "c[5]|c[-6]|c['a']|c.extend(3)|c(1)|c + [2]",
    NAMES: "c[1]|c['q']|c.update([3])|c.update([(1, 2, 3)])|c(1)",
}
WRONG = [
    (make, action.strip()) for make, actions in REFUSED.items() for action in actions.split("|")
]


@pytest.mark.parametrize(("make", "action"), CASES)
def test_containers_do_what_pytorchs_do(oracle: ModuleType, make: str, action: str) -> None:
    agree(on(make, action.replace(" OR ", " | ")), oracle)


@pytest.mark.parametrize(("make", "action"), WRONG)
def test_containers_refuse_what_pytorchs_do(oracle: ModuleType, make: str, action: str) -> None:
    refuse(on(make, action), oracle)


def test_insertion_into_a_list_follows_lists() -> None:
    """PyTorch's breaks the numbers for indices that are negative or too large."""
    modules = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    modules.insert(-1, nn.ELU())
    modules.insert(9, nn.GELU())
    assert [type(module).__name__ for module in modules] == ["ReLU", "ELU", "Tanh", "GELU"]
    assert list(modules._modules) == ["0", "1", "2", "3"]


def test_parameters_that_tensors_become_share_their_memory() -> None:
    tensor = gradfn.ones(2)
    parameters = nn.ParameterList([tensor])
    tensor.fill_(3)
    assert parameters[0].tolist() == [3, 3]
