"""Creation functions: literal examples, errors, and the same expressions in PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn import dtypes
from parity import described, evaluate

LITERAL = {
    "torch.tensor(1)": "tensor(1)",
    "torch.tensor([True, 2])": "tensor([1, 2])",
    "torch.tensor([1, 2.5])": "tensor([1.0000, 2.5000])",
    "torch.tensor([1, 1j])": "tensor([1.+0.j, 0.+1.j])",
    "torch.tensor([[]])": "tensor([], size=(1, 0))",
    "torch.tensor([np.float32(1), 2.0])": "tensor([1., 2.])",
    "torch.tensor(np.float64(1))": "tensor(1., dtype=torch.float64)",
    "torch.tensor([torch.tensor(1), 2.5])": "tensor([1.0000, 2.5000])",
    "torch.tensor([torch.tensor([3.0])])": "tensor([3.])",
    "torch.tensor(range(3))": "tensor([0, 1, 2])",
    "torch.tensor([-1], dtype=torch.uint8)": "tensor([255], dtype=torch.uint8)",
    "torch.tensor([1.7], dtype=torch.int64)": "tensor([1])",
    "torch.tensor([2.5, 0], dtype=torch.bool)": "tensor([ True, False])",
    "torch.tensor([1e39])": "tensor([inf])",
    "torch.tensor([2**63], dtype=torch.uint64)": (
        "tensor([9223372036854775808], dtype=torch.uint64)"
    ),
    "torch.tensor([1.0], requires_grad=True)": "tensor([1.], requires_grad=True)",
    "torch.zeros(2, 1)": "tensor([[0.],\n        [0.]])",
    "torch.zeros(())": "tensor(0.)",
    "torch.ones((2,), dtype=torch.int32)": "tensor([1, 1], dtype=torch.int32)",
    "torch.full((2,), True)": "tensor([True, True])",
    "torch.full((1,), 1j)": "tensor([0.+1.j])",
    "torch.eye(2, 3)": "tensor([[1., 0., 0.],\n        [0., 1., 0.]])",
    "torch.arange(3)": "tensor([0, 1, 2])",
    "torch.arange(5, 0, -2)": "tensor([5, 3, 1])",
    "torch.arange(0.5, 2)": "tensor([0.5000, 1.5000])",
    "torch.arange(end=2, dtype=torch.float64)": "tensor([0., 1.], dtype=torch.float64)",
    "torch.range(1, 3)": "tensor([1., 2., 3.])",
    "torch.linspace(0, 1, 3)": "tensor([0.0000, 0.5000, 1.0000])",
    "torch.linspace(0, 10, 4, dtype=torch.int64)": "tensor([ 0,  3,  6, 10])",
    "torch.linspace(0, 1j, 2)": "tensor([0.+0.j, 0.+1.j])",
    "torch.linspace(2, 3, 1)": "tensor([2.])",
    "torch.logspace(0, 2, 3)": "tensor([  1.,  10., 100.])",
    "torch.logspace(0, 3, 4, base=2, dtype=torch.int64)": "tensor([1, 2, 4, 8])",
    "torch.scalar_tensor(3)": "tensor(3.)",
    "torch.zeros_like(torch.ones(2, dtype=torch.int8))": "tensor([0, 0], dtype=torch.int8)",
    "torch.full_like(torch.ones(2, dtype=torch.int64), 2.5)": "tensor([2, 2])",
    "torch.ones(1, dtype=torch.float64).new_zeros(2)": "tensor([0., 0.], dtype=torch.float64)",
    "torch.ones(1).new_tensor([1, 2])": "tensor([1., 2.])",
    "torch.ones(1).new_full((1,), 5)": "tensor([5.])",
    "torch.ones(1, dtype=torch.int64).new([2.5])": "tensor([2])",
    "torch.Tensor([1, 2])": "tensor([1., 2.])",
    "torch.LongTensor([1.5])": "tensor([1])",
    "torch.frombuffer(bytearray([1, 2]), dtype=torch.uint8)": "tensor([1, 2], dtype=torch.uint8)",
    "torch.asarray([1, 2])": "tensor([1, 2])",
}

PARITY = [
    "torch.tensor([np.array([1, 2]), np.array([3, 4])])",
    "torch.tensor([np.int32(1), 2])",
    "torch.tensor(np.arange(6).reshape(2, 3).T)",
    "torch.tensor([1e6], dtype=torch.float16)",
    "torch.tensor(bytearray(b'ab'))",
    "torch.zeros_like(torch.ones(2, 3).t())",
    "torch.ones_like(torch.ones(2, 3).t(), memory_format=torch.contiguous_format)",
    "torch.empty(1, 2, 3, 4, memory_format=torch.channels_last).stride()",
    "torch.empty_strided((2, 3), (1, 2)).stride()",
    "torch.Tensor(2, 3).shape, torch.Tensor().shape, torch.Tensor(torch.Size([2])).shape",
    "torch.arange(torch.tensor(3)), torch.arange(np.float32(2)), torch.arange(2**40, 2**40 + 2)",
    "torch.arange(0, 10, 3, dtype=torch.uint8), torch.arange(0, 1, 0.3, dtype=torch.float16)",
    "torch.arange(0), torch.arange(1.0, 1.0), torch.linspace(0, 1, 0)",
    "torch.as_tensor(torch.ones(2, requires_grad=True), dtype=torch.float64)",
    "torch.asarray(np.ones(2)), torch.asarray(2.5)",
    "torch.ones(2, requires_grad=True).new_ones(2).requires_grad",
    "torch.set_default_dtype(torch.float64), torch.tensor(1.0).dtype, torch.tensor(1j).dtype, "
    "torch.arange(2.0).dtype, torch.set_default_dtype(torch.float32)",
]

UNFIT = "value cannot be converted to type"
ERRORS: list[tuple[str, type[Exception], str]] = [
    ("torch.tensor([[1, 2], [3]])", ValueError, "expected sequence of length 2 at dim 1 (got 1)"),
    ("torch.tensor([[1, 2], 3])", TypeError, "not a sequence"),
    ("torch.tensor('a')", TypeError, "new(): invalid data type 'str'"),
    ("torch.tensor(['a'])", ValueError, "too many dimensions 'str'"),
    ("torch.tensor([None])", RuntimeError, "Could not infer dtype of NoneType"),
    ("torch.tensor([torch.ones(2)])", ValueError, "only one element tensors can be converted"),
    ("torch.tensor([2**63])", ValueError, "Overflow when unpacking long long"),
    ("torch.tensor([256], dtype=torch.uint8)", RuntimeError, "value cannot be converted to type"),
    ("torch.tensor([nan], dtype=torch.int64)", RuntimeError, "value cannot be converted to type"),
    ("torch.tensor([1j], dtype=torch.float32)", TypeError, "must be real number, not complex"),
    ("torch.tensor([1], requires_grad=True)", RuntimeError, "Only Tensors of floating point and"),
    ("torch.tensor([1.0], device='foo')", RuntimeError, "Expected one of cpu, cuda,"),
    ("torch.tensor([1.0], dtype='float32')", TypeError, "argument 'dtype' must be torch.dtype"),
    ("torch.from_numpy([1])", TypeError, "expected np.ndarray (got list)"),
    ("torch.from_numpy(np.array(['a']))", TypeError, "can't convert np.ndarray of type"),
    ("torch.from_numpy(np.ones(2)[::-1])", ValueError, "At least one stride in the given numpy"),
    ("torch.from_numpy(np.array([1], '>i4'))", ValueError, "given numpy array has byte order"),
    ("torch.zeros()", TypeError, "zeros() missing 1 required positional arguments"),
    ("torch.zeros(-1)", RuntimeError, "zeros: Dimension size must be non-negative"),
    ("torch.zeros(2.5)", TypeError, "zeros(): argument 'size' (position 1) must be tuple of ints"),
    ("torch.zeros(2, names=('a',))", TypeError, "zeros() got an unexpected keyword argument 'nam"),
    ("torch.zeros_like([1])", TypeError, "zeros_like(): argument 'input' (position 1) must be"),
    ("torch.full(2, 3)", TypeError, "full(): argument 'size' (position 1) must be tuple of ints"),
    ("torch.full((2,), 'a')", TypeError, "full(): argument 'fill_value' (position 2) must be"),
    ("torch.full((2,), 1j, dtype=torch.float32)", RuntimeError, f"{UNFIT} float without overflow"),
    ("torch.full((2,), 1e9, dtype=torch.half)", RuntimeError, f"{UNFIT} c10::Half without"),
    ("torch.zeros(2, dtype=torch.uint8).fill_(300)", RuntimeError, f"{UNFIT} uint8_t without"),
    ("torch.zeros(2, dtype=torch.int32).fill_(inf)", RuntimeError, f"{UNFIT} int without overflow"),
    ("torch.zeros(2, dtype=torch.int8).fill_(127.5)", RuntimeError, f"{UNFIT} int8_t without"),
    ("torch.zeros(2).int().__setitem__(0, 2**40)", RuntimeError, f"{UNFIT} int without"),
    ("torch.eye(-1)", RuntimeError, "n must be greater or equal to 0, got -1"),
    ("torch.arange()", TypeError, "arange() missing 1 required positional arguments"),
    ("torch.arange(3, 0)", RuntimeError, "upper bound and lower bound inconsistent with step sig"),
    ("torch.arange(0, 3, 0)", RuntimeError, "step must be nonzero"),
    ("torch.arange(inf)", RuntimeError, "unsupported range: 0 -> inf"),
    ("torch.arange(2, dtype=torch.bool)", NotImplementedError, '"arange_cpu" not implemented for'),
    ("torch.arange('a')", TypeError, "arange(): argument 'end' must be Number, not str"),
    ("torch.linspace(0, 1, -1)", RuntimeError, "number of steps must be non-negative"),
    ("torch.linspace(torch.ones(1), 1, 3)", RuntimeError, "linspace only supports 0-dimensional"),
    ("torch.Tensor(2.5)", TypeError, "new(): data must be a sequence (got float)"),
    ("torch.frombuffer(bytearray(7), dtype=torch.float32)", ValueError, "buffer length (7 bytes)"),
    ("torch.frombuffer(bytearray(8), dtype=torch.int32, offset=9)", ValueError, "offset (9 bytes)"),
    ("torch.frombuffer(bytearray(4), dtype=torch.int32, count=2)", ValueError, "requested buffer"),
    ("torch.frombuffer(bytearray(0), dtype=torch.int32)", ValueError, "both buffer length (0)"),
    ("torch.asarray([1], copy=False)", ValueError, "can't alias arbitrary sequence into a tensor"),
    ("torch.asarray(torch.ones(1), dtype=torch.int64, copy=False)", ValueError, "can't alias tens"),
]


@pytest.mark.parametrize("expression", LITERAL)
def test_literal(expression: str) -> None:
    assert repr(evaluate(expression, gradfn)) == LITERAL[expression]


@pytest.mark.parametrize(("expression", "error", "phrase"), ERRORS)
def test_errors(expression: str, error: type[Exception], phrase: str) -> None:
    with pytest.raises(error) as caught:
        evaluate(expression, gradfn)
    assert str(caught.value).startswith(phrase)


@pytest.mark.parametrize("expression", [*LITERAL, *PARITY, *(e for e, *_ in ERRORS)])
def test_parity(oracle: ModuleType, expression: str) -> None:
    assert described(expression, gradfn) == described(expression, oracle)


def test_copy_of_a_tensor_warns() -> None:
    source = gradfn.ones(2)
    with pytest.warns(UserWarning, match="^To copy construct from a tensor, it is recommended"):
        copy = gradfn.tensor(source)
    assert copy.data_ptr() != source.data_ptr()


def test_memory_is_shared_or_copied() -> None:
    array = np.zeros(3)
    assert gradfn.from_numpy(array).data_ptr() == array.ctypes.data
    assert gradfn.as_tensor(array).data_ptr() == array.ctypes.data
    assert gradfn.asarray(array).data_ptr() == array.ctypes.data
    assert gradfn.tensor(array).data_ptr() != array.ctypes.data
    assert gradfn.asarray(array, copy=True).data_ptr() != array.ctypes.data
    tensor = gradfn.ones(2)
    assert gradfn.as_tensor(tensor) is tensor


def test_inference_tensors() -> None:
    with gradfn.inference_mode():
        assert gradfn.ones(1).is_inference()
    assert not gradfn.ones(1).is_inference()


def test_out_is_written_to() -> None:
    out = gradfn.ones(3)
    assert gradfn.zeros(3, out=out) is out
    assert out.tolist() == [0.0, 0.0, 0.0]
    assert out._version == 1
    assert gradfn.arange(2, out=out).tolist() == [0.0, 1.0]


def spaced(torch: ModuleType, function: str, dtype: str, seed: int) -> Any:
    random = np.random.default_rng(seed)
    start, step = float(random.normal() * 10), float(random.normal())
    count = int(random.integers(2, 100))
    kind = getattr(torch, dtype)
    if function == "arange":
        return torch.arange(start, start + step * count * 0.99, step, dtype=kind)
    return torch.linspace(start, start + step * count, count, dtype=kind)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("function", ["arange", "linspace"])
def test_spaced_numbers_to_the_bit(
    oracle: ModuleType, function: str, dtype: str, seed: int
) -> None:
    ours = spaced(gradfn, function, dtype, seed).numpy()
    np.testing.assert_array_equal(ours, spaced(oracle, function, dtype, seed).numpy())


@pytest.mark.parametrize("dtype", [d.name for d in dtypes.every() if d is not dtypes.bfloat16])
def test_conversion_from_floats(oracle: ModuleType, dtype: str) -> None:
    values = [-1.5, 300.5, float("nan"), float("inf"), -float("inf"), 1e10]
    results = [
        torch.tensor(values, dtype=torch.float64).to(getattr(torch, dtype)).numpy()
        for torch in (gradfn, oracle)
    ]
    np.testing.assert_array_equal(*results)
