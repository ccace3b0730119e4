"""Where PyTorch's package functorch imports its functions from."""

from . import *
from . import __all__ as __all__
