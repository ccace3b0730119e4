"""grad, vjp, jvp and Jacobians: against closed forms, and against PyTorch."""

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import gradfn
from gradfn import func


def close(a: Any, b: Any) -> bool:
    return gradfn.allclose(a, gradfn.as_tensor(b, dtype=a.dtype), rtol=1e-9, atol=1e-12)


def double(*values: Any) -> Any:
    return gradfn.tensor(values if len(values) > 1 else values[0], dtype=gradfn.float64)


# Closed forms


def test_derivatives_of_any_order() -> None:
    x = double(0.7)
    f: Callable[..., Any] = lambda x: x**5  # noqa: E731
    for power, factor in ((4, 5), (3, 20), (2, 60), (1, 120)):
        f = func.grad(f)
        assert close(f(x), factor * 0.7**power)


@pytest.mark.parametrize("outer", [func.grad, "jvp"])
@pytest.mark.parametrize("inner", [func.grad, "jvp"])
def test_one_variable_is_not_taken_for_another(outer: Any, inner: Any) -> None:
    """d/dx of x times d/dy of (x + y) is 1: perturbation confusion gives 2."""

    def slope(transform: Any, f: Callable[[Any], Any], x: Any) -> Any:
        if transform is func.grad:
            return func.grad(f)(x)
        return func.jvp(f, (x,), (gradfn.ones_like(x),))[1]

    result = slope(outer, lambda x: x * slope(inner, lambda y: x + y, double(1.0)), double(1.0))
    assert close(result, 1.0)
    nested = slope(outer, lambda x: slope(inner, lambda y: (x * y) ** 2, x), double(3.0))
    assert close(nested, 6 * 3.0**2)


HESSIANS: dict[str, Callable[[Any], Any]] = {
    "hessian": func.hessian,
    "reverse over reverse": lambda f: func.jacrev(func.jacrev(f)),
    "forward over forward": lambda f: func.jacfwd(func.jacfwd(f)),
    "reverse over forward": lambda f: func.jacrev(func.jacfwd(f)),
    "row by row": lambda f: func.jacrev(func.grad(f), chunk_size=1),
}


@pytest.mark.parametrize("hessian", HESSIANS.values(), ids=HESSIANS)
def test_hessians(hessian: Any) -> None:
    x = double([1.0, 2.0, 3.0])
    expected = double([[0.0, 3.0, 2.0], [3.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    assert close(hessian(lambda x: x.prod())(x), expected)
    batch = gradfn.stack([x, x])
    assert close(func.vmap(hessian(lambda x: x.prod()))(batch), gradfn.stack([expected] * 2))


def test_structures_of_arguments_and_outputs() -> None:
    arguments = {"a": double([1.0, 2.0]), "b": [double(3.0)]}
    gradient = func.grad(lambda d: (d["a"] * d["b"][0]).sum())(arguments)
    assert close(gradient["a"], [3.0, 3.0])
    assert close(gradient["b"][0], 3.0)
    jacobian = func.jacrev(lambda x: {"twice": 2 * x, "sum": (x.sum(),)})(double([1.0, 2.0]))
    assert close(jacobian["twice"], [[2.0, 0.0], [0.0, 2.0]])
    assert close(jacobian["sum"][0], [1.0, 1.0])
    both = func.jacfwd(lambda x, y: x * y, argnums=(0, 1))(double([1.0, 2.0]), double([3.0, 4.0]))
    assert close(both[0], [[3.0, 0.0], [0.0, 4.0]])
    assert close(both[1], [[1.0, 0.0], [0.0, 2.0]])


def test_what_comes_with_the_output() -> None:
    x = double([1.0, 2.0])
    gradient, aux = func.grad(lambda x: (x.sum(), {"twice": 2 * x}), has_aux=True)(x)
    assert close(gradient, [1.0, 1.0])
    assert close(aux["twice"], [2.0, 4.0])
    gradient, (value, aux) = func.grad_and_value(lambda x: (x.sum(), x), has_aux=True)(x)
    assert close(value, 3.0)
    assert not value.requires_grad
    assert not aux.requires_grad
    output, moved, aux = func.jvp(lambda x: (x * x, x + 1), (x,), (x,), has_aux=True)
    assert close(moved, [2.0, 8.0])
    assert close(aux, [2.0, 3.0])
    output, pull, aux = func.vjp(lambda x: (x * x, x + 1), x, has_aux=True)
    assert close(pull(x)[0], [2.0, 8.0])
    assert close(output, [1.0, 4.0])


def test_linearize_runs_the_function_once() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x.sin(), x.sum()

    output, push = func.linearize(f, gradfn.zeros(3))
    assert close(output[1], 0.0)
    for scale in (1.0, 2.0):
        moved = push(gradfn.full((3,), scale))
        assert close(moved[0], [scale] * 3)
        assert close(moved[1], 3 * scale)
    assert len(calls) == 1


# What is outside


def test_gradients_flow_to_what_a_transform_captures() -> None:
    w = double([1.0, 2.0]).requires_grad_()
    x = double([[1.0, 1.0], [2.0, 3.0]])
    inner = func.vmap(func.grad(lambda row: ((row * w) ** 2).sum()))(x)
    assert inner.requires_grad
    (gradient,) = gradfn.autograd.grad(inner.sum(), w)
    assert close(gradient, (4 * w * x).sum(0).detach())


def test_no_grad_outside_cuts_and_inside_hides() -> None:
    x = double(3.0).requires_grad_()
    with gradfn.no_grad():
        gradient = func.grad(lambda x: x**2)(x)
    assert close(gradient, 6.0)
    assert not gradient.requires_grad

    def f(x: Any) -> Any:
        with gradfn.no_grad():
            constant = x**2
        return x**2 * constant

    assert close(func.grad(f)(double(2.0)), 2 * 2.0 * 4.0)
    assert func.grad(lambda x: x**2)(x).requires_grad


def test_results_of_transforms_are_free_of_them() -> None:
    x = double([1.0, 2.0])
    for result in (
        func.grad(lambda x: x.sum())(x),
        func.jacrev(lambda x: x * 2)(x),
        func.jvp(lambda x: x * 2, (x,), (x,))[1],
    ):
        assert not result.requires_grad
        assert result.is_leaf
        assert gradfn.autograd.forward_ad.unpack_dual(result).tangent is None
    assert x.grad is None


# Mistakes


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "vector": (lambda: func.grad(lambda x: x * 2)(gradfn.ones(2)), "return a scalar tensor"),
    "no tensor": (
        lambda: func.grad(lambda x: 1.0)(gradfn.ones(2)),
        "to return a Tensor, got float",
    ),
    "aux": (
        lambda: func.grad(lambda x: x.sum(), has_aux=True)(gradfn.ones(2)),
        "should be a tuple",
    ),
    "argnums": (lambda: func.grad(gradfn.sum, argnums=3)(gradfn.ones(2)), "Got argnum=3, but only"),
    "repeated": (lambda: func.jacrev(gradfn.add, argnums=(0, -2))(1.0, 2.0), "must be unique"),
    "empty": (lambda: func.jacfwd(gradfn.add, argnums=())(1.0, 2.0), "must be non-empty"),
    "primals": (lambda: func.jvp(gradfn.sin, gradfn.ones(2), gradfn.ones(2)), "to be a tuple"),
    "tangents": (lambda: func.jvp(gradfn.sin, (gradfn.ones(2),), ()), "same python structure"),
    "shape": (
        lambda: func.jvp(gradfn.sin, (gradfn.ones(2),), (gradfn.ones(3),)),
        "forward gradient that has a different size",
    ),
    "strict": (
        lambda: func.jvp(
            lambda x: gradfn.ones(1), (gradfn.ones(2),), (gradfn.ones(2),), strict=True
        ),
        "independent of the inputs",
    ),
    "nothing": (lambda: func.vjp(lambda x: (), gradfn.ones(2)), "non-empty output"),
    "cotangents": (
        lambda: func.vjp(lambda x: (x, x), gradfn.ones(2))[1](gradfn.ones(2)),
        "Expected pytree structure of cotangents",
    ),
}


@pytest.mark.parametrize(("call", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()


# PyTorch


def program(torch: ModuleType) -> list[Any]:
    """Transforms of a small network, in many combinations."""
    F = importlib.import_module(torch.__name__ + ".func")
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)
    ).double()
    params = {name: p.detach() for name, p in net.named_parameters()}
    x, target = torch.randn(5, 3, dtype=torch.float64), torch.tensor([0, 1, 1, 0, 1])

    def loss(params: Any, x: Any, target: Any) -> Any:
        output = F.functional_call(net, params, (x.unsqueeze(0),))
        return torch.nn.functional.cross_entropy(output, target.unsqueeze(0))

    per_sample = F.vmap(F.grad(loss), (None, 0, 0))(params, x, target)
    call = lambda x: F.functional_call(net, params, (x,))  # noqa: E731
    results = [per_sample["0.weight"], per_sample["2.bias"]]
    results += [F.vmap(F.jacrev(call))(x), F.vmap(F.jacfwd(call))(x), F.jacrev(call)(x)]
    results += [F.vmap(F.hessian(lambda x: call(x).exp().sum()))(x)]
    _, pull = F.vjp(call, x)
    results += [F.vmap(pull)(torch.randn(3, 5, 2, dtype=torch.float64))[0]]
    results += [F.jvp(F.grad(lambda x: call(x).sum()), (x,), (x,))[1]]
    models = [torch.nn.Linear(3, 2).double() for _ in range(3)]
    stacked, buffers = F.stack_module_state(models)
    ensemble = F.vmap(lambda p, b, x: F.functional_call(models[0], (p, b), (x,)), (0, 0, None))
    output = ensemble(stacked, buffers, x)
    output.sum().backward()
    return [*results, output, stacked["weight"].grad]


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_a_network_gives_pytorchs_numbers(oracle: ModuleType) -> None:
    for ours, theirs in zip(program(gradfn), program(oracle), strict=True):
        assert tuple(ours.shape) == tuple(theirs.shape)
        assert close(ours, theirs.detach().numpy())


def test_custom_functions_need_a_setup_context_within_transforms() -> None:
    class Double(gradfn.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    x = gradfn.tensor(1.0)
    for transformed in (
        lambda: func.grad(Double.apply)(x),
        lambda: func.vjp(Double.apply, x),
        lambda: func.jvp(Double.apply, (x,), (x,)),
        lambda: func.jacrev(Double.apply)(x),
    ):
        with pytest.raises(RuntimeError, match="must override the setup_context"):
            transformed()
    assert Double.apply(x) == 2


def test_jacobians_are_those_of_real_functions() -> None:
    x = gradfn.ones(2)
    for name, jacobian in (("jacrev", func.jacrev), ("jacfwd", func.jacfwd)):
        with pytest.raises(RuntimeError, match=f"{name}: Expected all inputs to be real"):
            jacobian(gradfn.conj)(x + 0j)
        with pytest.raises(RuntimeError, match=f"{name}: Expected all outputs to be real"):
            jacobian(lambda x: x * 1j)(x)
