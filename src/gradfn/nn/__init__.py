"""Neural networks: parameters, and what is built of them."""

from ..missing import missing
from . import functional as functional
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter

__getattr__ = missing(__name__)
