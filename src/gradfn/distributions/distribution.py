"""`Distribution`, the base of all distributions."""

from __future__ import annotations

import warnings
from typing import Any

from ..autograd.grad_mode import no_grad
from ..autograd.variable import Variable
from ..shapes import Size
from . import constraints
from .utils import lazy_property


class Distribution:
    """A distribution of `batch_shape` independent parameters over events of `event_shape`.

    ``sample(n)`` has shape ``n + batch_shape + event_shape``; `log_prob` of such a value
    ``n + batch_shape``. `validate_args` (True by default, unless Python runs with ``-O``) checks
    parameters and values against the constraints: ValueError.
    """

    has_rsample: Any = False
    has_enumerate_support = False
    support: Any
    _validate_args: bool = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions made from now on check their arguments."""
        if value not in (True, False):
            raise ValueError(f"validate_args must be a boolean, got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Any = (),
        event_shape: Any = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        for name, constraint in self._constraints().items():
            if constraints.is_dependent(constraint):
                continue  # what cannot be checked here is checked by the distribution
            given = name in self.__dict__
            if not given and isinstance(getattr(type(self), name, None), lazy_property):
                continue  # derived from the other parameter
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    def _constraints(self) -> dict[str, Any]:
        try:
            return dict(self.arg_constraints)
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = "
                "{}` or initialize the distribution with `validate_args=False` to turn off "
                "validation.",
                stacklevel=4,
            )
            return {}

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """The constraint of each parameter, by name."""
        raise NotImplementedError

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The distribution with its parameters expanded to `batch_shape`."""
        new = self._get_checked_instance(_instance_of(self, _instance), _instance)
        shape = Size(batch_shape)
        for name in self._parameter_names():
            if name in self.__dict__:
                value = self.__dict__[name]
                event = value.dim() - len(self._batch_shape)
                new.__dict__[name] = value.expand(shape + value.shape[value.dim() - event :])
        Distribution.__init__(new, shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _parameter_names(self) -> set[str]:
        """The names of the parameters, also of those of the classes that this one builds on."""
        rows = [vars(c).get("arg_constraints") for c in type(self).__mro__]
        inherited = {name for row in rows if isinstance(row, dict) for name in row}
        return inherited | set(self.arg_constraints)

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ is not vars(cls).get("__init__"):
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    @property
    def batch_shape(self) -> Any:
        """The shape of the parameters, of which each is a distribution of its own."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one sample."""
        return self._event_shape

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The most probable value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw `sample_shape` samples, without a graph."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw samples through which gradients reach the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """`sample` of n."""
        warnings.warn("sample_n will be deprecated. Use .sample((n,)) instead", UserWarning, 2)
        return self.sample(Size((n,)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density (or the probability) at `value`."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The distribution function at `value`."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The quantile function at `value`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values of a discrete distribution, along a new first dimension."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy, in nats."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """The exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = ()) -> Any:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Variable):
            raise ValueError("The value argument to log_prob must be a Tensor")
        found: Any = value
        event_start = found.dim() - len(self._event_shape)
        if tuple(found.shape[event_start:]) != tuple(self._event_shape):
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{found.shape} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(tuple(found.shape)), reversed(tuple(expected)), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{found.shape} vs {expected}."
                )
        support = self.support
        if not bool(support.check(found).all()):
            raise ValueError(
                "Expected value argument "
                f"({type(value).__name__} of shape {tuple(found.shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in self.__dict__]
        values = [self.__dict__[name] for name in names]
        parts = [
            f"{name}: {value if value.numel() == 1 else value.size()}"
            for name, value in zip(names, values, strict=True)
        ]
        return f"{type(self).__name__}({', '.join(parts)})"


def _instance_of(self: Distribution, _instance: Any) -> type:
    """The class whose `expand` this is: the nearest that PyTorch gives an `__init__`."""
    return next(c for c in type(self).__mro__ if "arg_constraints" in vars(c))
