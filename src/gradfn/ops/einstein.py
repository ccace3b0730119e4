"""Einstein summation: an equation is read, then carried out pair by pair with `bmm`.

Every operand is first brought to one common order of dimensions, those of the result and then those
that are summed over; dimensions that it lacks have size 1.
"""

from __future__ import annotations

import math
import string
import sys
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..autograd.variable import Variable
from .products import bmm

__all__ = ["einsum"]

Label = Hashable  # a letter, or a negative number for a dimension under the ellipsis, from its end


def einsum(*args: Any) -> Any:
    """Sums of products written with Einstein's convention, as `torch.einsum`.

    ``einsum("ij,jk->ik", a, b)`` names the dimensions of each operand by letters; those that are
    not in the result are summed over. Without ``->`` the result has the letters that occur once,
    in alphabetical order. A letter that occurs twice in an operand takes its diagonal; ``...``
    stands for the dimensions that are not named, which are broadcast. The other form,
    ``einsum(a, [0, 1], b, [1, 2], [0, 2])``, numbers the dimensions from 0 to 51.
    RuntimeError where equation and operands do not fit.

    >>> from gradfn import einsum, tensor
    >>> einsum("ij,j->i", tensor([[1., 2.], [0., 1.]]), tensor([3., 4.]))
    tensor([11.,  4.])
    >>> einsum("ii", tensor([[1., 2.], [0., 1.]]))
    tensor(2.)
    """
    equation, operands = _arguments(args)
    terms = _read(equation, operands)
    order = [*terms.output, *_summed(terms)]
    aligned = [
        _aligned(tensor, labels, order)
        for tensor, labels in zip(operands, terms.inputs, strict=True)
    ]
    count = len(terms.output)
    if len(aligned) == 1:
        result = aligned[0]
        return result.sum(tuple(range(count, len(order)))) if len(order) > count else result
    for i, j in _path(aligned, count):
        left, right = aligned[i], aligned[j]
        aligned = [t for k, t in enumerate(aligned) if k not in (i, j)]
        aligned.append(_contracted(left, right, _finished(aligned, count, len(order))))
    result = aligned[0]
    return result.view(result.shape[:count]) if len(order) > count else result


class Terms(NamedTuple):
    """The labels of every operand and of the result."""

    inputs: list[list[Label]]
    output: list[Label]


def _arguments(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """The equation and the operands of either form."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    if isinstance(args[0], str):
        equation, operands = args[0], list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], list | tuple):
            operands = list(operands[0])
    else:
        pairs = len(args) // 2
        equation = ",".join(_letters(args[2 * i + 1]) for i in range(pairs))
        if len(args) % 2:
            equation += "->" + _letters(args[-1])
        operands = list(args[: 2 * pairs : 2])
    for i, operand in enumerate(operands):
        if not isinstance(operand, Variable):
            raise TypeError(
                f"expected Tensor as element {i} in argument 1, but got {type(operand).__name__}"
            )
    return equation, operands


def _letters(subscripts: Sequence[Any]) -> str:
    """The letters for a list of dimension numbers."""
    parts = []
    for number in subscripts:
        if number is Ellipsis:
            parts.append("...")
        elif 0 <= number < 52:
            parts.append((string.ascii_uppercase + string.ascii_lowercase)[number])
        else:
            raise ValueError(
                "einsum(): subscript in subscript list is not within the valid range [0, 52): "
                f"{number}"
            )
    return "".join(parts)


def _read(equation: str, operands: Sequence[Any]) -> Terms:
    """The labels in `equation`, checked against the operands."""
    left, arrow, right = equation.partition("->")
    _check_characters(equation, left, right if arrow else None)
    terms = left.replace(" ", "").split(",")
    if len(terms) != len(operands):
        which = "more" if len(operands) > len(terms) else "fewer"
        raise RuntimeError(
            f"einsum(): {which} operands were provided than specified in the equation: "
            f"{len(operands)} for {len(terms)} terms"
        )
    inputs = [
        _labels(term, tensor.ndim, i)
        for i, (term, tensor) in enumerate(zip(terms, operands, strict=True))
    ]
    _check_sizes(inputs, operands)
    every = [label for labels in inputs for label in labels]
    covered = sorted({label for label in every if isinstance(label, int)})
    if not arrow:
        once = sorted(
            label for label in every if isinstance(label, str) and every.count(label) == 1
        )
        return Terms(inputs, [*covered, *once])
    head, dots, tail = right.replace(" ", "").partition("...")
    output: list[Label] = [*head, *(covered if dots else ()), *tail]
    for label in (*head, *tail):
        if label not in every:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input "
                "operand"
            )
        if output.count(label) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {label} appears more than once in the output"
            )
    return Terms(inputs, output)


def _check_characters(equation: str, left: str, right: str | None) -> None:
    for i, character in enumerate(equation):
        arrow = right is not None and len(left) <= i < len(left) + 2
        comma = character == "," and i < len(left)
        if not (arrow or comma or character in string.ascii_letters + ". "):
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {i} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
    places = [(f"operand {i}", term) for i, term in enumerate(left.split(","))]
    if right is not None:
        places.append(("output", right))
    for place, term in places:
        rest = term.replace("...", "", 1)
        if "." in rest:
            twice = "..." in rest
            which = "for which an ellipsis was already found"
            which = which if twice else "that is not part of any ellipsis"
            raise RuntimeError(f"einsum(): found '.' for {place} {which}")


def _labels(term: str, ndim: int, number: int) -> list[Label]:
    """The labels of operand `number`, which has `ndim` dimensions."""
    head, dots, tail = term.partition("...")
    named = len(head) + len(tail)
    if named > ndim or (named < ndim and not dots):
        fits = "is more than" if dots else "does not match"
        end = "" if dots else " and no ellipsis was given"
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) {fits} the number of "
            f"dimensions ({ndim}) for operand {number}{end}"
        )
    return [*head, *range(named - ndim, 0), *tail]


def _check_sizes(inputs: Sequence[Sequence[Label]], operands: Sequence[Any]) -> None:
    """Refuse a label that stands for several sizes, 1 aside."""
    known: dict[Label, int] = {}
    for number, (labels, tensor) in enumerate(zip(inputs, operands, strict=True)):
        own: dict[Label, int] = {}
        for label, size in zip(labels, tensor.shape, strict=True):
            if own.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {number} but the sizes "
                    f"don't match, {size} != {own[label]}"
                )
            seen = known.get(label, 1)
            if 1 not in (size, seen) and size != seen:
                what = (
                    f"subscript {label} has size {size} for operand {number} which"
                    if isinstance(label, str)
                    else f"dimension {label} covered by ellipsis in operand {number} has size "
                    f"{size} which"
                )
                raise RuntimeError(
                    f"einsum(): {what} does not broadcast with previously seen size {seen}"
                )
            known[label] = size if seen == 1 else seen


def _summed(terms: Terms) -> list[Label]:
    """The labels that are not in the result, in the order in which they occur."""
    every = dict.fromkeys(label for labels in terms.inputs for label in labels)
    return [label for label in every if label not in terms.output]


def _aligned(tensor: Any, labels: Sequence[Label], order: Sequence[Label]) -> Any:
    """`tensor` with its dimensions in the common `order`, diagonals taken of repeated labels."""
    own: list[Label] = []
    for label in labels:
        if label in own:
            first = own.index(label)
            tensor = tensor.diagonal(0, first, len(own)).movedim(-1, first)
        else:
            own.append(label)
    for label in order:
        if label not in own:
            tensor = tensor.unsqueeze(tensor.ndim)
            own.append(label)
    return tensor.permute([own.index(label) for label in order])


def _path(aligned: Sequence[Any], count: int) -> list[tuple[int, int]]:
    """Which pairs to contract: the operands as numbered when their turn comes, results last.

    The order is that of least work, as in PyTorch with opt_einsum; but PyTorch may take the two
    operands of a pair the other way round, and then copies or reshapes others of them.
    """
    if len(aligned) == 2:
        return [(0, 1)]
    letters = string.ascii_letters[: aligned[0].ndim]
    terms = [
        "".join(letter for letter, size in zip(letters, t.shape, strict=True) if size != 1)
        for t in aligned
    ]
    result = "".join(letter for letter in letters[:count] if any(letter in t for t in terms))
    strategy = "optimal" if len(aligned) <= 4 else "greedy"
    squeezed = (t._array.squeeze() for t in aligned)
    path = np.einsum_path(
        f"{','.join(terms)}->{result}", *squeezed, optimize=(strategy, sys.maxsize)
    )
    return path[0][1:]


def _finished(others: Sequence[Any], count: int, ndim: int) -> list[int]:
    """The dimensions to sum over now: those that no other operand has."""
    return [d for d in range(count, ndim) if all(t.shape[d] == 1 for t in others)]


def _contracted(left: Any, right: Any, finished: Sequence[int]) -> Any:
    """The product of two operands, summed over the dimensions that are `finished`."""
    both = [d for d in finished if left.shape[d] != 1 and right.shape[d] != 1]
    only_left = [d for d in finished if left.shape[d] != 1 and right.shape[d] == 1]
    only_right = [d for d in finished if left.shape[d] == 1 and right.shape[d] != 1]
    if only_left:
        left = left.sum(only_left, keepdim=True)
    if only_right:
        right = right.sum(only_right, keepdim=True)
    return _sum_of_products(left, right, both) if both else left * right


def _sum_of_products(left: Any, right: Any, summed: Sequence[int]) -> Any:
    """``(left * right).sum(summed, keepdim=True)`` as one batched matrix product."""
    rest = [d for d in range(left.ndim) if d not in summed]
    shared = [d for d in rest if left.shape[d] != 1 and right.shape[d] != 1]
    rows = [d for d in rest if left.shape[d] != 1 and d not in shared]
    columns = [d for d in rest if d not in shared and d not in rows]
    batch, inner = _count(left, shared), _count(left, summed)
    first = left.permute([*shared, *rows, *summed, *columns])
    second = right.permute([*shared, *summed, *columns, *rows])
    product = bmm(
        first.reshape(batch, _count(left, rows), inner),
        second.reshape(batch, inner, _count(right, columns)),
    )
    order = [*shared, *rows, *summed, *columns]
    wide = [right.shape[d] if left.shape[d] == 1 else left.shape[d] for d in order]
    sizes = [1 if d in summed else size for d, size in zip(order, wide, strict=True)]
    return product.view(sizes).permute([order.index(d) for d in range(left.ndim)])


def _count(tensor: Any, dims: Sequence[int]) -> int:
    return math.prod(tensor.shape[d] for d in dims)


METHODS = ""
