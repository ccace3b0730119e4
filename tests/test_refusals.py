"""Mistaken arguments: PyTorch's exception, never NumPy's, whatever the operator."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradfn
from opdb import OPS, OpInfo
from opdb.core import Call, Sample
from opdb.measure import noting

LIBRARY_ERRORS = (RuntimeError, TypeError, ValueError, IndexError)
SHAPES = [(), (1,), (3,), (0,), (3, 4), (3, 1), (1, 4), (0, 4), (3, 0), (3, 4, 2), (3, 2)]


def _first(op: OpInfo) -> tuple[Sample, str]:
    return op.samples[0], next(d for d in op.dtypes if d in op.samples[0].dtypes)


def _with(call: Call, tensor: Any, value: Any) -> Call:
    """`call` with `value` in the place of `tensor`."""
    args = [value if argument is tensor else argument for argument in call.args]
    kwargs = {name: value if given is tensor else given for name, given in call.kwargs.items()}
    return replace(call, args=args, kwargs=kwargs)


@pytest.mark.parametrize("wrong", ["a string", [0, 1]], ids=["string", "list"])
@pytest.mark.parametrize("op", [o for o in OPS if o.refuses_as_pytorch], ids=lambda op: op.name)
def test_what_is_no_tensor_is_refused(oracle: ModuleType, op: OpInfo, wrong: object) -> None:
    """TypeError too where PyTorch, in functions written in Python, lets AttributeError out."""
    case, dtype = _first(op)
    arrays = case.arrays(dtype, op.name)
    for i in range(len(arrays)):
        if op.function is None and i == op.receiver:
            continue
        own, torch = (case.bind(lib, arrays) for lib in (gradfn, oracle))
        try:
            op.run(oracle, _with(torch, torch.tensors[i], wrong))
        except (TypeError, AttributeError):
            with noting(op, case, dtype), pytest.raises(TypeError):
                op.run(gradfn, _with(own, own.tensors[i], wrong))


@pytest.mark.parametrize("target", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_targets_of_classes(oracle: ModuleType, name: str, target: tuple[int, ...]) -> None:
    for shape, dtype in product(SHAPES[1:3] + SHAPES[4:], ("int64", "float32", "int32")):
        _same_outcome(oracle, name, np.zeros(shape, np.float32), np.zeros(target, dtype))


@pytest.mark.parametrize("target", SHAPES, ids=str)
@pytest.mark.parametrize(
    "name",
    [
        "mse_loss",
        "l1_loss",
        "huber_loss",
        "soft_margin_loss",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "kl_div",
        "multilabel_soft_margin_loss",
    ],
)
@pytest.mark.filterwarnings(
    "ignore:Using a target size:UserWarning", "ignore:reduction:UserWarning"
)
def test_shapes_of_targets(oracle: ModuleType, name: str, target: tuple[int, ...]) -> None:
    for shape in SHAPES:
        _same_outcome(oracle, name, np.full(shape, 0.5, np.float32), np.ones(target, np.float32))


def _same_outcome(oracle: ModuleType, name: str, *arrays: np.ndarray[Any, Any]) -> None:
    def run(lib: ModuleType) -> Any:
        return getattr(lib.nn.functional, name)(*map(lib.from_numpy, arrays))

    try:
        expected = run(oracle)
    except LIBRARY_ERRORS as refusal:
        with pytest.raises(type(refusal)):
            run(gradfn)
    else:
        np.testing.assert_allclose(run(gradfn).numpy(), expected.numpy(), rtol=1e-5)


def test_a_message_names_the_argument() -> None:
    x = gradfn.ones(2, 2)
    with pytest.raises(TypeError, match=r"linear\(\): argument 'weight' \(position 2\) must be"):
        gradfn.nn.functional.linear(x, 3)
    with pytest.raises(TypeError, match=r"expected Tensor as element 1 in argument 'indices'"):
        gradfn.index_put(x, (gradfn.tensor([0]), 1), x)


def test_an_attribute_error_of_the_user_passes() -> None:
    def distance(a: Any, b: Any) -> Any:
        return a.no_such_attribute

    x = gradfn.ones(2, 2)
    with pytest.raises(AttributeError, match="no_such_attribute"):
        gradfn.nn.functional.triplet_margin_with_distance_loss(x, x, x, distance_function=distance)
