"""The programs in examples/science find what they look for."""

import re
from pathlib import Path

import pytest

from programs import printed

SCIENCE = Path(__file__).parents[2] / "examples" / "science"


def test_predators_and_prey() -> None:
    summary, *rates = printed(SCIENCE / "predators_and_prey.py").splitlines()
    before, after = map(float, re.findall(r"\d+\.\d", summary))
    assert after < 30 < before
    assert [line.split()[0] for line in rates] == ["birth", "hunting", "growth", "death"]
    for line in rates:
        found, error, true = map(float, re.findall(r"\d+\.\d+", line))
        assert 0 < error < 0.1 * true and abs(found - true) < 3 * error


def test_minimal_surface() -> None:
    first, *steps, last = printed(SCIENCE / "minimal_surface.py").splitlines()
    assert first == "1521 unknowns, 9 backward passes for each Hessian"
    areas, gradients = zip(
        *(map(float, re.findall(r"\d+\.\d+|\de\S+", step)) for step in steps), strict=True
    )
    assert list(areas[:5]) == sorted(areas[:5], reverse=True)
    assert gradients[-1] < 1e-9 and float(last.split()[-1]) == pytest.approx(4e-5, rel=0.1)
