"""functionalize: here the function itself, which has the same results."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """`func` with in-place operations replaced, as far as a caller can see.

    PyTorch's transform is for tracers, which want programs without mutation. Results and what is
    written to the arguments are the same as those of `func`, and so this calls `func`. RuntimeError
    for another `remove` than "mutations" or "mutations_and_views".

    >>> import gradfn
    >>> functionalize(lambda x: x.clone().add_(1))(gradfn.zeros(2))
    tensor([1., 1.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for `remove`. Valid "
            f"options are: 'mutations', 'mutations_and_views'. Got: {remove}"
        )

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return wrapped
