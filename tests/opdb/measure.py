"""What the loops over the database do with a sample, in whichever library, and how they compare."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from .core import Call, OpInfo, Sample, Values

TOLERANCE = {
    "float64": 1e-10,
    "complex128": 1e-10,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float16": 1e-3,
}

EXPECTED_WARNINGS = (
    "ignore:.*degrees of freedom is <= 0:UserWarning",
    "ignore:The reduce argument of torch.scatter with Tensor src is deprecated:UserWarning",
    "ignore:index_reduce.. is in beta and the API may change at any time:UserWarning",
    "ignore:torch.\\w+ is deprecated in favor of torch.linalg:UserWarning",
    "ignore:Casting complex values to real discards the imaginary part:UserWarning",
)
"""What PyTorch warns about in some samples, as filters."""


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor, of any library."""
    return hasattr(value, "grad_fn")


def tensors(result: Any) -> list[Any]:
    """The tensors in a result."""
    if isinstance(result, list | tuple):
        return [tensor for item in result for tensor in tensors(item)]
    return [result] if is_tensor(result) else []


def to_numpy(tensor: Any) -> Values:
    """The values of a tensor, conjugate views resolved by the copy."""
    return np.asarray(tensor.detach().clone().numpy())


def dtype_name(tensor: Any) -> str:
    """The dtype's name without its module."""
    return str(tensor.dtype).rsplit(".", 1)[-1]


def cotangents(lib: ModuleType, outputs: Sequence[Any], key: str) -> list[Any]:
    """A random tensor for every output, the same in every library."""
    rng = np.random.default_rng(zlib.crc32(f"{key}/cotangent".encode()))
    drawn = []
    for output in outputs:
        shape = tuple(output.shape)
        real, imaginary = rng.uniform(0.5, 1.5, shape), rng.uniform(-1.0, 1.0, shape)
        dtype = np.dtype(dtype_name(output))
        drawn.append(np.asarray(real + 1j * imaginary if dtype.kind == "c" else real).astype(dtype))
    return [lib.from_numpy(array) for array in drawn]


def recorded(result: Any) -> list[Any]:
    """The tensors in a result that have a history."""
    return [tensor for tensor in tensors(result) if tensor.requires_grad]


def pull_back(lib: ModuleType, result: Any, leaves: list[Any], key: str, **how: Any) -> list[Any]:
    """The gradients of the leaves for random cotangents of the result."""
    outputs = recorded(result)
    seeds = cotangents(lib, outputs, key)
    return list(lib.autograd.grad(outputs, leaves, seeds, allow_unused=True, **how))


def pull_back_twice(lib: ModuleType, result: Any, leaves: list[Any], key: str) -> list[Any]:
    """The gradients, to leaves and cotangents, of the leaves' gradients times `directions`."""
    outputs = recorded(result)
    seeds = [seed.requires_grad_() for seed in cotangents(lib, outputs, key)]
    first = lib.autograd.grad(outputs, leaves, seeds, allow_unused=True, create_graph=True)
    pairs = zip(first, directions(lib, leaves, key), strict=True)
    followed = [(g, d) for g, d in pairs if g is not None and g.requires_grad]
    sources = [*leaves, *seeds]
    if not followed:
        return [None] * len(sources)
    gradients, weights = zip(*followed, strict=True)
    return list(lib.autograd.grad(gradients, sources, weights, allow_unused=True))


def directions(lib: ModuleType, leaves: list[Any], key: str) -> list[Any]:
    """A random tensor for every leaf, to contract its gradient with."""
    return cotangents(lib, leaves, f"{key}/second")


def node_names(result: Any) -> Counter[str]:
    """How often each kind of node occurs in the graph of a result, down to its leaves."""
    ahead = [t.grad_fn for t in tensors(result) if t.grad_fn is not None]
    seen: dict[int, Any] = {}
    while ahead:
        node = ahead.pop()
        if id(node) not in seen:
            seen[id(node)] = node
            ahead.extend(parent for parent, _ in node.next_functions if parent is not None)
    return Counter(type(node).__name__ for node in seen.values())


def in_place(op: OpInfo, lib: ModuleType, call: Call) -> tuple[Any, Any]:
    """The in-place variant on a copy of the receiver: what it returns, and that copy."""
    assert op.inplace is not None
    receiver = call.args[op.receiver].clone()
    args = [*call.args[: op.receiver], receiver, *call.args[op.receiver + 1 :]]
    result = op.run(lib, replace(call, args=args), op.as_method(op.inplace))
    return result, receiver


def structure(result: Any) -> Any:
    """Sequences with their field names, tensors with dtype and shape, anything else as it is."""
    if isinstance(result, list | tuple):
        own = [name for name in dir(result) if not name.startswith(("_", "n_"))]
        fields = sorted(set(own) - set(dir(tuple)) - set(dir(list)))
        return ("list" if isinstance(result, list) else "tuple", fields, [*map(structure, result)])
    if is_tensor(result):
        return dtype_name(result), tuple(result.shape)
    return result


def tolerance(call: Call, result: Any) -> float:
    """The tolerance of the lowest precision among the arguments and results."""
    names = {dtype_name(tensor) for tensor in [*call.tensors, *tensors(result)]}
    return max((TOLERANCE[name] for name in names & set(TOLERANCE)), default=0.0)


def rounding(call: Call) -> float:
    """How far two ways to compute the same may differ, in the precision of the arguments."""
    kinds = [np.dtype(dtype_name(tensor)) for tensor in call.tensors]
    return max((4 * float(np.finfo(k).eps) for k in kinds if k.kind in "fc"), default=0.0)


def assert_same(actual: Sequence[Any], expected: Sequence[Any], limit: float, what: str) -> None:
    """Tensors agree in dtype, shape, NaN and infinities, and in value up to `limit`.

    The limit is relative, and absolute for values below one. None equals None only.
    """
    assert len(actual) == len(expected), f"{what}: {len(actual)} instead of {len(expected)}"
    for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
        label = f"{what} {i}"
        if a is None or b is None:
            assert a is b, f"{label}: {a} instead of {b}"
            continue
        assert dtype_name(a) == dtype_name(b), label
        assert tuple(a.shape) == tuple(b.shape), label
        assert_close(to_numpy(a), to_numpy(b), limit, label)


def assert_close(actual: Values, expected: Values, limit: float, label: str) -> None:
    """Values agree up to `limit`; NaN and infinities are in the same places."""
    if expected.dtype.kind in "fc":
        np.testing.assert_allclose(actual, expected, rtol=limit, atol=limit, err_msg=label)
    else:
        np.testing.assert_array_equal(actual, expected, err_msg=label)


@contextmanager
def noting(op: OpInfo, case: Sample, dtype: str) -> Iterator[None]:
    """Names the sample in whatever goes wrong with it."""
    try:
        yield
    except Exception as failure:
        failure.add_note(f"{op.name} in {dtype}: {case}")
        raise
