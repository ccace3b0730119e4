"""`torch.functional`: some functions of the main namespace, by their older path."""

from .lowrank import pca_lowrank, svd_lowrank
from .missing import missing
from .ops.contraction import chain_matmul, tensordot
from .ops.decompositions import lu
from .ops.einstein import einsum
from .ops.indexing import unravel_index
from .ops.joining import atleast_1d, atleast_2d, atleast_3d
from .ops.norms import norm
from .ops.pairs import cdist
from .ops.shaping import block_diag, broadcast_tensors, cartesian_prod, meshgrid
from .ops.sorting import unique, unique_consecutive
from .ops.spectra import istft, stft
from .ops.splitting import split
from .queries import broadcast_shapes

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "cdist",
    "chain_matmul",
    "einsum",
    "istft",
    "lu",
    "meshgrid",
    "norm",
    "pca_lowrank",
    "split",
    "stft",
    "svd_lowrank",
    "tensordot",
    "unique",
    "unique_consecutive",
    "unravel_index",
]

__getattr__ = missing(__name__)
