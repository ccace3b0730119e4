"""`torch.distributed` for programs that mention it: there is one process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ..missing import missing


def is_available() -> bool:
    """False: there are no processes to talk to."""
    return False


is_initialized = is_torchelastic_launched = is_nccl_available = is_gloo_available = is_available
is_mpi_available = is_available


class ReduceOp:
    """How values of processes are combined, by name."""

    SUM, AVG, PRODUCT, MIN, MAX = "sum", "avg", "product", "min", "max"


class ProcessGroup:
    """A group of processes. There is none: NotImplementedError where one is made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "torch.distributed.ProcessGroup is not in gradfn, which runs in one process"
        )


def _alone(name: str) -> Callable[..., NoReturn]:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            f"torch.distributed.{name} is not in gradfn, which runs in one process"
        )

    function.__name__ = name
    function.__doc__ = "NotImplementedError: gradfn runs in one process."
    return function


init_process_group = _alone("init_process_group")
destroy_process_group = _alone("destroy_process_group")
get_rank = _alone("get_rank")
get_world_size = _alone("get_world_size")
get_backend = _alone("get_backend")
barrier = _alone("barrier")
broadcast = _alone("broadcast")
all_reduce = _alone("all_reduce")
reduce = _alone("reduce")
all_gather = _alone("all_gather")
gather = _alone("gather")
scatter = _alone("scatter")
new_group = _alone("new_group")

__getattr__ = missing(__name__)
