"""The finder that makes `torch` and its submodules mean gradfn and its own.

Note [One module, two names]: ``sys.modules["torch.nn"]`` is the module ``gradfn.nn`` itself, not a
copy or a proxy. So every spelling of an import gives the same objects, and looking a name up costs
what it costs in any module.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType

import gradfn

from .. import version
from ..missing import lacks
from .version import VERSION

OURS, THEIRS = gradfn.__name__, "torch"
NAMES = {THEIRS: OURS, "functorch": f"{OURS}._functorch"}


class TorchFinder(MetaPathFinder, Loader):
    """Finds ``torch.x.y`` as ``gradfn.x.y``, and ``functorch`` with it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, dot, rest = fullname.partition(".")
        if package in NAMES:
            found = find_spec(NAMES[package] + dot + rest)
            if found is None:
                raise ModuleNotFoundError(lacks(fullname), name=fullname)
            spec = ModuleSpec(fullname, self, origin=found.origin)
            spec.submodule_search_locations = found.submodule_search_locations
            return spec
        if package == OURS and rest and PathFinder.find_spec(fullname, path) is None:
            # `from torch import x` looks for gradfn.x last, where the module has no such name.
            raise ModuleNotFoundError(lacks(THEIRS + dot + rest), name=THEIRS + dot + rest)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        package, dot, rest = spec.name.partition(".")
        module = import_module(NAMES[package] + dot + rest)
        spec.loader_state = module.__spec__
        _name_loaded()
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is to be executed; the module gets back its own spec."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """Make `import torch` mean gradfn; RuntimeError where the real torch is imported already.

    `gradfn.__version__` becomes a version of PyTorch, for programs that ask for one.
    """
    if any(isinstance(finder, TorchFinder) for finder in sys.meta_path):
        return
    real = sys.modules.get(THEIRS)
    if real is not None:
        raise RuntimeError(
            f"torch is imported already, from {getattr(real, '__file__', None) or real}: import "
            "gradfn.compat.torch before anything that imports torch, in a fresh process"
        )
    sys.meta_path.insert(0, TorchFinder())
    _name_loaded()
    vars(gradfn)["__version__"] = vars(version)["__version__"] = VERSION
    _rename_classes()


def _name_loaded() -> None:
    """Give what is loaded its other names. It must not be found again: an import puts the module
    into its package, where the name may mean a function by now, as `torch.autograd.gradcheck`."""
    for name, module in list(sys.modules.items()):
        for theirs, ours in NAMES.items():
            if name == ours or name.startswith(f"{ours}."):
                sys.modules.setdefault(theirs + name.removeprefix(ours), module)


def _rename_classes() -> None:
    """Let classes be shown and pickled under PyTorch's names: ``<class 'torch.Tensor'>``."""
    ours = [m for name, m in sys.modules.items() if name.split(".")[0] == OURS]
    for item in [item for module in ours for item in vars(module).values()]:
        if isinstance(item, type) and item.__module__.split(".")[0] == OURS:
            public = vars(gradfn).get(item.__name__) is item
            item.__module__ = THEIRS if public else THEIRS + item.__module__.removeprefix(OURS)
