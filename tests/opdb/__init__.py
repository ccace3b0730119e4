"""The operator database: for every operator its samples, dtypes, forms and error cases."""

from . import (
    arithmetic,
    comparison,
    conversion,
    indexing,
    matmul,
    nn,
    reduction,
    sorting,
    transcendental,
    view,
)
from .core import ALL, Array, Call, ErrorCase, OpInfo, Sample, lookup

FAMILIES = (
    arithmetic,
    transcendental,
    comparison,
    reduction,
    sorting,
    view,
    indexing,
    matmul,
    nn,
    conversion,
)
OPS: tuple[OpInfo, ...] = tuple(entry for family in FAMILIES for entry in family.OPS)

__all__ = ["ALL", "OPS", "Array", "Call", "ErrorCase", "OpInfo", "Sample", "lookup"]
