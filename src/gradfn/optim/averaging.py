"""Steps without the size of gradients, and averaged ones: Rprop, ASGD."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.variable import Variable
from .optimizer import Elementwise, Group, ParamsT
from .options import check_common
from .state import count, zeros

__all__ = ["ASGD", "Rprop"]


class Rprop(Elementwise):
    """Resilient backpropagation: each element has a step size, which only signs change.

    Where the gradient keeps its sign the step grows by ``etas[1]``; where it turns, it shrinks by
    ``etas[0]`` and the element stays; between the bounds `step_sizes`. Riedmiller and Braun (1993).
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        check_common("Rprop", **defaults)
        super().__init__(params, defaults)

    def initial(self, p: Any, group: Group) -> dict[str, Any]:
        lr = float(group["lr"])
        start = complex(lr, lr) if p.is_complex() else lr
        size = Variable.wrap(np.full_like(p._array, start))
        return {"step": count(), "prev": zeros(p), "step_size": size}

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        shrink, grow = o["etas"]
        s["step"] += 1
        g = -g if o["maximize"] else g
        agreement = g * s["prev"]
        factor = F.where(agreement > 0, grow, F.where(agreement < 0, shrink, 1.0))
        size = s["step_size"] = (s["step_size"] * factor).clip(*o["step_sizes"])
        g = F.where(agreement < 0, F.zeros_like(g), g)
        p -= F.sign(g) * size
        s["prev"] = g


class ASGD(Elementwise):
    """Stochastic gradient descent with the average of the parameters in the state ``ax``.

    ``p = (1 - λ η) p - η g`` with ``η = lr / (1 + λ lr t)^α``; after `t0` steps
    ``ax += (p - ax) / max(1, t - t0)``. Polyak and Juditsky (1992).
    """

    by_parts = True

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        check_common("ASGD", **defaults)
        super().__init__(params, defaults)

    def initial(self, p: Any, group: Group) -> dict[str, Any]:
        eta = Variable.wrap(np.array(float(group["lr"]), np.float32))
        mu = Variable.wrap(np.ones((), np.float32))
        return {"step": count(), "eta": eta, "mu": mu, "ax": zeros(p)}

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        lr, lambd = o["lr"], o["lambd"]
        s["step"] += 1
        t, eta, mu = float(s["step"]), float(s["eta"]), float(s["mu"])
        g = -g if o["maximize"] else g
        g = g + o["weight_decay"] * p if o["weight_decay"] != 0 else g
        p *= 1 - lambd * eta
        p -= eta * g
        mean = s["ax"]
        mean += (p - mean) * mu
        s["eta"][...] = lr / (1 + lambd * lr * t) ** o["alpha"]
        s["mu"][...] = 1 / max(1, t - o["t0"])
