"""The derivative table. This package is the namespace that a formula calls `F` on tensors.

Each family is one file: its rows, then the plain functions over them, and at its end the lists of
the names that are methods. `__all__` holds the names that PyTorch has in its main namespace.
"""

from . import (
    activation,
    arithmetic,
    classification,
    comparison,
    complexes,
    contraction,
    conversion,
    distance,
    dropouts,
    einstein,
    embeddings,
    extrema,
    filling,
    indexing,
    joining,
    loss,
    norms,
    powers,
    products,
    quantiles,
    reduction,
    restructure,
    rounding,
    sampling,
    scan,
    scatter,
    shaping,
    softmaxes,
    sorting,
    splitting,
    subscript,
    transcendental,
    view,
    view_copies,
    windows,
)

FAMILIES = (
    activation,
    arithmetic,
    classification,
    comparison,
    complexes,
    contraction,
    conversion,
    distance,
    dropouts,
    einstein,
    embeddings,
    extrema,
    filling,
    indexing,
    joining,
    loss,
    norms,
    powers,
    products,
    quantiles,
    reduction,
    restructure,
    rounding,
    sampling,
    scan,
    scatter,
    shaping,
    softmaxes,
    sorting,
    splitting,
    subscript,
    transcendental,
    view,
    view_copies,
    windows,
)

from .activation import *
from .activation import (
    hardshrink_backward,
    hardtanh_backward,
    leaky_relu_backward,
    threshold_backward,
)
from .arithmetic import *
from .arithmetic import div_mode
from .classification import *
from .classification import label_counts, nll_loss_backward
from .classification import nll_of as nll_loss
from .comparison import *
from .complexes import *
from .contraction import *
from .contraction import multi_dot
from .conversion import *
from .conversion import contiguous
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
from .filling import *
from .indexing import *
from .indexing import (
    distinct,
    index_at,
    index_backward,
    index_clear,
    index_fill_value,
    index_put_at,
    index_select_backward,
    strided_scatter,
    masked_scatter_backward,
    masked_select_backward,
    take_backward,
    zeros_like,
    zeros_of,
)
from .loss import *
from .loss import binary_cross_entropy_backward
from .joining import *
from .norms import *
from .norms import vector_norm
from .powers import *
from .products import *
from .products import linear, trilinear
from .quantiles import *
from .reduction import *
from .reduction import unsum
from .rounding import *
from .sampling import *
from .restructure import *
from .scan import *
from .scan import recurrence, shift
from .scatter import *
from .scatter import gather_backward
from .shaping import *
from .shaping import blocks, repeat, unblock, unrepeat
from .softmaxes import *
from .softmaxes import log_softmax_backward, softmax_backward
from .sorting import *
from .splitting import *
from .transcendental import *
from .view import *
from .view import base_of, expand, view_of
from .view_copies import *
from .windows import *
from .windows import (
    diagonal_backward,
    select_backward,
    slice_backward,
    slice_dim,
    unfold,
    unfold_backward,
)
