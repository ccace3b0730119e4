"""`torch.testing` and `torch.compiler`, beside PyTorch's."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn import testing

NAN, INF = float("nan"), float("inf")

# Pairs of arguments of `assert_close`, as functions of the library.
PAIRS = [
    lambda torch: (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1])),
    lambda torch: (torch.tensor([1.0, NAN]), torch.tensor([1.0, NAN])),
    lambda torch: (torch.tensor([1, 2, 3]), torch.tensor([1, 2, 4])),
    lambda torch: (torch.tensor([[1, 2, 3]]), torch.tensor([1, 2, 4])),
    lambda torch: (torch.tensor([1, 2, 3]), torch.tensor([1.0, 2.0, 4.0])),
    lambda torch: (torch.ones(2, 3), torch.zeros(2, 3)),
    lambda torch: (torch.zeros(0), torch.zeros(0)),
    lambda torch: (torch.tensor([True, False]), torch.tensor([True, True])),
    lambda torch: (torch.tensor([255], dtype=torch.uint8), torch.tensor([0], dtype=torch.uint8)),
    lambda torch: (torch.ones(2, dtype=torch.float16), torch.tensor([1.1, 1]).half()),
    lambda torch: (torch.ones(3, dtype=torch.complex64), torch.full((3,), 1j)),
    lambda torch: (torch.tensor([INF, 1.0]), torch.tensor([INF, 2.0])),
    lambda torch: (torch.tensor([INF, 1.0]), torch.tensor([1.0, 1.0])),
    lambda torch: (torch.tensor(1.0), torch.tensor(2.0)),
    lambda torch: (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 9.0, 2.0, 9.0])[::2]),
    lambda torch: (torch.tensor(1.0), 2.0),
    lambda torch: (np.ones(2), np.zeros(2)),
    lambda torch: (np.ones(2), torch.ones(2)),
    lambda torch: (1.0, 1.1),
    lambda torch: (1, 2),
    lambda torch: (1, 1.0),
    lambda torch: (np.float32(1), 1.0),
    lambda torch: (1 + 2j, 1 + 3j),
    lambda torch: (True, False),
    lambda torch: ([1, [2]], (1, [3])),
    lambda torch: ([1, 2], [1, 2, 3]),
    lambda torch: ({"a": [torch.ones(2)]}, {"a": [torch.zeros(2)]}),
    lambda torch: ({"a": 1, "c": 2}, {"b": 1, "c": 2}),
    lambda torch: ("a", "a"),
    lambda torch: (None, None),
    lambda torch: (None, 1),
    lambda torch: ({1}, {1}),
]
OPTIONS = [
    {},
    {"rtol": 0, "atol": 0},
    {"rtol": 0.1, "atol": 0.2},
    {"equal_nan": True},
    {"check_dtype": False},
    {"check_stride": True},
]


def verdict(torch: ModuleType, pair: Any, options: dict[str, Any]) -> str:
    try:
        torch.testing.assert_close(*pair(torch), **options)
    except (AssertionError, TypeError) as error:
        return f"{type(error).__name__}: {error}".replace("gradfn.Tensor", "torch.Tensor")
    return "close"


@pytest.mark.parametrize("options", OPTIONS, ids=["+".join(o) or "default" for o in OPTIONS])
@pytest.mark.parametrize("pair", PAIRS, ids=range(len(PAIRS)))
def test_assert_close_says_what_pytorch_says(
    oracle: ModuleType, pair: Any, options: dict[str, Any]
) -> None:
    assert verdict(gradfn, pair, options) == verdict(oracle, pair, options)


def test_assert_close_finds_differences() -> None:
    with pytest.raises(AssertionError, match=r"Greatest absolute difference: 1\.0 at index \(1,\)"):
        testing.assert_close(gradfn.tensor([0.0, 1.0]), gradfn.tensor([0.0, 2.0]))
    with pytest.raises(AssertionError, match=r"item \['w'\]\[1\]"):
        testing.assert_close({"w": [1, 2]}, {"w": [1, 3]})
    with pytest.raises(AssertionError, match=r"^no$"):
        testing.assert_close(1, 2, msg="no")
    with pytest.raises(AssertionError, match=r"^look: The length"):
        testing.assert_close([1], [], msg=lambda text: f"look: {text}")
    with pytest.raises(ValueError, match="got no atol"):
        testing.assert_close(1, 1, rtol=0.1)


MADE = [
    ((2, 3), "float32", {}),
    (((4,),), "float64", {"low": -1, "high": 2.5}),
    ((3,), "int64", {}),
    ((3,), "uint8", {}),
    ((5,), "int32", {"low": 0.5, "high": 3.5, "exclude_zero": True}),
    ((6,), "bool", {}),
    ((3,), "complex64", {}),
    ((3, 4), "float32", {"noncontiguous": True, "requires_grad": True}),
    ((), "float32", {"noncontiguous": True}),
    ((0, 2), "float32", {}),
    ((3,), "float32", {"low": -INF, "high": INF}),
    ((3,), "float32", {"low": 2, "high": 1}),
    ((3,), "float32", {"low": NAN}),
    ((3,), "int16", {"requires_grad": True}),
]


def made(torch: ModuleType, shape: Any, dtype: str, options: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    try:
        tensor = torch.testing.make_tensor(
            *shape, dtype=getattr(torch, dtype), device="cpu", **options
        )
    except ValueError as error:
        return str(error), None
    flat = tensor.detach().reshape(-1)
    return tuple(tensor.shape), tensor.stride(), str(tensor.dtype), tensor.requires_grad, flat


@pytest.mark.parametrize(("shape", "dtype", "options"), MADE)
def test_make_tensor_draws_pytorchs_numbers(
    oracle: ModuleType, shape: Any, dtype: str, options: dict[str, Any]
) -> None:
    ours, theirs = (made(torch, shape, dtype, options) for torch in (gradfn, oracle))
    assert ours[:-1] == theirs[:-1]
    if ours[-1] is not None:
        np.testing.assert_allclose(ours[-1].numpy(), theirs[-1].numpy(), rtol=1e-6)


def test_compile_runs_functions_as_they_are() -> None:
    @gradfn.compile(mode="max-autotune")
    def double(x: Any) -> Any:
        return 2 * x

    assert double(3) == 6
    layer = gradfn.nn.Linear(1, 1)
    layer.compile()
    assert gradfn.compile(layer) is layer
    assert not gradfn.compiler.is_compiling()
