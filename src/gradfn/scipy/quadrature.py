"""`quad`: integrals as differentiable functions of their limits and of what they depend on.

For ``I = ∫ₐᵇ f(x, θ) dx``: ``∂I/∂b = f(b)``, ``∂I/∂a = -f(a)`` and ``∂I/∂θ = ∫ₐᵇ ∂f/∂θ dx``. That
is an integral again, so that gradients can be taken to any order.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..autograd.grad_mode import enable_grad, is_grad_enabled
from ..autograd.variable import Variable
from ..creation import zeros
from ..dtypes import dtype, float64, promote_types
from ..func.levels import fresh, taken_out
from ..tensor import Tensor
from ..utils._pytree import tree_leaves
from .dependence import Dependence, Numeric, Tensors
from .evaluation import Func, dot, filled, gradients
from .packing import Packing, Vector
from .trees import Tree


def quad(
    f: Func,
    a: Any,
    b: Any,
    *args: Any,
    epsrel: float | None = None,
    epsabs: float | None = None,
    **options: Any,
) -> Tree:
    """``∫ₐᵇ f(x, *args) dx``, by `scipy.integrate.quad_vec`.

    `a` and `b` are numbers or tensors of one element, infinities too; `f` takes a tensor of no
    dimension, of the widest dtype of the limits and `args` (float64 where there are only numbers),
    and returns a tensor, or a tree of them, whose elements are integrated at once. The error is
    kept below ``max(epsabs, epsrel |I|)``; by default `epsrel` is 1e-8, or 100 times the spacing
    of a coarser dtype (1.2e-5 for float32), and `epsabs` a hundredth of it. `options` are SciPy's
    ``limit``, ``points``, ``quadrature``, ...

    Gradients of any order reach the limits, the tensors in `args` and the parameters of `f` where
    it is a module; each is another integral, found to the same tolerances. An infinite limit has
    the gradient zero.

    Raises RuntimeError where the integral does not converge or `f` depends on tensors that require
    grad and are not among `args`, and warns (IntegrationWarning) where rounding errors keep it from
    the tolerances.

    >>> import gradfn
    >>> rate = gradfn.tensor(2.0, dtype=gradfn.float64, requires_grad=True)
    >>> integral = quad(lambda x, rate: (-rate * x).exp(), 0, gradfn.inf, rate)
    >>> integral.detach(), gradfn.autograd.grad(integral, rate)  # 1/rate, -1/rate²
    (tensor(0.5000, dtype=torch.float64), (tensor(-0.2500, dtype=torch.float64),))
    """
    given = Dependence(f, args)
    variable = [limit for limit in (a, b) if isinstance(limit, Tensor)]
    if any(limit.is_complex() for limit in variable):
        raise TypeError("the limits of an integral must be real, but one is a complex tensor")
    kind = _real_dtype((*variable, *given.tensors))
    variable = [limit.reshape(()).to(kind) for limit in variable]
    somewhere = (zeros((), dtype=kind) + a).reshape(()).detach().nan_to_num(posinf=0, neginf=0)
    with enable_grad():
        value = given.function([tensor.detach() for tensor in given.tensors])(somewhere)
    packing = Packing(value, "f(x)")
    if is_grad_enabled():
        given.check_closed(tree_leaves(value), "f(x)")

    def integrand(x: Any, known: Tensors) -> Tensors:
        return packing.tensors(given.function(known)(x), "f(x)")

    epsrel = packing.tolerance if epsrel is None else epsrel
    epsabs = epsrel / 100 if epsabs is None else epsabs
    fixed = [None if isinstance(limit, Tensor) else limit for limit in (a, b)]
    options = {"epsrel": epsrel, "epsabs": epsabs, **options}
    integral = Integral(integrand, packing, fixed, kind, options)
    return packing.tree(IntegralFunction.apply(integral, *variable, *given.tensors))


def _real_dtype(tensors: Tensors) -> dtype:
    """The widest dtype of the tensors, or of their real parts."""
    real = [tensor.real.dtype if tensor.is_complex() else tensor.dtype for tensor in tensors]
    widest = functools.reduce(promote_types, real) if real else float64
    return widest if widest.is_floating_point else float64


@dataclass
class Integral:
    """``integrand(x, known)`` and how it is integrated; `packing` is that of its values."""

    integrand: Callable[[Any, Tensors], Tensors]
    packing: Packing
    limits: list[float | None]  # None for one that is a tensor, and the first to be known
    kind: dtype  # of x
    options: dict[str, Any]

    def split(self, tensors: Tensors) -> tuple[list[Any], list[Any]]:
        """Both limits, and what else is known."""
        known = list(tensors)
        return [known.pop(0) if limit is None else limit for limit in self.limits], known

    def value(self, tensors: Tensors) -> Tensors:
        from scipy.integrate import IntegrationWarning, quad_vec

        limits, known = self.split(tensors)
        a, b = map(float, limits)

        def at(x: float) -> Vector:
            point = Variable.wrap(np.asarray(x, self.kind.numpy))
            return self.packing.pack(self.integrand(point, known))

        found, error, details = quad_vec(at, a, b, full_output=True, **self.options)
        if details.status == 2:
            warnings.warn(
                f"the integral has an error of about {error}: {details.message}",
                IntegrationWarning,
                stacklevel=2,
            )
        elif not details.success:
            raise RuntimeError(
                f"quad did not converge between {a} and {b}: {details.message} The error is about "
                f"{error}; a larger limit, or points at the singularities, may help"
            )
        return self.packing.unpack(found)

    def derivative(self, known: Tensors, wanted: list[bool]) -> Integral:
        """The integral of ``gᵀ ∂integrand/∂θ`` for those of the known tensors θ that are wanted;
        what is known to it are θ and, after them, g."""
        chosen = [tensor for tensor, want in zip(known, wanted, strict=True) if want]

        def integrand(x: Any, known: Tensors) -> Tensors:
            create_graph = is_grad_enabled()
            with enable_grad():
                at = [fresh(t) if want else t for t, want in zip(known, wanted, strict=False)]
                variables = [t for t, want in zip(at, wanted, strict=True) if want]
                values = self.integrand(x, at)
                found = gradients(values, variables, known[len(wanted) :], create_graph)
                result: list[Any] = taken_out(list(filled(found, variables)), variables)
            return result

        return Integral(integrand, Packing(chosen, "args"), self.limits, self.kind, self.options)


class IntegralFunction(Numeric):
    """The integral as a function of its limits and the known tensors."""

    @staticmethod
    def compute(what: Integral, tensors: Tensors) -> Tensors:
        return what.value(tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        integral, inputs = ctx.what, ctx.saved_tensors[ctx.results :]
        limits, known = integral.split(inputs)
        by_limits = [
            sign * dot(grads, integral.integrand(limit, known)).where(limit.isfinite(), 0)
            for sign, limit, fixed in zip((-1, 1), limits, integral.limits, strict=True)
            if fixed is None
        ]
        wanted = list(ctx.needs_input_grad[1 + len(by_limits) :])
        if not any(wanted):
            return None, *by_limits, *(None for _ in known)
        derivative = integral.derivative(known, wanted)
        found = iter(IntegralFunction.apply(derivative, *inputs, *grads))
        return None, *by_limits, *(next(found) if want else None for want in wanted)
