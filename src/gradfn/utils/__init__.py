"""Utilities around training: checkpointing."""

from ..missing import missing
from . import checkpoint as checkpoint

__getattr__ = missing(__name__)
