"""NAdam under PyTorch's module name."""

from .moments import NAdam as NAdam
