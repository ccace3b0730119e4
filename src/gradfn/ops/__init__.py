"""The derivative table. This package is the namespace that a formula calls `F` on tensors.

Each family is one file: its rows, then the plain functions over them, and at its end the lists of
the names that are methods. `__all__` holds the names that PyTorch has in its main namespace.
"""

from . import arithmetic, view
from .arithmetic import *
from .view import *
from .view import base_of, view_of

FAMILIES = (arithmetic, view)
