"""RAdam under PyTorch's module name."""

from .moments import RAdam as RAdam
