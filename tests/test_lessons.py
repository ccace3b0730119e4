"""Each lesson prints the same text under gradfn and, where it is installed, under PyTorch."""

import re
from pathlib import Path

import pytest

from programs import printed

LESSONS = sorted((Path(__file__).parents[1] / "examples" / "lessons").glob("*.py"))

each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)


def without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x...", text)


def expected(lesson: Path) -> str:
    return lesson.with_suffix(".out").read_text(encoding="utf-8")


def test_every_lesson_has_its_output() -> None:
    outputs = LESSONS[0].parent.glob("*.out")
    assert [output.stem for output in sorted(outputs)] == [lesson.stem for lesson in LESSONS]


@each_lesson
def test_gradfn_runs_the_lesson(lesson: Path) -> None:
    assert without_addresses(printed("-m", "gradfn", "run", lesson)) == expected(lesson)


@each_lesson
@pytest.mark.usefixtures("oracle")
def test_pytorch_runs_the_lesson(lesson: Path) -> None:
    assert without_addresses(printed(lesson)) == expected(lesson)
