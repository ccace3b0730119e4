"""Scaling losses so that small gradients survive half precision."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from enum import Enum
from typing import Any

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import no_grad
from ..autograd.variable import Variable
from ..creation import full


class _Stage(Enum):
    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _Seen:
    """What was done to an optimizer since the last update."""

    def __init__(self) -> None:
        self.stage = _Stage.READY
        self.overflowed: bool | None = None  # whether a gradient was infinite or NaN


class GradScaler:
    """Multiplies losses by a scale, and divides the gradients by it before the optimizer's step.

    A step with an infinite gradient or NaN is skipped. `update` then shrinks the scale by
    `backoff_factor`, and lets it grow by `growth_factor` after `growth_interval` steps without.
    On a device that is not there it warns and does nothing. PyTorch's `torch.amp.GradScaler`.

    >>> import gradfn
    >>> weight = gradfn.nn.Parameter(gradfn.ones(1))
    >>> optimizer, scaler = gradfn.optim.SGD([weight], lr=0.5), GradScaler("cpu")
    >>> scaler.scale(weight.sum()).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> weight.item(), scaler.get_scale()
    (0.5, 65536.0)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device != "cpu":
            warnings.warn(
                f"torch.{device}.amp.GradScaler is enabled, but {device.upper()} is not available. "
                " Disabling.",
                stacklevel=2,
            )
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._scale: Any = None  # made by the first `scale`
        self._init_scale = init_scale
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._growth_tracker = 0
        self._seen: dict[int, _Seen] = {}

    def _started(self, name: str) -> Any:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )
        return self._scale

    def scale(self, outputs: Any) -> Any:
        """`outputs`, a tensor or a structure of lists and tuples of them, times the scale.

        ValueError for anything else.
        """
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = full((), self._init_scale, dtype=dtypes.float32)
        if isinstance(outputs, Variable):
            return outputs * self._scale
        if isinstance(outputs, Iterable):
            scaled = [self.scale(output) for output in outputs]
            return scaled if isinstance(outputs, list) else tuple(scaled)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of `optimizer` by the scale, in place, and look for overflow.

        Call it before clipping gradients; `step` does it otherwise. RuntimeError for a second call
        since the last update, ValueError for gradients in float16.
        """
        if not self._enabled:
            return
        scale = self._started("unscale_")
        seen = self._seen.setdefault(id(optimizer), _Seen())
        if seen.stage is _Stage.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if seen.stage is _Stage.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = 1.0 / scale.double()
        with no_grad():
            for gradient in _gradients(optimizer):
                if gradient.dtype is dtypes.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                gradient.mul_(inverse.to(gradient.dtype))
                finite = bool(np.isfinite(gradient._array).all())
                seen.overflowed = bool(seen.overflowed) or not finite
        seen.stage = _Stage.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)`` on unscaled gradients, unless one has overflowed."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._started("step")
        seen = self._seen.setdefault(id(optimizer), _Seen())
        if seen.stage is _Stage.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if seen.stage is _Stage.READY:
            self.unscale_(optimizer)
        if seen.overflowed is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if seen.overflowed else optimizer.step(*args, **kwargs)
        seen.stage = _Stage.STEPPED
        return result

    def update(self, new_scale: Any = None) -> None:
        """Adjust the scale to what the steps since the last update have seen, or set it."""
        if not self._enabled:
            return
        scale = self._started("update")
        if new_scale is not None:
            if isinstance(new_scale, Variable) and new_scale._array.size != 1:
                raise AssertionError(
                    "new_scale should be a float or a 1-element torch.FloatTensor with "
                    f"requires_grad=False: it has shape {list(new_scale._array.shape)}"
                )
            scale.fill_(float(new_scale))
        else:
            found = [s.overflowed for s in self._seen.values() if s.overflowed is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adjust(scale, any(found))
        self._seen = {}

    def _adjust(self, scale: Any, overflowed: bool) -> None:
        if overflowed:
            scale.mul_(self._backoff_factor)
            self._growth_tracker = 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            grown = scale * self._growth_factor
            if grown.isfinite():
                scale.copy_(grown)
            self._growth_tracker = 0

    def get_scale(self) -> float:
        """The scale as a number, 1.0 where disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale)

    def get_growth_factor(self) -> float:
        """By what the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Choose by what the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """By what the scale is multiplied after an overflow."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Choose by what the scale is multiplied after an overflow."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many steps without overflow the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Choose after how many steps without overflow the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether it scales at all."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale and its factors, by PyTorch's names; empty where disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the state that `state_dict` gave; RuntimeError for an empty one."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]


def _gradients(optimizer: Any) -> list[Any]:
    groups = optimizer.param_groups
    return [p.grad for group in groups for p in group["params"] if p.grad is not None]
