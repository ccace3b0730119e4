"""The warning of the old names of `amp` by device: ``torch.cuda.amp`` and ``torch.cpu.amp``."""

import warnings


def warn_of_name(device: str, name: str) -> None:
    """Say what to use instead of ``torch.<device>.amp.<name>``."""
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use "
        f"`torch.amp.{name}('{device}', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )
