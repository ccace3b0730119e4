"""Adam and AdamW."""

from __future__ import annotations

from typing import Any

from .optimizer import Elementwise, Group, ParamsT
from .options import check_common
from .state import count, zeros

__all__ = ["Adam", "AdamW"]


class Adam(Elementwise):
    """Adam: steps along the mean of gradients over the root of the mean of their squares.

    ``m += (1 - β₁)(g - m)``, ``v = β₂ v + (1 - β₂) g²``, and at step t
    ``p -= lr / (1 - β₁ᵗ) * m / (√(v / (1 - β₂ᵗ)) + eps)``; with `amsgrad` v is the largest so far.
    `weight_decay` λ adds ``λ p`` to the gradient or, with `decoupled_weight_decay`, takes
    ``lr λ p`` from the parameter. Kingma and Ba (2015); Reddi et al. (2018) for amsgrad.

    >>> import gradfn
    >>> p = gradfn.tensor([1.0, -1.0], requires_grad=True)
    >>> optimizer = Adam([p], lr=0.1)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p
    tensor([ 0.9000, -0.9000], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        check_common(type(self).__name__, **defaults)
        super().__init__(params, defaults)

    def initial(self, p: Any, group: Group) -> dict[str, Any]:
        state = {"step": count(), "exp_avg": zeros(p), "exp_avg_sq": zeros(p)}
        return {**state, "max_exp_avg_sq": zeros(p)} if group["amsgrad"] else state

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        beta1, beta2 = o["betas"]
        s["step"] += 1
        t = float(s["step"])
        g = -g if o["maximize"] else g
        if o["weight_decay"] != 0:
            if o["decoupled_weight_decay"]:
                p *= 1 - o["lr"] * o["weight_decay"]
            else:
                g = g + o["weight_decay"] * p
        m, v = s["exp_avg"], s["exp_avg_sq"]
        m += (1 - beta1) * (g - m)
        v *= beta2
        v += (1 - beta2) * g * g
        if o["amsgrad"]:
            v = s["max_exp_avg_sq"] = F.maximum(s["max_exp_avg_sq"], v + 0)  # v will be written to
        p -= o["lr"] / (1 - beta1**t) * m / (F.sqrt(v) / (1 - beta2**t) ** 0.5 + o["eps"])


class AdamW(Adam):
    """Adam with decoupled weight decay: ``p -= lr λ p`` apart from the gradient. See `Adam`.

    Loshchilov and Hutter (2019).
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
