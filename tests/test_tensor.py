"""What a tensor tells, converts to and is written through: examples, errors, and parity."""

from __future__ import annotations

import math
import operator
from types import ModuleType

import numpy as np
import pytest

import gradfn
from gradfn import Tensor, nn
from parity import described, evaluate

PARITY = [
    # questions
    "[f(torch.zeros(2, 3)) for f in (len, lambda t: t.dim(), lambda t: t.numel())]",
    "torch.zeros(2, 3).size(), torch.zeros(2, 3).size(-1), torch.zeros(2, 3).stride(0)",
    "torch.zeros(0, 3).stride(), torch.zeros(2, 0, 3).stride(), torch.zeros(()).stride()",
    "torch.arange(6)[2:].storage_offset(), torch.arange(6)[2:].untyped_storage().nbytes()",
    "torch.ones(4, 6).t()[1:].diagonal().storage_offset()",
    "torch.ones(4, 6).t().expand(2, 6, 4)[1].untyped_storage().nbytes()",
    "torch.empty_strided((2, 2), (4, 1)).untyped_storage().nbytes()",
    "torch.ones(2).element_size(), torch.ones(2).nbytes, torch.ones(2).itemsize",
    "torch.ones(2).device, torch.ones(2).layout, torch.ones(2).is_cuda, torch.ones(2).is_sparse",
    "torch.ones(2).is_floating_point(), torch.ones(2).is_complex(), torch.ones(2).is_signed()",
    "torch.ones(2).get_device(), torch.ones(2).is_pinned(), torch.ones(2).is_inference()",
    "torch.ones(2, 3).t().is_contiguous(), torch.ones(1, 3).t().is_contiguous()",
    "torch.ones(1, 2, 3, 4).is_contiguous(memory_format=torch.channels_last)",
    "torch.ones(2).type(), torch.ones(2, dtype=torch.bool).type()",
    "torch.ones(2).untyped_storage()",
    "torch.is_tensor(1), torch.is_floating_point(torch.ones(1)), torch.numel(torch.ones(2, 3))",
    "isinstance(torch.ones(2), torch.FloatTensor), isinstance(torch.ones(2), torch.LongTensor)",
    "torch.typename(torch.ones(2)), torch.typename(1)",
    # Python's conversions
    "bool(torch.ones(1, 1)), int(torch.tensor(2.7)), float(torch.tensor(3))",
    "complex(torch.ones(1)), complex(torch.tensor(1 + 2j))",
    "[1, 2, 3][torch.tensor(1)], [1, 2, 3][torch.tensor([True])]",
    "torch.ones(2).tolist(), torch.tensor(1).tolist(), torch.zeros(2, 0).tolist()",
    "torch.tensor([[1j]]).item(), torch.tensor([True]).item(), torch.tensor(1).item()",
    "list(torch.arange(4).reshape(2, 2)), 2 in torch.arange(3)",
    "torch.tensor(5) in torch.arange(3)",
    "f'{torch.tensor(1.5):.2f} {torch.tensor(2)} {torch.ones(2)}'",
    "f'{torch.tensor(1.5, requires_grad=True):.3f}', f'{torch.nn.Parameter(torch.tensor(1.5))}'",
    # copies and casts
    "torch.ones(2, requires_grad=True).clone()",
    "torch.ones(2, requires_grad=True).to(torch.float64)",
    "torch.ones(2, requires_grad=True).to(torch.float32, copy=True).grad_fn.name()",
    "torch.ones(2, requires_grad=True).double().grad_fn.name()",
    "torch.ones(2, requires_grad=True).type(torch.DoubleTensor)",
    "torch.ones(2).type('torch.LongTensor'), torch.ones(2).type_as(torch.ones(1).double())",
    "torch.ones(2).to('cpu', torch.float64), torch.ones(2).to(torch.ones(1, dtype=torch.int8))",
    "torch.ones(2).to(float), torch.ones(2).to(None), torch.ones(2).to(dtype=torch.float16)",
    "torch.tensor([1 + 2j]).to(torch.float32), torch.tensor([1 + 2j, 0]).bool()",
    "[getattr(torch.tensor([1.5]), n)() for n in 'half float double int long short bool'.split()]",
    "[getattr(torch.tensor([1.5]), n)() for n in 'byte char cfloat cdouble cpu'.split()]",
    "[getattr(torch.ones(2, 3).t(), n)().stride() for n in 'clone contiguous double'.split()]",
    "torch.ones(3).expand(2, 3).clone(), torch.ones(2, 6)[:, ::2].clone()",
    "torch.ones(3, 4).t()[:, None].expand(4, 2, 3).clone().stride()",
    "torch.ones(2, 3, 4).permute(1, 2, 0)[:, :, None].expand(3, 4, 7, 2).double().stride()",
    "torch.zeros_like(torch.ones(2, 3, 4).permute(1, 2, 0)[::2]).stride()",
    "torch.ones(1, 2, 3, 4).to(memory_format=torch.channels_last)",
    "torch.ones(2, 3).t().clone(memory_format=torch.contiguous_format)",
    # promotion and limits
    "torch.result_type(torch.ones(2, dtype=torch.int64), 1.5), torch.result_type(1, 1.5)",
    "torch.can_cast(torch.float64, torch.int32), torch.promote_types(torch.int32, torch.float16)",
    "[torch.finfo(d) for d in (torch.float16, torch.float32, torch.float64, torch.complex64)]",
    "[torch.iinfo(d) for d in (torch.uint8, torch.int32, torch.int64)]",
    "torch.finfo(torch.float32).max, torch.finfo(torch.float32).bits, torch.iinfo(torch.int8).min",
    "torch.broadcast_shapes((2, 1), (3,)), torch.broadcast_shapes(3, (2, 3))",
    "torch.broadcast_shapes((2,), (3,))",
    "torch.broadcast_shapes((-1,), (3,))",
    "torch.ones(2, 3).t().dim_order(), torch.ones(2).layout == torch.sparse_coo",
    # parameters
    "torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter()",
    "torch.nn.Parameter(torch.ones(2)) * 2",
    "torch.nn.Parameter(torch.ones(1, dtype=torch.int64), requires_grad=False)",
    "torch.nn.Buffer(torch.ones(2)), isinstance(torch.nn.Buffer(torch.ones(2)), torch.nn.Buffer)",
    "type('Sub', (torch.Tensor,), {})([1, 2])",
    "torch.device('cpu'), torch.device('cuda:1').index, torch.device('cpu', 0)",
    "torch.device('cpu') == torch.device('cpu:0'), torch.device('cpu') == 'cpu'",
]

ERRORS: list[tuple[str, type[Exception], str]] = [
    ("bool(torch.ones(2))", RuntimeError, "Boolean value of Tensor with more than one value is am"),
    ("bool(torch.ones(0))", RuntimeError, "Boolean value of Tensor with no values is ambiguous"),
    ("int(torch.ones(2))", ValueError, "only one element tensors can be converted to Python scal"),
    ("float(torch.tensor(1j))", RuntimeError, "value cannot be converted to type double without"),
    ("int(torch.tensor(nan))", ValueError, "cannot convert float NaN to integer"),
    ("torch.ones(2).item()", RuntimeError, "a Tensor with 2 elements cannot be converted to Scal"),
    ("[1][torch.tensor(0.0)]", TypeError, "only integer tensors of a single element can be conve"),
    ("len(torch.tensor(1))", TypeError, "len() of a 0-d tensor"),
    ("list(torch.tensor(1))", TypeError, "iteration over a 0-d tensor"),
    ("'a' in torch.arange(3)", RuntimeError, "Tensor.__contains__ only supports Tensor or scalar"),
    ("f'{torch.ones(2):.2f}'", TypeError, "unsupported format string passed to Tensor.__format__"),
    ("torch.ones(2).size(2)", IndexError, "Dimension out of range (expected to be in range of [-1"),
    ("torch.tensor(1).stride(0)", IndexError, "Dimension specified as 0 but tensor has no dimens"),
    (
        "torch.ones(2, 2)[0].detach_()",
        RuntimeError,
        "Can't detach views in-place. Use detach() ins",
    ),
    ("torch.ones(2).to('float64')", RuntimeError, "Invalid device string: 'float64'"),
    ("torch.ones(2).type('torch.Foo')", ValueError, "invalid type: 'torch.Foo'"),
    ("torch.ones(2).to(memory_format=torch.channels_last)", RuntimeError, "required rank 4 tensor"),
    ("torch.ones(2).set_(torch.ones(1).long())", RuntimeError, "Could not set tensor of type"),
    ("torch.nn.Parameter(torch.ones(1).long())", RuntimeError, "Only Tensors of floating point"),
    ("torch.finfo(torch.int64)", TypeError, "torch.finfo() requires a floating point input type."),
    ("torch.iinfo(torch.float32)", TypeError, "torch.iinfo() requires an integer input type."),
    ("torch.set_default_dtype(torch.int64)", TypeError, "only floating-point types are supported"),
    ("torch.device('foo')", RuntimeError, "Expected one of cpu, cuda,"),
]


@pytest.mark.parametrize(("expression", "error", "phrase"), ERRORS)
def test_errors(expression: str, error: type[Exception], phrase: str) -> None:
    with pytest.raises(error) as caught:
        evaluate(expression, gradfn)
    assert str(caught.value).startswith(phrase)


@pytest.mark.parametrize("expression", [*PARITY, *(e for e, *_ in ERRORS)])
def test_parity(oracle: ModuleType, expression: str) -> None:
    assert described(expression, gradfn) == described(expression, oracle)


def test_only_the_cpu() -> None:
    assert gradfn.device("cuda") != gradfn.ones(1).device
    cuda = AssertionError, "Torch not compiled with CUDA enabled"
    mps = RuntimeError, "gradfn has tensors on the CPU only"
    for place, (kind, phrase) in {"cuda": cuda, "mps": mps, gradfn.device("cuda:1"): cuda}.items():
        with pytest.raises(kind, match=phrase):
            gradfn.ones(1).to(place)
        with pytest.raises(kind, match=phrase):
            gradfn.zeros(1, device=place)


def test_detach_shares_memory_and_version() -> None:
    x = gradfn.ones(2, requires_grad=True)
    y = x * 2
    cut = y.detach()
    assert not cut.requires_grad
    assert cut.data_ptr() == y.data_ptr()
    cut.zero_()
    assert y._version == cut._version == 1
    assert y.tolist() == [0.0, 0.0]


def test_data_shares_memory_but_no_version() -> None:
    x = gradfn.ones(2, requires_grad=True)
    x.data.mul_(3)
    assert x.tolist() == [3.0, 3.0]
    assert x._version == 0
    x.data = gradfn.zeros(3, dtype=gradfn.float64)
    assert (x.shape, x.dtype, x.is_leaf) == ((3,), gradfn.float64, True)
    (x * 2).sum().backward()
    assert x.grad.dtype is gradfn.float64
    with pytest.raises(RuntimeError, match=r"^data set to a tensor that requires gradients must"):
        x.data = gradfn.zeros(3, dtype=gradfn.int64)
    with pytest.raises(TypeError, match=r"^Variable data has to be a tensor, but got int"):
        x.data = 1


def test_detach_in_place() -> None:
    y = gradfn.ones(2, requires_grad=True) * 2
    assert y.detach_() is y
    assert y.grad_fn is None
    assert not y.requires_grad


def test_what_changes_nothing_returns_the_tensor_itself() -> None:
    x = gradfn.ones(2)
    for same in (x.to(gradfn.float32), x.float(), x.cpu(), x.to("cpu"), x.contiguous(), x.to(x)):
        assert same is x


def test_gradients_arrive_in_the_inputs_dtype() -> None:
    x = gradfn.tensor([1.0, 2.0], requires_grad=True)
    (x.double() ** 2).sum().backward()
    assert x.grad.dtype is gradfn.float32
    assert x.grad.tolist() == [2.0, 4.0]
    z = gradfn.tensor([1.0], requires_grad=True)
    (z.to(gradfn.complex64) * 1j).real.sum().backward()
    assert z.grad.dtype is gradfn.float32


def test_half_is_cast_by_way_of_its_value() -> None:
    values = gradfn.tensor([65504.0, 65520.0, 1e-8])
    assert values.half().tolist() == [65504.0, math.inf, 0.0]


def test_item_of_a_gradient_needs_no_warning_but_float_gives_one() -> None:
    x = gradfn.tensor(2.5, requires_grad=True)
    assert x.item() == 2.5
    with pytest.warns(UserWarning, match="^Converting a tensor with requires_grad=True to a scal"):
        assert float(x) == 2.5


def test_set_shows_other_memory() -> None:
    x, y = gradfn.ones(2), gradfn.zeros(3)
    assert x.set_(y) is x
    assert x.is_set_to(y)
    assert x._version == 1


def test_identity_and_attributes() -> None:
    x = gradfn.ones(2)
    assert hash(x) == id(x)
    assert len({x, x}) == 1
    x.note = "mine"
    assert x.note == "mine"
    with pytest.raises(AttributeError, match="foo"):
        operator.attrgetter("foo")(x)


def test_apply_calls_a_python_function() -> None:
    x = gradfn.tensor([[1.0, 2.0]])
    assert x.apply_(lambda value: value + 1) is x
    assert x.tolist() == [[2.0, 3.0]]


def test_parameters_share_memory_and_version() -> None:
    data = gradfn.ones(2)
    parameter = nn.Parameter(data)
    data.add_(1)
    assert parameter.tolist() == [2.0, 2.0]
    assert parameter._version == 1
    assert isinstance(parameter, Tensor)
    assert type(parameter * 1) is Tensor
    assert nn.Parameter(parameter * 2).is_leaf


def test_a_subclass_keeps_memory_and_history() -> None:
    class Marked(Tensor):
        pass

    x = gradfn.ones(2, requires_grad=True)
    y = x * 2
    marked = y.as_subclass(Marked)
    assert type(marked) is Marked
    y.mul_(3)
    assert repr(marked) == "Marked([6., 6.], grad_fn=<AsStridedBackward0>)"
    marked.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_bfloat16_can_be_named_and_used_where_installed() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = gradfn.tensor([1.0, 1 / 3], dtype=gradfn.bfloat16)
    assert x.numpy().dtype == ml_dtypes.bfloat16
    assert x.float().tolist() == [1.0, float(np.float32(0.333984375))]
    assert gradfn.finfo(gradfn.bfloat16).eps == 0.0078125


def test_default_dtype_of_new_tensors() -> None:
    gradfn.set_default_dtype(gradfn.float64)
    try:
        assert gradfn.tensor(1.0).dtype is gradfn.float64
        assert gradfn.tensor(1j).dtype is gradfn.complex128
        assert gradfn.Tensor([1]).dtype is gradfn.float64
    finally:
        gradfn.set_default_dtype(gradfn.float32)


def test_resize_keeps_the_first_elements() -> None:
    x = gradfn.tensor([1, 2, 3])
    assert x.resize_(2, 1) is x
    assert x.tolist() == [[1], [2]] and x._version == 1
    assert x.resize_((2, 1))._version == 1
    assert x.resize_as_(gradfn.zeros(4))[:2].tolist() == [1, 2] and x._version == 2
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        gradfn.ones(2, requires_grad=True).resize_(3)


def test_a_leaf_given_other_memory_takes_gradients_of_its_new_shape() -> None:
    x = gradfn.ones(3, requires_grad=True)
    kept = (x * x).sum()
    with gradfn.no_grad():
        x.set_(gradfn.ones(2))
    (x * 2).sum().backward()
    assert kept.item() == 3 and x.grad.tolist() == [2, 2]


def test_a_storage_shows_the_elements_of_the_memory() -> None:
    t = gradfn.arange(6.0)[2:]
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        memory = t.storage()
    assert (len(memory), memory.dtype, memory.element_size(), memory.nbytes()) == (
        6,
        gradfn.float32,
        4,
        24,
    )
    memory[-1] = 9
    assert t[-1] == 9
    assert memory.data_ptr() == t.untyped_storage().data_ptr()
    assert repr(memory).endswith(
        "[torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 6]"
    )
    with pytest.raises(IndexError, match="index 6 out of range for storage of size 6"):
        memory[6]
    with pytest.raises(RuntimeError, match="slices are only supported"):
        memory[1:]
