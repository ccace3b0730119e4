"""Steps scaled by past gradients: RMSprop, Adagrad, Adadelta."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.variable import Variable
from .optimizer import Elementwise, Group, ParamsT
from .options import check_common
from .state import count, zeros

__all__ = ["Adadelta", "Adagrad", "RMSprop"]


def _decayed(p: Any, g: Any, o: Group) -> Any:
    g = -g if o["maximize"] else g
    return g + o["weight_decay"] * p if o["weight_decay"] != 0 else g


class RMSprop(Elementwise):
    """Steps over the root mean square of recent gradients: ``p -= lr * g / (√v + eps)``.

    ``v = α v + (1 - α) g²``; `centered` takes the square of their mean from it, and `momentum` μ
    follows ``b = μ b + g / (√v + eps)``. Tieleman and Hinton (2012); Graves (2013) for centered.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        check_common("RMSprop", **defaults)
        super().__init__(params, defaults)

    def initial(self, p: Any, group: Group) -> dict[str, Any]:
        state = {"step": count(), "square_avg": zeros(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros(p)
        if group["centered"]:
            state["grad_avg"] = zeros(p)
        return state

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        alpha = o["alpha"]
        s["step"] += 1
        g = _decayed(p, g, o)
        v = s["square_avg"]
        v *= alpha
        v += (1 - alpha) * g * g
        if o["centered"]:
            mean = s["grad_avg"]
            mean += (1 - alpha) * (g - mean)
            v = v - (mean + 0) ** 2  # the mean will be written to
        g = g / (F.sqrt(v) + o["eps"])
        if o["momentum"] > 0:
            b = s["momentum_buffer"]
            b *= o["momentum"]
            b += g
            g = b
        p -= o["lr"] * g


class Adagrad(Elementwise):
    """Steps over the root of the sum of all squared gradients: ``p -= lrₜ * g / (√Σg² + eps)``.

    ``lrₜ = lr / (1 + (t - 1) lr_decay)``; the sum begins with `initial_accumulator_value`. Duchi et
    al. (2011).
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        check_common("Adagrad", **defaults)
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p].update(self.initial(p, group))

    def initial(self, p: Any, group: Group) -> dict[str, Any]:
        value = group["initial_accumulator_value"]
        start = complex(value, value) if p.is_complex() else value
        total = Variable.wrap(np.full_like(p._array, start))
        return {"step": count(), "sum": total}

    def share_memory(self) -> None:
        """Do nothing: processes do not share tensors."""

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        s["step"] += 1
        g = _decayed(p, g, o)
        total = s["sum"]
        total += g * g
        rate = o["lr"] / (1 + (float(s["step"]) - 1) * o["lr_decay"])
        p -= rate * g / (F.sqrt(total) + o["eps"])


class Adadelta(Elementwise):
    """Steps of the size of past steps: ``d = g √(u + eps) / √(v + eps)``, ``p -= lr * d``.

    ``v = ρ v + (1 - ρ) g²`` and ``u = ρ u + (1 - ρ) d²``. Zeiler (2012).
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}, for Adadelta")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        check_common("Adadelta", **defaults)
        super().__init__(params, defaults)

    def initial(self, p: Any, group: Group) -> dict[str, Any]:
        return {"step": count(), "square_avg": zeros(p), "acc_delta": zeros(p)}

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        rho, eps = o["rho"], o["eps"]
        s["step"] += 1
        g = _decayed(p, g, o)
        v, u = s["square_avg"], s["acc_delta"]
        v *= rho
        v += (1 - rho) * g * g
        step = F.sqrt(u + eps) / F.sqrt(v + eps) * g
        u *= rho
        u += (1 - rho) * step * step
        p -= o["lr"] * step
