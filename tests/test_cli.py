"""The `gradfn` command, as far as it is not `gradfn run`."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gradfn
from programs import printed

PROGRAM = """
import torch

x = torch.tensor(3.0, requires_grad=True)
for step in range(20):
    loss = (x - 1) ** 2
    loss.backward()
print("done", x.grad)
"""

DRAWING = """\
done tensor(80.)

script.py:7, in <module>: loss.backward()  x 20
PowBackward0 []  script.py:6  (x - 1) ** 2
SubBackward0 []  script.py:6  x - 1
└─ AccumulateGrad x []
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(PROGRAM)
    return path


def test_graph_draws_below_what_the_program_prints(script: Path) -> None:
    assert printed("-m", "gradfn", "graph", script) == DRAWING


def test_graph_draws_what_there_was_when_the_program_fails(script: Path) -> None:
    script.write_text(PROGRAM + "raise SystemExit('no more')")
    done = subprocess.run(
        [sys.executable, "-m", "gradfn", "graph", script], capture_output=True, encoding="utf-8"
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, DRAWING, "no more\n")


def test_graph_stops_quietly_when_nobody_reads_on(script: Path) -> None:
    script.write_text(PROGRAM.replace('print("done", x.grad)', ""))
    command = [sys.executable, "-m", "gradfn", "graph", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_graph_of_code_shows_its_lines() -> None:
    code = "import torch; x = torch.ones(2, requires_grad=True); x.sum().backward()"
    title, *drawing = printed("-m", "gradfn", "graph", "-c", code).strip().splitlines()
    assert title == "<string>:1, in <module>: x.sum().backward()"
    assert drawing == ["SumBackward0 []  <string>:1  x.sum()", "└─ AccumulateGrad x [2]"]


def test_parameters_have_the_names_of_the_calling_function(script: Path) -> None:
    script.write_text(
        "import torch\n"
        "def train(weight):\n"
        "    weight.exp().backward()\n"
        "train(torch.tensor(1.0, requires_grad=True))\n"
    )
    assert printed("-m", "gradfn", "graph", script).endswith("AccumulateGrad weight []\n")


def watched(*arguments: str | Path) -> tuple[int, str, str]:
    """The status and the output of `gradfn run --watch`, with its numbers left out of stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "gradfn", "run", "--watch", *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    return done.returncode, done.stdout, re.sub(r"\d\S*", "0", done.stderr)


SUMMARY = "gradfn: elapsed 0 s  backward 0  a second 0  loss 0  smoothed 0\n"


def test_watch_leaves_the_output_alone(script: Path) -> None:
    assert watched(script) == (0, "done tensor(80.)\n", SUMMARY)
    assert watched("-c", "print('no graph')") == (0, "no graph\n", "")


@pytest.mark.parametrize(
    ("end", "status", "last"),
    [
        ("raise SystemExit(3)", 3, SUMMARY),
        ("raise SystemExit('no more')", 1, "no more\n"),
        ("raise ValueError('no more')", 1, "ValueError: no more\n"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", -2, "KeyboardInterrupt\n"),
    ],
)
def test_watch_ends_as_the_program_does(script: Path, end: str, status: int, last: str) -> None:
    script.write_text(PROGRAM + end)
    code, stdout, stderr = watched(script)
    assert (code, stdout) == (status, "done tensor(80.)\n")
    assert stderr.startswith(SUMMARY)
    assert stderr.endswith(last)


def test_watch_in_a_terminal_is_drawn_below_the_output(script: Path) -> None:
    script.write_text(
        PROGRAM.replace("loss.backward()", "loss.backward(); time.sleep(0.02)")
        + "import sys; assert sys.stdout.isatty()"
    )
    script.write_text("import time\n" + script.read_text())
    status, text = in_a_terminal("-m", "gradfn", "run", "--watch", script)
    assert status == 0
    output = text.rindex("done tensor(80.)")
    for shown in ("elapsed", "20", "a second", "loss", "smoothed", "|gradient|", "nodes", "memory"):
        assert shown in text[output:]


def test_watch_leaves_lines_alone_that_are_under_way(script: Path) -> None:
    script.write_text(
        PROGRAM.replace(
            "loss.backward()", "loss.backward(); print('\\r', step, end='', flush=True)"
        )
        .replace("range(20)", "range(200)")
        .replace("loss = (", "time.sleep(0.002); loss = (")
    )
    script.write_text("import time\n" + script.read_text())
    status, text = in_a_terminal("-m", "gradfn", "run", "--watch", script)
    assert status == 0
    assert text.startswith("".join(f"\r {step}" for step in range(200)) + "done tensor(800.)\r\n")


def test_a_stream_that_is_kept_writes_after_the_end(script: Path) -> None:
    script.write_text(PROGRAM + "import atexit, sys; atexit.register(sys.stdout.write, 'bye')")
    status, text = in_a_terminal("-m", "gradfn", "run", "--watch", script)
    assert status == 0
    assert text.endswith("\nbye")


def in_a_terminal(*arguments: str | Path) -> tuple[int, str]:
    """The status of `python ARGUMENTS` and what a terminal receives from it."""
    pty = pytest.importorskip("pty")  # POSIX only
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        received = b""
        while chunk := _read(ours):
            received += chunk
    os.close(ours)
    return process.returncode, received.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # as Linux says that nobody writes any more
        return b""


def test_version() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert printed("-m", "gradfn", "--version") == f"gradfn {project['version']}\n"
    assert gradfn.__version__ == project["version"]


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["graph", "--help"]])
def test_help_shows_how_to_call_it(arguments: list[str]) -> None:
    text = printed("-m", "gradfn", *arguments)
    assert text.startswith("usage: gradfn ")
    assert "torch" in text or "backward()" in text


@pytest.mark.parametrize("arguments", [[], ["run"], ["graph"], ["nonesuch"], ["run", "--nonesuch"]])
def test_a_wrong_call_is_refused_with_the_usage(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gradfn", *arguments], capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 2
    assert "usage: gradfn" in done.stdout + done.stderr
