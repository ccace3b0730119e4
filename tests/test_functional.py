"""`autograd.functional`, and gradients of batches."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

PRODUCTS = {"vjp": vjp, "jvp": jvp, "vhp": vhp, "hvp": hvp}
SECOND_ORDER = [vhp, hvp]


def double(values: Any, requires_grad: bool = False) -> gradfn.Tensor:
    return gradfn.tensor(values, dtype=gradfn.float64, requires_grad=requires_grad)


def close(actual: gradfn.Tensor, expected: Any) -> bool:
    return bool(np.allclose(actual.detach().numpy(), np.asarray(expected)))


def cubes(x: gradfn.Tensor) -> gradfn.Tensor:
    return (x**3).sum()


X = double([1.0, 2.0, 3.0])
V = double([1.0, -1.0, 0.5])
MATRIX = double([[1.0, 2.0, 0.0], [0.5, -1.0, 4.0]])


# Values


def test_products_with_a_linear_map_are_products_with_its_matrix() -> None:
    u = double([2.0, 3.0])
    output, result = vjp(MATRIX.mv, X, u)
    assert close(output, MATRIX.numpy() @ X.numpy())
    assert close(result, u.numpy() @ MATRIX.numpy())
    output, result = jvp(MATRIX.mv, X, V)
    assert close(output, MATRIX.numpy() @ X.numpy())
    assert close(result, MATRIX.numpy() @ V.numpy())
    assert close(jacobian(MATRIX.mv, X), MATRIX)


@pytest.mark.parametrize("product", SECOND_ORDER)
def test_products_with_the_hessian(product: Callable[..., Any]) -> None:
    output, result = product(cubes, X, V)
    assert close(output, 36.0)
    assert close(result, 6 * X.numpy() * V.numpy())


@pytest.mark.parametrize("vectorize", [False, True])
def test_the_hessian_has_a_block_for_each_pair_of_inputs(vectorize: bool) -> None:
    def func(x: gradfn.Tensor, y: gradfn.Tensor) -> gradfn.Tensor:
        return (x * x).sum() * y.prod() + x.sum()

    x, y = double([1.0, 2.0]), double([[3.0, 4.0, 5.0]])
    blocks = hessian(func, (x, y), vectorize=vectorize)
    sizes = [[tuple(block.shape) for block in row] for row in blocks]
    assert sizes == [[(2, 2), (2, 1, 3)], [(1, 3, 2), (1, 3, 1, 3)]]
    assert close(blocks[0][0], 120 * np.eye(2))
    assert close(blocks[0][1], np.multiply.outer([2.0, 4.0], [[20.0, 15.0, 12.0]]))
    assert close(blocks[1][0], blocks[0][1].permute(1, 2, 0))
    crossed = [[0.0, 5.0, 4.0], [5.0, 0.0, 3.0], [4.0, 3.0, 0.0]]
    assert close(blocks[1][1].reshape(3, 3), 5 * np.array(crossed))


@pytest.mark.parametrize("vectorize", [False, True])
def test_the_jacobian_has_a_block_for_each_output_and_input(vectorize: bool) -> None:
    def func(x: gradfn.Tensor, y: gradfn.Tensor) -> tuple[gradfn.Tensor, ...]:
        return x * y[0], y.sum(), x.detach()

    x, y = double([1.0, 2.0]), double([3.0, 4.0, 5.0])
    products, total, constant = jacobian(func, (x, y), vectorize=vectorize)
    assert close(products[0], 3 * np.eye(2))
    assert close(products[1], [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    assert close(total[0], [0.0, 0.0]) and close(total[1], [1.0, 1.0, 1.0])
    assert close(constant[0], np.zeros((2, 2))) and close(constant[1], np.zeros((2, 3)))


@pytest.mark.parametrize("vectorize", [False, True])
@pytest.mark.parametrize("shape", [(0,), (0, 2), (3, 0)])
def test_nothing_has_an_empty_jacobian(shape: tuple[int, ...], vectorize: bool) -> None:
    x = gradfn.zeros(shape, dtype=gradfn.float64)
    found = jacobian(lambda x: x * 2, x, vectorize=vectorize)
    assert found.shape == shape + shape and found.dtype == gradfn.float64
    found = jacobian(lambda x: (x.sum(), x), x, vectorize=vectorize)
    assert [block.shape for block in found] == [shape, shape + shape]
    assert hessian(lambda x: x.prod(), x, vectorize=vectorize).shape == shape + shape


def test_complex_functions() -> None:
    z = gradfn.tensor([1 + 2j, 3j], dtype=gradfn.complex128)
    v = gradfn.tensor([1 + 1j, 1.0], dtype=gradfn.complex128)
    assert close(vjp(lambda z: z * z, z, v)[1], v.numpy() * (2 * z.numpy()).conj())
    assert close(jvp(lambda z: z * z, z, v)[1], v.numpy() * 2 * z.numpy())
    rows = jacobian(lambda z: z * z, z, vectorize=True)
    assert close(rows, np.diag((2 * z.numpy()).conj()))
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar"):
        jacobian(lambda z: z * z, z)


def test_the_standard_basis_vectors_of_one_element_are_the_default() -> None:
    x = double([2.0])
    assert close(vjp(cubes, x)[1], [12.0])
    assert close(jvp(cubes, x)[1], 12.0)
    for product in SECOND_ORDER:
        assert close(product(cubes, x)[1], [12.0])


# The graph around


@pytest.mark.parametrize("name", PRODUCTS)
def test_results_are_cut_off_without_create_graph(name: str) -> None:
    x, v = double([1.0, 2.0], True), double(1.0 if name == "vjp" else [1.0, 2.0], True)
    output, result = PRODUCTS[name](cubes, x, v)
    assert not output.requires_grad and not result.requires_grad
    assert not jacobian(cubes, x).requires_grad and not hessian(cubes, x).requires_grad
    assert x.grad is None and v.grad is None


@pytest.mark.parametrize("name", PRODUCTS)
def test_results_can_be_differentiated_with_create_graph(name: str) -> None:
    x, v = double([1.0, 2.0], True), double(1.0 if name == "vjp" else [1.0, 2.0], True)

    def flat(x: gradfn.Tensor, v: gradfn.Tensor) -> tuple[gradfn.Tensor, ...]:
        return PRODUCTS[name](cubes, x, v, create_graph=True)

    assert gradfn.autograd.gradcheck(flat, (x, v))
    assert gradfn.autograd.gradgradcheck(flat, (x, v))


@pytest.mark.parametrize("vectorize", [False, True])
def test_jacobians_can_be_differentiated_with_create_graph(vectorize: bool) -> None:
    x = double([0.5, 2.0], True)
    for derivative in jacobian, hessian:

        def func(x: gradfn.Tensor, derivative: Callable[..., Any] = derivative) -> gradfn.Tensor:
            return derivative(cubes, x, create_graph=True, vectorize=vectorize)

        assert gradfn.autograd.gradcheck(func, x)
        assert gradfn.autograd.gradgradcheck(func, x)


@pytest.mark.parametrize("create_graph", [False, True])
def test_no_grad_around_does_not_matter(create_graph: bool) -> None:
    x, v = double([1.0, 2.0], True), double([1.0, 2.0])
    with gradfn.no_grad():
        _, result = jvp(cubes, x, v, create_graph=create_graph)
        second = hessian(cubes, x, create_graph=create_graph)
    assert close(result, 27.0) and close(second, [[6.0, 0.0], [0.0, 12.0]])
    assert result.requires_grad == second.requires_grad == create_graph


def test_the_inputs_are_left_as_they_were() -> None:
    x = double([1.0, 2.0])
    seen = []
    jacobian(lambda x: seen.append(x) or x * 2, x)
    assert seen[0] is not x and seen[0].requires_grad
    assert not x.requires_grad and x.grad is None


# Misuse


def pair(x: gradfn.Tensor) -> tuple[gradfn.Tensor, gradfn.Tensor]:
    return x.sum(), x.sum()


@pytest.mark.parametrize("name", [*PRODUCTS, "jacobian", "hessian"])
def test_only_tensors_and_tuples_of_tensors_are_taken(name: str) -> None:
    function = getattr(gradfn.autograd.functional, name)
    start = f"The inputs given to {name} must be either a Tensor or a tuple of Tensors but the "
    with pytest.raises(TypeError, match=start + r"value at index 1 has type <class 'int'>"):
        function(cubes, (X, 2))
    with pytest.raises(TypeError, match=start + r"given inputs has type <class 'list'>"):
        function(cubes, [X])
    arguments = () if name in ("jacobian", "hessian", "vjp") else (V,)
    with pytest.raises(TypeError, match=f"outputs of the user-provided function given to {name}"):
        function(lambda x: (x.sum(), "text"), X, *arguments)


@pytest.mark.parametrize("name", PRODUCTS)
def test_v_has_the_shape_of_what_it_multiplies(name: str) -> None:
    def func(x: gradfn.Tensor) -> gradfn.Tensor:
        return x * 2 if name in ("vjp", "jvp") else x.sum()

    product = PRODUCTS[name]
    with pytest.raises(RuntimeError, match=r"^v has invalid size: should be torch.Size\(\[3\]\)"):
        product(func, X, double([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="The given v should contain a single Tensor"):
        product(func, X, (V, V))
    with pytest.raises(RuntimeError, match="The vector v can only be None if the"):
        product(func, X)
    with pytest.raises(
        TypeError, match=f"The v given to {name} must be either a Tensor or a tuple"
    ):
        product(func, X, (V, "text"))


def test_several_v_are_one_for_each() -> None:
    with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be 2 but got 1"):
        vjp(lambda x: (x, x), X, (V,))
    with pytest.raises(RuntimeError, match="Entry 1 in v has invalid size"):
        jvp(lambda x, y: x + y, (X, X), (V, V[:2]))


@pytest.mark.parametrize("name", ["vhp", "hvp", "hessian"])
def test_a_hessian_is_one_of_a_single_element(name: str) -> None:
    function = getattr(gradfn.autograd.functional, name)
    arguments = () if name == "hessian" else (V,)
    with pytest.raises(RuntimeError, match=f"given to {name} should contain a single element"):
        function(lambda x: x, X, *arguments)
    with pytest.raises(RuntimeError, match=f"given to {name} should return a single Tensor"):
        function(pair, X, *arguments)


def test_strategies() -> None:
    with pytest.raises(AssertionError, match='Expected strategy to be either "forward-mode" or'):
        jacobian(cubes, X, strategy="sideways")  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match="only implemented for `vectorize=True`"):
        jacobian(cubes, X, strategy="forward-mode")
    with pytest.raises(NotImplementedError, match="`create_graph=True` and `strategy="):
        hessian(cubes, X, create_graph=True, outer_jacobian_strategy="forward-mode")
    with pytest.raises(RuntimeError, match="`strict=True` and `strategy="):
        jacobian(cubes, X, strict=True, strategy="forward-mode")
    with pytest.raises(RuntimeError, match="`strict=True` and `vectorized=True` are not supported"):
        jacobian(cubes, X, strict=True, vectorize=True)


# Strict mode


def detached(x: gradfn.Tensor) -> gradfn.Tensor:
    return x.detach().sum()


def unrelated(x: gradfn.Tensor) -> gradfn.Tensor:
    return x.detach().sum().requires_grad_().clone()


NO_GRADIENT = "Output 0 of the user-provided function does not require gradients"
INDEPENDENT = "of the user-provided function is independent of input 0"
LINEAR = "jacobian of the user-provided function with respect to input 0 is independent"
STRICT = [
    ("vjp", detached, False, NO_GRADIENT),
    ("vjp", unrelated, False, f"The output {INDEPENDENT}"),
    ("vjp", gradfn.Tensor.sum, True, f"The jacobian {INDEPENDENT}"),
    ("jvp", detached, False, NO_GRADIENT),
    ("jvp", unrelated, False, f"The output {INDEPENDENT}"),
    ("jvp", gradfn.Tensor.sum, True, f"The jacobian {INDEPENDENT}"),
    ("jacobian", detached, False, NO_GRADIENT),
    ("jacobian", unrelated, False, f"Output 0 {INDEPENDENT}"),
    ("jacobian", gradfn.Tensor.sum, True, f"The jacobian {INDEPENDENT}"),
    ("vhp", detached, False, NO_GRADIENT),
    ("vhp", unrelated, False, f"The output {INDEPENDENT}"),
    ("vhp", gradfn.Tensor.sum, False, LINEAR),
    ("hvp", detached, False, NO_GRADIENT),
    ("hvp", unrelated, False, f"The output {INDEPENDENT}"),
    ("hvp", gradfn.Tensor.sum, False, LINEAR),
    ("hessian", detached, False, NO_GRADIENT),
    ("hessian", unrelated, False, LINEAR),
    ("hessian", gradfn.Tensor.sum, False, LINEAR),
]


@pytest.mark.parametrize(("name", "func", "create_graph", "error"), STRICT)
def test_strict_mode_refuses_what_is_zero_by_construction(
    name: str, func: Callable[..., Any], create_graph: bool, error: str
) -> None:
    function = getattr(gradfn.autograd.functional, name)
    x = double([1.0, 2.0, 3.0], requires_grad=True)
    arguments = () if name in ("jacobian", "hessian", "vjp") else (V,)
    with pytest.raises(RuntimeError, match=error):
        function(func, x, *arguments, create_graph=create_graph, strict=True)
    result = function(func, x, *arguments, create_graph=create_graph)
    if func is not gradfn.Tensor.sum:
        assert not np.any((result[1] if arguments or name == "vjp" else result).numpy())


# Gradients of batches


def test_gradients_of_a_batch_are_stacked() -> None:
    x, y = double([1.0, 2.0], True), double([3.0, 4.0], True)
    outputs = x * y, x.sum()
    batch = double([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), double([0.0, 0.0, 5.0])
    of_x, of_y = gradfn.autograd.grad(outputs, (x, y), batch, is_grads_batched=True)
    assert close(of_x, [[3.0, 0.0], [0.0, 4.0], [8.0, 9.0]])
    assert close(of_y, [[1.0, 0.0], [0.0, 2.0], [1.0, 2.0]])
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        gradfn.autograd.grad(outputs, x, batch, is_grads_batched=True)


def test_gradients_of_a_batch_can_be_differentiated() -> None:
    x, batch = double([1.0, 2.0], True), double([[1.0, 2.0], [3.0, 4.0]], True)
    (found,) = gradfn.autograd.grad(x**3, x, batch, create_graph=True, is_grads_batched=True)
    found.sum().backward()
    assert close(x.grad, 6 * x.detach().numpy() * batch.detach().numpy().sum(0))
    assert close(batch.grad, np.broadcast_to(3 * x.detach().numpy() ** 2, (2, 2)))


def test_no_grad_does_not_matter_to_create_graph() -> None:
    x, batch = double([1.0, 2.0], True), double([[1.0, 2.0]], True)
    y = x**3
    with gradfn.no_grad():
        (found,) = gradfn.autograd.grad(y, x, batch, create_graph=True, is_grads_batched=True)
    found.sum().backward()
    assert close(x.grad, [6.0, 24.0]) and close(batch.grad, [[3.0, 12.0]])


def test_unused_inputs_of_a_batch() -> None:
    x, y, batch = double([1.0], True), double([1.0, 2.0], True), double([[1.0], [2.0]])
    grad = gradfn.autograd.grad
    with pytest.raises(RuntimeError, match="to not have been used in the graph"):
        grad(x * 2, (x, y), batch, is_grads_batched=True)
    assert grad(x * 2, (x, y), batch, is_grads_batched=True, allow_unused=True)[1] is None
    _, zeros = grad(x * 2, (x, y), batch, is_grads_batched=True, materialize_grads=True)
    assert close(zeros, [0.0, 0.0])


@pytest.mark.parametrize(
    ("batch", "error", "message"),
    [
        ([gradfn.ones(2, 3)], RuntimeError, "If `is_grads_batched=True`, we interpret the first"),
        ([gradfn.ones(2, 1, 2)], RuntimeError, r"entries of shape torch.Size\(\[1, 2\]\)"),
        (gradfn.tensor(1.0), IndexError, r"grad_outputs\[0\] holds no gradient"),
        (gradfn.ones(0, 2), IndexError, r"grad_outputs\[0\] holds no gradient"),
        (None, ValueError, r"grad_outputs\[0\] is None"),
        ([1.0], TypeError, "gradients can be either Tensors or None, but got float"),
    ],
)
def test_a_batch_that_does_not_fit(batch: Any, error: type[Exception], message: str) -> None:
    x = gradfn.ones(2, requires_grad=True)
    with pytest.raises(error, match=message):
        gradfn.autograd.grad(x * x, x, batch, is_grads_batched=True)


def test_batches_of_different_sizes() -> None:
    x = gradfn.ones(2, requires_grad=True)
    with pytest.raises(
        ValueError, match="Expected all tensors to have the same size in the mapped"
    ):
        batches = gradfn.ones(2, 2), gradfn.ones(3, 2)
        gradfn.autograd.grad((x * x, x * 2), x, batches, is_grads_batched=True)


# PyTorch's results, as text: structure, shapes, dtypes, and what can be differentiated


PROGRAMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "vjp": lambda F, x, v: F.vjp(lambda x: (x * x, x.sum()), x, (v, v[0])),
    "vjp recorded": lambda F, x, v: F.vjp(lambda x: x.exp(), x, v, create_graph=True),
    "jvp": lambda F, x, v: F.jvp(lambda x, y: (x * y, y.sum()), (x, x), (v, v)),
    "jvp recorded": lambda F, x, v: F.jvp(lambda x: x.exp(), x, v, create_graph=True),
    "jacobian": lambda F, x, v: F.jacobian(lambda x: (x.sin(), x.prod()), x),
    "jacobian of a tuple": lambda F, x, v: F.jacobian(lambda x, y: x * y.sum(), (x, v)),
    "jacobian recorded": lambda F, x, v: F.jacobian(lambda x: x.sin(), x, create_graph=True),
    "jacobian, constant": lambda F, x, v: F.jacobian(lambda x: x * 2, x, create_graph=True),
    "jacobian, dtypes": lambda F, x, v: F.jacobian(lambda x: (x.float(), x.long()), x),
    "jacobian, batched": lambda F, x, v: F.jacobian(
        lambda x: (x.float(), x.long(), x.prod()), x, vectorize=True
    ),
    "hessian": lambda F, x, v: F.hessian(lambda x: x.prod(), x),
    "hessian of a tuple": lambda F, x, v: F.hessian(lambda x, y: (x * x * y).sum(), (x, v)),
    "hessian, batched": lambda F, x, v: F.hessian(lambda x: x.prod(), x, vectorize=True),
    "hessian, one element": lambda F, x, v: F.hessian(lambda x: x.prod().reshape(1, 1), x),
    "vhp": lambda F, x, v: F.vhp(lambda x: x.prod(), x, v),
    "vhp recorded": lambda F, x, v: F.vhp(lambda x: (x**3).sum(), x, v, create_graph=True),
    "vhp of a tuple": lambda F, x, v: F.vhp(lambda x, y: (x * y).prod(), (x, v), (v, v)),
    "hvp": lambda F, x, v: F.hvp(lambda x: x.prod(), x, v),
    "hvp recorded": lambda F, x, v: F.hvp(lambda x: (x**3).sum(), x, v, create_graph=True),
    "hvp of a linear function": lambda F, x, v: F.hvp(lambda x: x.sum(), x, v),
}


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_read_as_pytorchs(name: str, requires_grad: bool, oracle: ModuleType) -> None:
    texts = []
    for torch in gradfn, oracle:
        x = torch.tensor([0.5, 2.0, -1.5], dtype=torch.float64, requires_grad=requires_grad)
        v = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64)
        texts.append(repr(PROGRAMS[name](torch.autograd.functional, x, v)))
    assert texts[0] == texts[1]
