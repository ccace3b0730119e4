"""The library under test: gradfn, or the module that GRADFN_CANDIDATE names."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

lib: ModuleType = importlib.import_module(os.environ.get("GRADFN_CANDIDATE", "gradfn"))

if lib.__name__ == "torch":
    # The suite runs one process per core.
    lib.set_num_threads(1)
