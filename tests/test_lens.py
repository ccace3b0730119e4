"""The graph as records, and its drawing."""

import io
import random
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import gradfn as torch
from gradfn.autograd.backward import observers
from gradfn.autograd.graph import get_gradient_edge
from gradfn.lens import EdgeRecord, Graph, Output, Saved, Watch, draw, graph
from gradfn.lens.text import lines, styled


@pytest.fixture
def x() -> Any:
    return torch.tensor(2.0, requires_grad=True)


@pytest.fixture
def w() -> Any:
    return torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)


def tree(graph: Graph, limit: int = 200) -> list[str]:
    """The drawing without the places at its right."""
    return ["".join(text for text, _ in line.left).rstrip() for line in lines(graph, limit)]


def test_a_node_is_recorded_with_its_place_and_what_it_saved(w: Any) -> None:
    y = w.exp()
    exp, leaf = graph(y).nodes
    assert (exp.id, exp.name, exp.operator, exp.kind) == (0, "ExpBackward0", "exp", "operation")
    assert exp.outputs == (Output((2, 2), "float32"),)
    assert exp.where.filename == __file__
    assert exp.where.text == "w.exp()"
    assert (
        exp.where.line
        == test_a_node_is_recorded_with_its_place_and_what_it_saved.__code__.co_firstlineno + 1
    )
    assert exp.saved == (Saved("result", (2, 2), "float32", 16),)
    assert exp.label is None
    assert (leaf.name, leaf.kind, leaf.label) == ("AccumulateGrad", "accumulate", "w")
    assert leaf.outputs == exp.outputs


def test_edges_name_the_argument_and_the_output(w: Any) -> None:
    values, _ = w.max(dim=1)
    stacked = torch.stack([values, values.sin()])
    recorded = graph(stacked)
    names = [node.name for node in recorded.nodes]
    assert names == ["StackBackward0", "SinBackward0", "MaxBackward0", "AccumulateGrad"]
    assert recorded.edges == (
        EdgeRecord(0, 0, "tensors[0]", 2, 0),
        EdgeRecord(0, 1, "tensors[1]", 1, 0),
        EdgeRecord(1, 0, "self", 2, 0),
        EdgeRecord(2, 0, "self", 3, 0),
    )
    assert recorded.inputs == (recorded.edges[:2], recorded.edges[2:3], recorded.edges[3:], ())
    assert [output.dtype for output in recorded.nodes[2].outputs] == ["float32", "int64"]


def test_every_node_comes_before_its_inputs(x: Any) -> None:
    y = x * x
    recorded = graph([y + x.exp() * y, y.sin()])
    assert all(edge.node < edge.source for edge in recorded.edges)
    assert len(recorded.roots) == 2


def test_freed_values_are_not_recorded(x: Any) -> None:
    y = x.exp() * x
    assert sum(saved.bytes for node in graph(y).nodes for saved in node.saved) == 12
    y.backward()
    assert all(node.saved == () for node in graph(y).nodes)


def test_values_that_hooks_packed_are_not_held_by_the_node(x: Any) -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x.exp()
    assert graph(y).nodes[0].saved == ()


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        a, b = ctx.saved_tensors
        return grad * b, grad * a


def test_custom_functions_are_operations(x: Any) -> None:
    node, *_ = graph(Product.apply(x, x.sin())).nodes
    assert (node.name, node.operator, node.kind) == ("ProductBackward", "Product", "operation")
    assert [saved.bytes for saved in node.saved] == [4, 4]


def test_in_place_writes_are_shown(w: Any) -> None:
    y = w * 2
    y[0] = 1.0
    node, *_ = graph(y).nodes
    assert (node.name, node.kind) == ("CopySlices", "other")
    assert node.where.line == test_in_place_writes_are_shown.__code__.co_firstlineno + 2


def test_graphs_of_the_same_lines_are_equal(x: Any) -> None:
    b = torch.tensor(1.0, requires_grad=True)
    graphs = [graph(x * x + b) for _ in range(2)]
    assert graphs[0] == graphs[1]
    assert hash(graphs[0]) == hash(graphs[1])
    assert graph(x * x + b) != graphs[0]


def test_a_graph_starts_at_a_tensor_a_node_an_edge_or_several(x: Any) -> None:
    y = x * 3
    assert graph(y.grad_fn) == graph(y) == graph([y]) == graph(get_gradient_edge(y))
    assert [node.name for node in graph(x).nodes] == ["AccumulateGrad"]
    with pytest.raises(RuntimeError, match="does not require grad"):
        graph(y.detach())
    with pytest.raises(TypeError, match="not at a str"):
        graph("y")


class Module:
    """What lens asks of a module."""

    def __init__(self, weight: Any) -> None:
        self._parameters = {"weight": weight}

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        yield from self._parameters.items()


class Model:
    def __init__(self, *values: Any) -> None:
        self.layers = [Module(value) for value in values]
        self.itself = self


def test_leaves_are_labelled_as_their_variables(x: Any) -> None:
    def leaf(value: float) -> Any:
        return torch.tensor(value, requires_grad=True)

    listed, keyed, model, _hidden = [0, leaf(1.0)], {"b": leaf(3.0)}, Model(leaf(4.0)), leaf(5.0)
    y = x * listed[1] * keyed["b"] * model.layers[0]._parameters["weight"] * _hidden
    labels = {node.label for node in graph(y).nodes if node.kind == "accumulate"}
    assert labels == {"x", "listed[1]", "keyed['b']", "model.layers[0].weight", None}
    assert {node.label for node in graph(y, {"a": x}).nodes} == {"a", None}


def test_the_shortest_name_is_the_label(x: Any) -> None:
    pair = [x, x]
    variables = {"pair": pair, "numbers": range(10**9), "zeros": [0] * 10**6, "x": x}
    assert graph(x.sin(), variables).nodes[1].label == "x"


def test_a_chain_flows_straight_down(w: Any) -> None:
    assert tree(graph(w.exp().sin().sum())) == [
        "SumBackward0 []",
        "SinBackward0 [2, 2]",
        "ExpBackward0 [2, 2]",
        "└─ AccumulateGrad w [2, 2]",
    ]


def test_shared_nodes_are_drawn_once(x: Any) -> None:
    y = x.exp()
    assert tree(graph(y.sin() * y + x)) == [
        "AddBackward0 []",
        "├─ self: MulBackward0 []",
        "│  ├─ self: SinBackward0 []",
        "│  │  ExpBackward0 [] #1",
        "│  │  └─ AccumulateGrad x [] #2",
        "│  └─ other: ^1",
        "└─ other: ^2 x",
    ]


def test_several_roots_are_drawn_apart(x: Any) -> None:
    assert tree(graph([x.exp(), x.sin()])) == [
        "ExpBackward0 []",
        "└─ AccumulateGrad x [] #1",
        "",
        "SinBackward0 []",
        "└─ ^1 x",
    ]


def test_outputs_and_dtypes_are_shown(w: Any) -> None:
    values, _ = w.double().max(dim=1)
    assert tree(graph(values)) == [
        "MaxBackward0 [2] float64, [2] int64",
        "ToCopyBackward0 [2, 2] float64",
        "└─ AccumulateGrad w [2, 2]",
    ]
    first, second = w.unbind()
    assert tree(graph(second * first))[:3] == [
        "MulBackward0 [2]",
        "├─ self = output 1: UnbindBackward0 [2], [2] #1",
        "│  └─ AccumulateGrad w [2, 2]",
    ]


def test_repeated_stretches_are_cut_with_a_count(x: Any) -> None:
    w = torch.tensor(3.0, requires_grad=True)
    h = x
    for _ in range(500):
        h = (h * w).sin()
    assert tree(graph(h)) == [
        "SinBackward0 []",
        "MulBackward0 []",
        "├─ other: AccumulateGrad w [] #1",
        "⋮ the 2 steps above, 498 times more",
        "self: SinBackward0 []",
        "MulBackward0 []",
        "├─ self: AccumulateGrad x []",
        "└─ other: ^1 w",
    ]


def test_few_repetitions_are_drawn(x: Any) -> None:
    h = x
    for _ in range(8):
        h = h.sin()
    assert tree(graph(h)) == ["SinBackward0 []"] * 8 + ["└─ AccumulateGrad x []"]


def test_references_to_what_was_cut_say_so(x: Any) -> None:
    h, hs = x, []
    for _ in range(100):
        h = h.sin()
        hs.append(h)
    drawn = tree(graph(h * hs[50]))
    assert drawn[1] == "├─ other: ^ SinBackward0, left out"


def test_large_graphs_are_cut(x: Any) -> None:
    h = x
    coin = random.Random(0)
    for _ in range(300):
        h = h * x if coin.random() < 0.5 else h.sin()
    drawn = tree(graph(h), limit=20)
    assert len(drawn) == 21
    assert drawn[-1] == "⋮ and so on: the graph has 301 nodes"


def test_indentation_grows_with_the_logarithm_of_the_size(x: Any) -> None:
    """Losses of all steps of a recurrence, added up: deep however one turns it."""
    h, total = x, x * 0
    for step in range(2000):
        h = (h + x).tanh() if step % 3 else (h * x).tanh()
        total = total + h.exp()
    indentation = max(len(line) - len(line.lstrip("│├└─ ")) for line in tree(graph(total), 10**6))
    assert indentation <= 3 * 13


def test_a_hundred_thousand_nodes_are_drawn_without_recursion(x: Any) -> None:
    h = x
    for _ in range(100_000):
        h = h.sin()
    assert tree(graph(h)) == [
        "SinBackward0 []",
        "⋮ the step above, 99,998 times more",
        "SinBackward0 []",
        "└─ AccumulateGrad x []",
    ]
    assert sys.getrecursionlimit() < 100_000


def test_the_text_shows_the_places_in_a_column(x: Any) -> None:
    y = (x * x).sin()
    first, second, *_ = graph(y).text().splitlines()
    assert first.endswith("(x * x).sin()")
    assert second.endswith("x * x")
    assert first.index("test_lens.py:") == second.index("test_lens.py:")
    assert styled(lines(graph(y))).plain == graph(y).text()


def test_draw_labels_with_the_variables_of_its_caller(
    x: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    here = x
    del x
    draw(here.sin())
    assert "AccumulateGrad here []" in capsys.readouterr().out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_colours(x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    y = x.exp()
    draw(y)
    assert terminal.getvalue().startswith("\x1b[1mExpBackward0\x1b[0m")
    assert re.sub(r"\x1b\[[\d;]*m", "", terminal.getvalue()) == graph(y).text() + "\n"


def test_characters_that_cannot_be_written_are_replaced(
    x: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", file)
    draw(x.exp())
    file.seek(0)
    assert file.read().endswith("\n?? AccumulateGrad x []\n")


def test_watching_counts_equal_graphs(x: Any) -> None:
    with Watch() as watch:
        for _ in range(3):
            (x * x).backward()
        x.exp().backward()
    (x * x).backward()
    assert list(watch.counts.values()) == [3, 1]
    (by, _), _ = watch.counts
    assert by.text == "(x * x).backward()"
    assert not observers


def test_watching_keeps_a_bounded_number_of_graphs(
    x: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with Watch() as watch:
        for steps in range(60):
            h = x
            for _ in range(steps):
                h = h.sin()
            h.backward()
    watch.draw()
    assert len(watch.counts) == 50
    assert capsys.readouterr().out.endswith("\n\nand 10 more graphs\n")
