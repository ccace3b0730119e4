"""Optimizers of matrices: Adafactor and Muon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..autograd.node import Array
from ..autograd.variable import Variable
from .optimizer import Elementwise, Group, ParamsT
from .options import check_common
from .state import count, zeros

__all__ = ["Adafactor", "Muon"]


class Adafactor(Elementwise):
    """Adam's denominator from sums over rows and columns, and steps relative to the parameter.

    For matrices ``r`` and ``c`` are running means of squared gradients of rows and of columns, and
    ``v = r cᵀ / mean(r)``; other parameters keep v itself. The update ``u = g / √v`` is scaled down
    to a root mean square of `d`, and ``p -= max(eps₂, rms(p)) ρₜ u`` with
    ``ρₜ = min(lr, 1 / √t)``. Shazeer and Stern (2018).
    """

    by_parts = False

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        check_common("Adafactor", lr=lr, weight_decay=weight_decay, foreach=foreach)
        super().__init__(params, defaults)

    def _check_param(self, param: Any) -> None:
        super()._check_param(param)
        if param.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")

    def initial(self, p: Any, group: Group) -> dict[str, Any]:
        array = p._array
        if array.ndim <= 1:
            return {"step": count(), "variance": zeros(p)}
        rows = np.zeros((*array.shape[:-1], 1), array.dtype)
        columns = np.zeros((*array.shape[:-2], 1, array.shape[-1]), array.dtype)
        return {
            "step": count(),
            "row_var": Variable.wrap(rows),
            "col_var": Variable.wrap(columns),
        }

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        s["step"] += 1
        if not p.size:
            return
        t = float(s["step"])
        small, least = o["eps"]
        small = np.finfo(p.dtype).eps if small is None else small
        g = -g if o["maximize"] else g
        share, rate = t ** o["beta2_decay"], min(o["lr"], 1 / math.sqrt(t))
        scale = max(least, _norm(p) / math.sqrt(p.size)) * rate
        if o["weight_decay"] != 0:
            p *= 1 - o["lr"] * o["weight_decay"]
        if p.ndim > 1:
            r, c = s["row_var"], s["col_var"]
            r += share * ((g * g).mean(-1, keepdims=True) - r)
            c += share * ((g * g).mean(-2, keepdims=True) - c)
            v = r @ c / r.mean(-2, keepdims=True).clip(small)
        else:
            v = s["variance"]
            v += share * (g * g - v)
        u = g / np.sqrt(v.clip(small * small))
        p -= scale / max(1.0, _norm(u) / (math.sqrt(u.size) * o["d"])) * u


def _norm(x: Array) -> float:
    return float(np.linalg.norm(x.reshape(-1)))


class Muon(Elementwise):
    """Momentum, orthogonalised by Newton and Schulz's iteration, for matrices.

    ``b += (1 - μ)(g - b)``, and ``p = (1 - lr λ) p - lr s U Vᵀ`` where ``U Σ Vᵀ`` is ``b`` (with
    `nesterov` ``g + μ (b - g)``) and s is ``√max(1, rows / columns)``, or with
    ``adjust_lr_fn="match_rms_adamw"`` ``0.2 √max(rows, columns)``. The iteration is done in the
    precision of bfloat16, as in PyTorch. Jordan et al. (2024).
    """

    by_parts = False

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        if ns_steps >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        check_common("Muon", lr=lr, weight_decay=weight_decay, momentum=momentum)
        super().__init__(params, defaults)

    def _check_param(self, param: Any) -> None:
        super()._check_param(param)
        if param._array.ndim != 2:
            raise ValueError(
                "Muon only supports 2D parameters whereas we found a parameter with size: "
                f"{param.shape}"
            )
        if param.is_complex():
            raise RuntimeError("Muon does not support complex parameters")

    def initial(self, p: Any, group: Group) -> dict[str, Any]:
        return {"momentum_buffer": zeros(p)}

    def update(self, F: Any, p: Any, g: Any, s: dict[str, Any], o: Group) -> None:
        b = s["momentum_buffer"]
        b += (1 - o["momentum"]) * (g - b)
        direction = g + o["momentum"] * (b - g) if o["nesterov"] else b
        direction = orthogonal(direction, o["ns_coefficients"], o["ns_steps"], o["eps"])
        rows, columns = p.shape
        scale = math.sqrt(max(1, rows / columns))
        if o["adjust_lr_fn"] == "match_rms_adamw":
            scale = 0.2 * math.sqrt(max(rows, columns))
        p *= 1 - o["lr"] * o["weight_decay"]
        p -= o["lr"] * scale * direction


def orthogonal(x: Array, coefficients: tuple[float, float, float], steps: int, eps: float) -> Array:
    """A matrix with the singular vectors of `x` and singular values near 1, in bfloat16."""
    a, b, c = coefficients
    wide = x.shape[0] > x.shape[1]
    y = _rounded(x.T if wide else x)
    y = _rounded(y / max(float(_rounded(np.linalg.norm(y))), eps))
    for _ in range(steps):
        gram = _rounded(y @ y.T)
        polynomial = _rounded(b * gram + c * (gram @ gram))
        y = _rounded(a * y + polynomial @ y)
    return np.asarray(y.T if wide else y).astype(x.dtype)


def _rounded(x: Any) -> Array:
    """Single precision with the mantissa of bfloat16: the upper half of the bits, to even."""
    bits = np.asarray(x, np.float32).reshape(-1).view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return bits.view(np.float32).reshape(np.shape(x))
