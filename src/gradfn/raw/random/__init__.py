"""Random numbers: MT19937 seeded as by PyTorch's CPU generator and consumed as by its kernels.

For one seed, integers and uniform numbers are PyTorch's to the bit, and so are float32 normals:
rows of 16 go through PyTorch's vectorised logarithm, sine and cosine, recomputed here. What goes
through NumPy's float64 logarithm, sine or tangent may differ in the last units of float64.
PyTorch's numbers here are those of processors with AVX2 that are not Intel's: on those it takes
`exponential`, and `bernoulli` with a number for p, from MKL's stream.

Samplers return a new array, filled in row-major order. An in-place sampler visits its elements in
the order of their memory: see `in_memory_order`.
"""

from .continuous import cauchy, exponential, uniform
from .discrete import bernoulli, geometric, multinomial, poisson
from .integers import randint, randperm
from .normal import log_normal, normal
from .order import in_memory_order
from .rejection import binomial, dirichlet, standard_gamma
from .twister import MersenneTwister

__all__ = [
    "MersenneTwister",
    "bernoulli",
    "binomial",
    "cauchy",
    "dirichlet",
    "exponential",
    "geometric",
    "in_memory_order",
    "log_normal",
    "multinomial",
    "normal",
    "poisson",
    "randint",
    "randperm",
    "standard_gamma",
    "uniform",
]
