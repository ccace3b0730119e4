"""The README's programs print what the README shows."""

import re
from pathlib import Path

import pytest

from programs import printed

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")

# A block of Python, then the block of text that it prints.
PROGRAMS = re.findall(r"(?ms)^```python\n(.*?)^```\n+```text\n(.*?)^```$", README)


def test_every_program_shows_its_output() -> None:
    assert len(PROGRAMS) == README.count("```python") > 0


@pytest.mark.parametrize(
    ("program", "output"), PROGRAMS, ids=[f"program{n}" for n in range(len(PROGRAMS))]
)
def test_the_program_prints_what_is_shown(program: str, output: str) -> None:
    assert printed("-c", program) == output
