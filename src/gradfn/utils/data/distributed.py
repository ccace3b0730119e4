"""The sampler of distributed training under PyTorch's module name."""

from .sampler import DistributedSampler as DistributedSampler
