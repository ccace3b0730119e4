"""Arrays in, arrays out: the only place that calls NumPy, SciPy or native kernels.

Kernels return arrays, never NumPy scalars, and take PyTorch's argument names. The package is one
flat namespace, the one that a formula calls `F` when it is read on arrays, so kernels have the
names of their operators.
"""

from .activation import *
from .attention import *
from .convolving import *
from .copying import *
from .ctc import *
from .decompositions import *
from .elementwise import *
from .embeddings import *
from .fft import *
from .filling import *
from .gating import *
from .gridding import *
from .indexing import *
from .loss import *
from .normalization import *
from .padding import *
from .pairs import *
from .pixels import *
from .pooling import *
from .products import *
from .ranges import *
from .reduction import *
from .resampling import *
from .scan import *
from .scattering import *
from .shaping import *
from .softmaxes import *
from .solvers import *
from .sorting import *
from .special import *
from .strided import strided_base as base_of
from .strided import strided_scatter as strided_scatter
from .strided import strided_view as view_of
from .unpooling import *
from .views import *
