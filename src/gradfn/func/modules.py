"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops.joining import stack


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``module(*args, **kwargs)`` with other parameters and buffers in place of its own.

    `parameter_and_buffer_dicts` is a dict by name as `named_parameters` has them, or a sequence of
    such dicts. Names that are missing keep the module's own values, unless `strict`. Tied weights
    are replaced together unless `tie_weights` is False. PyTorch's `torch.func.functional_call`.

    >>> import gradfn
    >>> layer = gradfn.nn.Linear(1, 1)
    >>> functional_call(layer, {"weight": gradfn.tensor([[2.0]]), "bias": gradfn.zeros(1)},
    ...                 gradfn.ones(1))
    tensor([2.])
    """
    from ..nn.utils.stateless import called_with

    if isinstance(parameter_and_buffer_dicts, dict):
        values = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, Sequence):
        dicts = list(parameter_and_buffer_dicts)
        if not all(isinstance(d, dict) for d in dicts):
            raise ValueError(
                "Expected all elements of parameter_and_buffer_dicts to be dictionaries"
            )
        keys = [key for d in dicts for key in d]
        repeated = sorted({key for key in keys if keys.count(key) > 1})
        if repeated:
            raise ValueError(
                f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
                "ambiguous"
            )
        values = {key: value for d in dicts for key, value in d.items()}
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    return called_with(module, values, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several modules of one class, stacked by name.

    For ``vmap(lambda p, b, x: functional_call(base, (p, b), x))``: an ensemble in one call.
    RuntimeError where the modules differ in class or mode. As `torch.func.stack_module_state`.

    >>> import gradfn
    >>> parameters, _ = stack_module_state([gradfn.nn.Linear(3, 2) for _ in range(4)])
    >>> parameters["weight"].shape
    torch.Size([4, 2, 3])
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or not any(m.training for m in models)):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    every = [dict(m.named_parameters()) for m in models]
    parameters = {name: _stacked([p[name] for p in every]) for name in every[0]}
    held = [dict(m.named_buffers()) for m in models]
    buffers = {name: _stacked([b[name] for b in held]) for name in held[0]}
    return parameters, buffers


def _stacked(tensors: list[Any]) -> Any:
    """The tensors in one leaf that requires a gradient as they do."""
    wanted = {t.requires_grad for t in tensors}
    if len(wanted) > 1:
        raise RuntimeError(
            "Expected the parameters of a name to have the same .requires_grad in all models: one "
            "requires a gradient in some of them only"
        )
    made = stack([t.detach() for t in tensors])
    return made.requires_grad_(wanted == {True})


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """`root`, with all batch normalisation below it told to keep no running statistics, in place:
    they could not be written to for each example inside of vmap.

    PyTorch's `torch.func.replace_all_batch_norm_modules_`.
    """
    from ..nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
