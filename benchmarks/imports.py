"""Time to import, gradfn against PyTorch, each in a fresh interpreter, in turns."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 7


def seconds(module: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    return time.perf_counter() - start


def main() -> None:
    modules = ("gradfn", "torch", "numpy")
    times = {module: [] for module in modules}
    for _ in range(ROUNDS):
        for module in modules:
            times[module].append(seconds(module))
    for module in modules:
        print(f"{module:8}{statistics.median(times[module]):8.3f} s")
    print(f"ratio   {statistics.median(times['gradfn']) / statistics.median(times['torch']):8.2f}")


if __name__ == "__main__":
    main()
