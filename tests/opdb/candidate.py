"""The library under test: gradfn, or, to check the database itself, the module that
GRADFN_CANDIDATE names."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

lib: ModuleType = importlib.import_module(os.environ.get("GRADFN_CANDIDATE", "gradfn"))
