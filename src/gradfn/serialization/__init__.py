"""Saving and loading: PyTorch's `torch.serialization`."""

from ..missing import missing
from .names import add_safe_globals as add_safe_globals
from .names import clear_safe_globals as clear_safe_globals
from .names import get_safe_globals as get_safe_globals
from .names import safe_globals as safe_globals
from .reading import load as load
from .writing import save as save

__getattr__ = missing(__name__)
