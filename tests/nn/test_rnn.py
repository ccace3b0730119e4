"""Recurrent layers, cells and packed sequences, compared with PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

import gradfn
from gradfn import nn
from parity import not_mkl


def flat(result: Any) -> list[Any]:
    """The tensors in nested tuples."""
    if isinstance(result, tuple):
        return [tensor for part in result for tensor in flat(part)]
    return [] if result is None else [result]


def layer(call: str, *inputs: str) -> Program:
    """The state, the outputs without their graph, and all gradients."""

    def program(torch: Any) -> Any:
        names = vars(torch.nn) | vars(torch.nn.utils.rnn) | {"torch": torch, "randn": torch.randn}
        module = eval(call, names)
        arguments = [eval(text, names) for text in inputs]
        leaves = [t.requires_grad_() for a in arguments for t in flat(a) if t.is_floating_point()]
        outputs = flat(module(*arguments))
        numbers = [t for t in outputs if t.is_floating_point()]
        sum(t.sin().sum() for t in numbers).backward()
        return [
            repr(module),
            module.state_dict(),
            [[tuple(t.shape), t.tolist()] for t in outputs],
            [leaf.grad for leaf in leaves],
            [parameter.grad for parameter in module.parameters()],
        ]

    return program


CASES: list[tuple[str, ...]] = [
    ("RNNCell(3, 2)", "randn(4, 3)"),
    ("RNNCell(3, 2, False, 'relu')", "randn(4, 3)", "randn(4, 2)"),
    ("RNNCell(3, 2)", "randn(3)", "randn(2)"),
    ("LSTMCell(3, 2)", "randn(4, 3)"),
    ("LSTMCell(3, 2, bias=False)", "randn(3)", "(randn(2), randn(2))"),
    ("GRUCell(3, 2)", "randn(4, 3)"),
    ("GRUCell(3, 2, bias=False)", "randn(4, 3)", "randn(4, 2)"),
    ("RNN(3, 2)", "randn(5, 4, 3)"),
    ("RNN(3, 2, nonlinearity='relu', bias=False)", "randn(5, 4, 3)", "randn(1, 4, 2)"),
    ("RNN(3, 2, 2, batch_first=True, bidirectional=True)", "randn(4, 5, 3)"),
    ("RNN(3, 2)", "randn(5, 3)", "randn(1, 2)"),
    ("RNN(3, 2, batch_first=True)", "randn(5, 3)"),
    ("RNN(3, 2, 3, dropout=0.5)", "randn(5, 4, 3)"),
    ("RNN(3, 2, 2, dropout=0.5).eval()", "randn(5, 4, 3)"),
    ("LSTM(3, 2)", "randn(5, 4, 3)"),
    ("LSTM(3, 2, 2, True, True)", "randn(4, 5, 3)", "(randn(2, 4, 2), randn(2, 4, 2))"),
    ("LSTM(3, 2, 2, bidirectional=True, bias=False)", "randn(5, 4, 3)"),
    ("LSTM(3, 4, proj_size=2, bidirectional=True)", "randn(5, 4, 3)"),
    ("LSTM(3, 2)", "randn(5, 3)"),
    ("LSTM(3, 2, dtype=torch.float64)", "randn(5, 4, 3, dtype=torch.float64)"),
    ("GRU(3, 2)", "randn(5, 4, 3)"),
    ("GRU(3, 2, 2, batch_first=True, bidirectional=True)", "randn(4, 5, 3)", "randn(4, 4, 2)"),
    ("GRU(3, 2, 2, dropout=0.3)", "randn(5, 4, 3)"),
]


@not_mkl
@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_layers_do_what_pytorchs_do(oracle: ModuleType, case: tuple[str, ...]) -> None:
    agree(layer(*case), oracle, 2e-6)


PACKED = "pack_padded_sequence({}, [5, 3, 3, 1])"
UNSORTED = "pack_padded_sequence({}, [1, 3, 5, 3], enforce_sorted=False)"


@not_mkl
@pytest.mark.parametrize("packed", [PACKED, UNSORTED])
@pytest.mark.parametrize(
    ("call", "state"),
    [
        ("RNN(3, 2)", ()),
        ("RNN(3, 2, 2, bidirectional=True)", ("randn(4, 4, 2)",)),
        ("LSTM(3, 2, 2, bidirectional=True)", ()),
        ("LSTM(3, 2)", ("(randn(1, 4, 2), randn(1, 4, 2))",)),
        ("GRU(3, 2, bidirectional=True)", ("randn(2, 4, 2)",)),
    ],
)
def test_packed_sequences_are_run_as_pytorch_does(
    oracle: ModuleType, packed: str, call: str, state: tuple[str, ...]
) -> None:
    agree(layer(call, packed.format("randn(5, 4, 3)"), *state), oracle, 2e-6)


def nodes(node: Any) -> Any:
    return None if node is None else [node.name(), [nodes(n) for n, _ in node.next_functions]]


@pytest.mark.parametrize("call", ["RNNCell(3, 2)", "LSTMCell(3, 2)", "GRUCell(3, 2)"])
def test_the_graph_of_a_step_is_pytorchs(oracle: ModuleType, call: str) -> None:
    def program(torch: Any) -> Any:
        x, h = (torch.ones(1, n, requires_grad=True) for n in (3, 2))
        state = (h, h) if "LSTM" in call else h
        return nodes(flat(eval(f"torch.nn.{call}", {"torch": torch})(x, state))[0].grad_fn)

    agree(program, oracle)


@pytest.mark.parametrize("call", ["RNN(3, 2)", "GRU(3, 2)"])
def test_the_graph_of_a_layer_is_pytorchs(oracle: ModuleType, call: str) -> None:
    def program(torch: Any) -> Any:
        x = torch.ones(2, 1, 3, requires_grad=True)
        output, last = eval(f"torch.nn.{call}", {"torch": torch})(x)
        return [nodes(output.grad_fn), nodes(last.grad_fn)]

    agree(program, oracle)


UTILITIES: dict[str, Program] = {
    "pad": lambda rnn, x: rnn.pad_sequence([x(2, 2), x(3, 2), x(1, 2)]),
    "pad left": lambda rnn, x: rnn.pad_sequence([x(2), x(3)], True, -1.0, "left"),
    "unpad": lambda rnn, x: rnn.unpad_sequence(x(3, 2), x(2).long() + 1),
    "pack": lambda rnn, x: rnn.pack_sequence([x(3, 2), x(2, 2), x(1, 2)]),
    "pack unsorted": lambda rnn, x: rnn.pack_sequence([x(1), x(3), x(2)], False),
    "unpack": lambda rnn, x: rnn.unpack_sequence(rnn.pack_sequence([x(1), x(3)], False)),
    "pad packed": lambda rnn, x: rnn.pad_packed_sequence(
        rnn.pack_sequence([x(1, 2), x(3, 2)], False), True, 7.0, 4
    ),
    "invert": lambda rnn, x: rnn.invert_permutation(x(3).long().flip(0)),
    "text": lambda rnn, x: repr(rnn.pack_sequence([x(2), x(1)])),
    "double": lambda rnn, x: rnn.pack_sequence([x(2), x(1)]).double().data,
}


def numbers(torch: Any) -> Any:
    return lambda *shape: torch.arange(float(torch.ones(shape).numel())).reshape(shape)


@pytest.mark.parametrize("use", UTILITIES.values(), ids=UTILITIES)
def test_sequences_are_padded_and_packed_as_pytorchs(oracle: ModuleType, use: Any) -> None:
    agree(lambda torch: use(torch.nn.utils.rnn, numbers(torch)), oracle)


def test_gradients_flow_through_packing() -> None:
    x = gradfn.ones(3, 2, requires_grad=True)
    packed = nn.utils.rnn.pack_padded_sequence(x, [3, 1])
    padded, lengths = nn.utils.rnn.pad_packed_sequence(packed)
    (padded * 2).sum().backward()
    assert lengths.tolist() == [3, 1]
    assert x.grad.tolist() == [[2, 2], [2, 0], [2, 0]]


REFUSED = """
    RNN(3, 2)(o(1, 3, 4)) | RNN(3, 2)(o(1, 1, 3), o(1, 2)) | RNN(3, 2)(o(1, 3), o(1, 1, 2))
    RNN(3, 2)(o(1, 1, 3), o(1, 2, 2)) | RNN(3, 2)(o(1, 1, 3, dtype=torch.double)) | LSTM(3, 2)(o(3))
    LSTM(3, 2)(o(1, 1, 3), (o(1, 2), o(1, 2))) | LSTM(3, 2)(o(1, 3), (o(1, 1, 2), o(1, 1, 2)))
    LSTM(3, 2)(o(1, 1, 3), (o(1, 2, 2), o(1, 1, 2))) | GRU(3, 2)(o(1, 1, 3), o(1, 2, 2))
    RNN(3, 2, nonlinearity='x') | RNN(3, 0) | RNN(3, 2.0) | RNN(3, 2, 0) | RNN(0, 2)
    LSTM(3, 2, proj_size=-1) | LSTM(3, 2, proj_size=2) | GRU(3, 2, proj_size=1)
    RNN(3, 2, dropout=2) | RNN(3, 2, dropout=True) | RNNCell(3, 2)(o(1, 1, 3))
    RNNCell(3, 2)(o(1, 4))
    RNNCell(3, 2)(o(1, 3), o(2, 2)) | RNNCell(3, 2)(o(1, 3), o(1, 1, 1))
    LSTMCell(3, 2)(o(1, 1, 3))
    RNNCell(3, 2, nonlinearity='x')(o(1, 3)) | LSTMCell(3, 2)(o(1, 3), (o(1, 1, 1), o(1, 2)))
    utils.rnn.pack_padded_sequence(o(2, 2), [1, 2])
    utils.rnn.pack_padded_sequence(o(2, 2), [2, 0])
    utils.rnn.pack_padded_sequence(o(2, 2), [2, 1, 1]) | utils.rnn.pad_sequence([])
    utils.rnn.pad_sequence(3) | utils.rnn.pad_sequence([o(2)], padding_side='x')
    utils.rnn.pad_packed_sequence(utils.rnn.pack_padded_sequence(o(2, 2), [2, 1]), total_length=1)
"""


@pytest.mark.parametrize("call", [c.strip() for c in REFUSED.replace("\n", "|").split("|")][1:-1])
def test_what_pytorch_refuses_is_refused(oracle: ModuleType, call: str) -> None:
    refuse(lambda torch: eval(f"torch.nn.{call}", {"torch": torch, "o": torch.ones}), oracle)


def test_dropout_after_the_only_layer_warns() -> None:
    with pytest.warns(UserWarning, match="dropout option adds dropout after all but last"):
        nn.GRU(1, 1, dropout=0.5)
