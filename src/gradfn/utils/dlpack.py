"""`torch.utils.dlpack`: exchange of memory with other libraries."""

from ..interop import from_dlpack as from_dlpack
from ..interop import to_dlpack as to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
