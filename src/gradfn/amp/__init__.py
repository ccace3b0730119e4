"""Mixed precision: PyTorch's `torch.amp`."""

from ..missing import missing
from .autocast_mode import (
    autocast,
    custom_bwd,
    custom_fwd,
    is_autocast_available,
)
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
__getattr__ = missing(__name__)
