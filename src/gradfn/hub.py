"""`torch.hub` by its names: gradfn downloads no code and no weights."""

from __future__ import annotations

from .missing import missing, refusing

__getattr__ = missing(__name__)

_WHY = "it downloads programs and weights; download the file yourself and `load` it"

download_url_to_file = refusing("torch.hub.download_url_to_file", _WHY)
help = refusing("torch.hub.help", _WHY)
list = refusing("torch.hub.list", _WHY)
load = refusing("torch.hub.load", _WHY)
load_state_dict_from_url = refusing("torch.hub.load_state_dict_from_url", _WHY)
