"""Neural networks: modules, and the parameters and functions that they are made of."""

from ..missing import missing
from . import attention as attention
from . import functional as functional
from . import grad as grad
from . import init as init
from . import modules as modules
from . import parallel as parallel
from . import utils as utils
from .factories import factory_kwargs as factory_kwargs
from .modules import *
from .parallel import DataParallel as DataParallel
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter
from .parameter import UninitializedBuffer as UninitializedBuffer
from .parameter import UninitializedParameter as UninitializedParameter

__getattr__ = missing(__name__)
