"""gradfn: PyTorch's autograd in Python, as a glass box."""

from importlib import import_module as _import_module
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import Any as _Any

from . import autograd as autograd
from . import dtypes as _dtypes
from . import fft as fft
from . import linalg as linalg
from . import nn as nn
from . import random as random
from . import special as special
from .autograd.grad_mode import enable_grad as enable_grad
from .autograd.grad_mode import inference_mode as inference_mode
from .autograd.grad_mode import is_grad_enabled as is_grad_enabled
from .autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from .autograd.grad_mode import no_grad as no_grad
from .autograd.grad_mode import set_grad_enabled as set_grad_enabled
from .config import *
from .creation import *
from .device import *
from .dtypes import *
from .interop import from_dlpack as from_dlpack
from .interop import to_dlpack as to_dlpack
from .legacy import *
from .lowrank import *
from .missing import missing as _missing_from
from .ops import return_types as return_types
from .ops.activation import *
from .ops.adaptive import *
from .ops.arithmetic import *
from .ops.calculus import *
from .ops.comparison import *
from .ops.complexes import *
from .ops.contraction import *
from .ops.conversion import *
from .ops.convolving import *
from .ops.ctc import *
from .ops.decompositions import *
from .ops.determinants import *
from .ops.distance import *
from .ops.dropouts import *
from .ops.einstein import *
from .ops.extrema import *
from .ops.filling import *
from .ops.gridding import *
from .ops.indexing import *
from .ops.joining import *
from .ops.matrix_functions import *
from .ops.normalization import *
from .ops.norms import *
from .ops.padding import *
from .ops.pairs import *
from .ops.pixels import *
from .ops.pooling import *
from .ops.powers import *
from .ops.products import *
from .ops.quantiles import *
from .ops.reduction import *
from .ops.reflectors import *
from .ops.restructure import *
from .ops.rounding import *
from .ops.rrelu import *
from .ops.sampling import *
from .ops.sampling import sample_dirichlet as _sample_dirichlet
from .ops.sampling import standard_gamma as _standard_gamma
from .ops.scan import *
from .ops.scattering import *
from .ops.shaping import *
from .ops.softmaxes import *
from .ops.solvers import *
from .ops.sorting import *
from .ops.special import *
from .ops.spectra import *
from .ops.splitting import *
from .ops.statistics import *
from .ops.transcendental import *
from .ops.view_copies import *
from .ops.views import *
from .ops.weights import *
from .ops.windows import *
from .printing import set_printoptions as set_printoptions
from .queries import *
from .random import *
from .ranges import *
from .sampling import *
from .shapes import Size as Size
from .storage import TypedStorage as TypedStorage
from .storage import UntypedStorage as UntypedStorage
from .tapers import *
from .tensor import Tensor as Tensor
from .tensor import tensor as tensor
from .version import __version__ as __version__

half, float, double = _dtypes.float16, _dtypes.float32, _dtypes.float64
short, int, long = _dtypes.int16, _dtypes.int32, _dtypes.int64
cfloat, cdouble, bool = _dtypes.complex64, _dtypes.complex128, _dtypes.bool_
newaxis = None

# Imported when first used.
_LATER = frozenset(
    {
        "_C",
        "_VF",
        "_functorch",
        "accelerator",
        "amp",
        "backends",
        "compiler",
        "cpu",
        "cuda",
        "distributed",
        "distributions",
        "func",
        "functional",
        "hub",
        "jit",
        "lens",
        "mps",
        "multiprocessing",
        "onnx",
        "optim",
        "scipy",
        "serialization",
        "signal",
        "testing",
        "utils",
        "xpu",
    }
)
_WITHIN = {
    **dict.fromkeys(
        (
            "autocast",
            "get_autocast_dtype",
            "is_autocast_cache_enabled",
            "is_autocast_enabled",
            "set_autocast_dtype",
            "set_autocast_enabled",
        ),
        "amp.autocast_mode",
    ),
    "_unique": "_VF",
    "_unique2": "_VF",
    "compile": "compiler",
    "load": "serialization",
    "save": "serialization",
    "vmap": "func",
}
_missing = _missing_from(__name__)


def __getattr__(name: str) -> _Any:
    if name in _LATER:
        return _import_module(f".{name}", __name__)
    if name in _WITHIN:
        return getattr(_import_module(f".{_WITHIN[name]}", __name__), name)
    return _missing(name)
