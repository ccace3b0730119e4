"""Cost of recording and running small operations, gradfn against PyTorch."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import gradfn

try:
    import torch
except ImportError:
    torch = None

LENGTH = 1000
ROUNDS = 30


def scalar_chain(lib: Any) -> Callable[[], None]:
    """Forward and backward of y = y * w, as often as LENGTH says."""
    w = lib.tensor(1.0001, requires_grad=True)

    def run() -> None:
        y = w
        for _ in range(LENGTH):
            y = y * w
        y.backward()

    return run


def forward_only(lib: Any) -> Callable[[], None]:
    w = lib.tensor(1.0001, requires_grad=True)

    def run() -> None:
        y = w
        for _ in range(LENGTH):
            y = y * w

    return run


def constant_chain(lib: Any) -> Callable[[], None]:
    """y = y * 1.0001, a Python number."""
    w = lib.tensor(1.0, requires_grad=True)

    def run() -> None:
        y = w
        for _ in range(LENGTH):
            y = y * 1.0001
        y.backward()

    return run


def vector_chain(lib: Any) -> Callable[[], None]:
    """y = sin(y) * w on 100 elements."""
    w = lib.ones(100).requires_grad_()

    def run() -> None:
        y = w
        for _ in range(LENGTH // 2):
            y = y.sin() * w
        y.sum().backward()

    return run


def no_grad_chain(lib: Any) -> Callable[[], None]:
    w = lib.ones(100)

    def run() -> None:
        y = w
        for _ in range(LENGTH):
            y = y * w

    return run


def seconds(run: Callable[[], None]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    if torch is not None:
        torch.set_num_threads(1)
    print(f"{'':16}{'gradfn us/op':>14}{'torch us/op':>14}{'ratio':>8}")
    for workload in (scalar_chain, forward_only, constant_chain, vector_chain, no_grad_chain):
        ours, theirs = workload(gradfn), torch and workload(torch)
        pairs = []
        ours()
        for _ in range(ROUNDS):
            pairs.append((seconds(ours), seconds(theirs) if theirs else float("nan")))
        mine = statistics.median(a for a, _ in pairs) / LENGTH * 1e6
        peer = statistics.median(b for _, b in pairs) / LENGTH * 1e6
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{workload.__name__:16}{mine:14.2f}{peer:14.2f}{ratio:8.2f}")


if __name__ == "__main__":
    main()
