"""Sums, products, quotients and powers."""

from __future__ import annotations

from .. import raw
from .declare import op
from .emit import inplace

__all__ = ["add", "cos", "div", "exp", "mul", "neg", "sin", "sub"]

add = op(
    "add(self, other, *, alpha=1)",
    kernel=raw.add,
    promote="number",
    tangent="linear",
    self=lambda g: g,
    other=lambda g, alpha: g if alpha == 1 else g * alpha,
)
sub = op(
    "sub(self, other, *, alpha=1)",
    kernel=raw.sub,
    promote="number",
    tangent="linear",
    self=lambda g: g,
    other=lambda g, alpha: -g if alpha == 1 else g * -alpha,
)
mul = op(
    "mul(self, other)",
    kernel=raw.mul,
    promote="number",
    tangent="bilinear",
    self=lambda g, other: g * other.conj(),
    other=lambda g, self: g * self.conj(),
)
div = op(
    "div(self, other)",
    kernel=raw.div,
    promote="float",
    tangent="elementwise",
    self=lambda g, other: g / other.conj(),
    other=lambda g, other, result: -g * (result / other).conj(),
)
neg = op("neg(self)", kernel=raw.neg, promote="number", tangent="linear", self=lambda g: -g)
exp = op(
    "exp(self)",
    kernel=raw.exp,
    promote="float",
    tangent="elementwise",
    self=lambda g, result: g * result.conj(),
)
sin = op(
    "sin(self)",
    kernel=raw.sin,
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self: g * F.cos(self).conj(),
)
cos = op(
    "cos(self)",
    kernel=raw.cos,
    promote="float",
    tangent="elementwise",
    self=lambda F, g, self: g * -F.sin(self).conj(),
)

add_, sub_, mul_, div_, neg_, exp_ = map(inplace, (add, sub, mul, div, neg, exp))

METHODS = "add add_ cos div div_ exp exp_ mul mul_ neg neg_ sin sub sub_"
