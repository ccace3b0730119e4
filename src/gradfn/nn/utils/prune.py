"""Pruning: parameters with some of their elements masked to zero.

A pruned parameter ``name`` of a module is ``<name>_orig``, with a buffer ``<name>_mask``; a hook
computes their product before each call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

from ...creation import ones_like, zeros_like
from ...missing import missing
from ...ops.extrema import kthvalue
from ...ops.norms import norm
from ...ops.sorting import topk
from ...raw.reduction import others
from ...sampling import rand, rand_like
from ..modules.module import Module
from .convert_parameters import parameters_to_vector

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod(ABC):
    """A way to prune: the hook that masks one parameter.

    A subclass defines `compute_mask`, and as `PRUNING_TYPE` which elements it chooses from when
    some are masked already: "unstructured" from those that are left, "structured" from the slices
    along its `dim` of which something is left, "global" from all.
    """

    PRUNING_TYPE: ClassVar[str]
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask, of ones and zeros, for the importances `t`; zeros of `default_mask` stay."""

    def apply_mask(self, module: Module) -> Any:
        """The parameter with its mask."""
        mask = getattr(module, f"{self._tensor_name}_mask")
        orig = getattr(module, f"{self._tensor_name}_orig")
        return mask.to(orig.dtype) * orig

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> Any:
        """Prune the parameter `name` of the module by ``cls(*args, **kwargs)``.

        What is important is told by `importance_scores`, by default the parameter itself. Returns
        the hook, which is a `PruningContainer` for a parameter that was pruned before.
        """
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        parameter = getattr(module, name)
        scores = parameter if importance_scores is None else importance_scores
        if scores.shape != parameter.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, "
                f"got {scores.shape} vs {parameter.shape}"
            )
        number = _hook_of(module, name)
        if number is None:
            mask = method.compute_mask(scores, default_mask=ones_like(parameter))
            module.register_parameter(f"{name}_orig", parameter)
            del module._parameters[name]
        else:
            known: Any = module._forward_pre_hooks[number]
            before = known if isinstance(known, PruningContainer) else [known]
            method = PruningContainer(*before, method)
            mask = method.compute_mask(scores, default_mask=getattr(module, f"{name}_mask"))
            del module._forward_pre_hooks[number]
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """The tensor `t` pruned, by the importances `importance_scores`, by default itself."""
        scores = t if importance_scores is None else importance_scores
        mask = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """Make the masked parameter a parameter again."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        orig: Any = module._parameters.pop(f"{name}_orig")
        orig.data = weight.data
        del module._buffers[f"{name}_mask"]
        delattr(module, name)
        setattr(module, name, orig)


def _hook_of(module: Module, name: str) -> int | None:
    """The number of the hook that masks the parameter `name`."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return number
    return None


class PruningContainer(BasePruningMethod):
    """Pruning methods that were applied to one parameter, one after the other."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method. TypeError for another object, ValueError for one of another parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask of the last method, which chooses from what is left."""
        method: Any = self._pruning_methods[-1]
        mask = default_mask.to(t.dtype)
        left: Any
        if method.PRUNING_TYPE == "unstructured":
            left = mask == 1
        elif method.PRUNING_TYPE == "structured":
            kept = mask.sum(dim=others(method.dim, t.dim())) != 0
            left = [slice(None)] * t.dim()
            left[method.dim] = kept
            left = tuple(left)
        elif method.PRUNING_TYPE == "global":
            left = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        result = mask.clone()
        result[left] = method.compute_mask(t[left], default_mask=mask[left]).to(mask.dtype)
        return result


class Identity(BasePruningMethod):
    """Nothing is pruned: the parameter gets a mask of ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask


class _Amount(BasePruningMethod):
    """A method that prunes a number, or a fraction, of what there is."""

    def __init__(self, amount: Any) -> None:
        if not isinstance(amount, Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if float(amount) < 0 or (not isinstance(amount, Integral) and float(amount) > 1):
            raise ValueError(
                f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
                "integer"
            )
        self.amount = amount

    def _count(self, size: int) -> int:
        """How many of `size` are to go."""
        if not isinstance(self.amount, Integral):
            return round(float(self.amount) * size)
        if int(self.amount) > size:
            raise ValueError(
                f"amount={self.amount} should be smaller than the number of parameters to "
                f"prune={size}"
            )
        return int(self.amount)


def _without(mask: Any, indices: Any) -> Any:
    """A copy of `mask` that is 0 at `indices` of all its elements."""
    copy = mask.clone()
    copy.view(-1)[indices] = 0
    return copy


class RandomUnstructured(_Amount):
    """Elements that are drawn at random are pruned."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = self._count(t.nelement())
        if count == 0:
            return default_mask.clone()
        return _without(default_mask, topk(rand_like(t).view(-1), k=count).indices)


class L1Unstructured(_Amount):
    """The elements of the least absolute values are pruned."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = self._count(t.nelement())
        if count == 0:
            return default_mask.clone()
        least = topk(t.detach().abs().view(-1), k=count, largest=False)
        return _without(default_mask, least.indices)


class _Structured(_Amount):
    """A method that prunes whole slices along `dim`."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _slices(self, t: Any) -> int:
        """The number of slices, which is checked."""
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor "
                f"of shape {t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size: int = t.shape[self.dim]
        return size

    def _keeping(self, t: Any, kept: Any, default_mask: Any) -> Any:
        """`default_mask` with zeros in the slices that are not `kept`, a mask or their indices."""
        mask = zeros_like(t)
        chosen = [slice(None)] * t.dim()
        chosen[self.dim] = kept
        mask[tuple(chosen)] = 1
        return mask * default_mask.to(mask.dtype)


class RandomStructured(_Structured):
    """Slices that are drawn at random are pruned."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        slices = self._slices(t)
        count = self._count(slices)
        if count == 0:
            return default_mask
        draws: Any = rand(slices)
        return self._keeping(t, draws > kthvalue(draws, k=count).values, default_mask)


class LnStructured(_Structured):
    """The slices of the least `n`-norms are pruned."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        slices = self._slices(t)
        count = self._count(slices)
        if count == 0:
            return default_mask
        sizes = norm(t.detach(), p=self.n, dim=others(self.dim, t.dim()))
        kept = topk(sizes, k=slices - count, largest=True).indices
        return self._keeping(t, kept, default_mask)


class CustomFromMask(BasePruningMethod):
    """The mask is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape "
                f"{self.mask.shape}"
            )
        return default_mask * self.mask.to(default_mask.dtype)


def identity(module: Any, name: str) -> Any:
    """Give the parameter `name` a mask of ones. Returns the module, as all of these."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: float) -> Any:
    """Prune `amount` elements of a parameter, or that fraction, drawn at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: float, importance_scores: Any = None) -> Any:
    """Prune `amount` elements of a parameter, or that fraction: those of the least size.

    >>> from gradfn import nn
    >>> layer = l1_unstructured(nn.Linear(2, 3), "weight", amount=2)
    >>> int((layer.weight == 0).sum())
    2
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: float, dim: int) -> Any:
    """Prune `amount` slices of a parameter along `dim`, or that fraction, drawn at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None
) -> Any:
    """Prune `amount` slices of a parameter along `dim`, or that fraction: of the least n-norms."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune a parameter where `mask` is 0."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune parameters, pairs of a module and a name, as if they were one vector.

    `importance_scores` is a dictionary by such pairs; `kwargs` go to `pruning_method`, which is an
    unstructured one.
    """
    if not isinstance(parameters, Iterable) or isinstance(parameters, Module):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs: list[tuple[Any, str]] = list(parameters)
    tensors = [getattr(module, name) for module, name in pairs]
    importances = parameters_to_vector(
        scores.get(pair, tensor) for pair, tensor in zip(pairs, tensors, strict=True)
    )
    masks = parameters_to_vector(
        getattr(module, f"{name}_mask", ones_like(tensor))
        for (module, name), tensor in zip(pairs, tensors, strict=True)
    )
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "all"
    mask: Any = PruningContainer(method).compute_mask(importances, masks)
    parts = mask.split([tensor.numel() for tensor in tensors])
    for (module, name), tensor, part in zip(pairs, tensors, parts, strict=True):
        custom_from_mask(module, name, mask=part.view_as(tensor))


def remove(module: Any, name: str) -> Any:
    """Make a pruned parameter permanent. ValueError for one that is not pruned."""
    number = _hook_of(module, name)
    if number is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    hook: Any = module._forward_pre_hooks.pop(number)
    hook.remove(module)
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one below it, is pruned."""
    hooks = (hook for each in module.modules() for hook in each._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)


__getattr__ = missing(__name__)
