"""Each lesson prints the same text under gradfn and, where it is installed, under PyTorch."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

LESSONS = sorted((Path(__file__).parents[1] / "examples" / "lessons").glob("*.py"))

each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)


def printed(*arguments: str | Path) -> str:
    """What Python prints, with the addresses of objects left out; nothing may go to stderr."""
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, encoding="utf-8", timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    return re.sub(r"0x[0-9a-f]+", "0x...", done.stdout)


def expected(lesson: Path) -> str:
    return lesson.with_suffix(".out").read_text(encoding="utf-8")


def test_there_are_lessons() -> None:
    assert {lesson.stem for lesson in LESSONS} == {
        output.stem for output in LESSONS[0].parent.glob("*.out")
    }


@each_lesson
def test_gradfn_runs_the_lesson(lesson: Path) -> None:
    assert printed("-m", "gradfn", "run", lesson) == expected(lesson)


@each_lesson
@pytest.mark.usefixtures("oracle")
def test_pytorch_runs_the_lesson(lesson: Path) -> None:
    assert printed(lesson) == expected(lesson)
