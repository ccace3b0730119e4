"""`Chi2`."""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Variable
from ..creation import tensor
from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of `df` squares of standard normal numbers: ``Gamma(df / 2, 1/2)``."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        df = df if isinstance(df, Variable) else tensor(float(df))
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Chi2, _instance)
        return Gamma.expand(self, batch_shape, new)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2
