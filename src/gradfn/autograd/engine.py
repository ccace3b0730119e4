"""The backward pass: each node once, latest first.

Sequence numbers are global and a node is always newer than the nodes of its inputs, so descending
sequence numbers are a topological order; a leaf runs right after the last of its consumers. All
state is local to the pass: passes may nest, and run in several threads over shared subgraphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from typing import TypeAlias

import numpy as np

from .anomaly_mode import watched
from .grad_mode import get_mode, set_mode
from .hooks import call_post_hooks, call_pre_hooks, call_tensor_hooks
from .node import Freed, Node
from .passes import MOST_NESTED, NESTED_PER_THREAD, run_on_fresh_stack, running
from .readings import Arrays, Captured, Tensors, on_tensors
from .where import Place

Root: TypeAlias = tuple[tuple[Node, int], object]  # an edge and the gradient that enters there


def run_backward(
    roots: list[Root],
    keep_graph: bool,
    create_graph: bool,
    captured: Captured | None = None,
    accumulate: bool = True,
    by: Place | None = None,
) -> None:
    """Propagate the gradients of `roots` through the graph.

    Leaves collect what arrives. Where `captured` names the edges whose gradients are wanted, only
    what leads to them runs, and they are put there. `by` is the user's line, for later errors.
    """
    order = topological_order(edge[0] for edge, _ in roots)
    needed: Collection[Node] = order
    if captured is not None:
        needed = leading_to(captured, order, accumulate)
        ends = {node for node, _ in captured}
        order = [node for node in order if node in needed or node in ends]
    outer = running.get()
    depth = 0 if outer is None else outer.depth + 1
    if depth > MOST_NESTED:
        raise RecursionError(
            f"backward passes are nested {MOST_NESTED} deep: does a hook call backward on the "
            "graph that it is part of?"
        )
    reading = (Tensors if on_tensors(create_graph) else Arrays)(needed, captured, depth)
    reading.order, reading.keep_graph, reading.accumulates = order, keep_graph, accumulate
    for root, grad in roots:
        reading.deliver(root, grad, None)
    walk = partial(_walk, order, reading, create_graph, None if keep_graph else Freed(by))
    try:
        if depth % NESTED_PER_THREAD == NESTED_PER_THREAD - 1:
            run_on_fresh_stack(walk)
        else:
            walk()
    except BaseException:
        reading.undo()
        raise


def _walk(order: list[Node], reading: Arrays, create_graph: bool, freed: Freed | None) -> None:
    """Run the nodes of a pass in `order`, freeing their saved values where `freed` is given."""
    arrived, deliver, add = reading.arrived, reading.deliver, reading.add
    captured = reading.captured
    tensors = isinstance(reading, Tensors)
    mode, outer = get_mode(), running.get()
    running.set(reading)
    set_mode(mode.replace(grad=create_graph))
    try:
        with np.errstate(all="ignore"):
            for node in order:
                grad = arrived.pop(node, None)
                defined = grad is not None
                if not defined and node.outputs != 1:
                    grad = [None] * node.outputs_now()
                hooks = node.hooks
                if hooks is not None:
                    grad = call_tensor_hooks(node, grad, reading)
                if captured is not None:
                    reading.capture(node, grad)
                    if node not in reading.nodes:
                        continue
                if hooks is not None and hooks.pre:
                    grad = call_pre_hooks(node, grad, reading)
                if not defined:
                    grads = node.undefined(grad, tensors)
                elif mode.anomaly:
                    grads = watched(node, grad, tensors, mode.check_nan)
                else:
                    grads = node.backward_tensors(grad) if tensors else node.backward(grad)
                if hooks is not None and hooks.post:
                    grads = call_post_hooks(node, grads, grad, reading)
                if freed is not None:
                    node.release(freed)
                index = 0  # counted by hand: twice as fast as zip
                for edge in node.next:
                    grad = grads[index]
                    index += 1
                    if edge is None or grad is None:
                        continue
                    child = edge[0]
                    if (
                        grad.dtype is child.dtype
                        and child.outputs == 1
                        and grad.shape == child.shape
                    ):
                        known = arrived.get(child)  # most gradients come as they are due
                        arrived[child] = grad if known is None else add(known, grad, edge)
                    else:
                        deliver(edge, grad, node)
                del grad, grads  # a gradient that nobody else holds becomes the leaf's, uncopied
        for callback in reading.callbacks:
            callback()
    finally:
        running.set(outer)
        set_mode(mode)


def topological_order(roots: Iterable[Node]) -> list[Node]:
    """The nodes reachable from `roots`, every node before those of its inputs."""
    turn: dict[Node, float] = {node: node.seq if node.next else inf for node in roots}
    stack = list(turn)
    while stack:
        node = stack.pop()
        for edge in node.next:
            if edge is None:
                continue
            child = edge[0]
            if not child.next:  # a leaf
                if turn.get(child, node.seq) >= node.seq:
                    turn[child] = node.seq - 0.5
            elif child not in turn:
                turn[child] = child.seq
                stack.append(child)
    if Node.renumbered:
        return _by_dependencies(turn)
    return sorted(turn, key=turn.__getitem__, reverse=True)


def _by_dependencies(nodes: Collection[Node]) -> list[Node]:
    """The order of `nodes` where sequence numbers are the user's: always the highest of those whose
    consumers have all run."""
    waiting = Counter(edge[0] for node in nodes for edge in node.next if edge is not None)
    found = count()  # settles ties
    ready = [(-node._sequence_nr(), next(found), node) for node in nodes if not waiting[node]]
    heapify(ready)
    order = []
    while ready:
        *_, node = heappop(ready)
        order.append(node)
        for child in [edge[0] for edge in node.next if edge is not None]:
            waiting[child] -= 1
            if not waiting[child]:
                heappush(ready, (-child._sequence_nr(), next(found), child))
    return order


def leading_to(targets: Captured, order: list[Node], accumulate: bool) -> set[Node]:
    """The nodes of `order` that must run for the gradients of `targets`, and the targets' own nodes
    where these are to accumulate."""
    ends = {node for node, _ in targets}
    needed = set(ends) if accumulate else set()
    for node in reversed(order):
        if any(edge is not None and (edge[0] in ends or edge[0] in needed) for edge in node.next):
            needed.add(node)
    return needed
