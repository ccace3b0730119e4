"""The handles of hooks under PyTorch's module name."""

from ..autograd.hooks import RemovableHandle as RemovableHandle
from ..missing import missing

__getattr__ = missing(__name__)
