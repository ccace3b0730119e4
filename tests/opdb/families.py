"""Entries by family: the samples that every operator of a kind shares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .core import (
    ALL,
    COMPLEX,
    FLOAT,
    LAYOUTS,
    NOT_HALF,
    Array,
    Domain,
    DType,
    ErrorCase,
    OpInfo,
    Sample,
    error,
    sample,
)

SPECIAL = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.5, 2.5, -3.5)
MISMATCH = "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension"
OUT_OF_RANGE = "Dimension out of range (expected to be in range of [-2, 1], but got 5)"

Shape = tuple[int, ...]
BROADCASTS: tuple[tuple[Shape, Shape], ...] = (
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((3,), (2, 1, 3)),
    ((2, 3), ()),
    ((), (2, 3)),
    ((), ()),
    ((0, 3), (1, 3)),
    ((2, 0), (1,)),
)
PROMOTIONS: tuple[tuple[Shape, Shape], ...] = (((2, 3), (3,)), ((2, 3), ()), ((), (2,)))

EVERY_LEFT = tuple(a for a in SPECIAL for _ in SPECIAL)
EVERY_RIGHT = SPECIAL * len(SPECIAL)


def op(name: str, samples: Iterable[Sample], forms: str = "fm", **fields: Any) -> OpInfo:
    """An entry; `forms` has a letter for each form: function, method, in-place method."""
    path = name.split("~")[0]
    base = path.rsplit(".", 1)[-1]
    found = {
        "function": path if "f" in forms else None,
        "method": base if "m" in forms else None,
        "inplace": base + "_" if "i" in forms else None,
    }
    return OpInfo(name, tuple(samples), **{**found, **fields})


def unary(
    name: str,
    forms: str = "fmi",
    dtypes: tuple[str, ...] = ALL,
    domain: Domain | None = None,
    more: Iterable[Sample] = (),
    special: tuple[float, ...] = SPECIAL,
    **fields: Any,
) -> OpInfo:
    """An elementwise function of one tensor, on a domain."""
    domain = domain or {}
    shapes = [sample(Array(shape, **domain)) for shape in ((2, 3), (), (0, 3))]
    layouts = [sample(Array((3, 2), layout=layout, **domain)) for layout in LAYOUTS]
    values = sample(Array(values=special)).only(*FLOAT).forward_only()
    return op(name, [*shapes, *layouts, values, *more], forms, dtypes=dtypes, **fields)


def binary(
    name: str,
    forms: str = "fmi",
    dtypes: tuple[str, ...] = ALL,
    left: Domain | None = None,
    right: Domain | None = None,
    scalars: tuple[Any, ...] = (2, 0.5),
    more: Iterable[Sample] = (),
    errors: tuple[ErrorCase, ...] = (),
    **fields: Any,
) -> OpInfo:
    """An elementwise function of two tensors that broadcast, or of a tensor and a number."""
    left, right = left or {}, right or {}

    def pair(a: Shape, b: Shape, **second: Any) -> Sample:
        return sample(Array(a, **left), Array(b, **{**right, **second}))

    samples = [pair(a, b) for a, b in BROADCASTS]
    samples += [
        sample(Array((3, 2), layout=layout, **left), Array((3, 2), layout=layout, **right))
        for layout in LAYOUTS
    ]
    samples += [sample(Array((2, 3), **left), number) for number in scalars]
    for partner in ("float32", "int64", "bool", "complex64"):
        if partner in dtypes:
            tested = NOT_HALF if partner == "complex64" else ALL
            mixed = [pair(a, b, dtype=partner) for a, b in PROMOTIONS]
            samples += [case.only(*tested).not_smooth() for case in mixed]
    special = (
        sample(Array(values=EVERY_LEFT), Array(values=EVERY_RIGHT)).only(*FLOAT).forward_only()
    )
    mismatch = error(RuntimeError, MISMATCH, Array((3,)), Array((4,)))
    return op(
        name,
        [*samples, special, *more],
        forms,
        dtypes=dtypes,
        errors=(mismatch, *errors),
        **fields,
    )


def reduction(
    name: str,
    forms: str = "fm",
    dtypes: tuple[str, ...] = ALL,
    domain: Domain | None = None,
    whole: bool = True,
    several: bool = True,
    keepdim: bool = True,
    identity: bool = True,
    alone: bool = True,
    casts: bool = False,
    more: Iterable[Sample] = (),
    errors: tuple[ErrorCase, ...] = (),
    **fields: Any,
) -> OpInfo:
    """A reduction: over everything if `whole`, over a tuple of dimensions if `several`.

    `identity` says that nothing may be reduced, `alone` that one value may, and `casts` that there
    is a `dtype` argument.
    """

    def x(*shape: int, **kwargs: Any) -> Array:
        return Array(shape, **{**(domain or {}), **kwargs})

    kept: dict[str, Any] = {"keepdim": True} if keepdim else {}
    single = [sample(x(), dim=0), *([sample(x())] if whole else [])]
    samples = [sample(x(2, 3), dim=0), sample(x(2, 3), dim=-1, **kept)]
    samples += single if alone else [case.not_smooth() for case in single]
    samples += [sample(x(3, 2, layout=layout), dim=1) for layout in LAYOUTS]
    samples += [sample(x(0, 3), dim=1), sample(x(2, 2, 2), dim=1)]
    if whole:
        samples += [sample(x(2, 3)), sample(x(3, 2, layout="transposed"))]
        samples.append(sample(Array(values=SPECIAL)).only(*FLOAT).forward_only())
    if several:
        samples += [sample(x(2, 2, 3), dim=(0, -1), **kept), sample(x(2, 3, 2), dim=(2, 0))]
    if identity:
        samples.append(sample(x(0, 3), dim=0))
        samples += [sample(x(0))] if whole else []
    samples.append(
        sample(Array(values=(SPECIAL[:4], SPECIAL[3:7])), dim=1).only(*FLOAT).forward_only()
    )
    if casts:
        samples += with_dtype(sample(x(2, 3), dim=0), dtypes)
    wrong = error(IndexError, OUT_OF_RANGE, x(2, 3), dim=5)
    return op(name, [*samples, *more], forms, dtypes=dtypes, errors=(wrong, *errors), **fields)


def with_dtype(case: Sample, dtypes: tuple[str, ...]) -> list[Sample]:
    """`case` asking for results in other dtypes."""
    targets = [d for d in ("float32", "float64", "complex64") if d in dtypes]
    real = tuple(d for d in ALL if d not in COMPLEX)
    cases = [replace(case, kwargs={**case.kwargs, "dtype": DType(d)}) for d in targets]
    return [
        c.forward_only() if d in COMPLEX else c.only(*real).not_smooth()
        for c, d in zip(cases, targets, strict=True)
    ]
