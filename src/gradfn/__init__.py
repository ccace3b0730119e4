"""gradfn: PyTorch's autograd in Python, as a glass box."""

import os as _os

from .autograd.where import own_files as _own_files

_own_files(_os.path.dirname(__file__))

from . import autograd as autograd
from .ops.arithmetic import *
from .tensor import Tensor, tensor
