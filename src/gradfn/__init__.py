"""gradfn: PyTorch's autograd in Python, as a glass box."""

import os as _os

from .autograd.where import own_files as _own_files

_own_files(_os.path.dirname(__file__))

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi

from . import autograd as autograd
from . import dtypes as _dtypes
from .autograd.modes import enable_grad as enable_grad
from .autograd.modes import inference_mode as inference_mode
from .autograd.modes import is_grad_enabled as is_grad_enabled
from .autograd.modes import is_inference_mode_enabled as is_inference_mode_enabled
from .autograd.modes import no_grad as no_grad
from .autograd.modes import set_grad_enabled as set_grad_enabled
from .creation import *
from .device import *
from .dtypes import *
from .interop import from_dlpack as from_dlpack
from .ops.arithmetic import *
from .ops.contraction import *
from .ops.conversion import *
from .ops.einstein import *
from .ops.products import *
from .printing import set_printoptions as set_printoptions
from .ranges import *
from .shapes import Size as Size
from .ops.extrema import *
from .ops.norms import *
from .ops.indexing import *
from .ops.reduction import *
from .ops.shaping import *
from .ops.view import *
from .ops.scan import *
from .ops.softmaxes import *
from .ops.sorting import *
from .tensor import Tensor as Tensor
from .tensor import tensor as tensor
from .version import __version__ as __version__

half, float, double = _dtypes.float16, _dtypes.float32, _dtypes.float64
short, int, long = _dtypes.int16, _dtypes.int32, _dtypes.int64
cfloat, cdouble, bool = _dtypes.complex64, _dtypes.complex128, _dtypes.bool_
newaxis = None
