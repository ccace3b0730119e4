"""Solutions of differential equations as differentiable functions, by the continuous adjoint.

For ``y' = f(t, y, θ)`` and a loss with gradients ``gᵢ`` of the states ``y(tᵢ)``, the adjoint ``a``
is the loss's gradient by the state at a time: it obeys ``a' = -aᵀ ∂f/∂y`` and, backwards in time,
grows by ``gᵢ`` at each ``tᵢ``. Then ``a(t₀)`` is the gradient of ``y₀``, ``∫ aᵀ ∂f/∂θ dt`` that of
θ, ``gᵢ f(tᵢ)`` that of ``tᵢ``, and ``-a f(t₀)``, without ``g₀``, that of ``t₀``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..autograd.grad_mode import enable_grad, get_mode, is_grad_enabled
from ..autograd.variable import Variable
from ..func.levels import fresh, taken_out
from ..ops.joining import stack
from .dependence import Dependence, Numeric, Tensors
from .equations import Equation, Field
from .evaluation import dot, filled, gradients
from .packing import Packing, Vector

NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)


def integrate(equation: Equation, t: Any, y0: Tensors, known: Tensors) -> Tensors:
    """The states at the times `t`, for each tensor of a state stacked."""
    if t.numel() == 1:
        return [tensor.unsqueeze(0) for tensor in y0]
    states: Tensors = OdeFunction.apply(equation, t, *y0, *known)
    return states


class OdeFunction(Numeric):
    """The states as functions of the times, the initial state and the known tensors."""

    @staticmethod
    def compute(what: Equation, tensors: Tensors) -> Tensors:
        return what.domain.unpack(what.solution(tensors).y.T)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        states, inputs = ctx.saved_tensors[: ctx.results], ctx.saved_tensors[ctx.results :]
        if is_grad_enabled() or get_mode().level is not None:
            return None, *_recorded(ctx.what, states, inputs, grads)
        wanted = frozenset(i for i, need in enumerate(ctx.needs_input_grad[1:]) if need)
        return None, *OdeAdjoint.apply(Along(ctx.what, wanted), *inputs, *grads)


@dataclass
class Along:
    """An equation, and the numbers of the inputs of its solution whose gradients are wanted."""

    equation: Equation
    wanted: frozenset[int]


class OdeAdjoint(Numeric):
    """The gradients of a solution's inputs, along its interpolant."""

    @staticmethod
    def compute(what: Along, tensors: Tensors) -> Tensors:
        equation = what.equation
        unknowns = equation.unknowns
        inputs, grads = tensors[:-unknowns], tensors[-unknowns:]
        t, known = inputs[0], inputs[unknowns + 1 :]
        adjoint = _Adjoint(
            equation,
            equation.solution(inputs).sol,
            known,
            [unknowns + 1 + i in what.wanted for i in range(len(known))],
        )
        of_t, of_y0, of_known = adjoint.run(np.asarray(t._array, np.float64), grads)
        made = Variable.wrap(of_t.astype(t._array.dtype))
        return made, *equation.domain.unpack(of_y0), *of_known


class _Adjoint:
    """The adjoint equation along a solution, and its integral over the known tensors."""

    def __init__(
        self, equation: Equation, solution: Any, known: Tensors, wanted: list[bool]
    ) -> None:
        self.equation, self.solution = equation, solution
        self.field = Field(equation, known)
        self.variables = [tensor.detach() for tensor in known]
        self.wanted = [t for t, want in zip(self.variables, wanted, strict=True) if want]
        for tensor in self.wanted:
            tensor.requires_grad_()
        self.field_of_known = Field(equation, self.variables)
        self.packing = Packing(self.wanted, "args")

    def run(self, times: Vector, grads: Tensors) -> tuple[Vector, Vector, list[Any]]:
        """The gradients of the times, the initial state and the known tensors."""
        domain = self.equation.domain
        g = domain.pack(grads, times.shape)
        of_times = np.zeros(len(times))
        a, integral = np.zeros(domain.size), np.zeros(self.packing.size)
        marks = [0, *np.flatnonzero(g[1:].any(axis=1)) + 1]
        for start, end in reversed(list(pairwise(marks))):
            of_times[end] = g[end] @ self._rate(times[end])
            a, part = self._across(times[start], times[end], a + g[end])
            integral += part
        of_times[0] = -a @ self._rate(times[0])
        found = iter(self.packing.unpack(integral))
        of_known = [
            next(found) if tensor.requires_grad else tensor.new_zeros(tensor.shape)
            for tensor in self.variables
        ]
        return of_times, a + g[0], of_known

    def _rate(self, t: float) -> Vector:
        return self.field.value(t, self.solution(t))

    def _across(self, start: float, end: float, a: Vector) -> tuple[Vector, Vector]:
        """The adjoint at `start` from `a` at `end`, and the integral over the known tensors.

        The equation is linear: solved for an adjoint of size one, its tolerances are relative.
        """
        size = np.abs(a).max(initial=0.0)
        if not size:
            return a, np.zeros(self.packing.size)

        def rate(t: float, a: Vector) -> Vector:
            return -self.field.at(t, self.solution(t)).vjp(a)

        def jacobian(t: float, a: Vector) -> Vector:
            return -self.field.jacobian(t, self.solution(t)).T

        backwards = self.equation.solve(rate, jacobian, np.array([end, start]), a / size)
        integral = size * self._integral(start, end, backwards.sol)
        return size * backwards.y[:, -1], integral

    def _integral(self, start: float, end: float, adjoint: Any) -> Vector:
        """``∫ aᵀ ∂f/∂θ dt``, by quadrature over every step of the solution and of the adjoint."""
        total = np.zeros(self.packing.size)
        if not self.wanted:
            return total
        steps = np.concatenate([self.solution.ts, adjoint.ts, [start, end]])
        steps = np.unique(np.clip(steps, min(start, end), max(start, end)))
        sign = 1 if start < end else -1
        for left, right in pairwise(steps):
            for node, weight in zip(NODES, WEIGHTS, strict=True):
                t = (left + right + (right - left) * node) / 2
                total += sign * (right - left) / 2 * weight * self._by_known(t, adjoint(t))
        return total

    def _by_known(self, t: float, a: Vector) -> Vector:
        """``aᵀ ∂f/∂θ``."""
        domain = self.equation.domain
        with enable_grad():
            rates = self.field_of_known.tensors_at(t, self.solution(t))
        return self.packing.pack(gradients(rates, self.wanted, domain.unpack(a)))


def _recorded(
    equation: Equation, states: Tensors, inputs: Tensors, grads: Tensors
) -> tuple[Any, ...]:
    """The gradients of a solution's inputs, as differentiable tensors.

    The adjoint is integrated together with the state and the integral over the known tensors, by
    the same differentiable function; the state is set to the solution's at each time.
    """
    unknowns = len(states)
    t, known = inputs[0], inputs[unknowns + 1 :]
    field = Field(equation, known)
    backwards = _augmented(equation, known)
    of_times = []
    a = [state.new_zeros(state.shape[1:]) for state in states]
    integral = [tensor.new_zeros(tensor.shape) for tensor in known]
    for end in range(t.numel() - 1, 0, -1):
        y, g = ([tensor[end] for tensor in tensors] for tensors in (states, grads))
        of_times.append(dot(g, field.tensors(t[end], y)))
        a = [b + c for b, c in zip(a, g, strict=True)]
        span = stack([t[end], t[end - 1]])
        found = [part[1] for part in integrate(backwards, span, [*y, *a, *integral], known)]
        a, integral = found[unknowns : 2 * unknowns], found[2 * unknowns :]
    of_times.append(-dot(a, field.tensors(t[0], [state[0] for state in states])))
    of_y0 = [b + grad[0] for b, grad in zip(a, grads, strict=True)]
    return stack(of_times[::-1]).to(t.dtype), *of_y0, *integral


def _augmented(equation: Equation, known: Tensors) -> Equation:
    """The equation of the state, the adjoint and the integral over the known tensors."""
    domain, unknowns = equation.domain, equation.unknowns

    def f(t: Any, parts: Tensors, *known: Any) -> list[Any]:
        y, a = parts[:unknowns], parts[unknowns : 2 * unknowns]
        with enable_grad():
            variables = [fresh(tensor) for tensor in (*y, *known)]
            field = Field(equation, variables[unknowns:])
            rates = field.tensors(t, variables[:unknowns])
            found = filled(gradients(rates, variables, a, create_graph=True), variables)
        result: list[Any] = taken_out([*rates, *(-part for part in found)], variables)
        return result

    state = domain.unpack(np.zeros(domain.size))
    packing = Packing([*state, *state, *known], "state")
    return replace(equation, given=Dependence(f, tuple(known)), domain=packing)
