"""Structures of containers with leaves: PyTorch's `torch.utils._pytree`.

Tuples, named tuples, lists, dicts, ordered and default dicts and deques are containers, and what
`register_pytree_node` adds; everything else, None too, is a leaf.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

PyTree: TypeAlias = Any
IsLeaf: TypeAlias = Callable[[Any], bool] | None


class NodeDef(NamedTuple):
    """How containers of one type are taken apart, into children and a context, and put together."""

    flatten: Callable[[Any], tuple[Iterable[Any], Any]]
    unflatten: Callable[[list[Any], Any], Any]


def _dict_back(make: Callable[[Any], Any]) -> Callable[[list[Any], Any], Any]:
    return lambda children, keys: make(zip(keys, children, strict=True))


SUPPORTED_NODES: dict[type[Any], NodeDef] = {
    tuple: NodeDef(lambda t: (t, None), lambda children, _: tuple(children)),
    list: NodeDef(lambda t: (t, None), lambda children, _: list(children)),
    dict: NodeDef(lambda t: (t.values(), list(t)), _dict_back(dict)),
    OrderedDict: NodeDef(lambda t: (t.values(), list(t)), _dict_back(OrderedDict)),
    defaultdict: NodeDef(
        lambda t: (t.values(), [t.default_factory, list(t)]),
        lambda children, about: defaultdict(about[0], zip(about[1], children, strict=True)),
    ),
    deque: NodeDef(lambda t: (t, t.maxlen), lambda children, size: deque(children, size)),
}


def register_pytree_node(
    cls: type[Any],
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_fn: Callable[[list[Any], Any], Any],
    **_: Any,
) -> None:
    """Let `cls` be a container: ``flatten_fn(x)`` gives (children, context), and
    ``unflatten_fn(children, context)`` gives ``x`` back. ValueError where it is one already."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(flatten_fn, unflatten_fn)


def is_namedtuple(value: Any) -> bool:
    """Whether `value` is an instance of a named tuple class."""
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


def is_structseq(value: Any) -> bool:
    """Whether `value` is a named tuple that operators return."""
    return isinstance(value, tuple) and hasattr(type(value), "n_fields")


def _node(value: Any) -> tuple[Any, NodeDef] | None:
    """The type of container that `value` is, and how to take it apart; None for leaves."""
    cls = type(value)
    found = SUPPORTED_NODES.get(cls)
    if found is not None:
        return cls, found
    if is_namedtuple(value):
        return cls, NodeDef(lambda t: (t, cls), lambda children, kind: kind(*children))
    if is_structseq(value):
        return cls, NodeDef(lambda t: (t, cls), lambda children, kind: kind(children))
    return None


@dataclasses.dataclass(frozen=True, eq=False)
class TreeSpec:
    """A structure without its leaves; equal to structures of the same containers."""

    type: Any
    context: Any
    children_specs: list[TreeSpec]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        mine, theirs = ((s.type, s.context, s.children_specs) for s in (self, other))
        return mine == theirs

    def __hash__(self) -> int:
        return hash((self.type, len(self.children_specs), self.num_leaves))

    @property
    def num_leaves(self) -> int:
        if self.is_leaf():
            return 1
        return sum(child.num_leaves for child in self.children_specs)

    @property
    def num_nodes(self) -> int:
        return 1 + sum(child.num_nodes for child in self.children_specs)

    @property
    def num_children(self) -> int:
        return len(self.children_specs)

    def children(self) -> list[TreeSpec]:
        return self.children_specs

    def is_leaf(self) -> bool:
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        return tree_unflatten(leaves, self)

    def __repr__(self) -> str:
        if self.is_leaf():
            return "*"
        children = ",\n".join(map(repr, self.children_specs)).replace("\n", "\n  ")
        name = "namedtuple" if hasattr(self.type, "_fields") else self.type.__name__
        return f"TreeSpec({name}, {self.context}, [{children}])"


LeafSpec = TreeSpec(None, None, [])


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of `tree`, from left to right, and its structure.

    >>> tree_flatten({"a": 1, "b": (2, 3)})[0]
    [1, 2, 3]
    """
    leaves: list[Any] = []
    return leaves, _collect(tree, is_leaf, leaves)


def _collect(tree: PyTree, is_leaf: IsLeaf, leaves: list[Any]) -> TreeSpec:
    """The structure of `tree`, whose leaves it adds to `leaves`.

    Recursion is by functions of this module: one that is defined inside another and calls itself
    is a reference cycle, which would keep the leaves alive.
    """
    node = None if is_leaf is not None and is_leaf(tree) else _node(tree)
    if node is None:
        leaves.append(tree)
        return LeafSpec
    cls, (flatten, _) = node
    children, context = flatten(tree)
    return TreeSpec(cls, context, [_collect(child, is_leaf, leaves) for child in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The structure `treespec` with these leaves; ValueError for another number of them."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"Expected `treespec` to be an instance of PyTreeSpec but got item of type "
            f"{type(treespec)}."
        )
    given = list(leaves)
    if len(given) != treespec.num_leaves:
        raise ValueError(
            f"treespec.unflatten(leaves): `leaves` has length {len(given)} but the spec "
            f"refers to a pytree that holds {treespec.num_leaves} items ({treespec})."
        )
    return _built(treespec, iter(given))


def _built(spec: TreeSpec, leaves: Iterator[Any]) -> PyTree:
    """The structure `spec` with the next of `leaves`."""
    if spec.is_leaf():
        return next(leaves)
    children = [_built(child, leaves) for child in spec.children_specs]
    known = SUPPORTED_NODES.get(spec.type)
    if known is not None:
        return known.unflatten(children, spec.context)
    if hasattr(spec.type, "_make"):
        return spec.type._make(children)
    return spec.type(children)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of `tree`."""
    return tree_flatten(tree, is_leaf)[0]


tree_iter = tree_leaves


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure of `tree`."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """`tree` with each leaf replaced by ``func(leaf, *leaves)``, of trees of the same structure.

    >>> tree_map(lambda a, b: a + b, (1, [2]), (10, [20]))
    (11, [22])
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [_leaves_as(spec, rest) for rest in rests]
    return tree_unflatten([func(*row) for row in zip(leaves, *columns, strict=True)], spec)


def _leaves_as(spec: TreeSpec, tree: Any) -> list[Any]:
    """The parts of `tree` in the places of the leaves of `spec`."""
    if spec.is_leaf():
        return [tree]
    pairs = zip(spec.children_specs, _children_as(spec, tree), strict=True)
    return [leaf for child, part in pairs for leaf in _leaves_as(child, part)]


_DICTS = (dict, OrderedDict, defaultdict)


def _children_as(spec: TreeSpec, tree: Any) -> list[Any]:
    """The children of `tree` in the order of those of `spec`; ValueError for other containers.

    Dicts of all kinds match by their keys, deques of all maximal lengths by their items.
    """
    node = _node(tree)
    if node is not None and node[0] in _DICTS and spec.type in _DICTS:
        keys = spec.context[1] if spec.type is defaultdict else spec.context
        missing, extra = set(keys) - set(tree), set(tree) - set(keys)
        if missing or extra:
            raise ValueError(
                f"Node keys mismatch; missing key(s): {missing}; extra key(s): {extra}."
            )
        return [tree[key] for key in keys]
    if node is None or node[0] is not spec.type:
        raise ValueError(f"Node type mismatch; expected {spec.type!r}, but got {type(tree)!r}.")
    children, context = node[1].flatten(tree)
    parts = list(children)
    if len(parts) != spec.num_children:
        raise ValueError(
            f"Node arity mismatch; expected {spec.num_children}, but got {len(parts)}."
        )
    if context != spec.context and spec.type is not deque:
        raise ValueError(
            f"Node context mismatch for custom node type {spec.type}: expected {spec.context}, but "
            f"got {context}."
        )
    return parts


def tree_map_(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Call `func` on the leaves, and return `tree` itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def map_only(kind: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Let a function leave alone leaves that are no `kind` (a class, several, or a test)."""
    if not isinstance(kind, type | tuple) and callable(kind):
        chosen: Callable[[Any], bool] = kind
    else:
        chosen = lambda leaf: isinstance(leaf, kind)  # noqa: E731
    return lambda func: lambda leaf: func(leaf) if chosen(leaf) else leaf


def tree_map_only(
    kind: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """`tree_map` of the leaves that are of a `kind`."""
    return tree_map(map_only(kind)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    kind: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """`tree_map_` of the leaves that are of a `kind`."""
    return tree_map_(map_only(kind)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether `pred` is true of all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether `pred` is true of some leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(
    kind: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Whether `pred` is true of all leaves of a `kind`."""
    return all(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if isinstance(leaf, kind))


def tree_any_only(
    kind: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Whether `pred` is true of some leaf of a `kind`."""
    return any(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if isinstance(leaf, kind))


def _broadcast_to_and_flatten(
    tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None
) -> list[Any] | None:
    """`tree`, which begins as `treespec` does and may have a leaf for a whole branch of it, as one
    entry for each leaf; None where they do not fit.

    >>> _broadcast_to_and_flatten((0, 1), tree_structure(("a", ["b", "c"])))
    [0, 1, 1]
    """
    flat: list[Any] = []
    return flat if _broadcast(tree, treespec, is_leaf, flat) else None


def _broadcast(tree: PyTree, spec: TreeSpec, is_leaf: IsLeaf, flat: list[Any]) -> bool:
    """Whether `tree` fits `spec`; adds its leaves to `flat`, as often as `spec` has some there."""
    node = None if is_leaf is not None and is_leaf(tree) else _node(tree)
    if node is None:
        flat.extend([tree] * spec.num_leaves)
        return True
    children, context = node[1].flatten(tree)
    parts = list(children)
    if (node[0], context, len(parts)) != (spec.type, spec.context, spec.num_children):
        return False
    pairs = zip(parts, spec.children_specs, strict=True)
    return all(_broadcast(part, child, is_leaf, flat) for part, child in pairs)
