"""EmbeddingBag, compared with PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

import gradfn
from gradfn import nn


def table(torch: Any, dtype: str = "float32") -> Any:
    values = (torch.arange(20.0).view(5, 4) * 0.37 % 2 - 0.9).to(getattr(torch, dtype))
    return values.requires_grad_()


def bags(
    numbers: Any,
    offsets: Any = None,
    weights: Any = None,
    dtype: str = "int64",
    table_dtype: str = "float32",
    **options: Any,
) -> Program:
    """The bags, and the gradients of the table and of the weights of the numbers."""

    def program(torch: Any) -> Any:
        kind, rows = getattr(torch, dtype), table(torch, table_dtype)
        given = None if weights is None else torch.tensor(weights, requires_grad=True)
        starts = None if offsets is None else torch.tensor(offsets, dtype=kind)
        output = torch.nn.functional.embedding_bag(
            torch.tensor(numbers, dtype=kind), rows, starts, per_sample_weights=given, **options
        )
        output.sin().sum().backward()
        return [output, rows, rows.grad, None if given is None else given.grad]

    return program


MIXED, STARTS = [1, 2, 4, 2, 0], [0, 2, 2]
BAGS = {
    f"{name} {mode}": bags(*arguments, mode=mode, **options)
    for mode in ("sum", "mean", "max")
    for name, arguments, options in (
        ("offsets", (MIXED, STARTS), {}),
        ("matrix", ([[1, 2], [4, 4]],), {}),
        ("ends", (MIXED, [0, 3, 5]), {"include_last_offset": True}),
        ("padding", ([*MIXED, 2], [0, 3, 5]), {"padding_idx": 2}),
        ("padding from the end", ([*MIXED, 2], [0, 3, 5]), {"padding_idx": -3}),
        ("empty bags", ([1, 2], [0, 0, 2, 2]), {}),
        ("short integers", (MIXED, STARTS), {"dtype": "int32"}),
        ("double", (MIXED, STARTS), {"table_dtype": "float64"}),
        ("nothing", ([], []), {}),
        ("only empty", ([], [0, 0]), {}),
        ("norms", (MIXED, STARTS), {"max_norm": 1.0}),
    )
}
WEIGHTS = [1.0, 2.0, 3.0, 4.0, 5.0]
WEIGHTED = {
    "weighted": bags(MIXED, STARTS, WEIGHTS, mode="sum"),
    "weighted matrix": bags([[1, 2], [4, 4]], None, [[1.0, 2.0], [3.0, 4.0]], mode="sum"),
    "weighted padding": bags(MIXED, STARTS, WEIGHTS, mode="sum", padding_idx=2),
    "weighted ends": bags(MIXED, [0, 2, 5], WEIGHTS, mode="sum", include_last_offset=True),
    "by frequency": bags([1, 1, 1], [0, 2], mode="mean", scale_grad_by_freq=True),
}


def module(call: str, *arguments: str) -> Program:
    def program(torch: Any) -> Any:
        names = {"torch": torch, "nn": torch.nn, "tensor": torch.tensor}
        made = eval(f"nn.EmbeddingBag{call}", names)
        output = made(*[eval(argument, names) for argument in arguments])
        return [repr(made), made.state_dict(), made.weight.requires_grad, made.mode, output]

    return program


PAIR = "tensor([1, 2])", "tensor([0, 1])"
MODULES = {
    "plain": module("(5, 3)", *PAIR),
    "options": module(
        "(5, 3, mode='sum', padding_idx=-1, norm_type=1.0, scale_grad_by_freq=True)", *PAIR
    ),
    "limited": module("(5, 3, 1.0)", *PAIR),
    "given": module(".from_pretrained(torch.ones(3, 2))", *PAIR),
    "given to train": module(
        ".from_pretrained(torch.ones(3, 2), freeze=False, mode='max', padding_idx=1)", *PAIR
    ),
    "weights": module("(5, 3, mode='sum')", *PAIR, "torch.ones(2)"),
}
AGREES = BAGS | WEIGHTED | MODULES


@pytest.mark.parametrize("program", AGREES.values(), ids=AGREES)
def test_bags_are_pytorchs(oracle: ModuleType, program: Program) -> None:
    agree(program, oracle)


REFUSED: dict[str, Program] = {
    "weights of a mean": bags(MIXED, STARTS, WEIGHTS),
    "weights of a maximum": bags(MIXED, STARTS, WEIGHTS, mode="max"),
    "weights of another shape": bags(MIXED, STARTS, [1.0], mode="sum"),
    "offsets of a matrix": bags([[1, 2]], [0]),
    "no offsets": bags(MIXED),
    "offsets as a matrix": bags(MIXED, [[0]]),
    "cube": bags([[[1]]]),
    "mode": bags(MIXED, STARTS, mode="median"),
    "padding": bags(MIXED, STARTS, padding_idx=5),
    "first offset": bags(MIXED, [1]),
    "last offset": bags(MIXED, [0, 9]),
    "no end": bags(MIXED, [], include_last_offset=True),
    "row": bags([1, 7], [0]),
    "frequency of a maximum": bags(MIXED, STARTS, mode="max", scale_grad_by_freq=True),
    "sparse maximum": bags(MIXED, STARTS, mode="max", sparse=True),
    "module padding": module("(3, 2, padding_idx=-4)"),
    "module weight": module("(3, 2, _weight=torch.ones(2, 2))"),
    "module vector": module(".from_pretrained(torch.ones(3))"),
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_bags_refuse_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    refuse(program, oracle)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_second_derivatives(mode: str) -> None:
    numbers, starts = gradfn.tensor([0, 2, 0, 1]), gradfn.tensor([0, 3])
    weights = gradfn.rand(4, dtype=gradfn.float64, requires_grad=True) if mode == "sum" else None

    def bag(rows: Any, weights: Any = None) -> Any:
        return nn.functional.embedding_bag(
            numbers, rows, starts, mode=mode, per_sample_weights=weights, padding_idx=1
        ).sin()

    given = (table(gradfn, "float64"), *([] if weights is None else [weights]))
    assert gradfn.autograd.gradcheck(bag, given)
    assert gradfn.autograd.gradgradcheck(bag, given)


def test_gradients_are_scaled_by_the_frequency_of_each_row() -> None:
    rows = table(gradfn)
    numbers, starts = gradfn.tensor([1, 2, 2, 1, 1]), gradfn.tensor([0])
    nn.functional.embedding_bag(
        numbers, rows, starts, mode="sum", scale_grad_by_freq=True
    ).sum().backward()
    assert rows.grad[:, 0].tolist() == [0, 1, 1, 0, 0]


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_numbers_after_the_last_bag_do_not_count(mode: str) -> None:
    numbers, ends = gradfn.tensor([1, 2, 4]), gradfn.tensor([0, 2])
    made = nn.functional.embedding_bag(
        numbers, table(gradfn), ends, mode=mode, include_last_offset=True
    )
    assert gradfn.equal(
        made, nn.functional.embedding_bag(numbers[:2].view(1, 2), table(gradfn), mode=mode)
    )


def test_sparse_gradients_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="sparse gradients"):
        nn.EmbeddingBag(3, 2, sparse=True)(gradfn.tensor([0]), gradfn.tensor([0]))
