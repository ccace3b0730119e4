"""Drawing a graph as text: from the result down to the leaves, one node a line.

Note [How a graph becomes a tree]: a node that is reached along several paths is drawn once, on the
path where most lies below it; elsewhere stands a reference to it. In a large tree the heaviest
input of each node flows straight down, in the node's own column, and only the lighter ones are
indented. Below an indented input lies at most half of what lies below its node, so that n nodes are
never indented more than log2(n) times, however deep the graph is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..autograd.where import user_frame
from .model import EdgeRecord, Graph, NodeRecord, graph
from .names import variables_of

if TYPE_CHECKING:
    from rich.text import Text

Segment: TypeAlias = tuple[str, str]  # a piece of text and rich's name for its style

SMALL = 30  # lines; no tree is deeper
LONGEST_PERIOD = 32  # steps, in the search for repeated stretches
WORTH_CUTTING = 8  # steps; shorter repetitions are drawn
WIDEST_TREE = 60  # columns, as far as places are aligned to its right


def draw(tensor: Any, names: Mapping[str, Any] | None = None, limit: int = 200) -> None:
    """Print the graph behind a tensor, from its result down to its leaves.

    A line shows a node, the shape of its output, and the line of the program that made it. Leaves
    carry the `names` of variables, by default those of the calling frame. A node that is used
    several times is drawn once, with a number such as ``#1``; elsewhere ``^1`` refers to it.

    >>> import gradfn
    >>> x = gradfn.tensor(2.0, requires_grad=True)
    >>> gradfn.lens.draw(x * x)  # doctest: +NORMALIZE_WHITESPACE
    MulBackward0 []                <doctest gradfn.lens.text.draw[2]>:1  x * x
    ├─ self: AccumulateGrad x [] #1
    └─ other: ^1 x
    """
    if names is None:
        names = variables_of(user_frame())
    show(lines(graph(tensor, names), limit))


class Line(NamedTuple):
    """One line of a drawing: the tree, and the place in the program that is set beside it."""

    left: tuple[Segment, ...] = ()
    right: tuple[Segment, ...] = ()


def plain(drawing: Iterable[Line]) -> str:
    """The drawing without colours."""
    rows = _aligned(list(drawing))
    return "\n".join("".join(text for text, _ in row).rstrip() for row in rows)


def styled(drawing: Iterable[Line]) -> Text:
    """The drawing in rich's colours."""
    from rich.text import Text

    rows = (Text.assemble(*row) for row in _aligned(list(drawing)))
    return Text("\n").join(rows)


def show(drawing: Iterable[Line]) -> None:
    """Print a drawing, in colours on a terminal."""
    if sys.stdout.isatty():
        from rich.console import Console

        Console(file=sys.stdout, highlight=False).print(styled(drawing), soft_wrap=True)
    else:
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(plain(drawing).encode(encoding, "replace").decode(encoding))


def _aligned(drawing: list[Line]) -> Iterator[list[Segment]]:
    widths = [sum(len(text) for text, _ in line.left) for line in drawing]
    beside = [width for width, line in zip(widths, drawing, strict=True) if line.right]
    column = min(max(beside, default=0), WIDEST_TREE)
    for width, line in zip(widths, drawing, strict=True):
        gap = (" " * (max(column - width, 0) + 2), "")
        yield [*line.left, gap, *line.right] if line.right else [*line.left]


class _Mention(NamedTuple):
    """A node in its place in the drawing, or only a reference to it."""

    prefix: str
    node: int
    edge: EdgeRecord | None
    drawn: bool


class _Gap(NamedTuple):
    """A stretch of steps that is left out, being like the one above it."""

    prefix: str
    steps: int
    repeats: int


class _Step(NamedTuple):
    """A node in its column: the inputs that branch off, and the one that flows down from it."""

    node: int
    edge: EdgeRecord | None
    sides: tuple[EdgeRecord, ...]
    flow: EdgeRecord | None


def lines(graph: Graph, limit: int = 200) -> list[Line]:
    """The drawing of `graph`, cut after `limit` lines."""
    items = list(islice(_Tree(graph).items(), limit + 1))
    cut = len(items) > limit
    items = items[:limit]
    drawn = {item.node for item in items if isinstance(item, _Mention) and item.drawn}
    numbers: dict[int, int] = {}
    for item in items:
        if isinstance(item, _Mention) and not item.drawn and item.node in drawn:
            numbers.setdefault(item.node, len(numbers) + 1)
    drawing: list[Line] = []
    for item in items:
        if isinstance(item, _Gap):
            drawing.append(_gap_line(item))
            continue
        if item.edge is None and drawing:
            drawing.append(Line())  # between the trees of several roots
        drawing.append(_node_line(item, graph, numbers))
    if cut:
        drawing.append(Line(((f"⋮ and so on: the graph has {len(graph.nodes):,} nodes", "dim"),)))
    return drawing


def _gap_line(gap: _Gap) -> Line:
    above = "the step above" if gap.steps == 1 else f"the {gap.steps} steps above"
    times = "once" if gap.repeats == 1 else f"{gap.repeats:,} times"
    return Line(((gap.prefix, "dim"), (f"⋮ {above}, {times} more", "dim")))


def _node_line(item: _Mention, graph: Graph, numbers: Mapping[int, int]) -> Line:
    node = graph.nodes[item.node]
    number = numbers.get(node.id)
    left = [(item.prefix, "dim"), (_argument(item.edge, graph), "italic")]
    if not item.drawn:
        name = node.label or ("" if number else f"{node.name}, left out")
        left += [
            ("^" if number is None else f"^{number}", "yellow"),
            (f" {name}" if name else "", ""),
        ]
        return Line(tuple(left))
    leaf = node.kind == "accumulate"
    left += [(node.name, "green" if leaf else "bold"), (f" {_shapes(node)}", "cyan")]
    if node.label:
        left.insert(-1, (f" {node.label}", "bold green"))
    if number is not None:
        left.append((f" #{number}", "yellow"))
    if leaf:
        return Line(tuple(left))
    place = f"{os.path.basename(node.where.filename)}:{node.where.line}  "
    return Line(tuple(left), ((place, "dim"), (node.where.text, "")))


def _argument(edge: EdgeRecord | None, graph: Graph) -> str:
    """What the input is called, where the node has several; and which output it is."""
    if edge is None:
        return ""
    name = edge.argument if len(graph.inputs[edge.node]) > 1 else ""
    if len(graph.nodes[edge.source].outputs) > 1:
        name = f"{name} = output {edge.output_nr}" if name else f"output {edge.output_nr}"
    return f"{name}: " if name else ""


def _shapes(node: NodeRecord) -> str:
    """The shapes of the outputs, with the dtypes that are not float32."""
    shown = [
        str(list(output.shape)) + (f" {output.dtype}" if output.dtype != "float32" else "")
        for output in node.outputs
    ]
    return ", ".join(shown if len(shown) <= 4 else [*shown[:3], f"... {len(shown)} outputs"])


class _Tree:
    """Note [How a graph becomes a tree], carried out without recursion into the depth."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.owner: list[EdgeRecord | None] = [None] * len(graph.nodes)
        self.starts: list[int] = []
        preorder = self._claim(self._depths())
        self.size = [1 + len(inputs) for inputs in graph.inputs]
        for node in reversed(preorder):
            edge = self.owner[node]
            if edge is not None:
                self.size[edge.node] += self.size[node] - 1

    def _depths(self) -> list[int]:
        depths = [0] * len(self.graph.nodes)
        for node in reversed(range(len(depths))):
            inputs = self.graph.inputs[node]
            depths[node] = 1 + max((depths[edge.source] for edge in inputs), default=0)
        return depths

    def _claim(self, depths: list[int]) -> list[int]:
        """Give each node to the edge that draws it; returns the nodes as they were found."""
        found: list[int] = []
        claimed: set[int] = set()
        stack: list[tuple[int, EdgeRecord | None]] = [(r, None) for r in self.graph.roots[::-1]]
        while stack:
            node, edge = stack.pop()
            if node in claimed:
                continue
            claimed.add(node)
            found.append(node)
            self.owner[node] = edge
            if edge is None:
                self.starts.append(node)
            inputs = self.graph.inputs[node]
            by_depth = sorted(inputs, key=lambda e: (depths[e.source], -e.input_nr))
            stack += [(edge.source, edge) for edge in by_depth]
        return found

    def items(self) -> Iterator[_Mention | _Gap]:
        """What is drawn, from top to bottom."""
        leaves: set[int] = set()
        for start in self.starts:
            yield from self._column(start, None, "", "", leaves)

    def _column(
        self, start: int, edge: EdgeRecord | None, head: str, prefix: str, leaves: set[int]
    ) -> Iterator[_Mention | _Gap]:
        """The steps down from `start`, and what branches off them; `head` stands before the first
        line and `prefix` before the others. `leaves` are those drawn so far."""
        steps = self._steps(start, edge)
        keys = [self._key(step) for step in steps]
        at = 0
        while at < len(steps):
            period, repeats = _repeated(keys, at)
            for step in steps[at : at + period]:
                yield from self._step(step, head, prefix, leaves)
                head = prefix
            if repeats > 1:
                yield _Gap(prefix, period, repeats - 1)
            at += period * repeats

    def _steps(self, start: int, edge: EdgeRecord | None) -> list[_Step]:
        steps = []
        small = self.size[start] <= SMALL
        node: int | None = start
        while node is not None:
            inputs = self.graph.inputs[node]
            below = [edge for edge in inputs if self._is_subtree(edge)]
            flow = None
            if below and (len(inputs) == 1 or not small):
                flow = max(below, key=lambda e: self.size[e.source])
            sides = tuple(edge for edge in inputs if edge is not flow)
            steps.append(_Step(node, edge, sides, flow))
            node, edge = (None, None) if flow is None else (flow.source, flow)
        return steps

    def _is_subtree(self, edge: EdgeRecord) -> bool:
        leaf = self.graph.nodes[edge.source].kind == "accumulate"
        return not leaf and self.owner[edge.source] is edge

    def _step(
        self, step: _Step, head: str, prefix: str, leaves: set[int]
    ) -> Iterator[_Mention | _Gap]:
        leaf = self.graph.nodes[step.node].kind == "accumulate"
        yield _Mention(head, step.node, step.edge, not leaf or step.node not in leaves)
        if leaf:
            leaves.add(step.node)
        for side in step.sides:
            last = side is step.sides[-1] and step.flow is None
            branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
            kind = self.graph.nodes[side.source].kind
            if kind == "accumulate" or self._is_subtree(side):
                yield from self._column(side.source, side, prefix + branch, prefix + below, leaves)
            else:
                yield _Mention(prefix + branch, side.source, side, False)

    def _key(self, step: _Step) -> tuple[object, ...]:
        """Equal for steps that are drawn alike."""
        node = self.graph.nodes[step.node]
        sides = tuple((side.argument, self._side_key(side)) for side in step.sides)
        flow = step.flow and step.flow.argument
        return node.name, node.label, node.outputs, node.where, sides, flow

    def _side_key(self, side: EdgeRecord) -> object:
        node = self.graph.nodes[side.source]
        if self._is_subtree(side):
            return tuple(map(self._key, self._steps(side.source, side)))
        return node.name, node.label, node.outputs


def _repeated(keys: list[tuple[object, ...]], at: int) -> tuple[int, int]:
    """The stretch of steps at `at` that repeats itself, and how often; (1, 1) where none does."""
    for period in range(1, LONGEST_PERIOD + 1):
        first = keys[at : at + period]
        repeats = 1
        while keys[at + repeats * period : at + (repeats + 1) * period] == first:
            repeats += 1
        if (repeats - 1) * period >= WORTH_CUTTING:
            return period, repeats
    return 1, 1
