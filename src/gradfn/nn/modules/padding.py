"""Padding layers: constants, or what is on the other side of the border."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ...tensor import Tensor
from .. import functional
from .module import Module

__all__ = [
    f"{kind}Pad{dims}d"
    for kind in ("Circular", "Constant", "Reflection", "Replication", "Zero")
    for dims in (1, 2, 3)
]


class _PadNd(Module):
    """Borders of `padding` elements: one number, or before and after each dimension, last first."""

    dims: ClassVar[int]
    mode: ClassVar[str]

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        alike = isinstance(padding, int)
        self.padding: Any = (padding,) * 2 * self.dims if alike else tuple(padding)  # type: ignore[arg-type]

    def forward(self, input: Tensor) -> Any:
        return functional.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    mode = "constant"

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Any:
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPadNd(_ConstantPadNd):
    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    mode = "circular"

    def forward(self, input: Tensor) -> Any:
        if input.dim() not in (self.dims + 1, self.dims + 2):
            raise ValueError(
                f"expected {self.dims + 1}D or {self.dims + 2}D input (got {input.dim()}D input)"
            )
        return super().forward(input)


_ABOUT = {
    "Circular": (_CircularPadNd, "circular", "what is at the other end"),
    "Constant": (_ConstantPadNd, "constant", "`value`"),
    "Reflection": (_PadNd, "reflect", "the elements before the border, reflected"),
    "Replication": (_PadNd, "replicate", "the element at the border"),
    "Zero": (_ZeroPadNd, "constant", "zeros"),
}


def _layer(kind: str, dims: int) -> type[_PadNd]:
    base, mode, what = _ABOUT[kind]
    doc = f"""Fills borders of the last {dims} dimension{"s" * (dims > 1)} with {what}.

    `torch.nn.{kind}Pad{dims}d`; see `nn.functional.pad`.
    """
    members = {"dims": dims, "mode": mode, "__doc__": doc, "__module__": __name__}
    return type(f"{kind}Pad{dims}d", (base,), members)


CircularPad1d, CircularPad2d, CircularPad3d = (_layer("Circular", n) for n in (1, 2, 3))
ConstantPad1d, ConstantPad2d, ConstantPad3d = (_layer("Constant", n) for n in (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (_layer("Reflection", n) for n in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (_layer("Replication", n) for n in (1, 2, 3))
ZeroPad1d, ZeroPad2d, ZeroPad3d = (_layer("Zero", n) for n in (1, 2, 3))
