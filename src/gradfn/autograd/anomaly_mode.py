"""Anomaly mode: the forward stack of a node that fails or gives NaN in the backward pass."""

from __future__ import annotations

import sys
import traceback
import warnings
from typing import Any

import numpy as np

from .batching import all_values
from .grad_mode import ModeChange
from .node import Node


class detect_anomaly(ModeChange):  # noqa: N801 - PyTorch's name
    """Within it, nodes remember the whole stack that made them, and a backward pass stops at the
    first NaN (unless ``check_nan=False``), showing that stack.

    >>> import gradfn
    >>> x = gradfn.tensor(0.0, requires_grad=True)
    >>> with gradfn.autograd.set_detect_anomaly(True):
    ...     y = x / x
    >>> len(y.grad_fn.extra["stack"]) > 0
    True
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(anomaly=True, check_nan=check_nan)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )


class set_detect_anomaly(ModeChange):  # noqa: N801
    """Turn anomaly mode on or off, at once or, as a context manager, for a block."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__(anomaly=mode, check_nan=check_nan)
        self._change()

    def __enter__(self) -> None:
        """The change is made by the call itself, as in PyTorch."""


def watched(node: Node, grad: Any, create_graph: bool, check_nan: bool) -> tuple[Any, ...]:
    """Run `node`; where it fails or returns NaN, warn with the forward stack first."""
    try:
        grads = node.backward_tensors(grad) if create_graph else node.backward(grad)
        if check_nan:
            _check_nan(node, grads)
    except Exception:
        _show_forward_stack(node)
        raise
    for made in grads:
        maker = getattr(made, "grad_fn", None)
        if maker is not None:
            maker.extra = (maker.extra or {}) | {"parent": node}
    return grads


def _show_forward_stack(node: Node) -> None:
    notes = node.extra or {}
    if "stack" not in notes:
        _warn(
            f"Error detected in {node.name()}. No forward pass information available. Enable "
            "detect anomaly during forward pass for more information."
        )
        return
    _warn(
        f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n"
        + "".join(traceback.format_list(notes["stack"]))
    )
    if "parent" in notes:
        parent = notes["parent"]
        _warn(
            f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward call "
            "that induced the previous calculation:\n"
            + "".join(traceback.format_list((parent.extra or {}).get("stack", [])))
        )


def _warn(text: str) -> None:
    """Warn; where warnings are errors, print, for the error to come is what matters."""
    try:
        warnings.warn(text, stacklevel=4)
    except UserWarning:
        print(text, file=sys.stderr)


def _check_nan(node: Node, grads: tuple[Any, ...]) -> None:
    for index, grad in enumerate(grads):
        array = getattr(grad, "_array", grad)
        if array is not None and np.isnan(all_values(array)).any():
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {index}th output. "
                f"It was made at {node.where}."
            )
