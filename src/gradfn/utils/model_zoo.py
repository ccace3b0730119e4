"""`torch.utils.model_zoo` by its name: gradfn downloads no weights."""

from ..hub import load_state_dict_from_url as load_url
from ..missing import missing

__all__ = ["load_url"]
__getattr__ = missing(__name__)
