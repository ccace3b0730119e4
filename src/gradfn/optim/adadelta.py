"""Adadelta under PyTorch's module name."""

from .scaled import Adadelta as Adadelta
