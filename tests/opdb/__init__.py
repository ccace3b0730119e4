"""The operator database: for every operator its samples, dtypes, forms and error cases.

An entry stands in the file of its family, and the loops of test_operators.py and
test_operators_oracle.py then test the operator. The helpers in families.py know the samples that a
family shares::

    unary("tan", domain={"low": -1.2, "high": 1.2})
    reduction("amax", dtypes=REAL + BOOL, identity=False, more=[sample(TIED).not_smooth()])
    op("outer", [sample(x(2), x(3)), sample(x(0), x(3))], "fm")

With GRADFN_CANDIDATE=torch in the environment the loops test PyTorch itself, and so the database.
"""

from . import (
    arithmetic,
    calculus,
    comparison,
    complexes,
    conversion,
    fft,
    indexing,
    layers,
    linalg,
    losses,
    matmul,
    nn,
    reduction,
    shaping,
    sorting,
    special,
    statistics,
    transcendental,
    view,
)
from .core import ALL, Array, Call, ErrorCase, OpInfo, Sample, lookup

FAMILIES = (
    arithmetic,
    transcendental,
    special,
    comparison,
    complexes,
    reduction,
    sorting,
    statistics,
    calculus,
    view,
    shaping,
    indexing,
    matmul,
    linalg,
    fft,
    nn,
    layers,
    losses,
    conversion,
)
OPS: tuple[OpInfo, ...] = tuple(entry for family in FAMILIES for entry in family.OPS)

__all__ = ["ALL", "OPS", "Array", "Call", "ErrorCase", "OpInfo", "Sample", "lookup"]
