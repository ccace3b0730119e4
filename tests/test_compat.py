"""`import torch` means gradfn: its modules, what they lack, and programs run as under `python`."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gradfn
from gradfn.compat import TorchVersion
from programs import printed

COMPAT = "import gradfn.compat.torch\n"


def under_compat(program: str) -> str:
    return printed("-c", COMPAT + program)


def test_every_spelling_gives_the_same_objects() -> None:
    program = """
import torch, gradfn
import torch.autograd as one
from torch import autograd as two, Tensor
from torch.autograd import grad
import torch.autograd.graph as graph
from gradfn.compat import torch as three
print(torch is gradfn is three)
print(torch.autograd is one is two is gradfn.autograd)
print(Tensor is gradfn.Tensor, grad is gradfn.autograd.grad, graph is gradfn.autograd.graph)
print(torch.__spec__.name, one.__spec__.name, one.__package__)
"""
    assert under_compat(program).splitlines() == [
        "True",
        "True",
        "True True True",
        "gradfn gradfn.autograd gradfn.autograd",
    ]


def test_functorch_comes_with_torch() -> None:
    program = """
import functorch, functorch.experimental, torch
from torch._functorch.make_functional import make_functional
print(functorch.grad is torch.func.grad, functorch.make_functional is make_functional)
"""
    assert under_compat(program) == "True True\n"


def test_missing_names_say_so_where_they_are_used() -> None:
    program = """
import importlib.util
import torch
def attempt(code):
    try:
        exec(code, {"torch": torch})
    except Exception as error:
        print(type(error).__name__, error)
attempt("torch.nonesuch")
attempt("torch.autograd.nonesuch")
attempt("from torch import nonesuch")
attempt("import torch.nonesuch")
attempt("import torch.autograd.nonesuch.deeper")
attempt("from torch.autograd.nonesuch import name")
print(hasattr(torch, "nonesuch"), hasattr(torch.autograd, "nonesuch"))
"""
    assert under_compat(program).splitlines() == [
        "AttributeError torch.nonesuch is not in gradfn yet",
        "AttributeError torch.autograd.nonesuch is not in gradfn yet",
        "ModuleNotFoundError torch.nonesuch is not in gradfn yet",
        "ModuleNotFoundError torch.nonesuch is not in gradfn yet",
        "ModuleNotFoundError torch.autograd.nonesuch is not in gradfn yet",
        "ModuleNotFoundError torch.autograd.nonesuch is not in gradfn yet",
        "False False",
    ]


def test_names_are_missed_without_compat_too() -> None:
    assert not hasattr(gradfn, "nonesuch")
    with pytest.raises(AttributeError, match=r"^torch\.nonesuch is not in gradfn yet$"):
        gradfn.nonesuch  # noqa: B018


FRONT_DOORS = """
    _C accelerator autograd backends backends.cuda backends.cudnn backends.mkl backends.mkldnn
    backends.mps backends.openmp cuda linalg mps nn nn.functional random utils version xpu
    nn.init nn.modules nn.modules.activation nn.modules.container nn.modules.distance
    nn.modules.dropout nn.modules.flatten nn.modules.linear nn.modules.loss nn.modules.module
    nn.modules.rnn nn.modules.sparse nn.utils nn.utils.clip_grad nn.utils.convert_parameters
    nn.utils.rnn
"""


@pytest.mark.parametrize("name", FRONT_DOORS.split())
def test_front_doors_name_what_they_lack(name: str) -> None:
    module = importlib.import_module(f"gradfn.{name}")
    with pytest.raises(AttributeError, match=rf"^torch\.{name}\.nonesuch is not in gradfn yet$"):
        module.nonesuch  # noqa: B018


def test_a_torch_that_is_there_already_is_refused(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("name = 'another torch'")
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import torch
try:
    import gradfn.compat.torch
except RuntimeError as error:
    print(error)
import torch
print(torch.name)
"""
    refusal, name = printed("-c", program).splitlines()
    assert refusal.startswith(f"torch is imported already, from {tmp_path / 'torch.py'}: ")
    assert name == "another torch"


def test_installing_twice_changes_nothing() -> None:
    program = """
import sys
before = list(sys.meta_path)
from gradfn.compat import install
install()
print(sys.meta_path == before)
"""
    assert under_compat(program) == "True\n"


def test_programs_may_ask_about_the_machine() -> None:
    program = """
import torch
print(torch.__version__, torch.__version__ >= "2.4", torch.__version__ < (3, 0))
print(torch.version.cuda, torch.cuda.is_available(), torch.cuda.device_count())
print(torch.backends.mps.is_available(), torch.backends.cudnn.is_available())
print(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
torch.backends.cudnn.deterministic = True
torch.cuda.manual_seed_all(0)
torch.set_num_threads(1)
print(torch.get_num_threads())
try:
    torch.cuda.synchronize()
except AssertionError as error:
    print(str(error)[:35])
"""
    assert under_compat(program).splitlines() == [
        "2.13.0+gradfn True True",
        "None False 0",
        "False False",
        "cpu",
        "1",
        "Torch not compiled with CUDA enabled"[:35],
    ]


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("1.13", "2.0"),
        ("2.4", "2.13"),
        ("2.13.0a0", "2.13"),
        ("2.13.0.dev1", "2.13.0"),
        ("2.13", "2.13.0+gradfn"),
        ("2.13.0+gradfn", "2.13.1"),
    ],
)
def test_versions_compare_as_versions(lower: str, higher: str) -> None:
    version = TorchVersion(lower)
    assert version < higher
    assert version <= higher
    assert version != higher
    assert not version > higher
    assert not version >= higher
    assert TorchVersion(higher) > lower


def test_equal_versions_may_be_spelled_differently() -> None:
    assert TorchVersion("2.13.0") == "2.13"
    assert TorchVersion("2.13.0") == (2, 13)
    with pytest.raises(ValueError, match="'new' is not a version"):
        assert TorchVersion("2.13.0") < "new"


# What a program can see of how it is run.
WITNESS = """
import os, sys
print(sys.argv, sys.path[0], __name__, globals().get("__file__"), __package__)
print(__spec__ and __spec__.name, sorted(name for name in globals() if name.startswith("__")))
print(sys.modules["__main__"].__dict__ is globals(), __builtins__)
print(__loader__.__class__.__name__)
"""

ENDINGS = {
    "normally": "",
    "with-a-code": "sys.exit(7)",
    "with-a-message": "sys.exit('enough')",
    "with-an-error": "def fail():\n    return 1 / 0\nfail()",
    "with-a-chain": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError from e",
    "interrupted": "import signal\nos.kill(os.getpid(), signal.SIGINT)",
    "unfinished": "(",
}


WHERE_GRADFN_IS = str(Path(gradfn.__file__).parents[1])


def outcome(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """The exit code of `python ARGUMENTS`, and what it wrote to stdout and stderr."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        env=os.environ | {"PYTHONPATH": WHERE_GRADFN_IS},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_a_script_runs_as_under_python(tmp_path: Path, ending: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "script.py").write_text(WITNESS + ending)
    arguments = "folder/script.py", "-m", "--epochs", "3"
    python = outcome(tmp_path, *arguments)
    assert outcome(tmp_path, "-m", "gradfn", "run", *arguments) == python


def test_a_script_behind_a_link_runs_as_under_python(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "script.py").write_text(WITNESS)
    (tmp_path / "link.py").symlink_to(tmp_path / "folder" / "script.py")
    python = outcome(tmp_path, "link.py")
    assert outcome(tmp_path, "-m", "gradfn", "run", "link.py") == python


@pytest.mark.parametrize("name", ["script", "package", "package.__main__"])
def test_a_module_runs_as_under_python(tmp_path: Path, name: str) -> None:
    (tmp_path / "package").mkdir()
    for file in "script.py", "package/__init__.py", "package/__main__.py":
        (tmp_path / file).write_text(WITNESS + "\nsys.exit(7)")
    if name != "script":
        (tmp_path / "package" / "__init__.py").write_text("")
    python = outcome(tmp_path, "-m", name, "-c", "x")
    assert python[0] == 7
    assert outcome(tmp_path, "-m", "gradfn", "run", "-m", name, "-c", "x") == python


def test_code_runs_as_under_python(tmp_path: Path) -> None:
    python = outcome(tmp_path, "-c", WITNESS, "a", "--b")
    assert outcome(tmp_path, "-m", "gradfn", "run", "-c", WITNESS, "a", "--b") == python


@pytest.mark.parametrize("arguments", [["nonesuch.py"], ["-m", "nonesuch"], ["-m", "os.nonesuch"]])
def test_a_program_that_is_not_there_is_reported_as_by_python(
    tmp_path: Path, arguments: list[str]
) -> None:
    code, _, text = outcome(tmp_path, *arguments)
    expected = text.replace(f"{sys.executable}: ", "gradfn: ")
    assert outcome(tmp_path, "-m", "gradfn", "run", *arguments) == (code, "", expected)


def test_the_traceback_of_a_missing_name_begins_in_the_program(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import torch\ntorch.nonesuch\n")
    code, _, text = outcome(tmp_path, "-m", "gradfn", "run", "script.py")
    lines = text.splitlines()
    assert code == 1
    assert lines[1] == f'  File "{tmp_path / "script.py"}", line 2, in <module>'
    assert lines[-1] == "AttributeError: torch.nonesuch is not in gradfn yet"
