"""RMSprop under PyTorch's module name."""

from .scaled import RMSprop as RMSprop
