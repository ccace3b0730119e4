"""Running a Python program in a process of its own, where `torch` can mean what the test wants."""

import subprocess
import sys
from pathlib import Path


def printed(*arguments: str | Path) -> str:
    """What `python ARGUMENTS` prints; it must succeed and write nothing to stderr."""
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, encoding="utf-8", timeout=120
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout
