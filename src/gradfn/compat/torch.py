"""``import gradfn.compat.torch``: from here on, ``import torch`` means gradfn."""

import sys

import gradfn

from .finder import install

install()
sys.modules[__name__] = gradfn  # so that `from gradfn.compat import torch` is gradfn too
