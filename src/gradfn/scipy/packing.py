"""Trees of tensors as the vectors of float64 that SciPy computes with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..autograd.variable import Variable
from ..dtypes import FLOAT
from ..queries import finfo
from ..utils._pytree import tree_leaves
from .trees import Tree, leaf_names, parts_as, tensors_of

Vector = NDArray[np.float64]  # or a matrix, of which each row is a vector


class Packing:
    """How the tensors of a tree lie in one vector: one after the other, each in row-major order.

    A complex number takes two places, its real and its imaginary part, so that gradients in
    PyTorch's convention are gradients with respect to the vector. TypeError for leaves that are
    no tensors, RuntimeError for tensors of integers.
    """

    def __init__(self, tree: Tree, name: str) -> None:
        tensors, self.spec = tensors_of(tree, name)
        self.name, self.names = name, list(leaf_names(self.spec, name))
        self.shapes = [tuple(tensor.shape) for tensor in tensors]
        self.dtypes = [tensor.dtype for tensor in tensors]
        for leaf_name, dtype in zip(self.names, self.dtypes, strict=True):
            if dtype.category < FLOAT:
                raise RuntimeError(
                    "only Tensors of floating point or complex dtype have derivatives, but "
                    f"{leaf_name} is of {dtype}: convert it, as by .to(torch.float64)"
                )
        parts = zip(self.shapes, self.dtypes, strict=True)
        sizes = [prod(shape) * (1 + dtype.is_complex) for shape, dtype in parts]
        self._slices = [slice(*ends) for ends in pairwise(accumulate(sizes, initial=0))]
        self.size = sum(sizes)

    @property
    def eps(self) -> float:
        """The relative spacing of the coarsest dtype."""
        return max((float(finfo(dtype).eps) for dtype in self.dtypes), default=2.0**-52)

    @property
    def tolerance(self) -> float:
        """A relative error that rounding leaves room for."""
        return max(1e-8, 100 * self.eps)

    def tensors(self, tree: Tree, name: str) -> list[Any]:
        """The tensors of `tree`, which must have the same structure and shapes.

        ValueError for another structure, RuntimeError for other shapes.
        """
        parts = parts_as(self.spec, tree, name)
        tensors, _ = tensors_of(self.tree(parts), name)
        for tensor, shape, due in zip(tensors, self.shapes, self.names, strict=True):
            if tuple(tensor.shape) != shape:
                here = name + due.removeprefix(self.name)
                raise RuntimeError(
                    f"{here} must have the shape {list(shape)} of {due}, but has "
                    f"{list(tensor.shape)}"
                )
        return tensors

    def tree(self, tensors: Iterable[Any]) -> Tree:
        """The tensors in the structure of the tree."""
        return self.spec.unflatten(tensors)

    def pack(self, tensors: Iterable[Any], batch: tuple[int, ...] = ()) -> Vector:
        """The vector of the tensors, of which None stands for zeros; `batch` are the sizes of
        leading dimensions of each."""
        vector = np.zeros((*batch, self.size))
        for tensor, places in zip(tensors, self._slices, strict=True):
            if tensor is not None:
                vector[..., places] = self._real(tensor._array, batch, places)
        return vector

    def _real(self, array: Any, batch: tuple[int, ...], places: slice) -> Any:
        if array.dtype.kind == "c":
            array = array.reshape(-1).astype(np.complex128, copy=False).view(np.float64)
        return array.reshape(*batch, places.stop - places.start)

    def unpack(self, vector: Vector) -> tuple[Any, ...]:
        """New tensors with the values of `vector`, which may have leading dimensions."""
        batch = vector.shape[:-1]
        tensors = []
        for places, shape, dtype in zip(self._slices, self.shapes, self.dtypes, strict=True):
            part = np.ascontiguousarray(vector[..., places])
            if dtype.is_complex:
                part = part.view(np.complex128)
            tensors.append(Variable.wrap(part.reshape(batch + shape).astype(dtype.numpy)))
        return tuple(tensors)

    def unpacked(self, vector: Vector) -> Tree:
        """The tree of the values of `vector`."""
        return self.tree(self.unpack(vector))


def started(x0: Tree) -> tuple[Packing, Vector]:
    """How `x0` is packed, and its vector; ValueError where there is nothing in it."""
    domain = Packing(x0, "x0")
    if not domain.size:
        raise ValueError("x0 has no elements: there is nothing to solve for")
    return domain, domain.pack(tree_leaves(x0))


def ravel(tree: Tree) -> tuple[Vector, Callable[[Vector], Tree]]:
    """``(vector, unravel)``: the tensors of `tree` as one vector of float64, and the way back.

    These are the coordinates that `minimize`, the linear operators and sparse matrices here use:
    the tensors one after the other, complex numbers as pairs of real ones. ``unravel(vector)`` has
    the structure, shapes and dtypes of `tree`.

    >>> import gradfn
    >>> vector, unravel = ravel({"a": gradfn.tensor([1.0, 2.0]), "b": gradfn.tensor(3.0)})
    >>> vector
    array([1., 2., 3.])
    >>> unravel(2 * vector)
    {'a': tensor([2., 4.]), 'b': tensor(6.)}
    """
    packing = Packing(tree, "tree")
    return packing.pack(tree_leaves(tree)), packing.unpacked
