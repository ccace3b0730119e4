"""Python's index syntax: what each form records, shares, writes and refuses."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradfn

READS = """
x[0]  x[-1]  x[0:1]  x[:]  x[...]  x[None]  x[0, 1]  x[:, 1]  x[:, None, 1:]  x[::2]  x[()]
x[True]  x[False]  x[i(0)]  x[i([0, 1])]  x[:, i([0, 1])]  x[[0, 1]]  x[[[0, 1], [1, 0]]]
x[[0, 1], [1, 0]]  x[x > 2]  x[:, i([True, False, True])]  y[0, :, i([1, 2])]  y[i([0]), :, 1]
y[i(0), 1]  y[..., 1]  y[1:, i(1)]  y[x > 2]  y[x > 2, 1:]  y[x > 2, 1]  y[x > 2, None]
y[0, None, i([1, 2])]  y[:, x[0] > 2]  y[i([0, 1]), :, i([1, 2])]  y[:, i([0, 1]), i([1, 2])]
x[i(1, dtype=torch.uint8)]  x[i([1, 0], dtype=torch.uint8)]  x[i([1], dtype=torch.int32)]
x[i(1, dtype=torch.int16)]  x[i(True)]  x[range(2)]  x[np.array([0, 1])]  x[np.int64(1)]
x[[True, False]]  x[[0, slice(None)]]  x[(slice(0, 1), [0, 1])]  x[[[0, 1], slice(None)]]
x[[i(0), i(1)]]  x[(0, 1),]  x[i([[0, 1], [1, 0]])]  x[0, True]  x[True, 0]  x[:, True]
x[0, False]  x[i(0):i(1)]  x[0:2:i(1)]  x[..., ...]  x[None, None, 0, ...]  x[:, None][0]
x[0:2, 0:3]  x[0:2, 1:3]  x[-2:9, 0]  x[0:5, 0]  x[:, :]  x[:, ...]  x[::1, 0]  x[[None, 0]]
x[[True, 1]]  x[[[]]]  x[[], :]  x[i([], dtype=torch.int64)]  x[[(0, 1)]]  x[..., None]
x[True, None, False]  s[...]  s[None]  s[()]  s[i(True)]  x[1:1]  x[5:]  x[:, i([2, 0, 2])]
x[i([0, 0, 1]), i([2, 2, 0])]  y[..., i([3, 3]), None]  y[i([[0], [1]]), i([0, 2])]
"""

WRITES = """
z[0] = 1.0 | z[0] = v | z[:, 1] = s | z[i([0])] = v | z[i([0])] = 1.0 | z[x > 2] = 0.0
z[x > 2] = s | z[x > 2] = v[:1] | z[x > 2] = y[0, 0] | z[0, i([1])] = s | z[...] = x | z[...] = 1
z[:] = x | z[True] = x | z[True] = 1.0 | z[None] = x | z[None] = 1.0 | z[0, 0] = i(3)
z[0] = i([1, 2, 3]) | z[0] = x[:1] | z[:, i([0, 1])] = x[:, :2] | z[False] = 3.0
z[[0, 1]] = 1.0 | z[[0, 1], [1, 0]] = 1.0 | z[[]] = 1.0 | z[i(0)] = 1.0 | z[i(0)] = i(1.0)
z[0][1] = 4.0 | z[()] = 1.0 | z[1:, i([0, 1])] = 1.0 | z[x > 2] = i(1) | z[0] = np.float64(2)
z[:, ::2] = x[:, :1] | z[0] = True | z[::2, 1:] *= 3 | z[i([0, 1]), i([1, 1])] += v[:2]
z.index_put_((i([0, 0]),), x, accumulate=True) | z[1] = z[0] | z[x.T[0] > 1] = v
z[0, x[0] > 1] = v[:2] | z[x > 9] = v[:0]
"""

REFUSED = """
x[5] | x[-3] | x[:, 5] | x[0, -4] | x[0, 0, 0] | x[(0,) * 3] | x[i(5)] | x[i([5])] | x[i(1.0)]
x[i([1.0])] | x[i([1], dtype=torch.int16)] | x[::-1] | x[0:1:-1] | x["a"] | x["a":2] | x[1.5]
x[{1}] | x[..., :1, :1, :1] | x[:1, ..., :1, :1]
x[x.repeat(2, 1) > 2] | x[i([True])] | s[0] | s[:] | x[i([[0, 0], [1, 1]]), i([0, 1, 2])]
z.__setitem__(5, 1) | z.__setitem__(0, [1, 2, 3]) | z.__setitem__(0, "a") | z.__setitem__(0, x)
z.__setitem__(0, 1j) | z.__setitem__(1.0, 1) | z.__setitem__(0, v[:2])
z.__setitem__(i([0]), torch.ones(3)) | z.__setitem__(x > 2, v) | x.__setitem__(0, 1.0)
"""


def each(table: str, separator: str) -> pytest.MarkDecorator:
    cells = [cell.strip() for line in table.split("\n") for cell in line.split(separator)]
    return pytest.mark.parametrize("code", [cell for cell in cells if cell])


def names(torch: ModuleType) -> dict[str, Any]:
    """The tensors that the expressions are about."""

    def leaf(*shape: int) -> Any:
        size = int(np.prod(shape))
        values = (torch.arange(size, dtype=torch.float64) + 1).reshape(shape).clone()
        return values.requires_grad_()

    x = leaf(2, 3)
    return {
        "torch": torch,
        "np": np,
        "i": torch.tensor,
        "x": x,
        "y": leaf(2, 3, 4),
        "s": leaf(),
        "v": leaf(3),
        "z": x.clone(),
    }


def graph(node: Any) -> str:
    """The graph under `node`, as nested names."""
    if node is None:
        return "None"
    inputs = ", ".join(graph(below) for below, _ in node.next_functions)
    return f"{type(node).__name__}({inputs})"


def outcome(torch: ModuleType, code: str, result: str) -> list[Any]:
    """The tensor named `result` once `code` has run, and the gradients of all leaves."""
    scope = names(torch)
    exec(code, scope)
    t = scope[result]
    found = [graph(t.grad_fn), t._is_view(), t._version, tuple(t.shape), t.detach().tolist()]
    weights = (torch.arange(t.numel(), dtype=torch.float64) + 1).reshape(t.shape)
    leaves = [scope[name] for name in "xysv"]
    grads = torch.autograd.grad((t * t * weights).sum(), leaves, allow_unused=True)
    return found + [None if grad is None else grad.tolist() for grad in grads]


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@each(READS, "  ")
def test_read(oracle: ModuleType, code: str) -> None:
    code = f"r = {code}"
    assert outcome(gradfn, code, "r") == outcome(oracle, code, "r")


@each(WRITES, "|")
def test_write(oracle: ModuleType, code: str) -> None:
    assert outcome(gradfn, code, "z") == outcome(oracle, code, "z")


@each(REFUSED, "|")
def test_refusal(oracle: ModuleType, code: str) -> None:
    """The same type of error; ours begins as PyTorch's does."""
    errors = []
    for torch in (gradfn, oracle):
        with pytest.raises((IndexError, RuntimeError, TypeError, ValueError)) as caught:
            eval(code, names(torch))
        errors.append(caught)
    assert errors[0].type is errors[1].type
    assert str(errors[0].value)[:14] == str(errors[1].value)[:14]


def test_repeated_positions_add_up() -> None:
    rows = gradfn.tensor([0, 2, 0, 0])
    for dtype in (gradfn.float32, gradfn.float16, gradfn.complex64):
        x = gradfn.ones(3, 2, dtype=dtype, requires_grad=True)
        x[rows].backward(gradfn.ones(4, 2, dtype=dtype))
        assert x.grad.tolist() == [[3, 3], [0, 0], [1, 1]]
        assert x.grad.dtype is dtype


def test_basic_indexing_shares_memory() -> None:
    x = gradfn.zeros(2, 3)
    for view in (x[0], x[:, 1:], x[..., None], x[0, 1]):
        assert view._base is x
        before = view._version
        view.add_(1)
        assert x._version == before + 1
    assert x.tolist() == [[2, 4, 3], [1, 2, 2]]
    assert x[gradfn.tensor([0])]._base is None
