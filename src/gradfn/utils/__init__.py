"""Utilities around training: checkpointing."""

from . import checkpoint as checkpoint
