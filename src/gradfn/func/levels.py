"""Tensors at the edge of a transform: what goes in and comes out of one.

Note [Transforms keep no levels]: a gradient is asked for with respect to a tensor that `grad` or
`vjp` has made itself, with its own node, so that nested transforms cannot take one variable's
derivative for another's. What comes out is connected to what it depends on outside, and to nothing
of the transform.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..autograd.batching import Vmap, inside
from ..autograd.forward_ad import carry_tangents
from ..autograd.function import within_transform
from ..autograd.grad_mode import enable_grad, get_mode
from ..autograd.node import AccumulateGrad, Node
from ..autograd.variable import Variable
from ..utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten


@contextmanager
def transforming() -> Iterator[None]:
    """Around the user's function: custom functions must have a `setup_context` within, as they
    must in PyTorch."""
    token = within_transform.set(True)
    try:
        yield
    finally:
        within_transform.reset(token)


def with_leaves(tree: Any, change: Callable[[Any], Any]) -> Any:
    """`tree` with its tensors changed."""
    return tree_map(lambda leaf: change(leaf) if isinstance(leaf, Variable) else leaf, tree)


def fresh(tensor: Any) -> Any:
    """The variable to differentiate by: of the values of `tensor`, and recorded where that is."""
    seen = inside(tensor)
    if seen._edge is not None:
        with enable_grad():
            return seen.view_as(seen)
    made = Variable.wrap(seen._array, None, seen.memory())
    return carry_tangents(tensor, made).requires_grad_()


def taken_out(tree: Any, variables: Iterable[Any]) -> Any:
    """`tree` with tensors that depend on nothing but `variables` cut off from the graph, as all
    are where nothing is recorded outside."""
    recorded = get_mode().grad
    own = _nodes(variables)

    def take(tensor: Any) -> Any:
        if tensor._edge is None or (recorded and _depends_outside([tensor], own)):
            return tensor
        made = Variable.wrap(tensor._array, None, tensor.memory())
        made._dual = tensor._dual
        return made

    return with_leaves(tree, take)


def _depends_outside(tensors: Iterable[Any], own: set[Node]) -> bool:
    """Whether something other than the leaves `own` is behind `tensors` in the graph."""
    stack = [t.edge()[0] for t in tensors if t._edge is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node in own:
            if not isinstance(node, AccumulateGrad):
                return True
            continue
        if isinstance(node, AccumulateGrad):
            return True
        for edge in node.next:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                stack.append(edge[0])
    return False


def recorded_outside(tensors: Iterable[Any], variables: Iterable[Any]) -> bool:
    """Whether what is computed from `tensors` has derivatives by something other than
    `variables`, and these are recorded."""
    if not get_mode().grad:
        return False
    return _in_recorded_batches() or _depends_outside(tensors, _nodes(variables))


def _nodes(variables: Iterable[Any]) -> set[Node]:
    return {variable.edge()[0] for variable in variables}


def _in_recorded_batches() -> bool:
    """Whether a vmap level that is open here computes with tensors that require a gradient."""
    level: Any = get_mode().intercept
    while level is not None:
        if isinstance(level, Vmap) and level.differentiable:
            return True
        level = getattr(level, "outer", None)
    return False


def check_real(name: str, what: str, tensors: Iterable[Any]) -> None:
    """Refuse complex `what` ("inputs", "outputs"): a Jacobian has one entry for each real pair."""
    for number, tensor in enumerate(tensors):
        if isinstance(tensor, Variable) and tensor._array.dtype.kind == "c":
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened "
                f"input idx: {number}"
            )


def flat_tensors(tree: Any, refuse: Callable[[Any], Exception]) -> tuple[list[Any], Any]:
    """The leaves of `tree`, all of them tensors, and its structure."""
    flat, spec = tree_flatten(tree)
    for leaf in flat:
        if not isinstance(leaf, Variable):
            raise refuse(leaf)
    return flat, spec


def tensors_returned(about: str, output: Any) -> tuple[list[Any], Any]:
    """The tensors of what a transformed function returned, and its structure."""
    if output is None or tree_leaves(output) == []:
        raise RuntimeError(
            f"{about}: Expected f to be a function that has non-empty output (got output = "
            f"{output})"
        )
    return flat_tensors(
        output,
        lambda leaf: RuntimeError(
            f"{about}: expected f(*primals) to return only tensors, got unsupported type "
            f"{type(leaf)}"
        ),
    )


def split_aux(about: str, output: Any, has_aux: bool) -> tuple[Any, Any]:
    """What a transformed function returned, and the tensors that came with it."""
    if not has_aux:
        return output, None
    if not isinstance(output, tuple) or len(output) != 2:
        raise RuntimeError(
            f"{about}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    for leaf in tree_leaves(output[1]):
        if not isinstance(leaf, Variable):
            raise RuntimeError(
                f"{about}: Expected tensors, got unsupported type {type(leaf)} in aux"
            )
    return output


def chosen_numbers(about: str, argnums: Any, count: int) -> list[int]:
    """The arguments that `argnums` names, of `count`, from the front."""
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not isinstance(numbers, tuple) or not all(isinstance(n, int) for n in numbers):
        raise RuntimeError(f"{about}: argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not numbers:
        raise RuntimeError(f"{about}: argnums must be non-empty, got argnums={argnums}")
    for n in numbers:
        if not -count <= n < count:
            raise RuntimeError(f"{about}: Got argnum={n}, but only {count} positional inputs")
    wrapped = [n % count for n in numbers]
    if len(set(wrapped)) < len(wrapped):
        raise RuntimeError(f"{about}: argnums elements must be unique, got {argnums}")
    return wrapped


def rebuilt(flat: Iterable[Any], spec: Any) -> Any:
    """The leaves `flat` in the structure `spec`."""
    return tree_unflatten(list(flat), spec)
