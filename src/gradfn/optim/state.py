"""The state of optimizers: to plain dicts and back, and hooks in order."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.hooks import RemovableHandle
from ..autograd.variable import Variable


class Required:
    """The default of an option that has none."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = Required()


def hook_handle(
    hooks: OrderedDict[int, Any], hook: Callable[..., Any], prepend: bool = False
) -> RemovableHandle:
    """Add `hook` to `hooks`, and give the handle that removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def packed(state: dict[Any, Any], groups: list[dict[str, Any]]) -> dict[str, Any]:
    """State and groups with the numbers of parameters in their place."""
    numbers: dict[int, int] = {}
    made = []
    for group in groups:
        for p in group["params"]:
            numbers.setdefault(id(p), len(numbers))
        one = {name: value for name, value in group.items() if name != "params"}
        made.append({**one, "params": [numbers[id(p)] for p in group["params"]]})
    named = {
        numbers[id(key)] if isinstance(key, Variable) else key: value
        for key, value in state.items()
    }
    return {"state": named, "param_groups": made}


def restored(
    saved: dict[str, Any], groups: list[dict[str, Any]]
) -> tuple[defaultdict[Any, Any], list[dict[str, Any]]]:
    """State and groups from `packed` ones, for the parameters of `groups`."""
    given = saved["param_groups"]
    if len(groups) != len(given):
        raise ValueError(
            "loaded state dict has a different number of parameter groups: it has "
            f"{len(given)}, the optimizer {len(groups)}"
        )
    sizes = [(len(g["params"]), len(s["params"])) for g, s in zip(groups, given, strict=True)]
    if any(own != other for own, other in sizes):
        raise ValueError(
            "loaded state dict contains a parameter group that doesn't match the size of "
            f"optimizer's group: (own, loaded) sizes are {sizes}"
        )
    params: dict[int, Any] = {}
    for group, one in zip(groups, given, strict=True):
        params |= dict(zip(one["params"], group["params"], strict=True))
    state: defaultdict[Any, Any] = defaultdict(dict)
    for key, value in saved["state"].items():
        state[params.get(key, key)] = _cast(value, params[key]) if key in params else value
    made = []
    for group, one in zip(groups, given, strict=True):
        names = {k: group[k] for k in ("param_names",) if k in group and k not in one}
        made.append({**one, **names, "params": group["params"]})
    return state, made


def _cast(value: Any, param: Any, key: str | None = None) -> Any:
    """What was saved for `param`, in its dtype (but for the number of steps)."""
    if isinstance(value, Variable):
        if key == "step" or not param.is_floating_point():
            return value
        return value.to(param.dtype)  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return {name: _cast(item, param, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_cast(item, param) for item in value)
    return value


def count() -> Any:
    """The number of steps taken, as PyTorch keeps it."""
    return Variable.wrap(np.zeros((), np.float32))


def zeros(p: Any) -> Any:
    """Zeros laid out as the parameter."""
    return Variable.wrap(np.zeros_like(p._array))
