"""Products with Hessians, and the differential operators of vector analysis.

Results are tensors in the graph, unless gradients are turned off: they can be differentiated by
everything that they depend on, such as the parameters of a model that is differentiated by its
inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd.grad_mode import enable_grad, is_grad_enabled
from ..creation import zeros
from ..func.levels import fresh, taken_out
from ..ops.joining import stack
from ..utils._pytree import tree_map
from .evaluation import Func, filled, gradients, pushed_forward, real_scalar
from .packing import Packing
from .trees import Tree, tensors_of


def hvp(f: Func, x: Tree, v: Tree, *, args: tuple[Any, ...] = ()) -> Tree:
    """``Hv`` for the Hessian ``H`` of the real scalar ``f(x, *args)``, in the structure of `x`.

    `v` has the structure and shapes of `x`. One backward pass through a gradient; as the Hessian is
    symmetric this is also ``vᵀH``.

    >>> import gradfn
    >>> hvp(lambda x: (x**3).sum(), gradfn.tensor([1.0, 2.0]), gradfn.tensor([1.0, 10.0]))
    tensor([  6., 120.])
    """
    domain = Packing(x, "x")
    create_graph = is_grad_enabled()
    with enable_grad():
        inputs = _variables(domain, x)
        output = real_scalar(f(domain.tree(inputs), *args), "f(x)")
        found = _hessian_product(output, inputs, domain.tensors(v, "v"), create_graph)
    return _results(domain.tree(found), inputs, create_graph)


def vhp(f: Func, x: Tree, v: Tree, *, args: tuple[Any, ...] = ()) -> Tree:
    """``vᵀH``, which is `hvp`: Hessians are symmetric."""
    return hvp(f, x, v, args=args)


def gnvp(
    f: Func, x: Tree, v: Tree, loss: Func | None = None, *, args: tuple[Any, ...] = ()
) -> Tree:
    """``Jᵀ H Jv``: the product of the Gauss-Newton matrix of ``loss(f(x, *args))`` with `v`.

    ``J`` is the Jacobian of `f` at `x`, ``H`` the Hessian of `loss`, a real scalar function of what
    `f` returns; by default the loss is half the sum of squares, and ``H`` the identity. The result
    is in the structure of `x`, as `v` is. Where the loss is convex the matrix is positive
    semi-definite, and close to the Hessian where residuals are small. See N. N. Schraudolph, "Fast
    curvature matrix-vector products", Neural Computation 14 (2002).

    >>> import gradfn
    >>> J = gradfn.tensor([[1.0, 2.0], [0.0, 3.0]])
    >>> gnvp(J.mv, gradfn.zeros(2), gradfn.tensor([1.0, 1.0])), J.T @ J @ gradfn.ones(2)
    (tensor([ 3., 15.]), tensor([ 3., 15.]))
    """
    domain = Packing(x, "x")
    create_graph = is_grad_enabled()
    with enable_grad():
        inputs = _variables(domain, x)
        outputs, spec = tensors_of(f(domain.tree(inputs), *args), "f(x)")
        pushed = pushed_forward(outputs, inputs, domain.tensors(v, "v"))
        if loss is not None:
            at = [fresh(output) for output in outputs]
            objective = real_scalar(loss(spec.unflatten(at)), "loss(f(x))")
            pushed = _hessian_product(objective, at, pushed, create_graph=True)
        found = filled(gradients(outputs, inputs, pushed, create_graph), inputs)
    return _results(domain.tree(found), inputs, create_graph)


def laplacian(f: Func, x: Any, *, args: tuple[Any, ...] = ()) -> Any:
    """``Δf = Σⱼ ∂²f / ∂xⱼ²`` at the point, or the points, `x`.

    `x` is of shape ``[..., n]`` for points in n dimensions, and ``f(x)`` of ``[..., *components]``:
    a value, or an array of them, for each point, that depends on this point alone. The result has
    the shape of ``f(x)``. It takes ``n + 1`` backward passes for each component, whatever the
    number of points. RuntimeError where the shapes do not fit.

    >>> import gradfn
    >>> x = gradfn.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> laplacian(lambda x: x[:, 0] ** 3 + x[:, 1] ** 2, x)
    tensor([ 8., 20.])
    """
    points = _Points(f, x, args)
    shape = points.value.shape
    with enable_grad():
        results = []
        for component in points.components():
            slopes = points.derivatives(component)
            bends = [points.derivatives(slopes[..., j])[..., j] for j in range(points.dimension)]
            results.append(sum(bends[1:], bends[0]) if bends else component * 0)
        result = stack(results, -1).reshape(shape) if results else points.value
    return points.result(result)


def divergence(f: Func, x: Any, *, args: tuple[Any, ...] = ()) -> Any:
    """``∇·f = Σⱼ ∂fⱼ / ∂xⱼ`` of the vector field `f` at the points `x`.

    `x` and ``f(x)`` are both of shape ``[..., n]``, each point's value depending on that point
    alone; the result is of shape ``[...]``. It takes n backward passes.

    >>> import gradfn
    >>> divergence(lambda x: x**2, gradfn.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([ 6., 14.])
    """
    points = _Points(f, x, args)
    points.check_field("divergence")
    with enable_grad():
        slopes = points.jacobian()
        diagonal = [slope[..., j] for j, slope in enumerate(slopes)]
        result = sum(diagonal[1:], diagonal[0]) if diagonal else points.x.sum(-1)
    return points.result(result)


def curl(f: Func, x: Any, *, args: tuple[Any, ...] = ()) -> Any:
    """``∇×f`` of the vector field `f` in three dimensions, or in two, at the points `x`.

    `x` and ``f(x)`` are both of shape ``[..., n]``, each point's value depending on that point
    alone. The result is of shape ``[..., 3]``, or in two dimensions ``∂f₂/∂x₁ - ∂f₁/∂x₂`` of shape
    ``[...]``. RuntimeError in other dimensions.

    >>> import gradfn
    >>> curl(lambda x: gradfn.stack([-x[..., 1], x[..., 0]], -1), gradfn.zeros(2))
    tensor(2.)
    """
    points = _Points(f, x, args)
    points.check_field("curl")
    if points.dimension not in (2, 3):
        raise RuntimeError(f"curl is of fields in 2 or 3 dimensions, but x is {list(x.shape)}")
    with enable_grad():
        d = points.jacobian()
        planes = [(0, 1)] if points.dimension == 2 else [(1, 2), (2, 0), (0, 1)]
        turns = [d[j][..., i] - d[i][..., j] for i, j in planes]
        result = turns[0] if points.dimension == 2 else stack(turns, -1)
    return points.result(result)


def directional_derivatives(
    f: Func, x: Tree, v: Tree, order: int = 1, *, args: tuple[Any, ...] = ()
) -> list[Tree]:
    """``dᵏ/dtᵏ f(x + t v)`` at ``t = 0``, for k from 0 to `order`.

    Divided by ``k!`` they are the Taylor coefficients along `v`. `v` has the structure and shapes
    of `x`; each derivative has those of ``f(x)``. Each order differentiates the one before, which
    about triples the cost. ValueError for a negative order.

    >>> import gradfn
    >>> one = gradfn.tensor(1.0)
    >>> [d.item() for d in directional_derivatives(lambda x: x**3, one, one, order=3)]
    [1.0, 3.0, 6.0, 6.0]
    """
    if order < 0:
        raise ValueError(f"the order of a derivative cannot be negative, but is {order}")
    domain = Packing(x, "x")
    create_graph = is_grad_enabled()
    with enable_grad():
        starts, directions = domain.tensors(x, "x"), domain.tensors(v, "v")
        real = [start.real.dtype if start.is_complex() else start.dtype for start in starts]
        steps = [fresh(zeros((), dtype=dtype)) for dtype in real]
        moved = [a + t * b for a, t, b in zip(starts, steps, directions, strict=True)]
        outputs, spec = tensors_of(f(domain.tree(moved), *args), "f(x)")
        ones = [step.new_ones(()) for step in steps]
        found: list[Sequence[Any]] = [outputs]
        for _ in range(order):
            found.append(pushed_forward(found[-1], steps, ones))
    derivatives = (spec.unflatten(outputs) for outputs in found)
    return [_results(derivative, steps, create_graph) for derivative in derivatives]


class _Points:
    """A function's value at points, of which each depends on its own point alone."""

    def __init__(self, f: Func, x: Any, args: tuple[Any, ...]) -> None:
        domain = Packing(x, "x")
        self.create_graph = is_grad_enabled()
        if len(domain.shapes) != 1 or not domain.shapes[0]:
            raise RuntimeError(
                "x must be one tensor of points, of shape [..., n], but the shapes are "
                f"{[list(shape) for shape in domain.shapes]}"
            )
        with enable_grad():
            (self.x,) = _variables(domain, x)
            self.value = f(self.x, *args)
        tensors_of(self.value, "f(x)")
        self.dimension, self.batch = domain.shapes[0][-1], domain.shapes[0][:-1]
        if tuple(self.value.shape[: len(self.batch)]) != self.batch:
            raise RuntimeError(
                f"f(x) must have a value for each of the points of shape {list(self.batch)}, but "
                f"is of shape {list(self.value.shape)} where x is of {list(self.x.shape)}"
            )

    def check_field(self, name: str) -> None:
        """RuntimeError unless the values are vectors as the points are."""
        if self.value.shape != self.x.shape:
            raise RuntimeError(
                f"{name} is of vector fields: f(x) must have the shape {list(self.x.shape)} of x, "
                f"but has {list(self.value.shape)}"
            )

    def components(self) -> Any:
        """The components of the values, each of the shape of the batch."""
        count = self.value.shape[len(self.batch) :].numel()
        return self.value.reshape(*self.batch, count).unbind(-1)

    def derivatives(self, component: Any) -> Any:
        """The gradient of each point's value, of the shape of the points."""
        found = gradients([component], [self.x], [component.new_ones(self.batch)], True)
        return filled(found, [self.x])[0]

    def jacobian(self) -> list[Any]:
        return [self.derivatives(component) for component in self.components()]

    def result(self, tensor: Any) -> Any:
        return _results(tensor, [self.x], self.create_graph)


def _variables(domain: Packing, x: Tree) -> list[Any]:
    """The tensors of `x` as variables to differentiate by."""
    return [fresh(tensor) for tensor in domain.tensors(x, "x")]


def _results(tree: Tree, variables: Sequence[Any], create_graph: bool) -> Tree:
    """The tensors of `tree` in the graph of everything but the `variables` made here."""
    if create_graph:
        return taken_out(tree, variables)
    return tree_map(lambda tensor: tensor.detach(), tree)


def _hessian_product(
    output: Any, inputs: Sequence[Any], v: Sequence[Any], create_graph: bool
) -> Sequence[Any]:
    gradient = gradients([output], inputs, [output.new_ones(output.shape)], create_graph=True)
    return filled(gradients(filled(gradient, inputs), inputs, v, create_graph), inputs)
