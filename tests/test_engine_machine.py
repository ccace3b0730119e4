"""Random programs: operators, views, in-place writes, hooks, modes and several backward passes.

Each step is a line of Python, run where `torch` is gradfn, the naive reference of naive.py, and,
where it is installed, PyTorch. A line that gradfn refuses must be refused by PyTorch with the same
exception; the reference, which has no errors, skips it, and the program goes on.
"""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import HealthCheck, note, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

import gradfn
import naive

SHAPES = [(2, 3), (3,), (), (3, 2), (2, 2)]
ITEMS = ["0", "-1", "...", "1:", "(slice(None), 1)", "(..., 0)", "None"]
VIEWS = [
    *(f"[{item}]" for item in ITEMS),
    ".view(-1)",
    ".view(3, 2)",
    ".transpose(0, -1)",
    ".unsqueeze(0)",
    ".expand(2, 3)",
    ".diagonal()",
]
LARGEST = 100.0  # tensors with larger elements are let go: rounding would tell programs apart
FEWEST, MOST = 1, 9  # how many tensors are alive

which = st.integers(0, 3 * MOST)
quiet = st.sampled_from(["", "", "", "with torch.no_grad(): "])
keeping = st.sampled_from(["", "retain_graph=True", "create_graph=True"])


class Side:
    """One implementation, running the program."""

    def __init__(self, torch: Any) -> None:
        self.log: list[tuple[str, Any]] = []
        self.names: dict[str, Any] = {
            "torch": torch,
            "seen": self.seen,
            "doubled": lambda grad: grad * 2.0,
        }

    def seen(self, label: str) -> Any:
        """A hook on a tensor, a leaf or a node: notes what it is shown."""

        def hook(*shown: Any) -> None:
            self.log.append((label, [values(part) for part in shown]))

        return hook

    def run(self, line: str) -> str | None:
        """The name of the exception that `line` raises, if any."""
        self.log.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(line, self.names)
            except Exception as error:
                return type(error).__name__
        return None

    def grad(self, name: str) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.names[name].grad


def values(shown: Any) -> Any:
    """Tensors, and tuples of them, as arrays."""
    if isinstance(shown, tuple):
        return [values(part) for part in shown]
    return None if shown is None else shown.detach().numpy().copy()


def assert_close(one: Any, other: Any) -> None:
    """Equal up to rounding, at any depth."""
    if isinstance(one, list | tuple):
        assert len(one) == len(other), (one, other)
        for a, b in zip(one, other, strict=True):
            assert_close(a, b)
    elif isinstance(one, np.ndarray) and other is not None:
        size = np.abs(one).max(initial=1.0)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * size, strict=True)
    else:
        assert one is None if other is None else one == other, (one, other)


def looked_at(tensor: Any) -> list[Any]:
    """What a tensor says of its place in the graph."""
    try:
        node = tensor.grad_fn
        leaf = tensor.is_leaf
    except RuntimeError:
        return ["history lost"]
    copied = type(node).__name__ == "CloneBackward0"  # perhaps a gradient, whose graph may differ
    below = [] if node is None or copied else [type(n).__name__ for n, _ in node.next_functions]
    return [
        type(node).__name__,
        below,
        leaf,
        tensor.requires_grad,
        tensor.retains_grad,
        tensor.output_nr,
        tensor._is_view(),
        [step for step, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1],
    ]


class Programs(RuleBasedStateMachine):
    """Grows a program line by line; after each line, all sides agree."""

    oracle: ModuleType | None = None

    def __init__(self) -> None:
        super().__init__()
        self.gradfn, self.naive = Side(gradfn), Side(naive)
        self.torch = None if self.oracle is None else Side(self.oracle)
        self.sides = [side for side in (self.gradfn, self.naive, self.torch) if side is not None]
        self.program: list[str] = []
        self.alive: list[str] = []
        self.sealed: set[str] = set()  # views that docs/deviations.md names: none is made of them
        self.handles: list[str] = []
        self.count = 0

    # Running a line.

    def run(self, line: str, known_to_naive: bool = True) -> bool:
        """Run one line everywhere and compare; whether it was accepted."""
        self.program.append(line)
        refused = self.gradfn.run(line)
        if refused:
            self.program[-1] += f"  # {refused}"
        if self.torch is not None:
            error = self.torch.run(line)
            assert refused == error, f"{line}: gradfn raises {refused}, PyTorch {error}"
            assert_close(self.gradfn.log, self.torch.log)
        if refused is None and known_to_naive:
            assert self.naive.run(line) is None
            assert_close(told(self.gradfn.log), told(self.naive.log))
        return refused is None

    def make(self, expression: str, mode: str = "") -> str | None:
        """Give the value of `expression` a name, where it has one."""
        name = f"t{self.count}"
        self.count += 1
        if not self.run(f"{mode}{name} = {expression}"):
            return None
        self.alive.append(name)
        return name

    def name(self, number: int) -> str:
        return self.alive[number % len(self.alive)]

    def forget(self, name: str) -> None:
        self.alive.remove(name)
        for side in self.sides:
            del side.names[name]
        self.program.append(f"del {name}")

    def settle(self) -> None:
        """Compare what all sides now hold; let go of what has grown too large."""
        for name in list(self.alive):
            ours = self.gradfn.names[name]
            for side in self.sides[1:]:
                theirs = side.names[name]
                assert ours._version == theirs._version, name
                assert_close(values(ours), values(theirs))
                self.compare_grads(name, side)
            if self.torch is not None:  # which renews the histories of views when asked for them
                place, due = looked_at(ours), looked_at(self.torch.names[name])
                assert place == due, f"{name}: {place}, in PyTorch {due}"
            if np.abs(values(ours)).max(initial=0.0) > LARGEST:
                self.forget(name)
                continue
            grad = values(self.gradfn.grad(name))
            if grad is not None and np.abs(grad).max(initial=0.0) > LARGEST:
                self.run(f"{name}.grad = None")

    def compare_grads(self, name: str, side: Side) -> None:
        ours, theirs = self.gradfn.grad(name), side.grad(name)
        if side is self.naive:  # which knows zeros, but not that nothing came
            zeros = np.zeros_like(values(self.gradfn.names[name]))
            both = [zeros if g is None else values(g) for g in (ours, theirs)]
            assert_close(*both)
        else:
            assert_close(values(ours), values(theirs))
            if ours is not None:
                assert ours.requires_grad == theirs.requires_grad

    def teardown(self) -> None:
        note("\n".join(self.program))

    def write_to(self, target: str, line: str, mode: str = "", value: str | None = None) -> None:
        """Run a line that writes to `target`, but for what the two are known to do apart."""
        if not self.looked_through(target, mode, value) and not self.clashing(target, value, line):
            self.run(mode + line)
            memory = self.naive.names[target].memory
            for name in self.sealed & set(self.alive) - {target}:
                if self.naive.names[name].memory is memory:
                    self.forget(name)
            self.settle()

    def looked_through(self, target: str, mode: str, value: str | None) -> bool:
        """Whether a write would go unrecorded to memory that a view with history shows."""
        tensors = self.gradfn.names
        operands = [tensors[name] for name in (target, value) if name is not None]
        recorded = not mode and any(tensor.requires_grad for tensor in operands)
        memory = self.naive.names[target].memory
        for name in self.alive:
            base = tensors[name]._base
            seen = self.naive.names[name].memory
            followed = base is None or not base.requires_grad or (recorded and seen is memory)
            if seen.writes is memory.writes and not followed:
                return True
        return False

    def clashing(self, target: str, value: str | None, line: str) -> bool:
        """Whether the operand of a write is the memory written to, which PyTorch refuses, or an
        expanded tensor is filled, which gradfn refuses."""
        one = self.gradfn.names[target]
        if value is None:
            filling = "zero_" in line or "fill_" in line
            return filling and 0 in one.stride()
        other = self.gradfn.names[value]
        if np.shares_memory(one.detach().numpy(), other.detach().numpy()):
            return True
        return ("mul_" in line or "*=" in line) and one.memory() is other.memory()

    # Tensors.

    @initialize(shape=st.sampled_from(SHAPES))
    def start(self, shape: tuple[int, ...]) -> None:
        self.create(shape, True)

    @precondition(lambda self: len(self.alive) < MOST)
    @rule(shape=st.sampled_from(SHAPES), requires_grad=st.booleans())
    def create(self, shape: tuple[int, ...], requires_grad: bool) -> None:
        size = int(np.prod(shape))
        data = ((np.arange(size) * 7 + self.count * 3) % 11 / 4.0 - 1.0).reshape(shape).tolist()
        self.make(f"torch.tensor({data}, dtype=torch.float64, requires_grad={requires_grad})")
        self.settle()

    @precondition(lambda self: len(self.alive) > FEWEST)
    @rule(a=which)
    def delete(self, a: int) -> None:
        self.forget(self.name(a))

    # Operators.

    @precondition(lambda self: len(self.alive) < MOST)
    @rule(
        a=which,
        call=st.sampled_from(
            [
                "neg()",
                "sin()",
                "exp()",
                "tanh()",
                "clone()",
                "sum()",
                "sum(0)",
                "sum(-1,keepdim=True)",
                "detach()",
            ]
        ),
        mode=quiet,
    )
    def unary(self, a: int, call: str, mode: str) -> None:
        self.make(f"{self.name(a)}.{call}", mode)
        self.settle()

    @precondition(lambda self: len(self.alive) < MOST)
    @rule(a=which, sign=st.sampled_from(["*", "+", "-", "@"]), b=which, mode=quiet)
    def binary(self, a: int, sign: str, b: int, mode: str) -> None:
        left, right = self.name(a), self.name(b)
        one, other = self.gradfn.names[left], self.gradfn.names[right]
        if sign == "@" and (one.ndim == 1 or one.ndim > 2 or other.ndim > 2):
            return  # the reference knows no batches, and a row PyTorch squeezes in place: version 1
        if sign != "@" and one.ndim == other.ndim == 2 and one.stride() != other.stride():
            return  # the result's layout is NumPy's: in doubt C, not as the first operand's
        self.make(f"{left} {sign} {right}", mode)
        self.settle()

    @precondition(lambda self: len(self.alive) < MOST)
    @rule(a=which, sign=st.sampled_from("*+-"), number=st.sampled_from([2.0, -0.5]))
    def with_number(self, a: int, sign: str, number: float) -> None:
        self.make(f"{self.name(a)} {sign} {number}")
        self.settle()

    # Views.

    @precondition(lambda self: len(self.alive) < MOST)
    @rule(a=which, view=st.sampled_from(VIEWS), mode=quiet)
    def view(self, a: int, view: str, mode: str) -> None:
        base = self.name(a)
        if base in self.sealed or (mode and self.gradfn.names[base].requires_grad):
            return
        name = self.make(f"{base}{view}", mode)
        if name is not None and mode:
            self.sealed.add(name)
        self.settle()

    @precondition(lambda self: len(self.alive) < MOST)
    @rule(a=which, item=st.integers(0, 1))
    def unbind(self, a: int, item: int) -> None:
        base = self.name(a)
        if base in self.sealed:
            return
        name = self.make(f"{base}.unbind()[{item}]")
        if name is not None:
            self.sealed.add(name)
        self.settle()

    # Writes.

    @rule(
        a=which,
        call=st.sampled_from(
            ["neg_()", "sin_()", "exp_()", "tanh_()", "zero_()", "fill_(0.5)", "mul_(2.0)"]
        ),
        mode=quiet,
    )
    def write(self, a: int, call: str, mode: str) -> None:
        target = self.name(a)
        self.write_to(target, f"{target}.{call}", mode)

    @rule(
        a=which,
        call=st.sampled_from(["add_", "sub_", "mul_", "copy_", "fill_"]),
        b=which,
        mode=quiet,
    )
    def write_tensor(self, a: int, call: str, b: int, mode: str) -> None:
        target, value = self.name(a), self.name(b)
        self.write_to(target, f"{target}.{call}({value})", mode, value)

    @rule(
        a=which,
        item=st.sampled_from(ITEMS),
        sign=st.sampled_from(["=", "=", "+=", "*="]),
        b=which,
        mode=quiet,
    )
    def assign(self, a: int, item: str, sign: str, b: int, mode: str) -> None:
        target, value = self.name(a), self.name(b)
        base = self.gradfn.names[target]._base
        if sign != "=" and base is not None and not base.requires_grad:
            return  # PyTorch writes twice, and takes the view for a leaf the second time
        self.write_to(target, f"{target}[{item}] {sign} {value}", mode, value)

    @rule(a=which, item=st.sampled_from(ITEMS), number=st.sampled_from([0.5, 2.0]))
    def assign_number(self, a: int, item: str, number: float) -> None:
        target = self.name(a)
        self.write_to(target, f"{target}[{item}] = {number}")

    # Flags and hooks.

    @rule(a=which, call=st.sampled_from(["requires_grad_()", "requires_grad_(False)"]))
    def flag(self, a: int, call: str) -> None:
        name = self.name(a)
        memory = self.naive.names[name].memory
        sharing = [n for n in self.alive if self.naive.names[n].memory is memory]
        if sharing == [name] and self.naive.names[name].index is None:  # neither view nor viewed
            self.run(f"{name}.{call}")
            self.settle()

    @rule(a=which)
    def retain_grad(self, a: int) -> None:
        self.run(f"{self.name(a)}.retain_grad()")

    @rule(
        a=which,
        method=st.sampled_from(["register_hook", "register_post_accumulate_grad_hook"]),
        replacing=st.booleans(),
    )
    def hook(self, a: int, method: str, replacing: bool) -> None:
        handle, tensor = f"h{len(self.program)}", self.name(a)
        hook = "doubled" if replacing and method == "register_hook" else f"seen('{handle}')"
        if self.run(f"{handle} = {tensor}.{method}({hook})"):
            self.handles.append(handle)

    @rule(a=which, method=st.sampled_from(["register_hook", "register_prehook"]))
    def hook_node(self, a: int, method: str) -> None:
        handle = f"h{len(self.program)}"
        self.run(f"{self.name(a)}.grad_fn.{method}(seen('{handle}'))", known_to_naive=False)

    @precondition(lambda self: self.handles)
    @rule(number=which)
    def remove_hook(self, number: int) -> None:
        self.run(f"{self.handles.pop(number % len(self.handles))}.remove()")

    # Backward passes.

    def differentiate(self, line: str) -> None:
        """Run a pass; one that fails changes nothing, but leaves partial sums in PyTorch."""
        if not self.run(line):
            self.clear()

    def clear(self) -> None:
        for name in self.alive:
            self.compare_grads(name, self.naive)
            self.run(f"{name}.grad = None")

    @rule(a=which, summed=st.sampled_from([".sum()", ""]), keep=keeping)
    def backward(self, a: int, summed: str, keep: str) -> None:
        self.differentiate(f"{self.name(a)}{summed}.backward({keep})")
        self.settle()

    @rule(a=which, keep=keeping)
    def backward_of_ones(self, a: int, keep: str) -> None:
        name = self.name(a)
        self.differentiate(f"{name}.backward(torch.ones_like({name}), {keep})")
        self.settle()

    @rule(a=which, b=which, keep=keeping)
    def backward_to(self, a: int, b: int, keep: str) -> None:
        output, wanted = self.name(a), self.name(b)
        self.run(f"{wanted}.retain_grad()")  # as backward does, even where it then fails
        self.differentiate(f"{output}.sum().backward(inputs=[{wanted}], {keep})")
        self.settle()

    @precondition(lambda self: len(self.alive) < MOST)
    @rule(a=which, b=which, keep=keeping)
    def grad(self, a: int, b: int, keep: str) -> None:
        output, wanted = self.name(a), self.name(b)
        line = f"torch.autograd.grad({output}.sum(), [{wanted}], {keep})[0].clone()"
        if self.make(line) is None:
            self.clear()
        self.settle()

    @precondition(lambda self: len(self.alive) < MOST)
    @rule(a=which)
    def use_grad(self, a: int) -> None:
        self.make(f"{self.name(a)}.grad.clone()")
        self.settle()

    @rule(a=which, change=st.sampled_from([" = None", ".zero_()", ".mul_(2.0)"]))
    def change_grad(self, a: int, change: str) -> None:
        self.run(f"{self.name(a)}.grad{change}")
        self.settle()


def told(log: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """What tensors' hooks were told but for zeros, by label: the reference runs in its own order,
    and knows nothing of nodes or of gradients that did not come."""
    entries = [(label, shown[0]) for label, shown in log if isinstance(shown[0], np.ndarray)]
    return sorted(((label, g) for label, g in entries if g.any()), key=lambda entry: entry[0])


def search(machine: type[Programs], examples: int) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much]
    wanted = settings(max_examples=examples, stateful_step_count=40, suppress_health_check=checks)
    run_state_machine_as_test(machine, settings=wanted)


def test_programs_against_the_reference() -> None:
    search(Programs, 150)


def test_programs_against_pytorch(oracle: ModuleType) -> None:
    search(type("ProgramsInPyTorch", (Programs,), {"oracle": oracle}), 150)
