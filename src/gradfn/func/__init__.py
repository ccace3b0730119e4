"""Function transforms: PyTorch's `torch.func`. They compose in any order and depth."""

from .forward import jacfwd, jvp, linearize
from .mapping import vmap
from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from .mutations import functionalize
from .reverse import grad, grad_and_value, hessian, jacrev, vjp

__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
