"""Signal processing, as `torch.signal`."""

from ..missing import missing
from . import windows as windows

__all__ = ["windows"]
__getattr__ = missing(__name__)
