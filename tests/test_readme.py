"""The README's programs print what the README shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"

# A Python block, then the block of text that it prints.
PROGRAMS = re.findall(
    r"^```python\n(.*?)^```\n\s*^```text\n(.*?)^```$",
    README.read_text(encoding="utf-8"),
    flags=re.MULTILINE | re.DOTALL,
)


def test_every_program_shows_its_output() -> None:
    assert len(PROGRAMS) == README.read_text(encoding="utf-8").count("```python") > 0


@pytest.mark.parametrize(("program", "output"), PROGRAMS)
def test_the_program_prints_what_it_shows(program: str, output: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", timeout=120
    )
    assert (done.stdout, done.stderr) == (output, "")
