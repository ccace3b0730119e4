"""Adamax under PyTorch's module name."""

from .moments import Adamax as Adamax
