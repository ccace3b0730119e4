"""A function of trees, evaluated at a vector, with the products that its graph gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..autograd.backward import grad
from ..autograd.function import BackwardCFunction, Function
from ..autograd.grad_mode import set_grad_enabled
from ..func.levels import fresh
from ..utils._pytree import tree_leaves
from .packing import Packing, Vector
from .trees import Tree, tensors_of

Func = Callable[..., Any]

CHUNK = 64  # the most cotangents of one backward pass, which takes so many times its memory


def gradients(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    cotangents: Sequence[Any],
    create_graph: bool = False,
    batched: bool = False,
) -> tuple[Any, ...]:
    """Those of ``sum(outputs * cotangents)``, None where there are none; the graph is kept."""
    pairs = zip(outputs, cotangents, strict=True)
    recorded = [pair for pair in pairs if pair[0].requires_grad]
    if not recorded or not inputs:
        return (None,) * len(inputs)
    outputs, cotangents = zip(*recorded, strict=True)
    return grad(
        outputs,
        inputs,
        cotangents,
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
        is_grads_batched=batched,
    )


def filled(found: Sequence[Any], like: Sequence[Any]) -> tuple[Any, ...]:
    """The gradients `found`, with zeros in place of None."""
    pairs = zip(found, like, strict=True)
    return tuple(t.new_zeros(t.shape) if g is None else g for g, t in pairs)


def pushed_forward(
    outputs: Sequence[Any], inputs: Sequence[Any], v: Sequence[Any]
) -> Sequence[Any]:
    """``Jv``, recorded: see Note [Double-backward trick]."""
    u = [fresh(output.new_zeros(output.shape)) for output in outputs]
    linear = gradients(outputs, inputs, u, create_graph=True)
    return filled(gradients(filled(linear, inputs), u, v, create_graph=True), outputs)


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """``Re Σ a̅ b``: how far a function moves with `b`, of which `a` are its gradients."""
    pairs = zip(a, b, strict=True)
    products = [(x.conj() * y).real if y.is_complex() else x * y for x, y in pairs]
    return sum(product.sum() for product in products)


def real_scalar(value: Any, name: str) -> Any:
    """The one tensor in `value`; TypeError or RuntimeError unless it is one real number."""
    tensors, _ = tensors_of(value, name)
    if len(tensors) != 1 or tensors[0].numel() != 1 or tensors[0].is_complex():
        found = [f"{list(tensor.shape)} of {tensor.dtype}" for tensor in tensors]
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs, but {name} has shape "
            f"{' and '.join(found)}: reduce it to one number, as by sum() or mean()"
        )
    return tensors[0]


class Evaluation:
    """Tensors `outputs` that were computed from `inputs`: a function's value at one point.

    Its Jacobian ``J`` is that of the packed outputs with respect to the packed inputs. Products
    are taken with vectors, or with each row of a matrix.
    """

    def __init__(
        self, domain: Packing, inputs: Sequence[Any], codomain: Packing, outputs: Sequence[Any]
    ) -> None:
        self.domain, self.inputs = domain, inputs
        self.codomain, self.outputs = codomain, outputs
        self._gradient: Evaluation | None = None

    @property
    def value(self) -> Vector:
        return self.codomain.pack(self.outputs)

    def point(self) -> Tree:
        """The inputs in the structure of the domain, without a graph."""
        return self.domain.tree(tensor.detach() for tensor in self.inputs)

    def vjp(self, u: Vector) -> Vector:
        """``uᵀJ``, by one backward pass, or one for each chunk of rows."""
        batch = u.shape[:-1]
        if not u.size:
            return np.zeros((*batch, self.domain.size))
        if batch and self._opaque:
            return np.stack([self.vjp(row) for row in u])
        if batch and len(u) > CHUNK:
            starts = range(0, len(u), CHUNK)
            return np.concatenate([self.vjp(u[start : start + CHUNK]) for start in starts])
        cotangents = self.codomain.unpack(u)
        found = gradients(self.outputs, self.inputs, cotangents, batched=bool(batch))
        return self.domain.pack(found, batch)

    def jvp(self, v: Vector) -> Vector:
        """``Jv``, by one backward pass through the first one: Note [Double-backward trick]."""
        return self._transposed.vjp(v)

    @cached_property
    def _transposed(self) -> Evaluation:
        """``u -> uᵀJ``, at any u."""
        u = tuple(output.new_zeros(output.shape).requires_grad_() for output in self.outputs)
        found = self._pulled(u, create_graph=True)
        if self._opaque and any(p is not None and not p.requires_grad for p in found):
            raise RuntimeError(
                f"products Jv of {self.codomain.name} need gradients that can be differentiated, "
                "but a custom function computes its own outside of the graph, as by NumPy"
            )
        return Evaluation(self.codomain, u, self.domain, filled(found, self.inputs))

    def gradient(self, twice: bool) -> Evaluation:
        """The gradient of the one output, as a function of the inputs: its Jacobian, which is the
        Hessian, needs `twice`. RuntimeError where the output does not depend on the inputs."""
        if self._gradient is None:
            found = self._pulled([output.new_ones(output.shape) for output in self.outputs], twice)
            if all(gradient is None for gradient in found):
                raise RuntimeError(
                    f"{self.codomain.name} does not require grad with respect to x: it does not "
                    "depend on x, or its history was cut, as by detach(), item() or numpy()"
                )
            self._gradient = self._of_gradient(found)
        return self._gradient

    def weighted(self, u: Vector) -> Evaluation:
        """``x -> uᵀJ(x)``, whose Jacobian is the sum of the outputs' Hessians with weights `u`."""
        return self._of_gradient(self._pulled(self.codomain.unpack(u), create_graph=True))

    def _pulled(self, cotangents: Sequence[Any], create_graph: bool) -> tuple[Any, ...]:
        with set_grad_enabled(create_graph):
            return gradients(self.outputs, self.inputs, cotangents, create_graph)

    def _of_gradient(self, found: Sequence[Any]) -> Evaluation:
        return Evaluation(self.domain, self.inputs, self.domain, filled(found, self.inputs))

    def jacobian(self) -> Vector:
        """``J``, by as many backward passes as it has rows or columns, whichever are fewer."""
        rows, columns = self.codomain.size, self.domain.size
        by_rows = rows <= columns or self._opaque
        return self.vjp(np.eye(rows)) if by_rows else self.jvp(np.eye(columns)).T

    @cached_property
    def _opaque(self) -> bool:
        """Whether a custom function took part whose `backward` may compute outside of the graph, as
        with NumPy: it takes gradients one by one, and may have no derivative."""
        nodes = [output.grad_fn for output in self.outputs]
        seen = set(nodes)
        while nodes:
            node = nodes.pop()
            if isinstance(node, BackwardCFunction) and node._forward_cls.vmap is Function.vmap:
                return True
            edges = node.next if node is not None else ()
            found = {edge[0] for edge in edges if edge is not None} - seen
            seen |= found
            nodes += found
        return False


class Traced:
    """``f(x, *args)`` as a function of the packed `x`, evaluated once at each point.

    The last `kept` evaluations are kept, with their graphs; these are empty unless `recorded`.
    """

    def __init__(
        self,
        f: Func,
        domain: Packing,
        args: Any = (),
        name: str = "f",
        recorded: bool = True,
        kept: int = 1,
    ) -> None:
        self.f, self.domain, self.recorded = f, domain, recorded
        self.args = args if isinstance(args, tuple) else (args,)  # as in SciPy
        self.call = f"{name}(x, *args)" if self.args else f"{name}(x)"
        self.kept = kept
        self._known: list[tuple[Vector, Evaluation]] = []

    def at(self, vector: Vector) -> Evaluation:
        """The function's evaluation at `vector`."""
        for index, (point, evaluation) in enumerate(self._known):
            if np.array_equal(point, vector):
                self._known.append(self._known.pop(index))
                return evaluation
        while len(self._known) >= self.kept:  # frees a graph before there is another
            del self._known[0]
        evaluation = self._evaluate(vector)
        self._known.append((vector.copy(), evaluation))
        return evaluation

    def _evaluate(self, vector: Vector) -> Evaluation:
        inputs = self.domain.unpack(vector)
        for tensor in inputs:
            tensor.requires_grad_(self.recorded)
        with set_grad_enabled(self.recorded):
            value = self.f(self.domain.tree(inputs), *self.args)
        codomain = Packing(value, self.call)
        return Evaluation(self.domain, inputs, codomain, tree_leaves(value))

    def value(self, vector: Vector) -> Vector:
        return self.at(vector).value

    def jacobian(self, vector: Vector) -> Vector:
        return self.at(vector).jacobian()


def evaluated(f: Func, x: Any, args: Any = ()) -> Evaluation:
    """``f(x, *args)`` at the tree `x`."""
    domain = Packing(x, "x")
    return Traced(f, domain, args).at(domain.pack(tree_leaves(x)))
