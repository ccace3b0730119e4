"""Modules called with other parameters: `functional_call`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The old name of `gradfn.func.functional_call`."""
    warnings.warn(
        "This API is deprecated as of PyTorch 2.0 and will be removed in a future version of "
        "PyTorch. Please use torch.func.functional_call instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return called_with(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def called_with(
    module: Any,
    values: dict[str, Any],
    args: Any,
    kwargs: dict[str, Any] | None,
    *,
    tie_weights: bool,
    strict: bool,
) -> Any:
    """``module(*args, **kwargs)`` with the parameters and buffers `values`, by name, in place."""
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    with _exchanged(module, values, tie_weights, strict):
        return module(*given, **(kwargs or {}))


@contextmanager
def _exchanged(
    module: Any, values: dict[str, Any], tie_weights: bool, strict: bool
) -> Iterator[None]:
    """Inside of it the module has `values`; what it wrote to their names is kept in `values`."""
    names = {
        name: (owner, kind, own_name)
        for prefix, owner in module.named_modules(remove_duplicate=False)
        for kind in ("_parameters", "_buffers")
        for own_name in getattr(owner, kind)
        for name in [f"{prefix}.{own_name}" if prefix else own_name]
    }
    unknown = sorted(values.keys() - names.keys())
    if strict:
        _check_all(values, names, unknown)
    if unknown and not strict:
        raise AttributeError(
            f"{type(module).__name__} has no parameter or buffer named '{unknown[0]}'"
        )
    wanted = _with_tied(values, names) if tie_weights else values
    before = {}
    try:
        for name, value in wanted.items():
            owner, kind, own_name = names[name]
            before[name] = getattr(owner, kind)[own_name]
            getattr(owner, kind)[own_name] = value
        yield
    finally:
        for name, value in before.items():
            owner, kind, own_name = names[name]
            if name in values:
                values[name] = getattr(owner, kind)[own_name]
            getattr(owner, kind)[own_name] = value


def _check_all(values: dict[str, Any], names: dict[str, Any], unknown: list[str]) -> None:
    """RuntimeError unless `values` has exactly the names of the module's tensors."""
    missing = [
        name
        for name, (owner, kind, own_name) in names.items()
        if name not in values and getattr(owner, kind)[own_name] is not None
    ]
    if missing or unknown:
        problems = [f"Missing key(s): {', '.join(missing)}."] * bool(missing)
        problems += [f"Unexpected key(s): {', '.join(unknown)}."] * bool(unknown)
        raise RuntimeError(
            "Error(s) in reparametrizing for functional_call:\n\t" + "\n\t".join(problems)
        )


def _with_tied(values: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """`values`, with those of tensors that the module has under other names too."""
    by_tensor: dict[int, list[str]] = {}
    for name, (owner, kind, own_name) in names.items():
        tensor = getattr(owner, kind)[own_name]
        if tensor is not None:
            by_tensor.setdefault(id(tensor), []).append(name)
    wanted = dict(values)
    for tied in by_tensor.values():
        given = [name for name in tied if name in values]
        if not given:
            continue
        if any(values[name] is not values[given[0]] for name in given):
            raise ValueError(
                f"functional_call got multiple values for keys {given}, which are tied. Consider "
                "using tie_weights=False"
            )
        for name in tied:
            wanted.setdefault(name, values[given[0]])
    return wanted
