"""Running PyTorch programs, unmodified: `import torch` then means gradfn in the whole process."""

from .finder import install as install
from .version import TorchVersion as TorchVersion
