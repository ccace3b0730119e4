"""Adam's relatives: Adamax, NAdam, RAdam."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..autograd.variable import Variable
from .optimizer import Elementwise, Group, ParamsT
from .options import check_common
from .state import count, zeros

__all__ = ["Adamax", "NAdam", "RAdam"]


def _decayed(p: Any, g: Any, o: Group) -> Any:
    """The gradient to follow, with the weight decay in it or taken from the parameter."""
    g = -g if o["maximize"] else g
    if o["weight_decay"] == 0:
        return g
    if o.get("decoupled_weight_decay"):
        p *= 1 - o["lr"] * o["weight_decay"]
        return g
    return g + o["weight_decay"] * p


class Adamax(Elementwise):
    """Adam with the largest gradient, decayed, in place of the root mean square.

    ``m += (1 - β₁)(g - m)``, ``u = max(β₂ u, |g| + eps)``, ``p -= lr / (1 - β₁ᵗ) * m / u``.
    Kingma and Ba (2015).
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        check_common("Adamax", **defaults)
        super().__init__(params, defaults)

    def initial(self, p: Any, group: Group) -> dict[str, Any]:
        return {"step": count(), "exp_avg": zeros(p), "exp_inf": zeros(p)}

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        beta1, beta2 = o["betas"]
        s["step"] += 1
        g = _decayed(p, g, o)
        m = s["exp_avg"]
        m += (1 - beta1) * (g - m)
        u = s["exp_inf"] = F.maximum(s["exp_inf"] * beta2, F.abs(g) + o["eps"])
        p -= o["lr"] / (1 - beta1 ** float(s["step"])) * m / u


class NAdam(Elementwise):
    """Adam with Nesterov's momentum.

    With ``μₜ = β₁ (1 - 0.96^(t ψ) / 2)``, ψ the `momentum_decay`, a step follows
    ``(1 - μₜ) g / (1 - Π μ) + μₜ₊₁ m / (1 - Π μ μₜ₊₁)`` over Adam's denominator. Dozat (2016).
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        check_common("NAdam", **defaults)
        super().__init__(params, defaults)

    def initial(self, p: Any, group: Group) -> dict[str, Any]:
        product = Variable.wrap(np.ones((), np.float32))
        return {
            "step": count(),
            "mu_product": product,
            "exp_avg": zeros(p),
            "exp_avg_sq": zeros(p),
        }

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        beta1, beta2 = o["betas"]
        s["step"] += 1
        t = float(s["step"])
        g = _decayed(p, g, o)
        mu, following = (beta1 * (1 - 0.5 * 0.96 ** (n * o["momentum_decay"])) for n in (t, t + 1))
        s["mu_product"] *= mu
        product = float(s["mu_product"])
        m, v = s["exp_avg"], s["exp_avg_sq"]
        m += (1 - beta1) * (g - m)
        v *= beta2
        v += (1 - beta2) * g * g
        root = F.sqrt(v / (1 - beta2**t)) + o["eps"]
        p -= o["lr"] * (1 - mu) / (1 - product) * g / root
        p -= o["lr"] * following / (1 - product * following) * m / root


class RAdam(Elementwise):
    """Adam whose adaptive denominator is used once its variance is known well enough.

    With ``ρ∞ = 2 / (1 - β₂) - 1`` and ``ρₜ = ρ∞ - 2 t β₂ᵗ / (1 - β₂ᵗ)``: where ρₜ > 5, Adam's step
    times ``√((ρₜ - 4)(ρₜ - 2) ρ∞ / ((ρ∞ - 4)(ρ∞ - 2) ρₜ))``, else ``lr m / (1 - β₁ᵗ)``. Liu et al.
    (2020).
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        check_common("RAdam", **defaults)
        super().__init__(params, defaults)

    def initial(self, p: Any, group: Group) -> dict[str, Any]:
        return {"step": count(), "exp_avg": zeros(p), "exp_avg_sq": zeros(p)}

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        beta1, beta2 = o["betas"]
        s["step"] += 1
        t = float(s["step"])
        g = _decayed(p, g, o)
        m, v = s["exp_avg"], s["exp_avg_sq"]
        m += (1 - beta1) * (g - m)
        v *= beta2
        v += (1 - beta2) * g * g
        mean = m / (1 - beta1**t)
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * t * beta2**t / (1 - beta2**t)
        if length > 5.0:
            trust = math.sqrt(
                (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
            )
            mean = mean * (1 - beta2**t) ** 0.5 / (F.sqrt(v) + o["eps"]) * trust
        p -= o["lr"] * mean
