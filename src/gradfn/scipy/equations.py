"""Ordinary differential equations of trees of tensors, as SciPy's solvers see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..autograd.grad_mode import enable_grad, no_grad
from ..autograd.variable import Variable
from ..dtypes import dtype
from .dependence import Dependence, Remembered, Tensors
from .evaluation import Evaluation
from .packing import Packing, Vector

Rate = Callable[[float, Vector], Vector]

IMPLICIT = ("Radau", "BDF", "LSODA")  # methods that use the Jacobian


@dataclass(eq=False)
class Equation:
    """An equation, and how it is solved."""

    given: Dependence
    domain: Packing  # of a state
    time_dtype: dtype
    method: Any
    rtol: float
    atol: float
    options: dict[str, Any]
    _last: Remembered = field(init=False, default_factory=Remembered)

    @property
    def unknowns(self) -> int:
        """How many tensors a state is made of."""
        return len(self.domain.shapes)

    def solution(self, tensors: Tensors) -> Any:
        """SciPy's solution, with its interpolant, for the times, the initial state and what else
        is known."""
        return self._last.of(self._solved, tensors)

    def split(self, tensors: Tensors) -> tuple[Any, Tensors, Tensors]:
        """The times, the initial state and what else is known."""
        return tensors[0], tensors[1 : self.unknowns + 1], tensors[self.unknowns + 1 :]

    def _solved(self, tensors: Tensors) -> Any:
        t, y0, known = self.split(tensors)
        rhs = Field(self, known)
        times = np.asarray(t._array, np.float64)
        return self.solve(rhs.value, rhs.jacobian, times, self.domain.pack(y0))

    def first_event(
        self, t0: Any, t_end: float, y0: Tensors, known: Tensors, value: Any, direction: int
    ) -> Any:
        """When ``value(t, y, known)`` is first zero, as a tensor; RuntimeError where it is not."""
        rhs = Field(self, known)

        def event(t: float, y: Vector) -> float:
            found: float = value(rhs.time(t), self.domain.unpack(y), known).item()
            return found

        event.terminal, event.direction = True, direction  # type: ignore[attr-defined]
        span, start = np.array([t0.item(), t_end], np.float64), self.domain.pack(y0)
        result = self.solve(rhs.value, rhs.jacobian, span, start, events=event)
        if not len(result.t_events[0]):
            raise RuntimeError(f"there is no event between t = {span[0]} and t_end = {t_end}")
        return rhs.time(result.t_events[0][0])

    def solve(
        self, rhs: Rate, jacobian: Rate, times: Vector, start: Vector, events: Any = None
    ) -> Any:
        """SciPy's solution of ``y' = rhs(t, y)``; RuntimeError where it stops early."""
        from scipy.integrate import solve_ivp

        # SciPy's solvers are reference cycles, which must not keep alive what these two know.
        held = [rhs, jacobian]
        name = self.method if isinstance(self.method, str) else self.method.__name__
        options = dict(self.options)
        if name in IMPLICIT:
            options["jac"] = lambda t, y: held[1](t, y)
        if options.get("first_step"):
            options["first_step"] = min(options["first_step"], abs(times[-1] - times[0]))
        result = solve_ivp(
            lambda t, y: held[0](t, y),
            (times[0], times[-1]),
            start,
            self.method,
            times,
            dense_output=True,
            events=events,
            rtol=self.rtol,
            atol=self.atol,
            **options,
        )
        held.clear()
        if not result.success:
            raise RuntimeError(
                f"odeint stopped at t = {result.sol.ts[-1] if result.sol else times[0]} on the way "
                f"from {times[0]} to {times[-1]}: {result.message}"
            )
        return result


class Field:
    """``f(t, y)`` for fixed known tensors, on tensors and on packed states."""

    def __init__(self, equation: Equation, known: Tensors) -> None:
        self.domain = equation.domain
        self._time_dtype = equation.time_dtype.numpy
        self._f = equation.given.function(known)

    def tensors(self, t: Any, y: Tensors) -> list[Any]:
        """The rates of change of a state, which they must resemble."""
        rates = self.domain.tensors(self._f(t, self.domain.tree(y)), "f(t, y)")
        for rate, due, name in zip(rates, self.domain.dtypes, self.domain.names, strict=True):
            if rate.is_complex() != due.is_complex:
                raise RuntimeError(f"f(t, y) is of {rate.dtype} where {name} is of {due}")
        return rates

    def tensors_at(self, t: float, y: Vector) -> list[Any]:
        return self.tensors(self.time(t), self.domain.unpack(y))

    def value(self, t: float, y: Vector) -> Vector:
        with no_grad():
            return self.domain.pack(self.tensors_at(t, y))

    def at(self, t: float, y: Vector) -> Evaluation:
        state = [tensor.requires_grad_() for tensor in self.domain.unpack(y)]
        with enable_grad():
            rates = self.tensors(self.time(t), state)
        return Evaluation(self.domain, state, self.domain, rates)

    def jacobian(self, t: float, y: Vector) -> Vector:
        return self.at(t, y).jacobian()

    def time(self, t: float) -> Any:
        return Variable.wrap(np.asarray(t, self._time_dtype))
