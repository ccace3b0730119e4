"""The graph and its engine: nodes, edges, modes, hooks, the backward pass. Knows no operator."""

from ..missing import missing
from . import anomaly_mode as anomaly_mode
from . import forward_ad as forward_ad
from . import function as function
from . import functional as functional
from . import grad_mode as grad_mode
from . import graph as graph
from .anomaly_mode import detect_anomaly as detect_anomaly
from .anomaly_mode import set_detect_anomaly as set_detect_anomaly
from .backward import backward as backward
from .backward import grad as grad
from .function import Function as Function
from .grad_mode import _force_original_view_tracking as _force_original_view_tracking
from .grad_mode import enable_grad as enable_grad
from .grad_mode import inference_mode as inference_mode
from .grad_mode import is_multithreading_enabled as is_multithreading_enabled
from .grad_mode import is_view_replay_enabled as is_view_replay_enabled
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .grad_mode import set_multithreading_enabled as set_multithreading_enabled
from .gradcheck import gradcheck as gradcheck
from .gradcheck import gradgradcheck as gradgradcheck
from .memory import preserve_version as _unsafe_preserve_version_counter
from .nested_function import NestedIOFunction as NestedIOFunction
from .saved import SavedTensor as SavedTensor
from .variable import Variable as Variable

__getattr__ = missing(__name__)
