"""Options that optimizers have in common, checked."""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Variable


def check_common(name: str, lr: Any, fused: Any = None, **options: Any) -> None:
    """ValueError for options that no optimizer takes; `betas` are checked one by one."""
    if isinstance(lr, Variable):
        if options.get("foreach") and not options.get("capturable"):
            raise ValueError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        if lr._array.size != 1:
            raise ValueError("Tensor lr must be 1-element")
    wrong = None
    if not lr >= 0.0:
        wrong = f"learning rate: {lr}"
    for index, beta in enumerate(options.get("betas", ())):
        if not 0.0 <= beta < 1.0:
            wrong = wrong or f"beta parameter at index {index}: {beta}"
    labels = {
        "eps": "epsilon value",
        "weight_decay": "weight_decay value",
        "momentum": "momentum value",
        "alpha": "alpha value",
        "momentum_decay": "momentum_decay value",
        "lr_decay": "lr_decay value",
        "initial_accumulator_value": "initial_accumulator_value value",
    }
    for option, label in labels.items():
        value = options.get(option, 0.0)
        if not value >= 0.0:
            wrong = wrong or f"{label}: {value}"
    if wrong is not None:
        raise ValueError(f"Invalid {wrong}, for {name}")
    if fused and options.get("differentiable"):
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and options.get("foreach"):
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
