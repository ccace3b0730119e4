"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from typing import Any

from .optimizer import Elementwise, Group, ParamsT
from .options import check_common

__all__ = ["SGD"]


class SGD(Elementwise):
    """Stochastic gradient descent: ``p -= lr * g``.

    With `momentum` μ the step follows ``v = μ v + (1 - dampening) g``, where ``v = g`` at first, or
    with `nesterov` ``g + μ v``; `weight_decay` λ adds ``λ p`` to the gradient; `maximize` turns its
    sign. `foreach` and `fused` are accepted and change nothing. Nesterov's momentum as Sutskever
    et al. (2013) have it.

    >>> import gradfn
    >>> p = gradfn.tensor(1.0, requires_grad=True)
    >>> optimizer = SGD([p], lr=0.5, momentum=0.9)
    >>> for _ in range(2):
    ...     optimizer.zero_grad()
    ...     (p * p).backward()
    ...     optimizer.step()
    >>> p
    tensor(-0.9000, requires_grad=True)
    """

    by_parts = False

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        check_common("SGD", **defaults)
        super().__init__(params, defaults)

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        g = -g if o["maximize"] else g
        if o["weight_decay"] != 0:
            g = g + o["weight_decay"] * p
        momentum = o["momentum"]
        if momentum != 0:
            v = s.get("momentum_buffer")
            if v is None:
                v = s["momentum_buffer"] = g + 0
            else:
                v *= momentum
                v += (1 - o["dampening"]) * g
            g = g + momentum * v if o["nesterov"] else v
        p -= o["lr"] * g
