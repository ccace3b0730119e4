"""L-BFGS, with a line search for the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.grad_mode import enable_grad
from ..autograd.node import Array
from ..autograd.variable import Variable
from .optimizer import Closure, Optimizer, ParamsT

__all__ = ["LBFGS"]

Objective = Callable[[float, Array], tuple[float, Array]]  # at a step along a direction


class LBFGS(Optimizer):
    """Limited-memory BFGS: a quasi-Newton method for functions without noise.

    A call of ``step(closure)`` makes up to `max_iter` iterations, `max_eval` evaluations, and
    stops where the largest gradient is at most `tolerance_grad` or nothing changes by more than
    `tolerance_change`. The direction comes from the last `history_size` changes of position and
    gradient; `line_search_fn` is None (a step of `lr`) or "strong_wolfe". One group of parameters.
    Nocedal and Wright, Numerical Optimization, algorithms 7.4 and 3.5.

    >>> import gradfn
    >>> x = gradfn.tensor([3.0, -2.0], requires_grad=True)
    >>> optimizer = LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((x - 1) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> loss = optimizer.step(closure)
    >>> x.detach().round(decimals=3)
    tensor([1., 1.])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Variable) and lr._array.size != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError(
                "LBFGS doesn't support per-parameter options (parameter groups): give it one group"
            )
        self._params = self.param_groups[0]["params"]

    def _flat(self, arrays: list[Array]) -> Array:
        """All elements in one real vector."""
        parts = [_real(a).reshape(-1) for a in arrays]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _gradient(self) -> Array:
        grads = [
            np.zeros_like(p._array) if p._grad is None else p._grad._array for p in self._params
        ]
        return self._flat(grads)

    def _set(self, vector: Array) -> None:
        """Let the parameters be what `vector` holds."""
        start = 0
        for p in self._params:
            own = _real(p._array)
            own[...] = vector[start : start + own.size].reshape(own.shape)
            start += own.size
            p.memory().write("LBFGS.step")

    def step(self, closure: Closure) -> Any:  # type: ignore[override]
        """Several iterations; `closure` computes the loss and its gradients. The first loss."""
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        def evaluate() -> Any:
            with enable_grad():
                return closure()

        first = evaluate()
        search = Search(self, evaluate, group, state, _number(first))
        search.run()
        return first


class Search:
    """The iterations of one call of `LBFGS.step`."""

    def __init__(
        self, optimizer: LBFGS, evaluate: Closure, group: Any, state: Any, loss: float
    ) -> None:
        self.optimizer, self.evaluate, self.group, self.state = optimizer, evaluate, group, state
        self.loss = loss
        self.gradient = optimizer._gradient()
        self.evaluations = 1
        state["func_evals"] += 1

    def run(self) -> None:
        group, state = self.group, self.state
        if _largest(self.gradient) <= group["tolerance_grad"]:
            return
        for remaining in reversed(range(group["max_iter"])):
            state["n_iter"] += 1
            direction = self.direction()
            before, moved = self.loss, self.gradient
            slope = float(moved @ direction)
            state["prev_flat_grad"], state["prev_loss"] = _tensor(moved.copy()), before
            rate = float(group["lr"])
            first = state["n_iter"] == 1
            length = min(1.0, 1.0 / float(np.abs(moved).sum())) * rate if first else rate
            if slope > -group["tolerance_change"]:
                break
            length = self.move(direction, length, slope, remaining)
            state["d"], state["t"] = _tensor(direction), length
            if self.over(direction, length, before):
                break

    def direction(self) -> Array:
        """Minus the gradient times the inverse Hessian that past changes suggest."""
        state, g = self.state, self.gradient
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1, al=None)
            return -g
        dirs, steps, weights = state["old_dirs"], state["old_stps"], state["ro"]
        change = g - state["prev_flat_grad"]._array
        step = state["d"]._array * _number(state["t"])
        curvature = float(change @ step)
        if curvature > 1e-10:
            if len(dirs) == self.group["history_size"]:
                for history in (dirs, steps, weights):
                    history.pop(0)
            dirs.append(_tensor(change))
            steps.append(_tensor(step))
            weights.append(_tensor(np.array(1.0 / curvature, g.dtype)))
            state["H_diag"] = _tensor(np.array(curvature / float(change @ change), g.dtype))
        q, along = -g, [0.0] * len(dirs)
        for i in reversed(range(len(dirs))):
            along[i] = float(steps[i]._array @ q) * _number(weights[i])
            q = q - along[i] * dirs[i]._array
        r = q * _number(state["H_diag"])
        for i in range(len(dirs)):
            back = float(dirs[i]._array @ r) * _number(weights[i])
            r = r + steps[i]._array * (along[i] - back)
        return np.asarray(r, g.dtype)

    def move(self, direction: Array, length: float, slope: float, remaining: int) -> float:
        """Go along `direction`, by `length` or what the line search finds; how far it went."""
        optimizer, group = self.optimizer, self.group
        start = optimizer._flat([p._array for p in optimizer._params])
        if group["line_search_fn"] is None:
            optimizer._set(start + length * direction)
            if remaining:  # the last one need not know
                self.loss = _number(self.evaluate())
                self.gradient = optimizer._gradient()
                self.evaluations += 1
                self.state["func_evals"] += 1
            return length
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")

        def at(length: float, direction: Array) -> tuple[float, Array]:
            optimizer._set(start + length * direction)
            loss = _number(self.evaluate())
            gradient = optimizer._gradient()
            optimizer._set(start)
            return loss, gradient

        known = self.loss, self.gradient
        self.loss, self.gradient, length, count = strong_wolfe(
            at,
            length,
            direction,
            known,
            slope,
            group["tolerance_change"],
            most=group["max_eval"] - self.evaluations,
        )
        optimizer._set(start + length * direction)
        self.evaluations += count
        self.state["func_evals"] += count
        return length

    def over(self, direction: Array, length: float, before: float) -> bool:
        """Whether to stop."""
        group = self.group
        return bool(
            self.evaluations >= group["max_eval"]
            or _largest(self.gradient) <= group["tolerance_grad"]
            or _largest(direction * length) <= group["tolerance_change"]
            or abs(self.loss - before) < group["tolerance_change"]
        )


Point = tuple[float, float, Array, float]  # a step, the loss, gradient and slope there


def strong_wolfe(
    at: Objective,
    length: float,
    direction: Array,
    known: tuple[float, Array],
    slope: float,
    tolerance: float,
    c1: float = 1e-4,
    c2: float = 0.9,
    most: int = 25,
) -> tuple[float, Array, float, int]:
    """A step along `direction` that decreases the loss enough (`c1`) and flattens it (`c2`).

    Returns the loss and the gradient there, the step, and how often the function was evaluated: at
    most ``1 + most`` times.
    """
    loss, gradient = known
    largest = _largest(direction)

    def visit(length: float) -> Point:
        new_loss, new_gradient = at(length, direction)
        return length, new_loss, new_gradient, float(new_gradient @ direction)

    start: Point = 0.0, loss, gradient, slope
    before, here = start, visit(length)
    done = False
    for tried in range(most):
        length = here[0]
        if here[1] > loss + c1 * length * slope or (tried > 1 and here[1] >= before[1]):
            bracket = [before, here]
            break
        if abs(here[3]) <= -c2 * slope:
            bracket, done = [here], True
            break
        if here[3] >= 0:
            bracket = [before, here]
            break
        bounds = length + 0.01 * (length - before[0]), length * 10
        before, here = here, visit(cubic(before, here, bounds))
    else:
        tried, bracket = most, [start, here]
    stuck = False
    low = 0 if bracket[0][1] <= bracket[-1][1] else -1
    while not done and tried < most:
        if abs(bracket[1][0] - bracket[0][0]) * largest < tolerance:
            break
        length, stuck = _inside(bracket, stuck)
        here, tried = visit(length), tried + 1
        if here[1] > loss + c1 * length * slope or here[1] >= bracket[low][1]:
            bracket[-1 - low] = here
            low = 0 if bracket[0][1] <= bracket[1][1] else -1
            continue
        if abs(here[3]) <= -c2 * slope:
            done = True
        elif here[3] * (bracket[-1 - low][0] - bracket[low][0]) >= 0:
            bracket[-1 - low] = bracket[low]
        bracket[low] = here
    length, new_loss, new_gradient, _ = bracket[low]
    return new_loss, new_gradient, length, 1 + tried


def _inside(bracket: list[Point], stuck: bool) -> tuple[float, bool]:
    """Where in the bracket to look next, and whether that is near an end of it."""
    length = cubic(bracket[0], bracket[1])
    low, high = sorted((bracket[0][0], bracket[1][0]))
    margin = 0.1 * (high - low)
    if min(high - length, length - low) >= margin:
        return length, False
    if not stuck and low < length < high:
        return length, True
    nearer_high = abs(length - high) < abs(length - low)
    return (high - margin if nearer_high else low + margin), False


def cubic(one: Point, two: Point, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through two points, with the slopes there, is least within `bounds`."""
    (x1, f1, _, g1), (x2, f2, _, g2) = one, two
    low, high = bounds or sorted((x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square: float = d1 * d1 - g1 * g2
    if square < 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    if x1 <= x2:
        least = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        least = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(least, low), high)


def _real(array: Array) -> Array:
    """Complex numbers as pairs of real ones, in the same memory where it is contiguous."""
    return array.view(array.real.dtype) if array.dtype.kind == "c" and array.ndim else array


def _number(loss: Any) -> float:
    return float(loss._array.item() if isinstance(loss, Variable) else loss)


def _largest(vector: Array) -> float:
    return float(np.abs(vector).max()) if vector.size else 0.0


def _tensor(array: Array) -> Any:
    return Variable.wrap(array)


# PyTorch's private names, which other packages of optimisers import.


def _strong_wolfe(
    obj_func: Any,
    x: Any,
    t: Any,
    d: Any,
    f: Any,
    g: Any,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Any, float, int]:
    """`strong_wolfe` on tensors: ``obj_func(x, t, d)`` is the loss and gradient at ``x + t d``."""

    def at(length: float, direction: Array) -> tuple[float, Array]:
        loss, gradient = obj_func(x, length, d)
        return _number(loss), gradient._array

    known = _number(f), g._array
    loss, gradient, length, count = strong_wolfe(
        at, _number(t), d._array, known, _number(gtd), tolerance_change, c1, c2, max_ls
    )
    return loss, _tensor(gradient), length, count


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None
) -> float:
    nothing = np.empty(0)
    one = _number(x1), _number(f1), nothing, _number(g1)
    two = _number(x2), _number(f2), nothing, _number(g2)
    return cubic(one, two, None if bounds is None else (_number(bounds[0]), _number(bounds[1])))
