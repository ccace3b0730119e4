"""LRScheduler: what all schedules of learning rates share."""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any
from weakref import ref

from ...autograd.variable import Variable
from ..optimizer import Optimizer

EPOCH_DEPRECATED = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available."
)


class LRScheduler:
    """A schedule that sets the learning rate of an optimizer's groups at each `step`.

    Subclasses define `get_lr`, the rates at `last_epoch`, from those before. `step` is called after
    ``optimizer.step()``. PyTorch's `torch.optim.lr_scheduler.LRScheduler`.
    """

    _get_lr_called_within_step = False
    _last_lr: list[Any]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked_optimizer(optimizer)
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming "
                    "scheduler with last_epoch >= 0"
                )
        self.base_lrs = [own(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        track_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the first learning rates."""
        self._step_count = 0
        self.step()

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a `state_dict`."""
        vars(self).update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The learning rates set last, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`, one for each group."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr()")

    def _rates(self) -> list[Any]:
        """The learning rates of the groups now."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )
        return [group["lr"] for group in self.optimizer.param_groups]

    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch, or of `epoch` (deprecated)."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATED, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        """Warn where the optimizer has not made a step yet."""
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization. Please, make sure to call `optimizer.step()` before "
                "`lr_scheduler.step()`.",
                UserWarning,
                stacklevel=3,
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
                "1.1.0 and later, you should call them in the opposite order: `optimizer.step()` "
                "before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping "
                "the first value of the learning rate schedule.",
                UserWarning,
                stacklevel=3,
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        with self._within_step():
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", self.get_lr)
                values = closed()
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_rate(group, "lr", value)
        self._last_lr = [own(group["lr"]) for group in self.optimizer.param_groups]

    @contextmanager
    def _within_step(self) -> Iterator[None]:
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False


def checked_optimizer(optimizer: Any) -> Optimizer:
    """TypeError for what is no optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def own(rate: Any) -> Any:
    """A rate that nobody else changes."""
    return rate.clone() if isinstance(rate, Variable) else rate  # type: ignore[attr-defined]


def set_rate(group: dict[str, Any], name: str, value: Any) -> None:
    """Set an option of a group; a tensor is written to, and stays itself."""
    if isinstance(group[name], Variable):
        number = value._array.item() if isinstance(value, Variable) else value
        group[name].fill_(number)
    else:
        group[name] = value


def track_steps(optimizer: Optimizer) -> None:
    """Let the optimizer note that `step` was called."""
    step = optimizer.step
    if hasattr(step, "_wrapped_by_lr_sched"):
        return
    owner = ref(optimizer)
    function: Any = step.__func__ if isinstance(step, types.MethodType) else step

    @wraps(function)
    def tracked(*args: Any, **kwargs: Any) -> Any:
        optimizer = owner()
        assert optimizer is not None
        optimizer._opt_called = True  # type: ignore[attr-defined]
        return function(optimizer, *args, **kwargs)

    tracked._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = tracked  # type: ignore[method-assign]
