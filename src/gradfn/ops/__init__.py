"""The derivative table. This package is the namespace that a formula calls `F` on tensors.

Each family is one file: its rows, then the plain functions over them, and at its end the lists of
the names that are methods. `__all__` holds the names that PyTorch has in its main namespace.
"""

from types import ModuleType

from . import forward, subscript
from .activation import *
from .activation import (
    hardshrink_backward,
    hardtanh_backward,
    leaky_relu_backward,
    threshold_backward,
)
from .adaptive import *
from .adaptive import resample
from .arithmetic import *
from .arithmetic import div_mode
from .aten import aten
from .attention import *
from .attention import safe_softmax
from .calculus import *
from .classification import *
from .classification import label_counts, nll_loss_backward
from .classification import nll_of as nll_loss
from .comparison import *
from .complexes import *
from .contraction import *
from .contraction import multi_dot
from .conversion import *
from .conversion import contiguous
from .convolving import *
from .convolving import convolution_input, convolution_weight
from .ctc import *
from .ctc import ctc_loss_backward
from .decompositions import *
from .decompositions import (
    linalg_cholesky_ex,
    linalg_eig,
    linalg_eigh,
    linalg_lu,
    linalg_lu_factor_ex,
    linalg_qr,
    linalg_svd,
)
from .determinants import *
from .determinants import cofactors, cofactors_tangent, linalg_det
from .distance import *
from .dropouts import *
from .einstein import *
from .embeddings import (
    embedding_dense_backward,
    embedding_dense_double_backward,
    one_hot,
)
from .extrema import *
from .extrema import unselect
from .fft import fft_c2c, fft_c2r, fft_r2c
from .filling import *
from .gridding import *
from .gridding import affine_grid_adjoint, grid_offsets
from .indexing import *
from .indexing import (
    distinct,
    index_at,
    index_backward,
    index_clear,
    index_fill_value,
    index_put_at,
    index_select_backward,
    masked_scatter_backward,
    masked_select_backward,
    strided_scatter,
    take_backward,
    zeros_like,
    zeros_of,
)
from .joining import *
from .loss import *
from .loss import binary_cross_entropy_backward
from .matrix_functions import *
from .matrix_functions import cross_of as linalg_cross
from .matrix_functions import linalg_matrix_exp
from .normalization import *
from .norms import *
from .norms import vector_norm
from .padding import *
from .padding import pick, unpick
from .pairs import *
from .pixels import *
from .pixels import col2im, im2col
from .pooling import *
from .pooling import avg_pool, avg_pool_backward, from_planes, to_planes
from .powers import *
from .products import *
from .products import linear, trilinear
from .quantiles import *
from .reduction import *
from .reduction import unsum
from .reflectors import *
from .resampling import *
from .restructure import *
from .rounding import *
from .rrelu import *
from .sampling import *
from .sampling import dirichlet_grad, standard_gamma_grad
from .scan import *
from .scan import recurrence, shift
from .scattering import *
from .scattering import gather_backward, once_where
from .shaping import *
from .shaping import blocks, repeat, unblock, unrepeat
from .softmaxes import *
from .softmaxes import log_softmax_backward, softmax_backward
from .solvers import *
from .solvers import linalg_inv, linalg_lu_solve, linalg_pinv, linalg_solve, linalg_solve_triangular
from .sorting import *
from .special import *
from .special import (
    special_erfcx,
    special_i0e,
    special_i1,
    special_i1e,
    special_xlog1py,
    special_zeta,
)
from .spectra import *
from .splitting import *
from .statistics import *
from .transcendental import *
from .unpooling import *
from .view_copies import *
from .views import *
from .views import base_of, expand, view_of
from .weights import *
from .windows import *
from .windows import (
    diagonal_backward,
    select_backward,
    slice_backward,
    slice_dim,
    unfold,
    unfold_backward,
)

FAMILIES = [m for m in list(vars().values()) if isinstance(m, ModuleType) and hasattr(m, "METHODS")]
