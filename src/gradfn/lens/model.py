"""The graph as plain records, made by one walk. Every view of a graph is made from these alone.

Records hold no tensors and no nodes: they outlive the graph that they describe, and two graphs are
equal where the same lines made the same nodes with the same shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

from ..autograd.engine import topological_order
from ..autograd.function import BackwardCFunction
from ..autograd.graph import GradientEdge
from ..autograd.node import AccumulateGrad, Node
from ..autograd.variable import Variable
from ..autograd.where import Where, user_frame
from ..ops.declare import LIST, Operator
from ..ops.node import OperatorNode
from .names import names_in, variables_of


class Output(NamedTuple):
    """One output of a node."""

    shape: tuple[int, ...]
    dtype: str


class Saved(NamedTuple):
    """One array that a node keeps for its backward pass."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int


class NodeRecord(NamedTuple):
    """One node. `id` is its place in `Graph.nodes`; `label` is the variable's name of a leaf.

    Operators and custom functions are operations; the nodes that only in-place writing makes are
    "other".
    """

    id: int
    name: str
    operator: str
    kind: Literal["operation", "accumulate", "other"]
    outputs: tuple[Output, ...]
    where: Where
    saved: tuple[Saved, ...]
    label: str | None


class EdgeRecord(NamedTuple):
    """The input number `input_nr` of `node`, its `argument`, is output `output_nr` of `source`."""

    node: int
    input_nr: int
    argument: str
    source: int
    output_nr: int


@dataclass(frozen=True)
class Graph:
    """What a tensor was computed from.

    `nodes` are in topological order, each before the nodes of its inputs. `edges` are in the order
    of their nodes and of their inputs. `roots` are the ids of the nodes that the walk began at.
    """

    roots: tuple[int, ...]
    nodes: tuple[NodeRecord, ...]
    edges: tuple[EdgeRecord, ...]

    @cached_property
    def inputs(self) -> tuple[tuple[EdgeRecord, ...], ...]:
        """The edges of each node, by its id."""
        found: list[list[EdgeRecord]] = [[] for _ in self.nodes]
        for edge in self.edges:
            found[edge.node].append(edge)
        return tuple(map(tuple, found))

    def text(self, limit: int = 200) -> str:
        """The graph drawn as a tree of at most `limit` lines: see `gradfn.lens.draw`."""
        from .text import lines, plain

        return plain(lines(self, limit))


def graph(tensors: Any, names: Mapping[str, Any] | None = None) -> Graph:
    """The graph behind a tensor, a node, a gradient edge, or a sequence of these.

    Leaves are labelled with the `names` of variables, by default those of the calling frame.
    RuntimeError for a tensor that does not require grad.

    >>> import gradfn
    >>> x = gradfn.tensor(2.0, requires_grad=True)
    >>> [(node.name, node.label) for node in gradfn.lens.graph(x * x).nodes]
    [('MulBackward0', None), ('AccumulateGrad', 'x')]
    """
    several = isinstance(tensors, Sequence) and not isinstance(tensors, GradientEdge)
    roots = [_node(root) for root in (tensors if several else [tensors])]
    labels = names_in(variables_of(user_frame()) if names is None else names)
    order = list(_ordered(roots))
    ids = {node: index for index, node in enumerate(order)}
    places = _Places()
    nodes = tuple(_record(index, node, places, labels) for index, node in enumerate(order))
    edges = tuple(chain.from_iterable(_edges(node, ids) for node in order))
    return Graph(tuple(dict.fromkeys(ids[node] for node in roots)), nodes, edges)


def _node(tensor: Any) -> Node:
    if isinstance(tensor, GradientEdge):
        return tensor.node
    if isinstance(tensor, Node):
        return tensor
    if not isinstance(tensor, Variable):
        raise TypeError(f"a graph starts at a tensor or a node, not at a {type(tensor).__name__}")
    if not tensor.requires_grad:
        raise RuntimeError(
            "this tensor does not require grad and does not have a grad_fn: it has no graph"
        )
    return tensor.edge()[0]


def _ordered(roots: list[Node]) -> Iterator[Node]:
    """The nodes in topological order, each leaf right after the last node that uses it: where the
    engine has it depends on when the leaf was first used, in some other graph perhaps."""
    order = topological_order(roots)
    last = {edge[0]: node for node in order for edge in node.next if edge is not None}
    for node in order:
        if node.next or node not in last:
            yield node
            leaves = (edge[0] for edge in node.next if edge is not None and not edge[0].next)
            yield from dict.fromkeys(leaf for leaf in leaves if last[leaf] is node)


class _Places(dict[tuple[int, int], Where]):
    """Decoded places by code object and instruction: a loop makes many nodes at one."""

    def of(self, node: Node) -> Where:
        key = id(node.code), node.lasti
        found = self.get(key)
        if found is None:
            found = self[key] = node.where
        return found


def _record(index: int, node: Node, places: _Places, labels: Mapping[int, str]) -> NodeRecord:
    metas = (node.metadata_of(nr) for nr in range(node.outputs_now()))
    outputs = tuple(Output(tuple(shape), _name(dtype)) for shape, dtype in metas)
    where = places.of(node)
    if isinstance(node, AccumulateGrad):
        label = labels.get(id(node.variable))
        return NodeRecord(index, "AccumulateGrad", "leaf", "accumulate", outputs, where, (), label)
    name = type(node).__name__
    if isinstance(node, OperatorNode):
        operator = node.operator.name
    elif isinstance(node, BackwardCFunction):
        operator = name.removesuffix("Backward")
    else:
        return NodeRecord(index, name, name, "other", outputs, where, (), None)
    saved = tuple(_saved(node.saved()))
    return NodeRecord(index, name, operator, "operation", outputs, where, saved, None)


_name = cache(str)  # of a dtype: NumPy takes its time to spell one


def _saved(values: Mapping[str, Any]) -> Iterator[Saved]:
    """The arrays among the saved `values`; a list of arrays gives one for each item."""
    for name, value in values.items():
        listed = isinstance(value, list)
        for nr, array in enumerate(value if listed else [value]):
            if isinstance(array, np.ndarray | np.generic):
                label = f"{name}[{nr}]" if listed else name
                yield Saved(label, array.shape, _name(array.dtype), array.nbytes)


def _edges(node: Node, ids: Mapping[Node, int]) -> Iterator[EdgeRecord]:
    operator = node.operator if isinstance(node, OperatorNode) else None
    arguments = _arguments(operator, len(node.next))
    for nr, edge in enumerate(node.next):
        if edge is not None:
            yield EdgeRecord(ids[node], nr, arguments[nr], ids[edge[0]], edge[1])


@cache
def _arguments(operator: Operator | None, count: int) -> tuple[str, ...]:
    """What the `count` inputs of a node of `operator` are called."""
    if operator is None:
        return tuple(f"input {nr}" for nr in range(count))
    names: list[str] = []
    for p in operator.inputs:
        if p.kind == LIST:
            names += [f"{p.name}[{nr}]" for nr in range(count - len(operator.inputs) + 1)]
        else:
            names.append(p.name)
    return tuple(names)
