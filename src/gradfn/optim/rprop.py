"""Rprop under PyTorch's module name."""

from .averaging import Rprop as Rprop
