"""nn.utils.parametrize and the parametrizations, compared with PyTorch."""

from __future__ import annotations

import copy
import pickle
from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

import gradfn
from gradfn import nn
from gradfn.nn.utils import parametrizations, parametrize


def numbers(torch: Any, *shape: int) -> Any:
    count = gradfn.Size(shape).numel()
    return (torch.arange(float(count)) * 0.37 % 2 - 0.9).reshape(shape)


def kinds(torch: Any) -> Any:
    """Parametrizations of a user."""

    class Symmetric(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).T

    class Settable(Symmetric):
        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    class Outer(torch.nn.Module):  # type: ignore[misc]
        def forward(self, a: Any, b: Any) -> Any:
            return a @ b

        def right_inverse(self, x: Any) -> Any:
            return x[:, :1].clone(), x[:1].clone()

    class Scaled(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.factor = torch.nn.Parameter(torch.full((1,), 2.0))

        def forward(self, x: Any) -> Any:
            return x * self.factor

        def right_inverse(self, x: Any) -> Any:
            return x / self.factor.detach()

    class Cut(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x[:2]

    class Wide(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x.double()

    class Text(Symmetric):
        def right_inverse(self, x: Any) -> Any:
            return "text"

    return {kind.__name__: kind for kind in (Settable, Symmetric, Outer, Scaled, Cut, Wide, Text)}


def layer(torch: Any, *names: str, unsafe: bool = False) -> Any:
    """A linear layer with these parametrizations of its weight."""
    made, known = torch.nn.Linear(3, 3), kinds(torch)
    for name in names:
        torch.nn.utils.parametrize.register_parametrization(
            made, "weight", known[name](), unsafe=unsafe
        )
    return made


def used(torch: Any, made: Any, x: Any) -> Any:
    made(x).sin().sum().backward()
    parameters = [(name, p.grad) for name, p in made.named_parameters()]
    return [repr(made), made.state_dict(), made.weight, parameters, torch.rand(1)]


def registered(*names: str, **options: Any) -> Program:
    return lambda torch: used(torch, layer(torch, *names, **options), numbers(torch, 2, 3))


def assigned(torch: Any) -> Any:
    made = layer(torch, "Settable", "Scaled")
    made.weight = numbers(torch, 3, 3)
    return [made.weight, made.state_dict()]


def removed(*names: str, leave: bool = True) -> Program:
    def program(torch: Any) -> Any:
        made = layer(torch, *names)
        before = made.weight.detach().clone()
        result = torch.nn.utils.parametrize.remove_parametrizations(made, "weight", leave)
        same = bool((made.weight == before).all())
        return [result is made, type(made).__name__, made.weight, same, made.state_dict()]

    return program


def two_tensors(torch: Any) -> Any:
    made, known = layer(torch, "Settable"), kinds(torch)
    utils = torch.nn.utils.parametrize
    utils.register_parametrization(made, "bias", known["Scaled"]())
    both = [repr(made), made.state_dict(), utils.is_parametrized(made, "bias")]
    utils.remove_parametrizations(made, "weight")
    one = [repr(made), utils.is_parametrized(made, "weight"), utils.is_parametrized(made)]
    utils.remove_parametrizations(made, "bias")
    return [both, one, repr(made), utils.is_parametrized(made)]


def buffer(torch: Any) -> Any:
    made = torch.nn.BatchNorm1d(2)
    utils = torch.nn.utils.parametrize
    utils.register_parametrization(made, "running_mean", kinds(torch)["Scaled"]())
    before = [made.state_dict(), made.running_mean, list(dict(made.named_buffers()))]
    utils.remove_parametrizations(made, "running_mean")
    return [before, made.state_dict()]


def caching(torch: Any) -> Any:
    made, cached = layer(torch, "Scaled"), torch.nn.utils.parametrize.cached
    with cached():
        inside = [made.weight is made.weight]
        with cached():
            inside.append(made.weight is made.weight)
        inside.append(made.weight is made.weight)
        two = made(numbers(torch, 1, 3)).sum() + made.weight.sum()
    two.backward()
    return [inside, made.weight is made.weight, made.parametrizations.weight.original.grad]


def transferred(tensor: str | None, *names: str) -> Program:
    def program(torch: Any) -> Any:
        target, source = torch.nn.Linear(3, 3), layer(torch, *names)
        utils = torch.nn.utils.parametrize
        result = utils.transfer_parametrizations_and_params(source, target, tensor)
        return [result is target, repr(target), target.state_dict(), target.weight]

    return program


def kind_before(torch: Any) -> Any:
    utils = torch.nn.utils.parametrize
    made = [layer(torch, "Settable"), torch.nn.Linear(2, 2)]
    return [utils.type_before_parametrizations(each) is torch.nn.Linear for each in made]


def modes(torch: Any) -> Any:
    made = torch.nn.Linear(3, 3).eval()
    utils = torch.nn.utils.parametrize
    utils.register_parametrization(made, "weight", kinds(torch)["Scaled"]())
    half = made.double()
    return [[m.training for m in made.modules()], str(half.weight.dtype), half.weight]


def recurrent(torch: Any) -> Any:
    made = torch.nn.LSTM(2, 2)
    utils = torch.nn.utils.parametrize
    utils.register_parametrization(made, "weight_hh_l0", kinds(torch)["Scaled"]())
    return made(numbers(torch, 3, 1, 2))[0].detach()


PROGRAMS: dict[str, Program] = {
    "one": registered("Settable"),
    "without inverse": registered("Symmetric"),
    "several originals": registered("Outer"),
    "with a parameter": registered("Scaled"),
    "in a row": registered("Settable", "Scaled"),
    "another dtype": lambda torch: layer(torch, "Wide", unsafe=True).weight,
    "another shape": lambda torch: layer(torch, "Cut", unsafe=True).weight,
    "assigned": assigned,
    "removed": removed("Settable"),
    "removed with its value": removed("Scaled"),
    "removed to the original": removed("Settable", leave=False),
    "removed from several": removed("Outer"),
    "two tensors": two_tensors,
    "buffer": buffer,
    "cached": caching,
    "transferred": transferred(None, "Scaled"),
    "transferred by name": transferred("weight", "Settable", "Scaled"),
    "transferred several originals": transferred(None, "Outer"),
    "nothing to transfer": transferred(None),
    "class": kind_before,
    "modes": modes,
    "recurrent": recurrent,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_parametrized_modules_do_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    agree(program, oracle)


def register(torch: Any, name: str, kind: str = "Symmetric") -> Any:
    made = torch.nn.Linear(3, 3)
    return torch.nn.utils.parametrize.register_parametrization(made, name, kinds(torch)[kind]())


def remove(torch: Any, name: str, *names: str, leave: bool = True) -> Any:
    return torch.nn.utils.parametrize.remove_parametrizations(layer(torch, *names), name, leave)


REFUSED: dict[str, Program] = {
    "another shape": lambda torch: layer(torch, "Cut"),
    "another dtype": lambda torch: layer(torch, "Wide"),
    "another shape later": lambda torch: layer(torch, "Settable", "Cut"),
    "another dtype later": lambda torch: layer(torch, "Settable", "Wide"),
    "no tensor": lambda torch: layer(torch, "Text"),
    "no tensor later": lambda torch: layer(torch, "Settable", "Text"),
    "no such tensor": lambda torch: register(torch, "w"),
    "an attribute": lambda torch: register(torch, "in_features"),
    "assign without inverse": lambda torch: setattr(
        layer(torch, "Symmetric"), "weight", torch.ones(3, 3)
    ),
    "assign a parameter": lambda torch: setattr(
        layer(torch, "Settable"), "weight", torch.nn.Parameter(torch.ones(3, 3))
    ),
    "assign another dtype": lambda torch: setattr(
        layer(torch, "Settable"), "weight", torch.ones(3, 3).double()
    ),
    "remove nothing": lambda torch: remove(torch, "weight"),
    "remove another": lambda torch: remove(torch, "bias", "Settable"),
    "remove several": lambda torch: remove(torch, "weight", "Outer", leave=False),
    "pickle": lambda torch: pickle.dumps(layer(torch, "Settable")),
    "no parametrization": lambda torch: torch.nn.utils.parametrize.ParametrizationList(
        [], torch.ones(1)
    ),
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_parametrized_modules_refuse_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    refuse(program, oracle)


def normalized(how: str, call: str, *shape: int, **options: Any) -> Program:
    """A layer with one of the parametrizations, used."""

    def program(torch: Any) -> Any:
        made = eval(f"torch.nn.{call}", {"torch": torch})
        result = getattr(torch.nn.utils.parametrizations, how)(made, **options)
        return [result is made, *used(torch, made, numbers(torch, *shape))]

    return program


def set_orthogonal(call: str, **options: Any) -> Program:
    def program(torch: Any) -> Any:
        made = eval(f"torch.nn.{call}", {"torch": torch})
        torch.nn.utils.parametrizations.orthogonal(made, **options)
        value = torch.nn.init.orthogonal_(torch.empty(made.weight.shape))
        made.weight = value
        return [made.weight, made.state_dict(), bool((made.weight - value).abs().max() < 1e-5)]

    return program


MAPS = ("matrix_exp", "cayley", "householder")
NORMALIZED: dict[str, Program] = {
    "weight": normalized("weight_norm", "Linear(3, 4)", 2, 3),
    "weight by column": normalized("weight_norm", "Linear(3, 4)", 2, 3, dim=1),
    "weight at once": normalized("weight_norm", "Linear(3, 4)", 2, 3, dim=None),
    "weight of a convolution": normalized("weight_norm", "Conv1d(2, 3, 2)", 1, 2, 4, dim=1),
    "spectral": normalized("spectral_norm", "Linear(3, 4)", 2, 3),
    "spectral by column": normalized(
        "spectral_norm", "Linear(3, 4)", 2, 3, dim=-1, n_power_iterations=3
    ),
    "spectral evaluated": normalized("spectral_norm", "Linear(3, 4).eval()", 2, 3),
    "spectral of a convolution": normalized("spectral_norm", "Conv1d(2, 3, 2)", 1, 2, 4),
    "spectral of a transposed one": normalized("spectral_norm", "ConvTranspose1d(2, 3, 2)", 2, 3),
    "spectral of a bias": normalized("spectral_norm", "Linear(3, 4)", 2, 3, name="bias"),
    "orthogonal": normalized("orthogonal", "Linear(3, 3)", 2, 3),
    "orthogonal columns": normalized("orthogonal", "Linear(3, 5)", 2, 3),
    **{
        f"{chosen} {call} {'turned' if turned else 'plain'}": normalized(
            "orthogonal", call, 2, 4, orthogonal_map=chosen, use_trivialization=turned
        )
        for chosen in MAPS
        for call in ("Linear(4, 4)", "Linear(4, 2)", "Linear(4, 5)")
        for turned in (True, False)
    },
    "set": set_orthogonal("Linear(3, 3)"),
    "set tall": set_orthogonal("Linear(3, 5)", orthogonal_map="cayley"),
    "set reflections": set_orthogonal(
        "Linear(5, 3)", orthogonal_map="householder", use_trivialization=False
    ),
    "complex": lambda torch: torch.nn.utils.parametrizations.orthogonal(
        torch.nn.Linear(2, 2, dtype=torch.complex64)
    ).weight.abs(),
}


@pytest.mark.parametrize("program", NORMALIZED.values(), ids=NORMALIZED)
def test_parametrizations_compute_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    agree(program, oracle, tolerance=1e-5)


def applied(torch: Any, how: str, call: str = "Linear(3, 3)", **options: Any) -> Any:
    made = eval(f"torch.nn.{call}", {"torch": torch})
    return getattr(torch.nn.utils.parametrizations, how)(made, **options)


NOT_NORMALIZED: dict[str, Program] = {
    "no such weight": lambda torch: applied(torch, "weight_norm", name="w"),
    "no such spectral": lambda torch: applied(torch, "spectral_norm", name="w"),
    "no such orthogonal": lambda torch: applied(torch, "orthogonal", name="w"),
    "dimension": lambda torch: applied(torch, "spectral_norm", dim=5),
    "no iterations": lambda torch: applied(torch, "spectral_norm", n_power_iterations=0),
    "vector": lambda torch: applied(torch, "orthogonal", name="bias"),
    "map": lambda torch: applied(torch, "orthogonal", orthogonal_map="qr"),
    "complex reflections": lambda torch: applied(
        torch, "orthogonal", "Linear(2, 2, dtype=torch.cfloat)", orthogonal_map="householder"
    ),
    "shape": lambda torch: setattr(applied(torch, "orthogonal"), "weight", torch.ones(2, 2)),
    "no inverse": lambda torch: setattr(
        applied(torch, "orthogonal", orthogonal_map="cayley", use_trivialization=False),
        "weight",
        torch.eye(3),
    ),
}


@pytest.mark.parametrize("program", NOT_NORMALIZED.values(), ids=NOT_NORMALIZED)
def test_parametrizations_refuse_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    refuse(program, oracle)


def test_copies_are_independent() -> None:
    first = parametrizations.weight_norm(nn.Linear(2, 2))
    second = copy.deepcopy(first)
    assert type(second) is type(first)
    parametrize.remove_parametrizations(second, "weight")
    assert type(second) is nn.Linear
    assert gradfn.allclose(first.weight, second.weight)


def test_second_derivatives_of_a_normalized_weight() -> None:
    v = gradfn.randn(3, 2, dtype=gradfn.float64, requires_grad=True)
    g = gradfn.rand(3, 1, dtype=gradfn.float64, requires_grad=True)
    assert gradfn.autograd.gradcheck(gradfn._weight_norm, (v, g))
    assert gradfn.autograd.gradgradcheck(gradfn._weight_norm, (v, g))


def test_states_of_the_old_weight_norm_are_taken() -> None:
    with pytest.warns(FutureWarning, match="deprecated in favor of"):
        old = nn.utils.weight_norm(nn.Linear(3, 2))
    new = parametrizations.weight_norm(nn.Linear(3, 2))
    assert repr(new.load_state_dict(old.state_dict())) == "<All keys matched successfully>"
    assert gradfn.equal(new.weight, old.weight)
