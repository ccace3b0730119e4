"""nn.utils.prune, compared with PyTorch."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

import gradfn
from gradfn import nn


def prune_of(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.nn.utils.prune")


def layer(torch: Any) -> Any:
    return torch.nn.Linear(3, 4)


def state(module: Any, name: str = "weight") -> Any:
    """What pruning makes of a module."""
    hooks = [
        (type(hook).__name__, hook._tensor_name) for hook in module._forward_pre_hooks.values()
    ]
    return [
        list(dict(module.named_parameters())),
        module.state_dict(),
        getattr(module, name),
        hooks,
    ]


def pruned(how: str, *arguments: Any, name: str = "weight", **options: Any) -> Program:
    def program(torch: Any) -> Any:
        made = layer(torch)
        result = getattr(prune_of(torch), how)(made, name, *arguments, **options)
        made(torch.ones(2, 3)).sin().sum().backward()
        grads = [parameter.grad for parameter in made.parameters()]
        return [result is made, *state(made, name), grads, torch.rand(1)]

    return program


def scored(how: str, *arguments: Any, **options: Any) -> Program:
    def program(torch: Any) -> Any:
        scores = torch.arange(12.0).view(4, 3)
        made = getattr(prune_of(torch), how)(
            layer(torch), "weight", *arguments, importance_scores=scores, **options
        )
        return state(made)

    return program


def masked(torch: Any) -> Any:
    mask = torch.tensor([1, 0, 0, 1])
    return state(prune_of(torch).custom_from_mask(layer(torch), "bias", mask), "bias")


def in_turn(torch: Any) -> Any:
    prune, made = prune_of(torch), layer(torch)
    prune.l1_unstructured(made, "weight", 3)
    prune.random_unstructured(made, "weight", 0.5)
    prune.ln_structured(made, "weight", 1, n=2, dim=0)
    prune.random_structured(made, "weight", 1, dim=1)
    prune.identity(made, "weight")
    (hook,) = made._forward_pre_hooks.values()
    return [state(made), len(hook), [type(method).__name__ for method in hook]]


def after_a_step(torch: Any) -> Any:
    """The mask holds for new values as well."""
    made = prune_of(torch).l1_unstructured(layer(torch), "weight", 5)
    with torch.no_grad():
        made.weight_orig.fill_(1)
    before = made.weight.clone()
    made(torch.ones(1, 3))
    return [before, made.weight]


def removed(torch: Any) -> Any:
    prune = prune_of(torch)
    made = prune.l1_unstructured(layer(torch), "weight", 5)
    result = prune.remove(made, "weight")
    return [result is made, *state(made), type(made.weight).__name__]


def known(torch: Any) -> Any:
    prune = prune_of(torch)
    one = prune.identity(layer(torch), "bias")
    return [prune.is_pruned(each) for each in (layer(torch), one, torch.nn.Sequential(one))]


def everywhere(method: str, by_scores: bool = False, **options: Any) -> Program:
    def program(torch: Any) -> Any:
        prune, net = prune_of(torch), torch.nn.Sequential(layer(torch), torch.nn.Linear(4, 2))
        pairs = [(net[0], "weight"), (net[1], "weight")]
        scores = {pairs[0]: torch.arange(12.0).view(4, 3)} if by_scores else None
        prune.global_unstructured(pairs, getattr(prune, method), scores, **options)
        return [state(each) for each in net]

    return program


def of_tensors(torch: Any) -> Any:
    prune, values = prune_of(torch), torch.tensor([1.0, -3.0, 2.0, 0.5])
    mask = torch.tensor([1, 1, 0, 1])
    return [
        prune.L1Unstructured(2).prune(values),
        prune.L1Unstructured(amount=0.5).prune(values, default_mask=mask),
        prune.RandomUnstructured(2).prune(values),
        prune.LnStructured(1, 2, 0).prune(values.view(2, 2)),
        prune.RandomStructured(1).prune(values.view(2, 2)),
        prune.Identity().prune(values),
        prune.CustomFromMask(mask).prune(values),
    ]


def own_method(torch: Any) -> Any:
    prune, made = prune_of(torch), layer(torch)

    class EveryOther(prune.BasePruningMethod):  # type: ignore[misc]
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t: Any, default_mask: Any) -> Any:
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    EveryOther.apply(made, "weight")
    EveryOther.apply(made, "weight")
    return state(made)


PROGRAMS: dict[str, Program] = {
    "random": pruned("random_unstructured", 0.3),
    "least": pruned("l1_unstructured", amount=5),
    "least part": pruned("l1_unstructured", 0.5),
    "none": pruned("l1_unstructured", 0),
    "all": pruned("l1_unstructured", 1.0),
    "least scores": scored("l1_unstructured", 5),
    "random rows": pruned("random_structured", 2, dim=0),
    "random columns": pruned("random_structured", 0.4, dim=-1),
    "least rows": pruned("ln_structured", 2, n=2, dim=0),
    "least columns": pruned("ln_structured", 0.3, n=1, dim=1),
    "least maxima": pruned("ln_structured", 1, n=float("inf"), dim=0),
    "least row of scores": scored("ln_structured", 1, n=2, dim=0),
    "identity": pruned("identity", name="bias"),
    "masked": masked,
    "in turn": in_turn,
    "after a step": after_a_step,
    "removed": removed,
    "known": known,
    "everywhere": everywhere("L1Unstructured", amount=0.4),
    "everywhere by scores": everywhere("L1Unstructured", by_scores=True, amount=6),
    "everywhere at random": everywhere("RandomUnstructured", amount=0.5),
    "tensors": of_tensors,
    "own method": own_method,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_pruning_is_pytorchs(oracle: ModuleType, program: Program) -> None:
    agree(program, oracle)


REFUSED: dict[str, Program] = {
    "negative": pruned("l1_unstructured", -1),
    "negative part": pruned("l1_unstructured", -0.1),
    "more than all": pruned("l1_unstructured", 1.5),
    "too many": pruned("l1_unstructured", 20),
    "too many rows": pruned("random_structured", 9, dim=0),
    "text": pruned("l1_unstructured", "x"),
    "dimension": pruned("ln_structured", 1, 2, 5),
    "vector": pruned("ln_structured", 1, 2, 0, name="bias"),
    "no parameter": pruned("identity", name="w"),
    "mask of another shape": lambda torch: prune_of(torch).custom_from_mask(
        layer(torch), "bias", torch.ones(3)
    ),
    "scores of another shape": lambda torch: prune_of(torch).l1_unstructured(
        layer(torch), "weight", 5, importance_scores=torch.ones(2)
    ),
    "remove nothing": lambda torch: prune_of(torch).remove(layer(torch), "weight"),
    "a module everywhere": lambda torch: prune_of(torch).global_unstructured(
        layer(torch), prune_of(torch).L1Unstructured, amount=1
    ),
    "rows everywhere": everywhere("LnStructured", amount=1, n=2),
    "abstract": lambda torch: prune_of(torch).BasePruningMethod(),
    "contain a number": lambda torch: prune_of(torch).PruningContainer().add_pruning_method(3),
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_pruning_refuses_what_pytorchs_does(oracle: ModuleType, program: Program) -> None:
    refuse(program, oracle)


def test_a_refused_pruning_leaves_the_module_as_it_was() -> None:
    prune, made = prune_of(gradfn), nn.Linear(3, 4)
    for _ in range(2):
        with pytest.raises(ValueError, match="should be smaller than the number"):
            prune.l1_unstructured(made, "weight", 13)
        hooks = list(made._forward_pre_hooks)
        with pytest.raises(ValueError, match="should be smaller than the number"):
            prune.l1_unstructured(made, "weight", 14)
        assert list(made._forward_pre_hooks) == hooks
        prune.l1_unstructured(made, "weight", 2)
