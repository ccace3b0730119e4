"""Where and how tensors are stored: devices, layouts and memory formats. There is one of each."""

from __future__ import annotations

import re
from typing import Any

__all__ = [
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "device",
    "get_default_device",
    "layout",
    "memory_format",
    "preserve_format",
    "set_default_device",
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
    "strided",
]

_TYPES = (
    *("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga"),
    *("maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone"),
)


class device:  # noqa: N801 - PyTorch's name
    """A device by type and index, ``torch.device``. Tensors exist on ``cpu`` only.

    Others can be named, as in ``device("cuda") == t.device``; putting a tensor there raises
    RuntimeError. As a context manager, the device of the tensors created in its block.

    >>> device("cpu"), device("cuda", 1).index
    (device(type='cpu'), 1)
    """

    __module__ = "gradfn"
    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __new__(cls, type: device | str | int, index: int | None = None) -> device:
        if isinstance(type, device):
            return type
        if isinstance(type, int):
            raise RuntimeError(
                f"Cannot access accelerator device when none is available: got device {type}"
            )
        if not isinstance(type, str):
            raise TypeError(
                "device() received an invalid combination of arguments - got "
                f"({_kind(type)}), but expected a device type such as 'cpu'"
            )
        self = super().__new__(cls)
        self.type, self.index = _parse(type, index)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, name):
            raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)

    def __enter__(self) -> device:
        check_device(self)
        return self

    def __exit__(self, *exc: object) -> None:
        """There is only one device to return to."""


def _kind(value: object) -> str:
    return type(value).__name__


def _parse(text: str, index: int | None) -> tuple[str, int | None]:
    match = re.fullmatch(r"([a-z_]+)(?::(0|[1-9]\d*))?", text)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{text}'")
    name, given = match.groups()
    if name not in _TYPES:
        raise RuntimeError(
            f"Expected one of {', '.join(_TYPES)} device type at start of device string: {name}"
        )
    if given is None:
        return name, index
    if index is not None:
        raise RuntimeError(
            f"type (string) must not include an index because index was passed explicitly: {text}"
        )
    return name, int(given)


cpu = device("cpu")


def check_device(where: Any) -> None:
    """Refuse to put a tensor anywhere but on the CPU; None is the CPU.

    AssertionError for CUDA and RuntimeError for the others, as from PyTorch's build for the CPU.
    """
    if where is None or (found := device(where)).type == "cpu":
        return
    why = f"gradfn has tensors on the CPU only, and device='{found}' was asked for"
    if found.type == "cuda":
        raise AssertionError(f"Torch not compiled with CUDA enabled: {why}")
    raise RuntimeError(f"PyTorch is not linked with support for {found.type} devices: {why}")


def get_default_device() -> device:
    """The device of tensors made without saying where: always the CPU."""
    return cpu


def set_default_device(device: Any) -> None:
    """Accept the CPU as the default device; RuntimeError for any other."""
    check_device(device)


class _Named:
    """A constant known by its name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(_Named):  # noqa: N801 - PyTorch's name
    """How the elements of a tensor are laid out: always `strided`; the others can be named."""


class memory_format(_Named):  # noqa: N801 - PyTorch's name
    """The order of the dimensions in memory."""


strided = layout("strided")
sparse_coo, sparse_csr, sparse_csc = map(layout, ("sparse_coo", "sparse_csr", "sparse_csc"))
sparse_bsr, sparse_bsc = map(layout, ("sparse_bsr", "sparse_bsc"))
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def check_layout(wanted: layout | None) -> None:
    """Refuse layouts other than `strided`, such as sparse ones."""
    if wanted is not None and wanted is not strided:
        raise NotImplementedError(f"layout {wanted!r} is not in gradfn: tensors are strided")
