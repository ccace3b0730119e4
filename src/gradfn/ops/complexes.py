"""Complex numbers: conjugates, angles, and making them of two real ones."""

from __future__ import annotations

from typing import Any

from .. import raw
from .checking import checked
from .declare import op, variant
from .emit import inplace
from .out import with_out

__all__ = [
    "angle",
    "complex",
    "conj",
    "conj_physical",
    "conj_physical_",
    "polar",
    "resolve_conj",
    "resolve_neg",
]

conj_complex = op(
    "conj(self)", kernel=raw.conj, promote="number", tangent="linear", self=lambda g: g.conj()
)
conj_physical_complex = variant(conj_complex, "conj_physical")
conj_physical_target = variant(conj_complex, "conj_physical.in_place", node="ConjPhysicalBackward1")


@checked
def conj(input: Any) -> Any:
    """The complex conjugate, elementwise; a real tensor is its own.

    >>> import gradfn
    >>> gradfn.conj(gradfn.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return conj_complex(input) if input._array.dtype.kind == "c" else input


@with_out
@checked
def conj_physical(input: Any) -> Any:
    """`conj`, recorded under its own name."""
    return conj_physical_complex(input) if input._array.dtype.kind == "c" else input


def resolve_conj(input: Any) -> Any:
    """`input` itself: conjugates are computed at once."""
    return input


resolve_neg = resolve_conj


def _angle_gradient(F: Any, g: Any, self: Any, self_dtype: Any) -> Any:
    if self_dtype.kind != "c":
        return F.zeros_like(g)
    size = F.abs(self)
    unit = self / F.where(size == 0, 1, size)
    return F.where(size == 0, 0, g / F.where(size == 0, 1, size) * unit * 1j)


angle = op(
    "angle(self)",
    kernel=raw.angle,
    promote="float",
    tangent="elementwise",
    self=_angle_gradient,
    doc="The angle in the complex plane, elementwise: 0 or pi for real numbers.",
)
complex = op(
    "complex(real, imag)",
    kernel=raw.complex,
    tangent="linear",
    real=lambda F, g: F.real(g),
    imag=lambda F, g: F.imag(g),
    doc="``real + imag * 1j``, elementwise. Raises RuntimeError unless both have one real dtype.",
)
polar = op(
    "polar(abs, angle)",
    kernel=raw.polar,
    tangent=lambda F, abs, abs_t, angle, angle_t: F.complex(
        abs_t * F.cos(angle) - abs * F.sin(angle) * angle_t,
        abs_t * F.sin(angle) + abs * F.cos(angle) * angle_t,
    ),
    abs=lambda F, g, angle: F.real(g) * F.cos(angle) + F.imag(g) * F.sin(angle),
    angle=lambda F, g, abs, angle: abs * (F.imag(g) * F.cos(angle) - F.real(g) * F.sin(angle)),
    doc="``abs * exp(angle * 1j)``, elementwise.",
)

conj_physical_ = inplace(conj_physical_target)

METHODS = "angle conj conj_physical conj_physical_ resolve_conj resolve_neg"
