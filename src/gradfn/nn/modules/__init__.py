"""The modules of `nn`, by the files that PyTorch has them in."""

from ...missing import missing
from .activation import *
from .container import *
from .distance import *
from .dropout import *
from .flatten import *
from .linear import *
from .loss import *
from .module import *
from .rnn import *
from .sparse import *

__getattr__ = missing(__name__)
