"""`torch.distributed.nn` for programs that mention it: there is one process."""

from ..missing import missing
from . import all_gather as all_gather
from . import all_reduce as all_reduce
from . import broadcast as broadcast

__getattr__ = missing(__name__)
