"""The modules of `nn`, by the files that PyTorch has them in."""

from ...missing import missing
from .activation import *
from .adaptive import *
from .batchnorm import *
from .channelshuffle import *
from .container import *
from .conv import *
from .distance import *
from .dropout import *
from .flatten import *
from .fold import *
from .instancenorm import *
from .linear import *
from .loss import *
from .module import *
from .multihead import *
from .normalization import *
from .padding import *
from .pixelshuffle import *
from .pooling import *
from .rnn import *
from .sparse import *
from .transformer import *
from .upsampling import *

__getattr__ = missing(__name__)
