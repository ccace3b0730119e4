"""Averaged models: PyTorch's `torch.optim.swa_utils`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, Literal

from ..autograd.grad_mode import no_grad
from ..nn.modules.module import Module
from .lr_scheduler import LRScheduler
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Any, Any, Any], Any]


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """The exponential moving average of lists of parameters, in place."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        for mean, now in zip(ema_param_list, current_param_list, strict=True):
            if mean.is_floating_point() or mean.is_complex():
                mean.lerp_(now, 1 - decay)
            else:
                mean.copy_(now)

    return ema_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """The mean of all lists of parameters so far, in place."""

    @no_grad()
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        for mean, now in zip(averaged_param_list, current_param_list, strict=True):
            if mean.is_floating_point() or mean.is_complex():
                mean.lerp_(now, 1 / (float(num_averaged) + 1))
            else:
                mean.copy_(now)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """``decay * mean + (1 - decay) * now``."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Average:
    """``mean + (now - mean) / (n + 1)``, the mean of n + 1."""

    @no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0, 1].")


class AveragedModel(Module):
    """A copy of a model whose parameters are the average of those it was updated with.

    `avg_fn` averages one parameter, `multi_avg_fn` lists in place; by default all count equally.
    Buffers are copied or, with `use_buffers`, averaged too. Izmailov et al. (2018).

    >>> import gradfn
    >>> model = gradfn.nn.Linear(1, 1)
    >>> averaged = AveragedModel(model)
    >>> averaged.update_parameters(model)
    >>> averaged.n_averaged
    tensor(1)
    """

    n_averaged: Any

    def __init__(
        self,
        model: Any,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        from ..creation import tensor

        self.module = deepcopy(model)
        self.register_buffer("n_averaged", tensor(0))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The averaged model's output."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Any) -> None:
        """Take the parameters of `model` into the average."""
        averaged, current = self.module.parameters(), model.parameters()
        if self.use_buffers:
            averaged = itertools.chain(averaged, self.module.buffers())
            current = itertools.chain(current, model.buffers())
        means, now = [t.detach() for t in averaged], [t.detach() for t in current]
        if self.n_averaged == 0:
            for mean, value in zip(means, now, strict=True):
                mean.copy_(value)
        elif self.avg_fn is not None:
            for mean, value in zip(means, now, strict=True):
                mean.copy_(self.avg_fn(mean, value, self.n_averaged))
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(means, now, self.n_averaged)
        if not self.use_buffers:
            pairs = zip(self.module.buffers(), model.buffers(), strict=True)
            for kept, value in pairs:
                kept.detach().copy_(value.detach())
        self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Any, device: Any = None) -> None:
    """Compute the running statistics of batch normalisation anew, over the data of `loader`."""
    momenta = {
        module: module.momentum
        for module in model.modules()
        if hasattr(module, "reset_running_stats") and hasattr(module, "running_mean")
    }
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None
    for given in loader:
        model(given[0] if isinstance(given, list | tuple) else given)
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Anneals the learning rate to `swa_lr` in `anneal_epochs` epochs, and keeps it there."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        count = len(optimizer.param_groups)
        rates = list(swa_lr) if isinstance(swa_lr, list | tuple) else [swa_lr] * count
        if len(rates) != count:
            raise ValueError(
                "swa_lr must have the same length as optimizer.param_groups: swa_lr has "
                f"{len(rates)}, optimizer.param_groups has {count}"
            )
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, epoch: float) -> float:
        """How much of the way is gone at `epoch`."""
        t = max(0.0, min(1.0, epoch / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[Any]:
        rates = self._rates()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        made = []
        for rate, group in zip(rates, self.optimizer.param_groups, strict=True):
            goal = group["swa_lr"]
            start = goal if before == 1 else (rate - before * goal) / (1 - before)
            made.append(goal * now + start * (1 - now))
        return made
