"""Each training program prints the same numbers under gradfn and, where it is installed, PyTorch.

Rounding differs with the processor and grows in training, hence a tolerance.
"""

import re
from pathlib import Path

import pytest

from programs import printed

PROGRAMS = sorted((Path(__file__).parents[1] / "examples" / "training").glob("*.py"))
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite runs one process per core."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def differences(text: str, expected: str) -> list[str]:
    """Where the texts differ: decimal fractions by more than 0.5 % and three units of their last
    digit, anything else at all."""
    found = []
    for line, due in zip(text.splitlines(), expected.splitlines(), strict=True):
        numbers = zip(NUMBER.findall(line), NUMBER.findall(due), strict=False)
        if NUMBER.sub("0", line) != NUMBER.sub("0", due) or not all(
            alike(number, right) for number, right in numbers
        ):
            found.append(f"{line!r}, not {due!r}")
    return found


def alike(number: str, expected: str) -> bool:
    decimals = len(expected.partition(".")[2])
    if not decimals:
        return number == expected
    right = float(expected)
    return abs(float(number) - right) <= max(0.005 * abs(right), 3.5 * 10**-decimals)


def expected(program: Path) -> str:
    return program.with_suffix(".out").read_text(encoding="utf-8")


def test_every_program_has_its_output() -> None:
    outputs = PROGRAMS[0].parent.glob("*.out")
    assert [output.stem for output in sorted(outputs)] == [program.stem for program in PROGRAMS]


def test_a_different_number_or_word_is_found() -> None:
    assert not differences("step 3  loss 0.5012", "step 3  loss 0.5010")
    for wrong in ("step 3  loss 0.5061", "step 4  loss 0.5010", "step 3  cost 0.5010"):
        assert len(differences(wrong, "step 3  loss 0.5010")) == 1


@each_program
def test_gradfn_runs_the_program(program: Path) -> None:
    assert not differences(printed("-m", "gradfn", "run", program), expected(program))


@each_program
@pytest.mark.usefixtures("oracle")
def test_pytorch_runs_the_program(program: Path) -> None:
    assert not differences(printed(program), expected(program))
