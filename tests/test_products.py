"""Matrix products where samples do not reach: precision, order of work, ways to say an einsum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn.ops.contraction import _cheapest_splits


def random(*shape: int) -> Any:
    return gradfn.from_numpy(np.random.default_rng(len(shape)).standard_normal(shape))


def test_half_precision_accumulates_in_single() -> None:
    ones = gradfn.ones(1, 4096, dtype=gradfn.float16)
    assert (ones @ ones.T).item() == 4096.0  # sums in half precision stop at 2048
    assert gradfn.dot(ones[0], ones[0]).item() == 4096.0


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3), (4, 3, 5)), ((3,), (4, 3, 5)), ((4, 2, 3), (3,)), ((4, 1, 2, 3), (6, 3, 5))],
)
@pytest.mark.parametrize("wanted", [(True, True), (True, False), (False, True), (False, False)])
def test_products_are_the_same_however_they_are_folded(
    left: tuple[int, ...], right: tuple[int, ...], wanted: tuple[bool, bool]
) -> None:
    a, b = random(*left), random(*right)
    expected = np.matmul(a.numpy(), b.numpy())
    product = a.requires_grad_(wanted[0]) @ b.requires_grad_(wanted[1])
    np.testing.assert_allclose(product.detach().numpy(), expected, rtol=1e-12)


def test_python_asks_the_other_operand() -> None:
    class Other:
        def __rmatmul__(self, left: Any) -> str:
            return "taken"

    assert gradfn.ones(2) @ Other() == "taken"
    with pytest.raises(TypeError, match="unsupported operand type"):
        gradfn.ones(2) @ 3


def test_a_zero_factor_drops_its_term() -> None:
    nan = gradfn.full((2, 2), float("nan"))
    ones = gradfn.ones(2, 2)
    assert gradfn.addmm(nan, ones, ones, beta=0).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert gradfn.addmm(ones, nan, ones, alpha=0).tolist() == ones.tolist()


def test_chains_are_multiplied_with_the_least_work() -> None:
    assert _cheapest_splits([10, 100, 5, 50]) == {(0, 1): 0, (1, 2): 1, (0, 2): 1}
    matrices = [random(*s) for s in ((3, 7), (7, 2), (2, 9), (9, 4))]
    expected = np.linalg.multi_dot([m.numpy() for m in matrices])
    found = gradfn.linalg.multi_dot(matrices)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_chain_matmul_is_deprecated() -> None:
    with pytest.warns(UserWarning, match="torch.chain_matmul is deprecated"):
        assert gradfn.chain_matmul(gradfn.ones(2, 3), gradfn.ones(3, 1)).shape == (2, 1)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk,kl,lm->im", [(2, 3), (3, 4), (4, 2), (2, 5)]),
        ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
        ("iji->j", [(3, 2, 3)]),
        ("iij,jk->ik", [(3, 3, 2), (2, 4)]),
        ("a...b,b...->a...", [(2, 3, 4), (4, 3)]),
        ("ij,kl->jk", [(2, 3), (4, 5)]),
        ("i , j -> j i", [(2,), (3,)]),
        ("ba", [(2, 3)]),
        ("Ab,bC", [(2, 3), (3, 4)]),
        ("ij,ij,ij->", [(2, 3), (2, 3), (2, 3)]),
    ],
)
def test_einsum_is_numpys(equation: str, shapes: list[tuple[int, ...]]) -> None:
    operands = [random(*shape) for shape in shapes]
    expected = np.einsum(equation, *(t.numpy() for t in operands))
    found = gradfn.einsum(equation, *operands)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10)


def test_einsum_sums_sizes_of_one_as_broadcast() -> None:
    a, b = random(2, 1), random(3, 4)
    expected = a.numpy() * b.numpy().sum(0)
    np.testing.assert_allclose(gradfn.einsum("ij,jk->ik", a, b).numpy(), expected, rtol=1e-12)


def test_einsum_takes_numbered_dimensions() -> None:
    a, b = random(2, 3), random(3, 4)
    expected = (a @ b).numpy()
    for found in (
        gradfn.einsum(a, [0, 1], b, [1, 2], [0, 2]),
        gradfn.einsum(a, [0, 1], b, [1, 2]),
        gradfn.einsum(a, [..., 1], b, [1, 51]),
    ):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("equation", "shapes", "phrase"),
    [
        ("i1->i", [(2, 2)], "invalid subscript given at index 1 in the equation string"),
        ("i.->i", [(2, 2)], "found '.' for operand 0 that is not part of any ellipsis"),
        ("...i...->i", [(2, 2)], "found '.' for operand 0 for which an ellipsis was already found"),
        ("i,i->i", [(2,)], "fewer operands were provided than specified in the equation"),
        ("i->ii", [(2,)], "output subscript i appears more than once in the output"),
        ("ii->i", [(2, 3)], "subscript i is repeated for operand 0 but the sizes don't match"),
        ("ij...->...", [(2,)], r"the number of subscripts in the equation \(2\) is more than"),
        ("...i,...i", [(2, 3), (4, 3)], "covered by ellipsis in operand 1"),
    ],
)
def test_einsum_names_what_is_wrong(
    equation: str, shapes: list[tuple[int, ...]], phrase: str
) -> None:
    with pytest.raises(RuntimeError, match=rf"^einsum\(\): .*{phrase}"):
        gradfn.einsum(equation, *(random(*shape) for shape in shapes))


def test_einsum_needs_operands() -> None:
    with pytest.raises(ValueError, match="must specify the equation string and at least one"):
        gradfn.einsum("ij")
    with pytest.raises(ValueError, match=r"not within the valid range \[0, 52\): 60"):
        gradfn.einsum(gradfn.ones(2), [60])
    with pytest.raises(TypeError, match="expected Tensor as element 0 in argument 1, but got int"):
        gradfn.einsum("ij", 3)
