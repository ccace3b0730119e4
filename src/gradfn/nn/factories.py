"""What modules pass on to the functions that make their parameters."""

from __future__ import annotations

from typing import Any

_NAMES = {"device", "dtype", "memory_format"}


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """The options of a module that are for its tensors: device, dtype and memory_format.

    They may be among `kwargs`, or in a dictionary there by the name of ``factory_kwargs``.
    TypeError for others, and for one that is in both places. As `torch.nn.factory_kwargs`.

    >>> factory_kwargs({"factory_kwargs": {"dtype": int}, "device": "cpu"})
    {'dtype': <class 'int'>, 'device': 'cpu'}
    """
    if kwargs is None:
        return {}
    unknown = kwargs.keys() - _NAMES - {"factory_kwargs"}
    if unknown:
        raise TypeError(f"unexpected kwargs {unknown}")
    options = dict(kwargs.get("factory_kwargs", {}))
    for name in ("device", "dtype", "memory_format"):
        if name in kwargs:
            if name in options:
                raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
            options[name] = kwargs[name]
    return options
