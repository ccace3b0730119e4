"""Random tensors that depend on others, and the samplers that write in place.

What is drawn does not depend on the tensors' values in a differentiable way: gradients are zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import raw
from ..autograd.batching import drawn
from ..autograd.node import Array
from ..autograd.variable import Variable
from ..creation import empty, refuse_gradients, written
from ..random import Generator, default_generator
from ..raw import random
from ..raw.copying import dense_axes
from ..shapes import broadcast_shapes
from .declare import op
from .emit import inplace
from .formulas import constant, no_derivative

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["bernoulli", "binomial", "multinomial", "normal", "poisson"]


def generator_of(given: Any) -> Generator:
    """The generator to draw from: `default_generator` where none is given."""
    if given is None:
        return default_generator
    if not isinstance(given, Generator):
        raise TypeError(f"argument 'generator' must be torch.Generator, not {type(given).__name__}")
    return given


def _sampling(sampler: Callable[..., Array]) -> Callable[..., Array]:
    """The kernel that replaces an array by numbers of a distribution."""

    def kernel(self: Array, *arguments: Any, generator: Any = None) -> Array:
        return random.in_memory_order(sampler, generator_of(generator), self, *arguments)

    return kernel


def _normal(self: Array, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Array:
    return random.in_memory_order(
        random.normal, generator_of(generator), self, mean, std, contiguous=self.flags.c_contiguous
    )


def _bernoulli_by_tensor(self: Array, p: Array, *, generator: Any = None) -> Array:
    probabilities = np.broadcast_to(p, self.shape).transpose(dense_axes(self))
    return random.in_memory_order(random.bernoulli, generator_of(generator), self, probabilities)


fresh_uniform = op(
    "uniform(self, start=0.0, to=1.0, *, generator=None)",
    kernel=_sampling(random.uniform),
    self=constant,
)
fresh_normal = op(
    "normal(self, mean=0.0, std=1.0, *, generator=None)", kernel=_normal, self=constant
)
fresh_log_normal = op(
    "log_normal(self, mean=1.0, std=2.0, *, generator=None)",
    kernel=_sampling(random.log_normal),
    self=constant,
)
fresh_cauchy = op(
    "cauchy(self, median=0.0, sigma=1.0, *, generator=None)",
    kernel=_sampling(random.cauchy),
    self=constant,
)
fresh_exponential = op(
    "exponential(self, lambd=1.0, *, generator=None)",
    kernel=_sampling(random.exponential),
    self=constant,
)
fresh_geometric = op(
    "geometric(self, p, *, generator=None)", kernel=_sampling(random.geometric), self=constant
)
random_between = op(
    "random.from(self, start, to, *, generator=None)",
    kernel=_sampling(random.randint),
    node="RandomBackward0",
    self=constant,
)
random_below = op(
    "random.to(self, to, *, generator=None)",
    kernel=lambda self, to, *, generator=None: random.in_memory_order(
        random.randint, generator_of(generator), self, 0, to
    ),
    node="RandomBackward1",
    self=constant,
)
random_any = op(
    "random(self, *, generator=None)",
    kernel=_sampling(random.randint),
    node="RandomBackward2",
    self=constant,
)
bernoulli_of_number = op(
    "bernoulli.p(self, p=0.5, *, generator=None)",
    kernel=_sampling(random.bernoulli),
    node="BernoulliBackward2",
    self=constant,
)
bernoulli_of_tensor = op(
    "bernoulli.Tensor(self, p, *, generator=None)",
    kernel=_bernoulli_by_tensor,
    node="BernoulliBackward1",
    self=constant,
    p=constant,
)
bernoulli_draw = op(
    "bernoulli(self, *, generator=None)",
    kernel=lambda self, *, generator=None: random.bernoulli(
        generator_of(generator), self.shape, self.dtype, self
    ),
    self=constant,
)

uniform_, normal_, log_normal_, cauchy_, exponential_, geometric_ = map(
    inplace,
    (
        fresh_uniform,
        fresh_normal,
        fresh_log_normal,
        fresh_cauchy,
        fresh_exponential,
        fresh_geometric,
    ),
)
_write_between, _write_below, _write_any = map(inplace, (random_between, random_below, random_any))
_write_number, _write_tensor = map(inplace, (bernoulli_of_number, bernoulli_of_tensor))


def random_(self: Tensor, *bounds: Any, generator: Generator | None = None, **named: Any) -> Tensor:
    """Fill with integers: of ``[from, to)``, ``[0, to)``, or all that the dtype holds."""
    names = ("to",) if len(bounds) == 1 and "to" not in named else ("from", "to")
    given = dict(zip(names, bounds, strict=False)) | named
    if not given.keys() <= {"from", "to"}:
        raise TypeError(f"random_() got an unexpected keyword argument '{min(named)}'")
    result: Tensor
    if given.get("from") is not None:
        result = _write_between(self, given["from"], given.get("to"), generator=generator)
    elif "to" in given:
        result = _write_below(self, given["to"], generator=generator)
    else:
        result = _write_any(self, generator=generator)
    return result


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with ones, of probability p (a number, or a tensor of them), and zeros."""
    write = _write_tensor if isinstance(p, Variable) else _write_number
    result: Tensor = write(self, p, generator=generator)
    return result


def bernoulli(
    input: Tensor,
    p: float | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Ones with the probabilities in `input` (or all with p), else zeros: ``torch.bernoulli``.

    Raises RuntimeError for probabilities outside [0, 1].

    >>> import gradfn
    >>> gradfn.bernoulli(gradfn.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    result: Tensor
    if p is None:
        result = bernoulli_draw(input, generator=generator)
    else:
        result = bernoulli_of_number(input, p, generator=generator)
    if out is None:
        return result
    refuse_gradients("bernoulli", [out], input.requires_grad)
    return written("bernoulli", out, result._array)


def _draw_normal(generator: Any, shape: tuple[int, ...], like: Array, std: float = 1.0) -> Array:
    drawn: Array = random.normal(generator_of(generator), shape, like.dtype, 0.0, std)
    return drawn


def _normal_by_mean(self: Array, std: float = 1.0, *, generator: Any = None) -> Array:
    noise = _draw_normal(generator, self.shape, self, std)
    noise += self
    return noise


def _normal_by_std(mean: float, self: Array, *, generator: Any = None) -> Array:
    _check_std(self)
    noise = _draw_normal(generator, self.shape, self)
    noise *= self
    noise += mean
    return noise


def _normal_by_both(self: Array, std: Array, *, generator: Any = None) -> Array:
    _check_std(std)
    noise = _draw_normal(generator, broadcast_shapes(self.shape, std.shape), self)
    noise *= std
    noise += self
    return noise


def _check_std(std: Array) -> None:
    if not (std >= 0).all():
        raise RuntimeError(f"normal expects all elements of std >= 0.0, but found {std.min()}")


normal_by_mean = op(
    "normal.Tensor_float(self, std=1.0, *, generator=None)",
    kernel=_normal_by_mean,
    node="NormalBackward1",
    self=constant,
)
normal_by_std = op(
    "normal.float_Tensor(mean, self, *, generator=None)",
    kernel=_normal_by_std,
    node="NormalBackward2",
    self=constant,
)
normal_by_both = op(
    "normal.Tensor_Tensor(self, std, *, generator=None)",
    kernel=_normal_by_both,
    node="NormalBackward3",
    self=constant,
    std=constant,
)


def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    **options: Any,
) -> Tensor:
    """Normal numbers of given means and standard deviations: ``torch.normal``.

    `mean` and `std` are tensors that broadcast, or numbers; with two numbers, `size` says how many.
    Raises RuntimeError for a negative std.
    """
    result: Tensor
    if size is not None:
        mean, std = (v._array.item() if isinstance(v, Variable) else v for v in (mean, std))
    if isinstance(mean, Variable) and isinstance(std, Variable):
        result = normal_by_both(mean, std, generator=generator)
    elif isinstance(mean, Variable):
        result = normal_by_mean(mean, std, generator=generator)
    elif isinstance(std, Variable):
        result = normal_by_std(mean, std, generator=generator)
    else:
        if size is None:
            raise TypeError(
                "normal() received an invalid combination of arguments: of two numbers, give the "
                "size too"
            )
        requires_grad = options.pop("requires_grad", False)
        like = empty(size, **options)._array
        draw = partial(_normal, mean=mean, std=std, generator=generator)
        result = drawn(draw, like).requires_grad_(requires_grad)
    return result


categories = op(
    "multinomial(self, num_samples, replacement=False, *, generator=None)",
    kernel=lambda self, num_samples, replacement=False, *, generator=None: random.multinomial(
        generator_of(generator), self, num_samples, replacement
    ),
)


def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Indices drawn with the weights in each row of `input`, as int64: ``torch.multinomial``.

    `input` has shape (categories,) or (rows, categories), the result (num_samples,) or
    (rows, num_samples). Raises RuntimeError for weights that are no distribution.

    >>> import gradfn
    >>> gradfn.multinomial(gradfn.tensor([0.0, 1.0]), 3, replacement=True)
    tensor([1, 1, 1])
    """
    drawn: Tensor = categories(input, num_samples, replacement, generator=generator)
    if out is None:
        return drawn
    if out._array.dtype != np.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype.scalar_name}")
    return written("multinomial", out, drawn._array)


poisson = op(
    "poisson(self, generator=None)",
    kernel=lambda self, generator=None: random.poisson(generator_of(generator), self),
    self=constant,
    doc="A Poisson number for each rate in `input`: ``torch.poisson``.",
)

binomial = op(
    "binomial(count, prob, generator=None)",
    kernel=lambda count, prob, generator=None: random.binomial(
        generator_of(generator), count, prob
    ),
    node="NotImplemented",
    batch="random",
    count=no_derivative("binomial"),
    prob=no_derivative("binomial"),
    doc="The successes among `count` trials, each of probability `prob`: ``torch.binomial``.",
)
standard_gamma_grad = op(
    "_standard_gamma_grad(self: Tensor, output: Tensor)", kernel=raw.standard_gamma_grad
)
standard_gamma = op(
    "_standard_gamma(self, generator=None)",
    kernel=lambda self, generator=None: random.standard_gamma(generator_of(generator), self),
    node="StandardGammaBackward0",
    batch="random",
    self=lambda F, g, self, result: g * F.standard_gamma_grad(self, result),
    doc="A gamma number of rate 1 for each concentration in `input`: ``torch._standard_gamma``.",
)
dirichlet_grad = op(
    "_dirichlet_grad(self: Tensor, alpha: Tensor, total: Tensor)", kernel=raw.dirichlet_grad
)


sample_dirichlet = op(
    "_sample_dirichlet(self, generator=None)",
    kernel=lambda self, generator=None: random.dirichlet(generator_of(generator), self),
    node="NotImplemented",
    batch="random",
    self=no_derivative("_sample_dirichlet"),
    doc="Probabilities for the concentrations in the last dimension: ``torch._sample_dirichlet``.",
)

METHODS = (
    "bernoulli bernoulli_ cauchy_ exponential_ geometric_ log_normal_ multinomial normal_ random_ "
    "uniform_"
)
