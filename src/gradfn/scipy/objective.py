"""What SciPy's optimisers ask of an objective, from one function of tensors."""

from __future__ import annotations

from math import isnan
from typing import Any

from .evaluation import Evaluation, Traced, real_scalar
from .packing import Packing, Vector


def number(evaluation: Evaluation) -> float:
    """The value of an objective.

    RuntimeError unless that is one real number, ValueError where it is NaN.
    """
    name = evaluation.codomain.name
    value: float = real_scalar(evaluation.codomain.tree(evaluation.outputs), name).item()
    if isnan(value):
        raise ValueError(
            f"{name} is nan at x = {evaluation.point()}: where the function has no value it can "
            "return inf, from which searches along a line step back"
        )
    return value


class Objective(Traced):
    """A function with one real output: value, gradient, Hessian and its products.

    With `twice` gradients are computed such that each product with the Hessian is one backward
    pass, and the point before the last is kept: trust regions return to it.
    """

    def __init__(self, f: Any, domain: Packing, args: Any, recorded: bool, twice: bool) -> None:
        super().__init__(f, domain, args, recorded=recorded, kept=1 + twice)
        self.twice = twice

    def number(self, x: Vector) -> float:
        return number(self.at(x))

    def number_and_gradient(self, x: Vector) -> tuple[float, Vector]:
        evaluation = self.at(x)
        return number(evaluation), evaluation.gradient(self.twice).value

    def hessian_product(self, x: Vector, v: Vector) -> Vector:
        return self.at(x).gradient(twice=True).vjp(v)

    def hessian(self, x: Vector) -> Vector:
        return self.at(x).gradient(twice=True).jacobian()
