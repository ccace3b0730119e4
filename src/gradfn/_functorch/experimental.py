"""What functorch had as experimental."""

from ..func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_
from ..missing import missing

__all__ = ["functionalize", "hessian", "jacfwd", "jvp", "replace_all_batch_norm_modules_"]
__getattr__ = missing(__name__)
