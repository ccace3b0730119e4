"""The old spectral normalisation: a hook before `forward` that computes the weight."""

from __future__ import annotations

from typing import Any

from ...autograd.grad_mode import no_grad
from ...missing import missing
from ...ops.products import dot, mv
from ...ops.solvers import linalg_pinv
from ..functional import normalize
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from ..parameter import Parameter, is_lazy

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]

_VERSION = 1  # of the state: since when it has the right singular vector


def output_dim(module: Module) -> int:
    """The dimension of the weight that counts the outputs."""
    return int(isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d))


def outputs_first(weight: Any, dim: int) -> Any:
    """The weight with `dim` as its first dimension."""
    if dim == 0:
        return weight
    return weight.permute(dim, *(d for d in range(weight.dim()) if d != dim))


def _as_matrix(weight: Any, dim: int) -> Any:
    """The weight as a matrix whose rows are its slices along `dim`."""
    return outputs_first(weight, dim).reshape(weight.size(dim), -1)


def random_direction(matrix: Any, size: int, eps: float) -> Any:
    """A random vector of norm 1."""
    return normalize(matrix.new_empty(size).normal_(0, 1), dim=0, eps=eps)


def power_iteration(matrix: Any, left: Any, right: Any, eps: float, count: int) -> None:
    """Move both vectors towards those of the largest singular value, in place, `left` first."""
    with no_grad():
        for _ in range(count):
            left.copy_(normalize(mv(matrix, right), dim=0, eps=eps))
            right.copy_(normalize(mv(matrix.mH, left), dim=0, eps=eps))


class SpectralNorm:
    """The hook that computes the weight `name` from ``<name>_orig``.

    The singular vectors are the buffers ``<name>_u`` and ``<name>_v``.
    """

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        self.name = name
        self.dim = dim
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Any:
        """The weight over its largest singular value."""
        weight, u, v = (getattr(module, self.name + suffix) for suffix in ("_orig", "_u", "_v"))
        matrix = _as_matrix(weight, self.dim)
        if do_power_iteration:
            power_iteration(matrix.t(), v, u, self.eps, self.n_power_iterations)
            u, v = u.clone(), v.clone()  # the buffers change again before the backward pass
        return weight / dot(u, mv(matrix, v))

    @staticmethod
    def apply(
        module: Module, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Replace the weight `name` of the module by the original one, and add the hook."""
        if _hook_of(module, name) is not None:
            raise RuntimeError(
                f"Cannot register two spectral_norm hooks on the same parameter {name}"
            )
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters: call it "
                "with a batch first"
            )
        with no_grad():
            matrix = _as_matrix(weight, dim)
            u, v = (random_direction(matrix, size, eps) for size in matrix.shape)
        del module._parameters[name]
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(_StateHook(hook))
        module._register_load_state_dict_pre_hook(_LoadHook(hook))
        return hook

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


class _StateHook:
    """Notes the version of what belongs to the hook in the metadata of a state."""

    def __init__(self, hook: SpectralNorm) -> None:
        self.hook = hook

    def __call__(self, module: Module, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        versions[f"{self.hook.name}.version"] = _VERSION


class _LoadHook:
    """Finds the right singular vector for states from before they had it."""

    def __init__(self, hook: SpectralNorm) -> None:
        self.hook = hook

    def __call__(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        *rest: Any,
    ) -> None:
        versions = local_metadata.get("spectral_norm", {})
        if versions.get(f"{self.hook.name}.version") is not None:
            return
        key = prefix + self.hook.name
        if f"{key}_v" in state_dict and key not in state_dict:
            return
        wanted = [key + suffix for suffix in ("_orig", "", "_u")]
        absent = [name for name in wanted if name not in state_dict]
        if absent:
            missing_keys += absent * strict
            return
        with no_grad():
            original, weight, u = (state_dict[name] for name in wanted)
            del state_dict[key]
            matrix = _as_matrix(original, self.hook.dim)
            v = linalg_pinv(matrix) @ u
            sigma = (original / weight).mean()
            state_dict[f"{key}_v"] = v * (sigma / dot(u, mv(matrix, v)))


def _hook_of(module: Module, name: str) -> int | None:
    """The number of the hook that computes the weight `name`."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            return number
    return None


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """The old form of `parametrizations.spectral_norm`: prefer that.

    The weight is computed before each call from the parameter ``<name>_orig``. Returns the module;
    RuntimeError for a weight that has it already, KeyError where there is none.
    """
    dim = output_dim(module) if dim is None else dim
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Undo `spectral_norm`; the weight keeps its value. ValueError where there is none."""
    number = _hook_of(module, name)
    if number is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    hook: Any = module._forward_pre_hooks.pop(number)
    hook.remove(module)
    for hooks in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
        for number, each in list(hooks.items()):
            if isinstance(each, _StateHook | _LoadHook) and each.hook is hook:
                del hooks[number]
    return module


__getattr__ = missing(__name__)
