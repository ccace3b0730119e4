"""Trees: tensors, or dicts, lists and tuples of trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..autograd.variable import Variable

Tree = Any


def walk(tree: Tree, name: str) -> Iterator[tuple[str, Any]]:
    """The leaves with their names.

    >>> list(walk({"w": 1, "b": [2, 3]}, "x"))
    [("x['w']", 1), ("x['b'][0]", 2), ("x['b'][1]", 3)]
    """
    if isinstance(tree, dict):
        for key, child in tree.items():
            yield from walk(child, f"{name}[{key!r}]")
    elif isinstance(tree, list | tuple):
        for index, child in enumerate(tree):
            yield from walk(child, f"{name}[{index}]")
    else:
        yield name, tree


def rebuild(tree: Tree, leaves: Iterator[Any]) -> Tree:
    """A tree of the structure of `tree` with the next of `leaves`.

    >>> rebuild({"w": 1, "b": [2, 3]}, iter("xyz"))
    {'w': 'x', 'b': ['y', 'z']}
    """
    if isinstance(tree, dict):
        copy = tree.copy()
        copy.update((key, rebuild(child, leaves)) for key, child in tree.items())
        return copy
    if isinstance(tree, list | tuple):
        children = [rebuild(child, leaves) for child in tree]
        return type(tree)(*children) if hasattr(tree, "_fields") else type(tree)(children)
    return next(leaves)


def leaves_as(template: Tree, tree: Tree, name: str) -> Iterator[Any]:
    """The subtrees of `tree` at the leaves of `template`, in their order.

    TypeError where the structures differ; `name` is what the error calls `tree`.
    """
    if isinstance(template, dict):
        if not isinstance(tree, dict) or tree.keys() != template.keys():
            due = f"a dict with the keys {list(template)}"
            raise TypeError(f"{name} has the wrong structure: expected {due}, got {_kind(tree)}")
        for key, child in template.items():
            yield from leaves_as(child, tree[key], f"{name}[{key!r}]")
    elif isinstance(template, list | tuple):
        if not isinstance(tree, list | tuple) or len(tree) != len(template):
            due = f"a {type(template).__name__} of {len(template)}"
            raise TypeError(f"{name} has the wrong structure: expected {due}, got {_kind(tree)}")
        for index, child in enumerate(template):
            yield from leaves_as(child, tree[index], f"{name}[{index}]")
    else:
        yield tree


def check_tensor(leaf: Any, name: str) -> None:
    """TypeError unless `leaf` is a tensor."""
    if not isinstance(leaf, Variable):
        raise TypeError(
            f"{name} must be a tensor, or a dict, list or tuple of tensors, but got {_kind(leaf)}"
        )


def _kind(tree: Tree) -> str:
    """What `tree` is, for an error."""
    if isinstance(tree, dict):
        return f"a dict with the keys {list(tree)}"
    if isinstance(tree, list | tuple):
        return f"a {type(tree).__name__} of {len(tree)}"
    return type(tree).__name__
