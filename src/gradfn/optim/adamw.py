"""AdamW under PyTorch's module name."""

from .adam import AdamW as AdamW
