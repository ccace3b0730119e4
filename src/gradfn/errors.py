"""Exceptions that PyTorch has under a name of its own."""

from __future__ import annotations


class _LinAlgError(RuntimeError):
    """A matrix for which there is no result: singular, not positive-definite, without convergence.

    PyTorch's `torch.linalg.LinAlgError`, whose class has this name too.
    """


LinAlgError = _LinAlgError
