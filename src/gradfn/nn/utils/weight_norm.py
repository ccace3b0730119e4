"""The old weight normalisation: a hook before `forward` that computes the weight."""

from __future__ import annotations

import warnings
from typing import Any

from ...missing import missing
from ...ops.weights import _weight_norm, norm_except_dim
from ..modules.module import Module
from ..parameter import Parameter, is_lazy

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook that computes the weight `name` from ``<name>_g`` and ``<name>_v``."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Any:
        """``g * v / |v|``."""
        g, v = (getattr(module, self.name + suffix) for suffix in ("_g", "_v"))
        return _weight_norm(v, g, self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Replace the weight `name` of the module by g and v, and add the hook."""
        if _hook_of(module, name) is not None:
            raise RuntimeError(
                f"Cannot register two weight_norm hooks on the same parameter {name}"
            )
        hook, weight = WeightNorm(name, dim), getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters: call it "
                "with a batch first"
            )
        del module._parameters[name]
        length = Parameter(norm_except_dim(weight, 2, hook.dim).data)
        module.register_parameter(f"{name}_g", length)
        module.register_parameter(f"{name}_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        for name in (self.name, f"{self.name}_g", f"{self.name}_v"):
            delattr(module, name)
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def _hook_of(module: Module, name: str) -> int | None:
    """The number of the hook that computes the weight `name`."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return number
    return None


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """The old form of `parametrizations.weight_norm`: prefer that.

    The weight is computed before each call from the parameters ``<name>_g`` and ``<name>_v``.
    Returns the module; RuntimeError for a weight that has it already.
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo `weight_norm`; the weight keeps its value. ValueError where there is none."""
    number = _hook_of(module, name)
    if number is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    hook: Any = module._forward_pre_hooks.pop(number)
    hook.remove(module)
    return module


__getattr__ = missing(__name__)
