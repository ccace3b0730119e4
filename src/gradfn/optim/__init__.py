"""Optimizers: PyTorch's `torch.optim`."""

from ..missing import missing
from . import lr_scheduler as lr_scheduler
from . import swa_utils as swa_utils
from .adam import Adam as Adam
from .adam import AdamW as AdamW
from .averaging import ASGD as ASGD
from .averaging import Rprop as Rprop
from .factored import Adafactor as Adafactor
from .factored import Muon as Muon
from .lbfgs import LBFGS as LBFGS
from .moments import Adamax as Adamax
from .moments import NAdam as NAdam
from .moments import RAdam as RAdam
from .optimizer import Optimizer as Optimizer
from .scaled import Adadelta as Adadelta
from .scaled import Adagrad as Adagrad
from .scaled import RMSprop as RMSprop
from .sgd import SGD as SGD
from .sparse_adam import SparseAdam as SparseAdam

__getattr__ = missing(__name__)
