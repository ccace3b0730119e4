"""`torch.backends`: what PyTorch computes with. gradfn uses none of it: all are unavailable."""

from ..missing import missing
from . import cuda as cuda
from . import cudnn as cudnn
from . import mkl as mkl
from . import mkldnn as mkldnn
from . import mps as mps
from . import openmp as openmp

__getattr__ = missing(__name__)
