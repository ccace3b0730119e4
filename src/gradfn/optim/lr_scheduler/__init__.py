"""Schedules of learning rates: PyTorch's `torch.optim.lr_scheduler`."""

from .base import LRScheduler as LRScheduler
from .combined import ChainedScheduler as ChainedScheduler
from .combined import ReduceLROnPlateau as ReduceLROnPlateau
from .combined import SequentialLR as SequentialLR
from .cycles import CyclicLR as CyclicLR
from .cycles import OneCycleLR as OneCycleLR
from .decay import ConstantLR as ConstantLR
from .decay import CosineAnnealingLR as CosineAnnealingLR
from .decay import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from .decay import ExponentialLR as ExponentialLR
from .decay import LambdaLR as LambdaLR
from .decay import LinearLR as LinearLR
from .decay import MultiplicativeLR as MultiplicativeLR
from .decay import MultiStepLR as MultiStepLR
from .decay import PolynomialLR as PolynomialLR
from .decay import StepLR as StepLR

_LRScheduler = LRScheduler
