"""Printed text: literal examples that need nothing, and random tensors compared with PyTorch's."""

from __future__ import annotations

import importlib
import importlib.util
import math
import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gradfn import dtypes
from gradfn.dtypes import get_default_dtype, set_default_dtype
from gradfn.printing import (
    PrintOptions,
    format_array,
    get_printoptions,
    parameter_text,
    printoptions,
    set_printoptions,
    tensor_text,
)

nan, inf = math.nan, math.inf


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    with printoptions(profile="default"):
        yield


@pytest.fixture(autouse=True)
def default_dtype() -> Iterator[None]:
    outside = get_default_dtype()
    yield
    set_default_dtype(outside)


def stand_in(array: Any, *, requires_grad: bool = False, grad_fn: Any = None) -> Any:
    """What of a tensor its text depends on."""
    array = np.asarray(array)
    return SimpleNamespace(
        _array=array,
        dtype=dtypes.from_numpy(array.dtype),
        requires_grad=requires_grad,
        grad_fn=grad_fn,
        is_leaf=grad_fn is None,
    )


def f32(*values: Any) -> Any:
    return np.array(values[0] if len(values) == 1 else values, np.float32)


def c64(*values: Any) -> Any:
    return np.array(values[0] if len(values) == 1 else values, np.complex64)


LITERALS: list[tuple[Any, dict[str, Any], str]] = [
    # whole numbers
    (f32(3.0), {}, "tensor(3.)"),
    (f32(1, 20, -3), {}, "tensor([ 1., 20., -3.])"),
    (f32(0.0, -0.0, 1), {}, "tensor([0., -0., 1.])"),
    (f32(1, 1000), {}, "tensor([   1., 1000.])"),
    (f32([1e8]), {}, "tensor([100000000.])"),
    # fractions
    (f32(0.7), {}, "tensor(0.7000)"),
    (f32(-0.0, 0.5), {}, "tensor([-0.0000, 0.5000])"),
    (f32(0.1, 100), {}, "tensor([  0.1000, 100.0000])"),
    (f32(1.5, 2), {"precision": 0}, "tensor([2, 2])"),
    (f32(1.5, 2), {"precision": 8}, "tensor([1.50000000, 2.00000000])"),
    # exponents: too far apart, too large, too small; the limits are exact in double precision
    (f32(1, 1001), {}, "tensor([1.0000e+00, 1.0010e+03])"),
    (f32(0.7, 700), {}, "tensor([7.0000e-01, 7.0000e+02])"),
    (f32([1e-4]), {}, "tensor([1.0000e-04])"),
    (np.array([1e-4]), {}, "tensor([0.0001], dtype=torch.float64)"),
    (np.array([100000001.0]), {}, "tensor([1.0000e+08], dtype=torch.float64)"),
    (f32(-0.0, 1e10, 1), {}, "tensor([-0.0000e+00, 1.0000e+10, 1.0000e+00])"),
    (f32(1, 2), {"sci_mode": True}, "tensor([1.0000e+00, 2.0000e+00])"),
    (f32(0, 0), {"sci_mode": True}, "tensor([0., 0.])"),
    (f32(1e-10, 1e10), {"sci_mode": False}, "tensor([          0.0000, 10000000000.0000])"),
    (f32(1, 1e12), {"sci_mode": False}, "tensor([           1., 999999995904.])"),
    # not finite
    (f32(inf), {}, "tensor(inf)"),
    (f32(nan, 1, -inf), {}, "tensor([nan, 1., -inf])"),
    (f32(nan, 1.5, -inf, 1e10), {}, "tensor([       nan, 1.5000e+00,       -inf, 1.0000e+10])"),
    # complex numbers
    (c64(1j), {}, "tensor(0.+1.j)"),
    (c64(1 + 2j, -3.5 - 1j), {}, "tensor([ 1.0000+2.j, -3.5000-1.j])"),
    (c64(1 + 2j, -3 - 1e10j), {}, "tensor([ 1.+2.0000e+00j, -3.-1.0000e+10j])"),
    (c64(complex(nan, -inf), complex(1, -0.0)), {}, "tensor([nan-infj, 1.-0.j])"),
    (np.array([1 + 1j]), {}, "tensor([1.+1.j], dtype=torch.complex128)"),
    # integers and booleans
    (np.array(-7), {}, "tensor(-7)"),
    (np.array([1, -20, 300]), {}, "tensor([  1, -20, 300])"),
    (np.array([2**64 - 1], np.uint64), {}, "tensor([18446744073709551615], dtype=torch.uint64)"),
    (np.array([-128], np.int8), {}, "tensor([-128], dtype=torch.int8)"),
    (np.array([True, False]), {}, "tensor([ True, False])"),
    (np.array([0.5], np.float16), {}, "tensor([0.5000], dtype=torch.float16)"),
    # empty
    (f32([]), {}, "tensor([])"),
    (np.zeros((0, 3), np.float32), {}, "tensor([], size=(0, 3))"),
    (np.zeros(0, np.int64), {}, "tensor([], dtype=torch.int64)"),
    (np.zeros((2, 0), np.bool_), {}, "tensor([], size=(2, 0), dtype=torch.bool)"),
    (np.zeros(0, np.complex64), {}, "tensor([], dtype=torch.complex64)"),
    # lines and blocks
    (
        np.arange(8.0, dtype=np.float32).reshape(2, 2, 2) / 2,
        {},
        "tensor([[[0.0000, 0.5000],\n"
        "         [1.0000, 1.5000]],\n"
        "\n"
        "        [[2.0000, 2.5000],\n"
        "         [3.0000, 3.5000]]])",
    ),
    (np.zeros((2, 1, 1, 1), np.int64), {}, "tensor([[[[0]]],\n\n\n        [[[0]]]])"),
    (
        np.arange(12, dtype=np.float32),
        {"linewidth": 30},
        "tensor([ 0.,  1.,  2.,  3.,\n         4.,  5.,  6.,  7.,\n         8.,  9., 10., 11.])",
    ),
    (
        np.zeros(3, np.int32),
        {"linewidth": 15},
        "tensor([0, 0,\n        0],\n       dtype=torch.int32)",
    ),
    # summaries
    (np.arange(1000), {"threshold": 999}, "tensor([  0,   1,   2,  ..., 997, 998, 999])"),
    (np.arange(1001), {}, "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (np.arange(1001) * 10**6, {"edgeitems": 1}, "tensor([         0,  ..., 1000000000])"),
    (
        np.arange(36.0, dtype=np.float32).reshape(3, 3, 4) / 7,
        {"edgeitems": 1, "threshold": 5},
        "tensor([[[0.0000,  ..., 0.4286],\n"
        "         ...,\n"
        "         [1.1429,  ..., 1.5714]],\n"
        "\n"
        "        ...,\n"
        "\n"
        "        [[3.4286,  ..., 3.8571],\n"
        "         ...,\n"
        "         [4.5714,  ..., 5.0000]]])",
    ),
    (np.arange(10), {"edgeitems": 0, "threshold": 5}, "tensor([...], size=(10,))"),
    (np.arange(3), {"edgeitems": 0}, "tensor([0, 1, 2], size=(3,))"),
    (np.array([[1]]), {"threshold": 0}, "tensor([[1]])"),
]


@pytest.mark.parametrize(("array", "options", "expected"), LITERALS)
def test_literal_text(array: Any, options: dict[str, Any], expected: str) -> None:
    with printoptions(**options):
        assert tensor_text(stand_in(array)) == expected


def test_format_array_takes_options_and_indent() -> None:
    array = np.arange(6.0) / 4
    options = PrintOptions(precision=2, linewidth=20)
    assert format_array(array, options=options) == "[0.00, 0.25, 0.50,\n 0.75, 1.00, 1.25]"
    assert format_array(array, options=options, indent=5) == (
        "[0.00, 0.25,\n      0.50, 0.75,\n      1.00, 1.25]"
    )


def test_arrays_that_are_not_contiguous() -> None:
    array = np.arange(12).reshape(3, 4)
    assert format_array(array.T[::2]) == "[[ 0,  4,  8],\n [ 2,  6, 10]]"
    assert format_array(np.broadcast_to(np.float32(2), (2, 2))) == "[[2., 2.],\n [2., 2.]]"


class MulBackward0:
    pass


def test_history() -> None:
    assert tensor_text(stand_in(f32(1.0), requires_grad=True)) == "tensor(1., requires_grad=True)"
    made = stand_in(f32(1, 2), requires_grad=True, grad_fn=MulBackward0())
    assert tensor_text(made) == "tensor([1., 2.], grad_fn=<MulBackward0>)"
    made = stand_in(np.zeros((0, 3)), requires_grad=True, grad_fn=MulBackward0())
    assert tensor_text(made) == (
        "tensor([], size=(0, 3), dtype=torch.float64, grad_fn=<MulBackward0>)"
    )


def test_suffixes_wrap_at_the_line_width() -> None:
    ten = np.arange(10, dtype=np.float64) / 10
    assert tensor_text(stand_in(ten, requires_grad=True, grad_fn=MulBackward0())) == (
        "tensor([0.0000, 0.1000, 0.2000, 0.3000, 0.4000, 0.5000, 0.6000, 0.7000, 0.8000,\n"
        "        0.9000], dtype=torch.float64, grad_fn=<MulBackward0>)"
    )
    assert tensor_text(stand_in(ten[:8], requires_grad=True, grad_fn=MulBackward0())) == (
        "tensor([0.0000, 0.1000, 0.2000, 0.3000, 0.4000, 0.5000, 0.6000, 0.7000],\n"
        "       dtype=torch.float64, grad_fn=<MulBackward0>)"
    )


def test_contents_and_subclass_name() -> None:
    integers = stand_in(np.zeros((2, 2), np.int32))
    assert tensor_text(integers, "HELLO") == "tensor(HELLO, dtype=torch.int32)"
    forty = stand_in(np.zeros(40, np.float32))
    assert tensor_text(forty, name="Sub") == (
        "Sub([" + "0., " * 24 + "0.,\n" + "     " + "0., " * 14 + "0.])"
    )


def test_parameters() -> None:
    weight = stand_in(f32(1, 1), requires_grad=True)
    assert parameter_text(weight) == ("Parameter containing:\ntensor([1., 1.], requires_grad=True)")
    assert parameter_text(weight, name="Scale") == (
        "Parameter containing:\nParameter(Scale([1., 1.], requires_grad=True))"
    )


def test_default_dtype_decides_what_is_evident() -> None:
    set_default_dtype(dtypes.float64)
    assert tensor_text(stand_in(np.array(1.0))) == "tensor(1.)"
    assert tensor_text(stand_in(np.array(1j))) == "tensor(0.+1.j)"
    assert tensor_text(stand_in(f32(1.0))) == "tensor(1., dtype=torch.float32)"
    assert tensor_text(stand_in(c64(1.0))) == "tensor(1.+0.j, dtype=torch.complex64)"
    assert tensor_text(stand_in(f32([]))) == "tensor([], dtype=torch.float32)"
    set_default_dtype(dtypes.float16)
    assert tensor_text(stand_in(np.array(1.0, np.float16))) == "tensor(1.)"
    assert tensor_text(stand_in(c64(1j))) == "tensor(0.+1.j)"


def test_bfloat16() -> None:
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    third = stand_in(np.array([1 / 3, nan], bfloat16))
    assert tensor_text(third) == "tensor([0.3340,    nan], dtype=torch.bfloat16)"
    set_default_dtype(dtypes.named("bfloat16"))
    assert tensor_text(third) == "tensor([0.3340,    nan])"


def test_set_printoptions() -> None:
    default = dict(precision=4, threshold=1000, edgeitems=3, linewidth=80, sci_mode=None)
    assert get_printoptions() == default
    set_printoptions(precision=2, sci_mode=True)
    assert get_printoptions() == default | dict(precision=2, sci_mode=True)
    set_printoptions(edgeitems=5)
    assert get_printoptions() == default | dict(precision=2, edgeitems=5)
    set_printoptions(profile="short", linewidth=40)
    assert get_printoptions() == default | dict(precision=2, edgeitems=2, linewidth=40)
    set_printoptions(profile="full")
    assert get_printoptions() == default | dict(threshold=inf)
    set_printoptions(profile="no such profile")
    assert get_printoptions() == default | dict(threshold=inf)


def test_printoptions_are_restored_even_after_an_error() -> None:
    set_printoptions(precision=6, sci_mode=False)
    before = get_printoptions()
    with pytest.raises(KeyError), printoptions(profile="full", precision=1):
        assert get_printoptions()["precision"] == 1
        raise KeyError
    assert get_printoptions() == before


SHAPES = [(), (), (1,), (1,), (5,), (5,), (30,), (100,), (1001,), (2, 3), (2, 3), (7, 9)]
SHAPES += [(40, 30), (1, 40), (3, 3, 3), (2, 1, 2, 3), (11, 10, 10), (2, 7, 8, 11), (600, 2)]
SHAPES += [(0,), (0, 3), (2, 0, 4), (1, 1001, 1)]

REAL_DTYPES = ["float16", "float32", "float32", "float32", "float64"]
if importlib.util.find_spec("ml_dtypes"):
    REAL_DTYPES.append("bfloat16")
COMPLEX_DTYPES = ["complex64", "complex64", "complex128"]
INTEGER_DTYPES = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
INTEGER_DTYPES += ["bool"]

OPTIONS: dict[str, list[Any]] = {
    "profile": ["default", "default", "short", "full"],
    "precision": [0, 1, 2, 3, 6, 10],
    "threshold": [0, 1, 5, 20, 100, 5000, inf],
    "edgeitems": [0, 1, 2, 4, 5],
    "linewidth": [1, 10, 20, 40, 60, 75, 81, 100, 200],
    "sci_mode": [True, False],
}

# The limits at which the form changes, and numbers that single precision puts beyond them.
CRITICAL = [0.0, -0.0, 1.0, 0.1, 100.0, 0.7, 700.0, 1000.0, 1001.0, 1e-4, 1e8, 0.9999999]


def random_reals(rng: random.Random, size: int) -> Any:
    scale = 10.0 ** rng.randint(-12, 12)
    spread = rng.choice([0, 1, 2, 3, 5, 300])
    numbers = rng.choice(
        [
            lambda: rng.gauss(0, 1),
            lambda: rng.gauss(0, 1) * scale,
            lambda: rng.uniform(-9, 9) * 10.0 ** rng.randint(-spread, spread),
            lambda: float(rng.randint(-20, 20)),
            lambda: round(rng.gauss(0, 1) * scale),
            lambda: rng.choice(CRITICAL),
            lambda: 0.0,
        ]
    )
    special = rng.choice([0, 0, 0.1, 0.5, 1])
    return np.array(
        [
            rng.choice([nan, inf, -inf, 0.0, -0.0, 1.0]) if rng.random() < special else numbers()
            for _ in range(size)
        ],
        np.float64,
    )


def random_tensor(rng: random.Random, torch: Any) -> Any:
    shape = rng.choice(SHAPES)
    size = math.prod(shape)
    name = rng.choice(REAL_DTYPES + COMPLEX_DTYPES + INTEGER_DTYPES)
    dtype = getattr(torch, name)
    if name in INTEGER_DTYPES:
        lowest, highest = (0, 1) if name == "bool" else (np.iinfo(name).min, np.iinfo(name).max)
        limit = 10 ** rng.randint(0, 20)
        values = [rng.randint(max(lowest, -limit), min(highest, limit)) for _ in range(size)]
        return torch.tensor(values, dtype=dtype).reshape(shape)
    numbers = torch.from_numpy(random_reals(rng, size))
    if dtype.is_complex:
        numbers = torch.complex(numbers, torch.from_numpy(random_reals(rng, size)))
    t = numbers.to(dtype).reshape(shape)
    if rng.random() < 0.4:
        t.requires_grad_()
        t = rng.choice([lambda: t, lambda: t * 1, lambda: t.exp(), lambda: t.clone()])()
    return t.transpose(0, -1) if t.ndim and rng.random() < 0.3 else t


def stand_in_for(t: Any, torch: Any) -> Any:
    if t.dtype is torch.bfloat16:
        bfloat16 = importlib.import_module("ml_dtypes").bfloat16
        array = t.detach().float().numpy().astype(bfloat16)
    else:
        array = t.detach().numpy()
    return stand_in(array, requires_grad=t.requires_grad, grad_fn=t.grad_fn)


@pytest.fixture
def torch(oracle: Any) -> Iterator[Any]:
    yield oracle
    oracle.set_printoptions(profile="default")
    oracle.set_default_dtype(oracle.float32)


@pytest.mark.parametrize("seed", range(12))
def test_random_tensors_print_as_in_pytorch(seed: int, torch: Any) -> None:
    rng = random.Random(seed)
    for _ in range(150):
        t = random_tensor(rng, torch)
        chosen = {k: rng.choice(v) for k, v in OPTIONS.items() if rng.random() < 0.25}
        options = {"profile": "default"} | chosen
        torch.set_printoptions(**options)
        default = rng.choice(REAL_DTYPES)
        torch.set_default_dtype(getattr(torch, default))
        set_default_dtype(dtypes.named(default))
        with printoptions(**options):
            assert get_printoptions() == torch._tensor_str.get_printoptions()
            assert tensor_text(stand_in_for(t, torch)) == repr(t), (t.shape, t.dtype, options)


@pytest.mark.parametrize(("array", "options", "expected"), LITERALS)
def test_literals_are_those_of_pytorch(
    array: Any, options: dict[str, Any], expected: str, torch: Any
) -> None:
    torch.set_printoptions(**options)
    assert repr(torch.from_numpy(np.asarray(array))) == expected


@pytest.mark.parametrize("linewidth", range(20, 90))
def test_suffixes_wrap_as_in_pytorch(linewidth: int, torch: Any) -> None:
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    torch.set_printoptions(linewidth=linewidth)
    with printoptions(linewidth=linewidth):
        for t in (x, x * 1, x.sum(), x[:0], x[None, :0] * 1, x.reshape(1, 3)):
            assert tensor_text(stand_in_for(t, torch)) == repr(t)
