"""Views: other shapes and windows over the same memory."""

from __future__ import annotations

from .. import raw
from ..autograd.variable import Variable
from .declare import op

__all__: list[str] = []

# The history of a view whose base was written to, and its adjoint: Note [In-place and views].
view_of = op(
    "view_of(self, where)",
    kernel=raw.view_of,
    node="AsStridedBackward0",
    tangent="linear",
    self=lambda F, g, where: F.base_of(g, where),
)
base_of = op(
    "base_of(self, where)",
    kernel=raw.base_of,
    tangent="linear",
    self=lambda F, g, where: F.view_of(g, where),
)
Variable._view_of, Variable._base_of = view_of, base_of

METHODS = ""
