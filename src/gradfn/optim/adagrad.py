"""Adagrad under PyTorch's module name."""

from .scaled import Adagrad as Adagrad
