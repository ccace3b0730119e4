"""`odeint` and `odeint_event`: initial value problems, solved by SciPy and differentiable."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.grad_mode import enable_grad, is_grad_enabled
from ..ops.joining import stack
from ..tensor import Tensor
from ..utils._pytree import tree_leaves
from .adjoint import integrate
from .dependence import Dependence, Tensors
from .equations import Equation, Field
from .evaluation import Func, real_scalar
from .implicit import ImplicitFunction, Problem
from .packing import Packing
from .trees import Tree


def odeint(
    f: Func,
    y0: Tree,
    t: Any,
    *args: Any,
    method: Any = "RK45",
    rtol: float | None = None,
    atol: float | None = None,
    **options: Any,
) -> Tree:
    """The solution of ``y' = f(t, y, *args)``, ``y(t[0]) = y0``, at the times `t`.

    `y0` is a tensor or a tree of them, `f` returns the same for a time and a state, and `t` is a
    tensor of increasing or decreasing times. The result has the structure of `y0`, with the times
    as a new first dimension: ``y[0]`` is `y0`. Complex states are allowed.

    Computed by `scipy.integrate.solve_ivp`, which takes `method` ("RK45", "DOP853", "Radau", "BDF",
    "LSODA", ...) and `options` such as ``max_step``; Jacobians for stiff methods are computed. Each
    step keeps its error below ``rtol |y| + atol``. By default `rtol` is 1e-8, or 100 times the
    spacing of a coarser dtype of `y0` (1.2e-5 for float32), and `atol` a hundredth of it.

    Gradients reach `y0`, `t`, the tensors in `args` and the parameters of `f` where it is a module.
    They are those of the exact solution, by the continuous adjoint: another equation of the size
    of y, solved by the same method to the same tolerances (relative to the gradient's own size),
    along the interpolated solution. So they agree with the derivative of the computed solution
    within a few times the tolerances, not to the last digit. The parameters' gradients come from
    Gauss-Legendre quadrature over the steps. Memory grows with the steps taken, not with the
    operations in them. Gradients of gradients integrate y backwards too, which stiff equations do
    not bear.

    Raises RuntimeError where the solver stops early, where `f` returns other shapes than `y0` has
    or depends on tensors that require grad and are not among `args`; ValueError where `t` is not
    sorted or `f` is not finite at the start; NotImplementedError for events: see `odeint_event`.

    See R. T. Q. Chen et al., "Neural ordinary differential equations", NeurIPS 2018; A. Norcliffe,
    M. P. Deisenroth, "Faster training of neural ODEs using Gauss-Legendre quadrature", TMLR 2023.

    >>> import gradfn
    >>> rate = gradfn.tensor(0.5, dtype=gradfn.float64, requires_grad=True)
    >>> t = gradfn.tensor([0.0, 1.0, 2.0], dtype=gradfn.float64)
    >>> y = odeint(lambda t, y, rate: -rate * y, gradfn.ones_like(rate), t, rate)
    >>> y.detach()
    tensor([1.0000, 0.6065, 0.3679], dtype=torch.float64)
    >>> gradfn.autograd.grad(y[2], rate)  # -2 exp(-2 rate)
    (tensor(-0.7358, dtype=torch.float64),)
    """
    _check_times(t)
    equation = _equation(f, y0, t[0], args, method, rtol, atol, options)
    return equation.domain.tree(integrate(equation, t, tree_leaves(y0), equation.given.tensors))


def odeint_event(
    f: Func,
    y0: Tree,
    t0: Any,
    event: Func,
    *args: Any,
    t_end: float,
    direction: int = 0,
    method: Any = "RK45",
    rtol: float | None = None,
    atol: float | None = None,
    **options: Any,
) -> tuple[Any, Tree]:
    """``(t, y)``: when ``event(t, y, *args)`` first becomes zero on the way from `t0` to `t_end`,
    and the state then.

    The equation, `y0` and the options are those of `odeint`. `t0` is a tensor of one element, and
    so are the values of `event` and `t`. With `direction` 1 or -1 only events that rise or fall
    count. Gradients, of the time by the implicit function theorem, reach what they reach in
    `odeint`; tensors that `event` needs are among `args`.

    Raises RuntimeError where there is no event before `t_end`, and what `odeint` raises.

    >>> import gradfn
    >>> def fall(t, y, g):
    ...     return gradfn.stack([y[1], -g])
    >>> g = gradfn.tensor(9.81, dtype=gradfn.float64, requires_grad=True)
    >>> y0, t0 = gradfn.tensor([20.0, 0.0], dtype=gradfn.float64), gradfn.zeros_like(g)
    >>> t, y = odeint_event(fall, y0, t0, lambda t, y, g: y[0], g, t_end=10)
    >>> t.detach(), gradfn.autograd.grad(t, g)  # (2 y0 / g)**0.5
    (tensor(2.0193, dtype=torch.float64), (tensor(-0.1029, dtype=torch.float64),))
    """
    if not isinstance(t0, Tensor) or not t0.is_floating_point() or t0.numel() != 1:
        raise TypeError(f"t0 must be a tensor of floating point with one element, but is {t0}")
    t0 = t0.reshape(())
    equation = _equation(f, y0, t0, args, method, rtol, atol, options)
    given, start = equation.given, tree_leaves(y0)

    def value(t: Any, y: Tensors, known: Tensors) -> Any:
        found = event(t, equation.domain.tree(y), *given.args(known))
        return real_scalar(found, "event(t, y)").reshape(())

    def solve(tensors: Tensors) -> Tensors:
        t0, y0, known = equation.split(tensors)
        return [equation.first_event(t0, t_end, y0, known, value, direction)]

    def condition(x: Tensors, tensors: Tensors) -> Tensors:
        t0, y0, known = equation.split(tensors)
        return [value(x[0], after(t0, x[0], y0, known), known)]

    def after(t0: Any, t: Any, y0: Tensors, known: Tensors) -> Tensors:
        return [part[1] for part in integrate(equation, stack([t0, t]), y0, known)]

    if is_grad_enabled():
        now = ([tensor.detach() for tensor in tensors] for tensors in (start, given.tensors))
        given.check_closed([value(t0.detach(), *now)], "event(t, y)")
    (t,) = ImplicitFunction.apply(Problem(solve, condition, "dense"), t0, *start, *given.tensors)
    return t, equation.domain.tree(after(t0, t, start, given.tensors))


def _equation(
    f: Func,
    y0: Tree,
    t0: Any,
    args: tuple[Any, ...],
    method: Any,
    rtol: float | None,
    atol: float | None,
    options: dict[str, Any],
) -> Equation:
    """The equation, once it is known that it can be followed from `t0`."""
    if "events" in options:
        raise NotImplementedError("odeint with events: odeint_event finds the first one")
    domain, given = Packing(y0, "y0"), Dependence(f, args)
    rtol = domain.tolerance if rtol is None else rtol
    atol = rtol / 100 if atol is None else atol
    equation = Equation(given, domain, t0.dtype, method, rtol, atol, options)
    _check_start(equation, t0.detach(), tree_leaves(y0))
    return equation


def _check_times(t: Any) -> None:
    """TypeError or ValueError unless `t` are times in their order."""
    if not isinstance(t, Tensor):
        raise TypeError(f"t must be a tensor of times, but got {type(t).__name__}")
    if t.dim() != 1 or not t.is_floating_point() or not t.numel():
        raise ValueError(
            "t must be a tensor of times, of floating point and one dimension, but it has shape "
            f"{list(t.shape)} and dtype {t.dtype}"
        )
    steps = np.diff(t.detach().numpy())
    if not ((steps > 0).all() or (steps < 0).all()):
        raise ValueError(f"t must be strictly increasing or decreasing, but is {t.tolist()}")


def _check_start(equation: Equation, t0: Any, y0: Any) -> None:
    """ValueError or RuntimeError where `f` cannot be followed from the start."""
    given = equation.given
    with enable_grad():
        field = Field(equation, [tensor.detach() for tensor in given.tensors])
        rates = field.tensors(t0, [tensor.detach().clone() for tensor in y0])
    if not np.isfinite(equation.domain.pack(rates)).all():
        raise ValueError(f"f(t, y) is not finite at the start, where t is {t0.item()}: {rates}")
    if is_grad_enabled():
        given.check_closed(rates, "f(t, y)")
