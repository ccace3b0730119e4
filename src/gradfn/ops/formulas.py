"""Formulas that rows of several families share."""

from __future__ import annotations

from typing import Any, NoReturn

from .declare import Formula


def constant(F: Any, g: Any) -> Any:
    """The formula of an operator that is constant piece by piece."""
    return F.zeros_like(g)


def no_derivative(name: str) -> Formula:
    """The formula of an operator that is recorded, but cannot be differentiated."""

    def formula() -> NoReturn:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return formula


def not_implemented(name: str) -> Formula:
    """The formula of an input that has no derivative, beside others that have."""

    def formula() -> NoReturn:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return formula
