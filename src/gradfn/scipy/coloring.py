"""Colourings of sparse matrices: which columns or rows one product can serve.

Columns without a common row share a colour: their sum, which one product ``Jv`` gives, still shows
each entry. The fewer colours, the fewer products. See A. H. Gebremedhin, F. Manne, A. Pothen, "What
color is your Jacobian? Graph coloring for computing derivatives", SIAM Review 47 (2005).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .packing import Vector

Colors = NDArray[np.intp]
By = Literal["columns", "rows", "symmetric"]


@dataclass(frozen=True)
class Coloring:
    """A sparsity pattern with a colour for each of its columns or rows.

    `sparsity` is a `scipy.sparse.csr_array`, `colors` has one number for each column (or row), and
    `by` says of which, and whether the pattern is one of symmetric matrices.
    """

    sparsity: Any
    colors: Colors
    by: By

    @property
    def passes(self) -> int:
        """How many products, one backward pass each, the matrix takes: the number of colours."""
        return int(self.colors.max(initial=-1)) + 1

    @property
    def seeds(self) -> Vector:
        """For each colour the sum of the unit vectors of that colour, as rows."""
        seeds = np.zeros((self.passes, self.colors.size))
        seeds[self.colors, np.arange(self.colors.size)] = 1
        return seeds


def color_jacobian(sparsity: Any) -> Coloring:
    """A colouring for Jacobians of the pattern `sparsity`, anything that `scipy.sparse` takes.

    Columns, or rows where that takes fewer colours, get different ones when they have an entry in
    a common row (column): greedily, those with the most such neighbours first.

    >>> import scipy.sparse
    >>> tridiagonal = scipy.sparse.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(99, 99))
    >>> color_jacobian(tridiagonal).passes
    3
    """
    pattern = _pattern(sparsity)
    by_rows = _greedy(_neighbours(pattern @ pattern.T))
    by_columns = _greedy(_neighbours(pattern.T @ pattern))
    rows, columns = Coloring(pattern, by_rows, "rows"), Coloring(pattern, by_columns, "columns")
    return rows if rows.passes <= columns.passes else columns


def color_hessian(sparsity: Any) -> Coloring:
    """A colouring for Hessians of the symmetric pattern `sparsity`.

    A star colouring: neighbours differ, and every path of four vertices has three colours. Then
    each entry, or the same one across the diagonal, is alone in its row among its colour. Greedy,
    the vertices of most neighbours first (Algorithm 4.1 of the paper). ValueError where the pattern
    is not symmetric.

    >>> import numpy as np
    >>> arrow = np.eye(100); arrow[0] = arrow[:, 0] = 1
    >>> color_hessian(arrow).passes, color_jacobian(arrow).passes
    (2, 100)
    """
    pattern = _pattern(sparsity)
    if pattern.shape[0] != pattern.shape[1] or (pattern != pattern.T).nnz:
        raise ValueError(
            f"the sparsity of a Hessian must be symmetric; this one, of shape {pattern.shape}, is "
            "not: add the entries across the diagonal"
        )
    return Coloring(pattern, _star(_neighbours(pattern)), "symmetric")


def _pattern(sparsity: Any) -> Any:
    """The matrix of ones at the entries of `sparsity`."""
    from scipy.sparse import csr_array

    pattern = csr_array(sparsity).astype(np.int64)
    pattern.sum_duplicates()
    pattern.data[:] = 1
    return pattern


def _neighbours(adjacency: Any) -> list[Colors]:
    """For each vertex those that it has an edge to."""
    adjacency = adjacency.tocsr()
    lists = [adjacency.indices[start:end] for start, end in pairwise(adjacency.indptr)]
    return [others[others != vertex] for vertex, others in enumerate(lists)]


def _largest_first(neighbours: list[Colors]) -> Iterable[int]:
    return sorted(range(len(neighbours)), key=lambda vertex: -len(neighbours[vertex]))


def _free(forbidden: Colors) -> int:
    """The smallest colour that is not forbidden; -1 stands for none yet."""
    taken = np.zeros(len(forbidden) + 1, bool)
    taken[forbidden[(forbidden >= 0) & (forbidden < len(taken))]] = True
    return int(taken.argmin())


def _greedy(neighbours: list[Colors]) -> Colors:
    """Colours that differ between neighbours."""
    colors = np.full(len(neighbours), -1)
    for vertex in _largest_first(neighbours):
        colors[vertex] = _free(colors[neighbours[vertex]])
    return colors


def _star(neighbours: list[Colors]) -> Colors:
    """A star colouring."""
    colors = np.full(len(neighbours), -1)
    for vertex in _largest_first(neighbours):
        forbidden = [colors[neighbours[vertex]]]
        for middle in neighbours[vertex]:
            beyond = colors[neighbours[middle]]
            forbidden.append(beyond if colors[middle] < 0 else beyond[beyond < colors[middle]])
        colors[vertex] = _free(np.concatenate(forbidden))
    return colors
