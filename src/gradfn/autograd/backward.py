"""`backward` and `grad`: from tensors to a pass of the engine and back."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dtypes import from_numpy
from .batching import vmap_level
from .engine import Root, run_backward
from .grad_mode import set_grad_enabled
from .node import Node
from .readings import Captured, on_tensors
from .variable import LEAF, Variable
from .where import Place, decode, here

Tensors = Any  # a tensor, a gradient edge, or a sequence of them

# Called at the start of each `backward()`, its graph still whole, with the tensors and the user's
# line; what they return is called after it.
observers: list[Callable[[list[Any], Place], Callable[[], None] | None]] = []


def backward(
    tensors: Tensors,
    grad_tensors: Tensors | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensors | None = None,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradients of ``sum(tensor * grad_tensor)`` to the `grad` of the graph's leaves.

    `grad_tensors` may be left out for one-element tensors. The graph's saved values are freed
    unless `retain_graph` (by default as `create_graph`, which records the pass itself). With
    `inputs`, only these tensors collect.

    >>> import gradfn
    >>> x = gradfn.tensor([1.0, 2.0], requires_grad=True)
    >>> gradfn.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "backward(). Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    wanted = None if inputs is None else _listed(inputs)
    if wanted is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    captured: Captured | None = None
    if wanted is not None:
        captured = {}
        for index, tensor in enumerate(wanted):
            captured[_target(tensor, index)] = None
            if isinstance(tensor, Variable) and tensor._edge is not LEAF:
                tensor.retain_grad()
    if create_graph:
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the "
            "parameter and its gradient which can cause a memory leak. We recommend using "
            "autograd.grad when creating the graph to avoid this. If you have to use this "
            "function, make sure to reset the .grad fields of your parameters to None after use "
            "to break the cycle and avoid the leak.",
            stacklevel=3,
        )
    keep = create_graph if retain_graph is None else retain_graph
    started_at = _listed(tensors)
    roots = _roots(started_at, grad_tensors, create_graph)
    by = here()
    after = [observer(started_at, by) for observer in observers]
    run_backward(roots, keep, create_graph, captured, accumulate=True, by=by)
    for finish in after:
        if finish is not None:
            finish()


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensors | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of ``sum(output * grad_output)`` with respect to `inputs`, as a tuple.

    No `grad` field is touched. An input that the outputs do not depend on is an error, unless
    `allow_unused` (its gradient is None) or `materialize_grads` (its gradient is zeros). With
    `is_grads_batched` each of `grad_outputs` has a leading batch dimension, and so has each result.

    >>> import gradfn
    >>> x = gradfn.tensor(2.0, requires_grad=True)
    >>> gradfn.autograd.grad(x**3, x)
    (tensor(12.),)
    """
    wanted = _listed(inputs)  # once: it may be a generator
    if not wanted:
        raise RuntimeError("grad requires non-empty inputs.")
    if not only_inputs:
        raise ValueError("only_inputs=False is no longer supported: use autograd.backward instead")
    if allow_unused is False and materialize_grads:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, "
            "but got: allow_unused=False."
        )
    targets = [_target(tensor, index) for index, tensor in enumerate(wanted)]
    keep = create_graph if retain_graph is None else retain_graph
    started_at, by = _listed(outputs), here()

    def gradients(grads: Tensors | None, keep: bool) -> list[Any]:
        captured: Captured = dict.fromkeys(targets)
        roots = _roots(started_at, grads, create_graph)
        run_backward(roots, keep, create_graph, captured, accumulate=False, by=by)
        return [captured[target] for target in targets]

    if is_grads_batched:
        with set_grad_enabled(create_graph):
            results = _batched(gradients, started_at, grad_outputs, keep)
    else:
        results = gradients(grad_outputs, keep)
    for index, result in enumerate(results):
        if result is None and materialize_grads:
            if _is_edge(wanted[index]):
                raise RuntimeError(
                    "materialize_grads cannot be used when the given input is a GradientEdge: "
                    f"nothing has come to the one at index {index}, and it has no tensor to tell "
                    "what zeros would be"
                )
            shape, dtype = targets[index][0].metadata_of(targets[index][1])
            results[index] = Variable.wrap(np.zeros(shape, dtype), LEAF if create_graph else None)
        elif result is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {index} appears to not have been used in the "
                "graph. Set allow_unused=True if this is the desired behavior. It has shape "
                f"{list(targets[index][0].metadata_of(targets[index][1]).shape)}."
            )
    return tuple(results)


def _batched(
    gradients: Callable[[Tensors, bool], list[Any]],
    tensors: list[Any],
    grad_tensors: Tensors | None,
    keep: bool,
) -> list[Any]:
    """``gradients(grads, keep_graph)`` for all entries of the batch `grad_tensors`, stacked."""
    batches: list[Any] = [None] * len(tensors)
    if grad_tensors is not None:
        batches = _listed(grad_tensors)
    pairs = enumerate(zip(tensors, batches, strict=False))
    sizes = [_batch_size(tensor, batch, index) for index, (tensor, batch) in pairs]
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension: the leading ones of grad_outputs"
        )
    level = vmap_level(sizes[0])
    with level.entered():
        found = gradients([level.batch(batch) for batch in batches], keep)
    return [None if g is None else level.result(g) for g in found]


def _batch_size(tensor: Any, grads: Any, index: int) -> int:
    """The leading dimension of `grads`, a batch of gradients of `tensor`."""
    if grads is None:
        raise ValueError(
            "vmap(vjp, in_dims=0, ...): with is_grads_batched=True every output needs a batch of "
            f"gradients, but grad_outputs[{index}] is None"
        )
    if not isinstance(grads, Variable):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(grads).__name__}")
    shape: tuple[int, ...] = grads._array.shape
    if not shape or not shape[0]:
        raise IndexError(
            f"grad_outputs[{index}] holds no gradient: with is_grads_batched=True its first "
            f"dimension is the batch, and its shape is {list(shape)}"
        )
    due = tensor[0].metadata_of(tensor[1]).shape if _is_edge(tensor) else tensor._array.shape
    if shape[1:] != due:
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as "
            "the batch dimension. The sizes of the remaining dimensions are expected to match the "
            f"shape of corresponding output, but grad_output[{index}] has entries of shape "
            f"{_size(shape[1:])} and output[{index}] has a shape of {_size(due)}."
        )
    return shape[0]


def _listed(tensors: Tensors) -> list[Any]:
    if isinstance(tensors, Variable) or _is_edge(tensors):
        return [tensors]
    return list(tensors)


def _is_edge(value: Any) -> bool:
    """Whether `value` is a GradientEdge, that is, a (node, output number) pair."""
    return isinstance(value, tuple) and len(value) >= 2 and isinstance(value[0], Node)


def _target(tensor: Any, index: int) -> tuple[Node, int]:
    if _is_edge(tensor):
        return tensor[0], tensor[1]
    if tensor._edge is None:
        raise RuntimeError(
            f"One of the differentiated Tensors does not require grad: input {index}, of shape "
            f"{list(tensor.shape)}{_why_cut(tensor)}"
        )
    edge: tuple[Node, int] = tensor.edge()
    return edge


def _roots(tensors: list[Any], grad_tensors: Tensors | None, create_graph: bool) -> list[Root]:
    if grad_tensors is None:
        grads: list[Any] = [None] * len(tensors)
    else:
        grads = [grad_tensors] if isinstance(grad_tensors, Variable) else list(grad_tensors)
    if len(grads) != len(tensors):
        raise RuntimeError(
            f"got {len(tensors)} tensors and {len(grads)} gradients: they come in pairs"
        )
    pairs = enumerate(zip(tensors, grads, strict=True))
    return [_root(tensor, grad, index, create_graph) for index, (tensor, grad) in pairs]


def _root(tensor: Any, grad: Any, index: int, create_graph: bool) -> Root:
    if _is_edge(tensor):
        node, nr = edge = (tensor[0], tensor[1])
        shape, dtype = node.metadata_of(nr)
    else:
        if tensor._edge is None:
            raise RuntimeError(
                f"element {index} of tensors does not require grad and does not have a grad_fn"
                f"{_why_cut(tensor)}"
            )
        edge, shape, dtype = tensor.edge(), tensor._array.shape, tensor._array.dtype
    if grad is None:
        if math.prod(shape) != 1:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs: this one has shape "
                f"{list(shape)}; give a gradient of that shape, or reduce it first"
            )
        if dtype.kind == "c":
            raise RuntimeError(
                "grad can be implicitly created only for real scalar outputs but got "
                f"{from_numpy(dtype)}"
            )
        grad = Variable.wrap(np.ones(shape, dtype))
    elif not isinstance(grad, Variable):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
    elif grad._array.shape != shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {_size(grad._array.shape)} "
            f"and output[{index}] has a shape of {_size(shape)}."
        )
    elif (grad._array.dtype.kind == "c") != (dtype.kind == "c"):
        raise RuntimeError(
            f"For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{index}] has a dtype of {grad.dtype} and "
            f"output[{index}] has a dtype of {from_numpy(dtype)}."
        )
    return edge, grad if on_tensors(create_graph) else grad._array


def _size(shape: Sequence[int]) -> str:
    return f"torch.Size({list(shape)})"


def _why_cut(tensor: Any) -> str:
    """What is known of why `tensor` has no history, for the end of an error message."""
    if tensor._cut is None:
        return ". It is a leaf that was made without requires_grad=True."
    why, code, lasti = tensor._cut
    return f". Its history was cut: {why}, at {decode(code, lasti)}."
