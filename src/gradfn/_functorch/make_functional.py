"""Modules as functions of tuples of parameters: functorch's forerunners of `functional_call`."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

from ..func.modules import functional_call
from ..nn import Module
from ..ops.joining import stack

Tensors = tuple[Any, ...]


class _Stateless(Module):
    """A module whose parameters and buffers come with each call."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.stateless_model = copy.deepcopy(model)
        self.param_names = tuple(dict(model.named_parameters()))
        self.buffer_names = tuple(dict(model.named_buffers()))

    def _called(
        self, params: Sequence[Any], buffers: Sequence[Any], args: Tensors, kwargs: dict[str, Any]
    ) -> Any:
        names = (*self.param_names, *self.buffer_names)
        values = dict(zip(names, (*params, *buffers), strict=True))
        return functional_call(self.stateless_model, values, args, kwargs)


class FunctionalModule(_Stateless):
    """``fmodel(params, *args)``: made by `make_functional`."""

    def forward(self, params: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """The module's output with these parameters."""
        return self._called(params, (), args, kwargs)


class FunctionalModuleWithBuffers(_Stateless):
    """``fmodel(params, buffers, *args)``: made by `make_functional_with_buffers`."""

    def forward(
        self, params: Sequence[Any], buffers: Sequence[Any], *args: Any, **kwargs: Any
    ) -> Any:
        """The module's output with these parameters and buffers."""
        return self._called(params, buffers, args, kwargs)


def make_functional(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, Tensors]:
    """A function of the parameters of `model`, and these: ``(fmodel, params)``.

    RuntimeError for a model with buffers. `torch.func.functional_call` is what replaced it.

    >>> import gradfn
    >>> fmodel, params = make_functional(gradfn.nn.Linear(2, 1))
    >>> fmodel(params, gradfn.ones(2)).shape
    torch.Size([1])
    """
    if next(iter(model.buffers()), None) is not None:
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    return FunctionalModule(model), _parameters(model, disable_autograd_tracking)


def make_functional_with_buffers(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """The same with buffers: ``(fmodel, params, buffers)``."""
    buffers = tuple(copy.deepcopy(model).buffers())
    return (
        FunctionalModuleWithBuffers(model),
        _parameters(model, disable_autograd_tracking),
        buffers,
    )


def _parameters(model: Any, untracked: bool) -> Tensors:
    copies = copy.deepcopy(model)
    if untracked:
        copies.requires_grad_(False)
    return tuple(copies.parameters())


def combine_state_for_ensemble(
    models: Sequence[Any],
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """Modules of one class as one function of their stacked parameters and buffers.

    `torch.func.stack_module_state` is what replaced it.
    """
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or not any(m.training for m in models)):
        raise RuntimeError(
            "combine_state_for_ensemble: Expected all models to have the same training/eval mode."
        )
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError(
            "combine_state_for_ensemble: Expected all models to be of the same class."
        )
    made, params, buffers = zip(*map(make_functional_with_buffers, models), strict=True)
    return made[0], _stacked(params), _stacked(buffers)


def _stacked(states: Sequence[Tensors]) -> Tensors:
    return tuple(stack(list(column)) for column in zip(*states, strict=True))


def functional_init(
    model_class: Callable[..., Any], ensemble_shape: tuple[int, ...] = (), device: Any = "cpu"
) -> Callable[..., Any]:
    """A function of a module's arguments that gives ``(params, fmodel, param_names)``, the
    parameters of several modules stacked where `ensemble_shape` is ``(count,)``."""

    def made(*args: Any, **kwargs: Any) -> Any:
        params, _, models = _initialised(model_class, ensemble_shape, args, kwargs)
        fmodel, _ = make_functional(models[0])
        return params, fmodel, fmodel.param_names

    return made


def functional_init_with_buffers(
    model_class: Callable[..., Any], ensemble_shape: tuple[int, ...] = (), device: Any = "cpu"
) -> Callable[..., Any]:
    """The same with buffers: ``(params, buffers, fmodel, param_names, buffer_names)``."""

    def made(*args: Any, **kwargs: Any) -> Any:
        params, buffers, models = _initialised(model_class, ensemble_shape, args, kwargs)
        fmodel = FunctionalModuleWithBuffers(models[0])
        return params, buffers, fmodel, fmodel.param_names, fmodel.buffer_names

    return made


def _initialised(
    model_class: Callable[..., Any], shape: tuple[int, ...], args: Tensors, kwargs: dict[str, Any]
) -> tuple[Tensors, Tensors, list[Any]]:
    """New modules, and their parameters and buffers, stacked where `shape` is not empty."""
    if len(shape) > 1:
        raise ValueError("NYI: ensemble_shape with more than 1 element")
    count = math.prod(shape)
    if count <= 0:
        raise ValueError(f"num_models {count} should be > 0")
    models = [model_class(*args, **kwargs) for _ in range(count)]
    if not shape:
        return tuple(models[0].parameters()), tuple(models[0].buffers()), models
    params = _stacked([tuple(m.parameters()) for m in models])
    return params, _stacked([tuple(m.buffers()) for m in models]), models
