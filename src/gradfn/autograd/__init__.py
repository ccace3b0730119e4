"""The graph and its engine: nodes, edges, modes, hooks, the backward pass. Knows no operator."""

from ..missing import missing
from . import anomaly as anomaly_mode
from . import function as function
from . import functional as functional
from . import graph as graph
from . import modes as grad_mode
from .anomaly import detect_anomaly as detect_anomaly
from .anomaly import set_detect_anomaly as set_detect_anomaly
from .backward import backward as backward
from .backward import grad as grad
from .function import Function as Function
from .gradcheck import gradcheck as gradcheck
from .gradcheck import gradgradcheck as gradgradcheck
from .memory import preserve_version as _unsafe_preserve_version_counter
from .modes import enable_grad as enable_grad
from .modes import inference_mode as inference_mode
from .modes import no_grad as no_grad
from .modes import is_multithreading_enabled as is_multithreading_enabled
from .modes import set_grad_enabled as set_grad_enabled
from .modes import set_multithreading_enabled as set_multithreading_enabled
from .saved import SavedTensor as SavedTensor
from .variable import Variable as Variable

__getattr__ = missing(__name__)
