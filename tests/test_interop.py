"""Tensors and NumPy, DLPack, copy and pickle."""

from __future__ import annotations

import copy
import operator
import pickle
from types import ModuleType

import numpy as np
import pytest

import gradfn
from gradfn import nn


def test_numpy_shares_memory() -> None:
    tensor = gradfn.zeros(2)
    array = tensor.numpy()
    array[0] = 1.0
    tensor[1] = 2.0
    assert tensor.tolist() == array.tolist() == [1.0, 2.0]
    array.shape = (2, 1)
    assert tensor.shape == (2,)


def test_numpy_refuses_what_requires_grad() -> None:
    x = gradfn.ones(2, requires_grad=True)
    for convert in (lambda: x.numpy(), lambda: np.asarray(x), lambda: np.sin(x)):
        with pytest.raises(RuntimeError, match=r"^Can't call numpy\(\) on Tensor that requires gr"):
            convert()
    assert x.numpy(force=True).tolist() == x.detach().numpy().tolist() == [1.0, 1.0]


def test_arrays_of_tensors() -> None:
    tensor = gradfn.ones(2)
    assert np.asarray(tensor).ctypes.data == tensor.data_ptr()
    assert np.array(tensor).ctypes.data != tensor.data_ptr()
    assert np.array(tensor, dtype=np.float64).dtype == np.float64
    assert np.array([gradfn.tensor(1.0), gradfn.tensor(2.0)]).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="copy"):
        np.array(tensor, dtype=np.float64, copy=False)


def test_numpy_functions_give_tensors() -> None:
    result = np.sin(gradfn.zeros(2))
    assert isinstance(result, gradfn.Tensor)
    assert result.tolist() == [0.0, 0.0]
    assert np.add(gradfn.ones(2), 1).tolist() == [2.0, 2.0]


OPERATORS = [
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("eq", "ne", "lt", "le", "gt", "ge"),
]


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_between_arrays_and_tensors(name: str) -> None:
    function = getattr(operator, name)
    left, right = np.array([3.0, 5.0]), np.array([2.0, 5.0], np.float32)
    expected = function(left, right)
    for result in (
        function(left, gradfn.from_numpy(right)),
        function(gradfn.from_numpy(left), right),
    ):
        assert isinstance(result, gradfn.Tensor)
        assert result.numpy().dtype == expected.dtype
        assert result.tolist() == expected.tolist()


def test_gradients_flow_past_arrays() -> None:
    x = gradfn.ones(2, requires_grad=True)
    (np.full(2, 3.0) * x + x * np.full(2, 2.0)).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    with pytest.raises(TypeError, match=r"^can't convert np.ndarray of type object"):
        x * np.array([None, None])


@pytest.mark.parametrize("name", sorted(set(OPERATORS) - {"matmul"}))
def test_numpy_scalars_are_numbers(name: str) -> None:
    function, tensor = getattr(operator, name), gradfn.tensor([2, 4], dtype=gradfn.int32)
    for scalar in (np.int64(3), np.float32(3)):
        for ours, plain in (
            (function(tensor, scalar), function(tensor, scalar.item())),
            (function(scalar, tensor), function(scalar.item(), tensor)),
        ):
            assert repr(ours) == repr(plain)


def test_dlpack_both_ways() -> None:
    array = np.zeros(3)
    tensor = gradfn.from_dlpack(array)
    assert tensor.data_ptr() == array.ctypes.data
    assert np.from_dlpack(tensor).ctypes.data == array.ctypes.data
    assert gradfn.from_dlpack(tensor).data_ptr() == array.ctypes.data
    assert gradfn.from_dlpack(gradfn.to_dlpack(tensor)).data_ptr() == array.ctypes.data
    assert tensor.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match=r"^Can't export tensors that require gradient"):
        gradfn.ones(1, requires_grad=True).__dlpack__()


def test_dlpack_with_torch(oracle: ModuleType) -> None:
    theirs = oracle.zeros(3)
    ours = gradfn.from_dlpack(theirs)
    assert ours.data_ptr() == theirs.data_ptr()
    assert oracle.from_dlpack(ours).data_ptr() == theirs.data_ptr()


def test_deepcopy_keeps_what_a_leaf_has() -> None:
    x = gradfn.ones(2, 3, requires_grad=True).t().detach().requires_grad_()
    x.grad = gradfn.ones(3, 2)
    x.note = ["mine"]
    twin = copy.deepcopy(x)
    assert twin.requires_grad
    assert twin.stride() == (1, 3)
    assert twin.grad.tolist() == x.grad.tolist()
    assert twin.grad is not x.grad
    assert twin.note == x.note
    assert twin.note is not x.note
    assert twin.data_ptr() != x.data_ptr()
    pair = copy.deepcopy([x, x])
    assert pair[0] is pair[1]


def test_deepcopy_keeps_shared_memory_shared() -> None:
    whole = gradfn.arange(4.0)
    copied, part = copy.deepcopy([whole, whole[1:]])
    part[0] = 7.0
    assert copied.tolist() == [0.0, 7.0, 2.0, 3.0]
    assert whole.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_deepcopy_refuses_intermediates() -> None:
    y = gradfn.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=r"^Only Tensors created explicitly by the user"):
        copy.deepcopy(y)


def test_deepcopy_of_a_parameter_has_no_gradient() -> None:
    parameter = nn.Parameter(gradfn.ones(2))
    parameter.grad = gradfn.ones(2)
    twin = copy.deepcopy(parameter)
    assert isinstance(twin, nn.Parameter)
    assert twin.requires_grad
    assert twin.grad is None


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol: int) -> None:
    x = gradfn.tensor([1.0, 2.0], requires_grad=True)
    x.note = "mine"
    for tensor in (x, x * 2, gradfn.tensor(1), nn.Parameter(gradfn.ones(1))):
        twin = pickle.loads(pickle.dumps(tensor, protocol))
        assert type(twin) is type(tensor)
        assert twin.tolist() == tensor.tolist()
        assert twin.dtype is tensor.dtype
        assert twin.requires_grad == tensor.requires_grad
        assert twin.is_leaf
    assert pickle.loads(pickle.dumps(x, protocol)).note == "mine"


def test_pickle_keeps_constants_single() -> None:
    for constant in (gradfn.float32, gradfn.bfloat16, gradfn.strided, gradfn.channels_last):
        assert pickle.loads(pickle.dumps(constant)) is constant
        assert copy.deepcopy(constant) is constant
    assert pickle.loads(pickle.dumps(gradfn.device("cpu", 0))) == gradfn.device("cpu:0")
