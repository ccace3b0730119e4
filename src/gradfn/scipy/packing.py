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
from .trees import Tree, check_tensor, leaves_as, rebuild, walk

Vector = NDArray[np.float64]  # or a matrix, of which each row is a vector


class Packing:
    """How the tensors of a tree lie in one vector: one after the other, each in row-major order.

    A complex number takes two places, its real and its imaginary part, so that gradients in
    PyTorch's convention are gradients with respect to the vector. TypeError for leaves that are
    no tensors, RuntimeError for tensors of integers.
    """

    def __init__(self, tree: Tree, name: str) -> None:
        leaves = list(walk(tree, name))
        for leaf_name, leaf in leaves:
            check_tensor(leaf, leaf_name)
            if leaf.dtype.category < FLOAT:
                raise RuntimeError(
                    "only Tensors of floating point or complex dtype have derivatives, but "
                    f"{leaf_name} is of {leaf.dtype}: convert it, as by .to(torch.float64)"
                )
        self.name = name
        self.template = rebuild(tree, (leaf_name for leaf_name, _ in leaves))
        self.names = [leaf_name for leaf_name, _ in leaves]
        self.shapes = [tuple(leaf.shape) for _, leaf in leaves]
        self.dtypes = [leaf.dtype for _, leaf in leaves]
        sizes = [
            prod(s) * (1 + d.is_complex) for s, d in zip(self.shapes, self.dtypes, strict=True)
        ]
        self._slices = [slice(*ends) for ends in pairwise(accumulate(sizes, initial=0))]
        self.size = sum(sizes)

    @property
    def eps(self) -> float:
        """The relative spacing of the coarsest dtype."""
        return max((float(finfo(dtype).eps) for dtype in self.dtypes), default=2.0**-52)

    def leaves(self, tree: Tree, name: str) -> list[Any]:
        """The tensors of `tree`, which must have the same structure and shapes.

        TypeError for another structure, RuntimeError for other shapes.
        """
        leaves = list(leaves_as(self.template, tree, name))
        for leaf, shape, due in zip(leaves, self.shapes, self.names, strict=True):
            here = name + due.removeprefix(self.name)
            check_tensor(leaf, here)
            if tuple(leaf.shape) != shape:
                raise RuntimeError(
                    f"{here} must have the shape {list(shape)} of {due}, but has {list(leaf.shape)}"
                )
        return leaves

    def tree(self, tensors: Iterable[Any]) -> Tree:
        """The tensors in the structure of the tree."""
        return rebuild(self.template, iter(tensors))

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
    return packing.pack(packing.leaves(tree, "tree")), packing.unpacked
