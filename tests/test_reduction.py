"""Reductions, scans and sorts: what the operator database cannot say."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn import ops, return_types


def leaf(values: Any) -> gradfn.Tensor:
    return gradfn.tensor(values, dtype=gradfn.float64, requires_grad=True)


def test_named_results_print_as_in_pytorch() -> None:
    found = gradfn.tensor([1.0, 3.0]).max(0)
    expected = "torch.return_types.max(\nvalues=tensor(3.),\nindices=tensor(1))"
    assert repr(found) == expected
    assert found.indices is found[1]


def test_named_results_are_tuples_of_a_fixed_length() -> None:
    pair = return_types.sort((1, 2))
    assert pair == (1, 2) and pickle.loads(pickle.dumps(pair)) == pair
    assert type(pickle.loads(pickle.dumps(pair))) is return_types.sort
    with pytest.raises(TypeError, match="takes a 2-sequence"):
        return_types.sort((1, 2, 3))


@pytest.mark.parametrize("name", ["sum", "mean", "cumsum", "norm", "var"])
def test_half_precision_is_accumulated_in_single(name: str) -> None:
    """In float16 itself, 2048 + 1 is 2048."""
    ones = gradfn.ones(4096, dtype=gradfn.float16)
    wide = getattr(gradfn.ones(4096), name)
    arguments = (0,) if name == "cumsum" else ()
    expected = wide(*arguments).numpy().astype(np.float16)
    np.testing.assert_array_equal(getattr(ones, name)(*arguments).numpy(), expected)


@pytest.mark.parametrize("name", ["sum", "nansum", "prod"])
def test_integer_results_have_no_history(name: str) -> None:
    assert not getattr(leaf([1.0, 2.0]), name)(dtype=gradfn.int64).requires_grad


def test_the_form_decides_who_gets_the_gradient_of_a_tie() -> None:
    given = [1.0, 3.0, 3.0]
    shared, one = leaf(given), leaf(given)
    shared.max().backward()
    one.max(0).values.backward()
    assert shared.grad.tolist() == [0.0, 0.5, 0.5]
    assert one.grad.tolist() == [0.0, 1.0, 0.0]


def test_infinite_sums_do_not_spoil_the_gradients_before_and_after() -> None:
    x = leaf([-math.inf, 0.0, 1.0])
    gradfn.logcumsumexp(x, 0)[1:].sum().backward()
    assert math.isnan(x.grad[0].item())
    np.testing.assert_allclose(x.grad[1:].numpy(), [1 + 1 / (1 + math.e), math.e / (1 + math.e)])


@pytest.mark.parametrize("reverse", [False, True])
def test_recurrence_is_the_loop_that_it_says(reverse: bool) -> None:
    rng = np.random.default_rng(0)
    terms, factors = rng.normal(size=(2, 4, 3))
    expected = terms.copy()
    for i in range(1, 4):
        if reverse:
            expected[3 - i] += factors[4 - i] * expected[4 - i]
        else:
            expected[i] += factors[i] * expected[i - 1]
    both = gradfn.tensor(terms), gradfn.tensor(factors)
    np.testing.assert_allclose(ops.recurrence(*both, 0, reverse).numpy(), expected)
    column = ops.recurrence(both[0][:, 0], both[1][:, 0], 0, reverse)
    np.testing.assert_allclose(column.numpy(), expected[:, 0])


LINEAR = {
    "unsum": lambda x: ops.unsum(x, (3, 4, 2), 1),
    "shift": lambda x: ops.shift(x, 1, 1),
    "shift back": lambda x: ops.shift(x, 0, -2),
    "recurrence": lambda x: ops.recurrence(x, gradfn.tensor([2.0, -1.0]).double(), 0, True),
    "unselect": lambda x: ops.unselect(x, 1, gradfn.tensor([[0, 3]] * 3), (3, 4)),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_rows_have_their_adjoints_as_gradients(name: str) -> None:
    """<A x, y> = <x, A' y>."""
    rng = np.random.default_rng(0)
    x = leaf(rng.normal(size=(3, 2)))
    image = LINEAR[name](x)
    y = gradfn.tensor(rng.normal(size=tuple(image.shape)))
    image.backward(y)
    assert (x.grad * x).sum().item() == pytest.approx((image * y).sum().item())


def test_products_with_zeros_have_exact_derivatives_of_every_order() -> None:
    x = leaf([2.0, 0.0, 0.0, 3.0])
    (first,) = gradfn.autograd.grad(x.prod(), x, create_graph=True)
    (second,) = gradfn.autograd.grad(first[1], x, create_graph=True)
    (third,) = gradfn.autograd.grad(second[2], x)
    assert first.tolist() == [0.0, 0.0, 0.0, 0.0]
    assert second.tolist() == [0.0, 0.0, 6.0, 0.0]
    assert third.tolist() == [3.0, 0.0, 0.0, 2.0]


def test_softmax_without_a_dimension_warns() -> None:
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        found = gradfn.nn.functional.softmax(gradfn.zeros(2, 4))
    assert found.tolist() == [[0.25] * 4] * 2


@pytest.mark.parametrize("descending", [False, True])
def test_nan_is_larger_than_every_number(descending: bool) -> None:
    values, indices = gradfn.tensor([math.nan, 1.0, math.inf]).sort(descending=descending)
    assert math.isnan(values[0 if descending else 2].item())
    assert indices.tolist() == ([0, 2, 1] if descending else [1, 2, 0])


def test_a_few_of_many_are_found_without_sorting_all() -> None:
    given = np.random.default_rng(0).permutation(1000)
    for largest in (True, False):
        values, indices = gradfn.topk(gradfn.tensor(given), 5, largest=largest)
        expected = np.sort(given)[::-1][:5] if largest else np.sort(given)[:5]
        assert values.tolist() == expected.tolist()
        assert given[indices.numpy()].tolist() == expected.tolist()


def test_distinct_values_refuse_to_be_differentiated() -> None:
    with pytest.raises(NotImplementedError, match="the derivative for '_unique2' is not"):
        leaf([1.0, 2.0]).unique().sum().backward()
