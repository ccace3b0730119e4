"""Data sets, samplers and loaders: PyTorch's `torch.utils.data`."""

from ...missing import missing
from . import distributed as distributed
from .dataloader import DataLoader as DataLoader
from .dataloader import default_collate as default_collate
from .dataloader import default_convert as default_convert
from .dataloader import get_worker_info as get_worker_info
from .dataset import ChainDataset as ChainDataset
from .dataset import ConcatDataset as ConcatDataset
from .dataset import Dataset as Dataset
from .dataset import IterableDataset as IterableDataset
from .dataset import StackDataset as StackDataset
from .dataset import Subset as Subset
from .dataset import TensorDataset as TensorDataset
from .dataset import random_split as random_split
from .sampler import BatchSampler as BatchSampler
from .sampler import DistributedSampler as DistributedSampler
from .sampler import RandomSampler as RandomSampler
from .sampler import Sampler as Sampler
from .sampler import SequentialSampler as SequentialSampler
from .sampler import SubsetRandomSampler as SubsetRandomSampler
from .sampler import WeightedRandomSampler as WeightedRandomSampler

__getattr__ = missing(__name__)
