"""The derivative table. This package is the namespace that a formula calls `F` on tensors.

Each family is one file: its rows, then the plain functions over them, and at its end the lists of
the names that are methods. `__all__` holds the names that PyTorch has in its main namespace.
"""

from . import (
    activation,
    arithmetic,
    comparison,
    complexes,
    contraction,
    conversion,
    einstein,
    extrema,
    indexing,
    norms,
    products,
    reduction,
    sampling,
    scan,
    shaping,
    softmaxes,
    sorting,
    subscript,
    transcendental,
    view,
)
from .activation import *
from .arithmetic import *
from .comparison import *
from .complexes import *
from .contraction import *
from .contraction import multi_dot
from .conversion import *
from .conversion import contiguous
from .einstein import *
from .extrema import *
from .extrema import unselect
from .indexing import *
from .indexing import (
    gather_backward,
    index_at,
    index_backward,
    index_clear,
    index_fill_value,
    index_put_at,
    index_select_backward,
    masked_scatter_backward,
    masked_select_backward,
    take_backward,
    zeros_like,
    zeros_of,
)
from .norms import *
from .products import *
from .products import linear, trilinear
from .reduction import *
from .reduction import unsum
from .sampling import *
from .scan import *
from .scan import recurrence, shift
from .shaping import *
from .shaping import block_diag_backward, repeat, unrepeat
from .softmaxes import *
from .sorting import *
from .transcendental import *
from .view import *
from .view import (
    base_of,
    diagonal_backward,
    expand,
    select_backward,
    slice_backward,
    slice_dim,
    unfold,
    unfold_backward,
    view_of,
)

FAMILIES = (
    activation,
    arithmetic,
    comparison,
    complexes,
    contraction,
    conversion,
    einstein,
    extrema,
    indexing,
    norms,
    products,
    reduction,
    sampling,
    scan,
    shaping,
    softmaxes,
    sorting,
    subscript,
    transcendental,
    view,
)
