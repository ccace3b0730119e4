"""What every test can use: the oracle, and one profile for hypothesis."""

import importlib.metadata
import os
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest

hypothesis.settings.register_profile("gradfn", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("gradfn")


@pytest.fixture(scope="session")
def oracle() -> ModuleType:
    """The real torch; the test is skipped where it is not installed."""
    try:
        installed = importlib.metadata.distribution("torch")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("torch is not installed: parity tests skipped")
    import torch

    real = installed.locate_file("torch/__init__.py")
    assert Path(torch.__file__) == Path(str(real)), f"torch means {torch.__file__} in this process"
    # The suite runs one process per core.
    torch.set_num_threads(1)
    return torch


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Lets `-m oracle` select the tests that use the oracle."""
    for item in items:
        if "oracle" in getattr(item, "fixturenames", ()):
            item.add_marker("oracle")
