"""ASGD under PyTorch's module name."""

from .averaging import ASGD as ASGD
