"""Trees: tensors, or dicts, lists and tuples of trees, with names for their parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..autograd.variable import Variable
from ..utils._pytree import TreeSpec, tree_flatten, tree_map

Tree = Any


def leaf_names(spec: TreeSpec, name: str) -> Iterator[str]:
    """How a program would write each leaf of the tree `name`.

    >>> list(leaf_names(tree_flatten({"w": 1, "b": [2, 3]})[1], "x"))
    ["x['w']", "x['b'][0]", "x['b'][1]"]
    """
    if spec.is_leaf():
        yield name
        return
    children = spec.children()
    keys = spec.context if isinstance(spec.context, list) else range(len(children))
    for key, child in zip(keys, children, strict=True):
        yield from leaf_names(child, f"{name}[{key!r}]")


def tensors_of(tree: Tree, name: str) -> tuple[list[Any], TreeSpec]:
    """The leaves of `tree` and its structure; TypeError unless all leaves are tensors."""
    leaves, spec = tree_flatten(tree)
    for leaf, leaf_name in zip(leaves, leaf_names(spec, name), strict=True):
        if not isinstance(leaf, Variable):
            raise TypeError(
                f"{leaf_name} must be a tensor, or a dict, list or tuple of tensors, but got "
                f"{type(leaf).__name__}"
            )
    return leaves, spec


def parts_as(spec: TreeSpec, tree: Tree, name: str) -> list[Any]:
    """The parts of `tree` at the leaves of the structure `spec`; ValueError where it lacks them."""
    parts: list[Any] = []
    try:
        tree_map(lambda _, part: parts.append(part), spec.unflatten([None] * spec.num_leaves), tree)
    except ValueError as error:
        raise ValueError(f"{name} has the wrong structure. {error}") from error
    return parts
