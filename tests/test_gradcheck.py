"""`gradcheck` and `gradgradcheck`: what they accept, what they find, what they say."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn.autograd import forward_ad, gradcheck, gradgradcheck
from gradfn.autograd.gradcheck import (
    GradcheckError,
    get_analytical_jacobian,
    get_numerical_jacobian,
)
from programs import printed

modes = pytest.mark.parametrize("fast_mode", [False, True], ids=["slow", "fast"])


def double(values: Any) -> gradfn.Tensor:
    return gradfn.tensor(values, dtype=gradfn.float64, requires_grad=True)


def complex_double(values: Any) -> gradfn.Tensor:
    return gradfn.tensor(values, dtype=gradfn.complex128, requires_grad=True)


def function(
    forward: Callable[..., Any], backward: Callable[..., Any], torch: Any = gradfn
) -> Callable[..., Any]:
    """An operation whose gradient is ``backward(grad_outputs, inputs)``, right or wrong."""

    class Custom(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            ctx.save_for_backward(*inputs)
            return forward(*inputs)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return backward(grads, ctx.saved_tensors)

    applied: Callable[..., Any] = Custom.apply
    return applied


def off_by(delta: float) -> Callable[[Any], Any]:
    """The identity, with a gradient that is off by `delta`."""

    def func(x: Any) -> Any:
        y = x.clone()
        y.register_hook(lambda grad: grad + delta)
        return y

    return func


# Right gradients


RIGHT: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "one input": (lambda x: x.exp() * x, (double([[0.5, -1.0], [2.0, 0.1]]),)),
    "several": (lambda x, y: (x * y.sum(), y.prod()), (double([1.0, 2.0]), double([3.0, 0.5]))),
    "arguments of other kinds": (
        lambda x, i, text, f: x[i] * f,
        (double([1.0, 2.0, 3.0]), gradfn.tensor([2, 0]), "text", 2.5),
    ),
    "an input that is not used": (lambda x, y: x * x, (double([1.0]), double([1.0, 2.0]))),
    "outputs in a list": (lambda x: [x * x, x.sin()], (double([1.0, 2.0]),)),
    "some outputs constant": (lambda x: (x * x, x.detach(), x.long()), (double([1.0, 2.0]),)),
    "no outputs": (lambda x: (), (double([1.0]),)),
    "integers": (lambda x: x.detach().long(), (double([1.5]),)),
    "0-d": (lambda x: x * x, (double(3.0),)),
    "no elements": (lambda x: x * x, (double(np.zeros((0, 2))),)),
    "the input itself": (lambda x: x, (double([1.0, 2.0]),)),
    "not a leaf": (lambda x: x * x, (double([1.0, 2.0]) * 2,)),
    "not contiguous": (lambda x: x.exp(), (double([[1.0, 2.0, 3.0], [0.1, 0.2, 0.3]]).t(),)),
    "in place": (lambda x: x.clone().mul_(x), (double([1.0, 2.0]),)),
    "complex": (lambda z: z * z.conj() * z, (complex_double([1 + 2j, 0.5j]),)),
    "complex to real": (lambda z: (z.abs(), z.imag), (complex_double([1 + 2j, 0.5j]),)),
    "real to complex": (
        lambda x, y: (gradfn.complex(x, y) ** 2, x + 1),
        (double([1.0, 2.0]), double([0.5, -1.0])),
    ),
}


@modes
@pytest.mark.parametrize("name", RIGHT)
def test_right_gradients_pass(name: str, fast_mode: bool) -> None:
    func, inputs = RIGHT[name]
    assert gradcheck(func, inputs, fast_mode=fast_mode, check_batched_grad=True)
    assert gradgradcheck(func, inputs, fast_mode=fast_mode, check_batched_grad=True)


@modes
def test_single_precision_passes_with_a_wider_tolerance_and_a_warning(fast_mode: bool) -> None:
    x = gradfn.tensor([1.0, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double"):
        assert gradcheck(lambda x: x * x, x, eps=1e-3, atol=1e-2, fast_mode=fast_mode)


@modes
def test_nothing_is_left_behind(fast_mode: bool) -> None:
    x = double([0.1, 0.2, 0.3])
    values, state = x.tolist(), gradfn.get_rng_state().tolist()
    assert gradcheck(lambda x: x.exp(), x, fast_mode=fast_mode)
    assert gradgradcheck(lambda x: x.exp(), x, fast_mode=fast_mode)
    assert x.tolist() == values and x.grad is None and x._version == 0
    assert gradfn.get_rng_state().tolist() == state


@modes
def test_inputs_are_put_back_after_an_error(fast_mode: bool) -> None:
    x, calls = double([0.1, 0.2, 0.3]), []

    def func(x: gradfn.Tensor) -> gradfn.Tensor:
        calls.append(x)
        if len(calls) > 3:
            raise ZeroDivisionError
        return x * 2

    with pytest.raises(ZeroDivisionError):
        gradcheck(func, x, fast_mode=fast_mode, raise_exception=False)
    assert x.tolist() == [0.1, 0.2, 0.3]


@modes
def test_a_function_may_know_its_input_otherwise(fast_mode: bool) -> None:
    x = double([1.0, 2.0])
    assert gradcheck(lambda _: x * x, x, fast_mode=fast_mode)


# Wrong gradients


def test_the_message_names_the_entry() -> None:
    def backward(grads: Any, inputs: Any) -> Any:
        wrong = grads[0] * 2
        wrong[1, 0] = wrong[1, 0] * 1.25
        return wrong

    x = double([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with pytest.raises(GradcheckError) as error:
        gradcheck(lambda x: (x, function(lambda x: x * 2, backward)(x)), x)
    start, _, end = str(error.value).partition("numerical:tensor([[")
    assert start == "Jacobian mismatch for output 1 with respect to input 0,\n"
    assert "\nanalytical:tensor([[" in end
    worst = end.splitlines()[-1]
    assert worst.startswith(
        "The entry that is off most, for element [1, 0] of the input and element [1, 0] of the "
        "output, is 2.0"
    )
    assert "2.5 analytically: the difference is 0.49999" in worst
    assert worst.endswith("is allowed.")


def test_in_fast_mode_the_message_has_the_projections_and_the_jacobians() -> None:
    with pytest.raises(GradcheckError) as error:
        gradcheck(off_by(0.01), double([1.0, 2.0]), fast_mode=True)
    text = str(error.value)
    assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,\nnumerical:0.")
    assert "\n\nThe above quantities relating the numerical and analytical jacobians are" in text
    assert "\nNumerical:\ntensor([[1.0000, 0.0000],\n" in text
    assert "\nAnalytical:\ntensor([[1.0100, 0.0100],\n" in text
    assert "The max per-element difference (slow mode) is: 0.0100000" in text
    assert "for element [0] of the input" in text


def test_fast_mode_says_where_slow_mode_would_pass() -> None:
    # Half of rtol off in each entry, but the entries nearly cancel in a projection.
    signs = gradfn.tensor([1.0, -1.0] * 15, dtype=gradfn.float64)
    almost = function(lambda x: (x * signs).sum(), lambda grads, _: grads[0] * (signs + 5e-4))
    x = double(np.linspace(1.0, 2.0, 30))
    assert gradcheck(almost, x, rtol=1e-3)
    with pytest.raises(GradcheckError, match="Fast gradcheck failed but element-wise differences"):
        gradcheck(almost, x, rtol=1e-3, fast_mode=True)


@modes
@pytest.mark.parametrize(
    ("func", "x", "prefix"),
    [
        (
            off_by(0.01),
            complex_double([1.0, 2j]),
            "While considering the imaginary part of comp",
        ),
        (off_by(0.01j), complex_double([1.0, 2j]), "While considering the imaginary part of compl"),
        (lambda z: off_by(0.01)(z.real), complex_double([1.0, 2j]), "Jacobian mismatch"),
        (
            lambda x: gradfn.complex(off_by(0.01)(x), x.detach()),
            double([1.0, 2.0]),
            "While considering the imaginary part of complex outputs only, Jacobian mismatch",
        ),
        (
            function(lambda z: z * z, lambda grads, inputs: 2 * grads[0] * inputs[0]),
            complex_double([1 + 1j]),
            "While considering the",
        ),
    ],
)
def test_complex_gradients_that_are_wrong(
    func: Callable[..., Any], x: gradfn.Tensor, prefix: str, fast_mode: bool
) -> None:
    with pytest.raises(GradcheckError, match=f"^{prefix}.*"):
        gradcheck(func, x, fast_mode=fast_mode)


@modes
def test_a_gradient_may_be_wrong_in_one_part_only(fast_mode: bool) -> None:
    def backward(grads: Any, inputs: Any) -> Any:
        return gradfn.complex(grads[0].real * 1.5, grads[0].imag)

    wrong = function(lambda z: z.clone(), backward)
    with pytest.raises(GradcheckError, match="While considering the real part of complex outputs"):
        gradcheck(wrong, complex_double([1 + 1j]), fast_mode=fast_mode)


@modes
def test_errors_within_the_tolerance_pass(fast_mode: bool) -> None:
    almost = function(lambda x: x * 2, lambda grads, inputs: grads[0] * (2 + 1e-4))
    x = double(np.linspace(-1.0, 1.0, 12))
    assert gradcheck(almost, x, rtol=1e-3, atol=0.0, fast_mode=fast_mode)
    assert not gradcheck(almost, x, rtol=1e-6, atol=0, fast_mode=fast_mode, raise_exception=False)


@modes
@pytest.mark.parametrize("func", [lambda x: x * float("nan"), lambda x: (x - 1).sqrt()])
def test_nan_is_never_right(func: Callable[..., Any], fast_mode: bool) -> None:
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(func, double([1.0, 2.0]), fast_mode=fast_mode)


@modes
def test_raise_exception_false_returns_false_for_wrong_gradients_only(fast_mode: bool) -> None:
    x = double([1.0])

    def fails(x: gradfn.Tensor) -> gradfn.Tensor:
        raise RuntimeError("of another kind")

    assert gradcheck(off_by(0.01), x, raise_exception=False, fast_mode=fast_mode) is False
    with pytest.raises(RuntimeError, match="of another kind"):
        gradcheck(fails, x, raise_exception=False, fast_mode=fast_mode)
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(off_by(0.0), x.detach(), raise_exception=False, fast_mode=fast_mode)


# What else a backward pass must do


@modes
def test_a_backward_pass_gives_the_same_twice(fast_mode: bool) -> None:
    calls = iter(range(10**6))
    jittery = function(lambda x: x * 1, lambda grads, inputs: grads[0] * (1 + 1e-7 * next(calls)))
    x = double([1.0, 2.0])
    with pytest.raises(GradcheckError) as error:
        gradcheck(jittery, x, fast_mode=fast_mode)
    assert str(error.value).startswith(
        "Backward is not reentrant, i.e., running backward with same input and grad_output "
        "multiple times gives different values, although analytical gradient matches numerical "
        "gradient. The tolerance for nondeterminism was 0.0; the largest difference is "
    )
    assert gradcheck(jittery, x, nondet_tol=1e-3, fast_mode=fast_mode)


@modes
def test_a_backward_pass_multiplies_by_the_gradient_it_is_given(fast_mode: bool) -> None:
    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(off_by(0.01), double([1.0]), atol=0.1, fast_mode=fast_mode)


def test_a_backward_pass_does_without_gradients_of_some_outputs() -> None:
    def two_outputs(on_missing: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        class Custom(gradfn.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                ctx.set_materialize_grads(False)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx: Any, first: Any, second: Any) -> Any:
                if first is not None and second is not None:
                    return first * 2 + second * 3
                return on_missing(first, second)

        return lambda x: tuple(y * 1 for y in Custom.apply(x))

    def right(first: Any, second: Any) -> Any:
        if first is None:
            return None if second is None else second * 3
        return first * 2

    def careless(first: Any, second: Any) -> Any:
        found = right(first, second)
        if found is not None and not found.any():
            raise RuntimeError("cannot do without")
        return found

    def inventive(first: Any, second: Any) -> Any:
        found = right(first, second)
        return found + 1 if found is not None and not found.any() else found

    x = double([1.0, 2.0])
    assert gradcheck(two_outputs(right), x)
    for wrong, message in (
        (careless, r"undefined output grads, but without a gradient for output\(s\) \[0\] and"),
        (inventive, "Expected all input grads to be undefined or zero"),
    ):
        assert gradcheck(two_outputs(wrong), x, check_undefined_grad=False)
        with (
            pytest.warns(UserWarning, match="Backwards compatibility: New undefined gradient"),
            pytest.raises(GradcheckError, match=message),
        ):
            gradcheck(two_outputs(wrong), x)


@modes
def test_batches_of_gradients_give_what_single_ones_give(fast_mode: bool) -> None:
    def nth(n: int, otherwise: Callable[[Any], Any]) -> Callable[..., Any]:
        """Right but for the `n`-th backward pass."""
        calls = iter(range(1, 10**6))
        return function(lambda x: x * 1, lambda g, _: otherwise(g[0]) if next(calls) == n else g[0])

    def fails(grad: Any) -> Any:
        raise RuntimeError("not in a batch")

    # The comparison with finite differences makes two passes for each column, in fast mode two in
    # all; then come the two entries of a batch one by one, and both together.
    x = double([1.0, 2.0])
    last = 2 + 3 if fast_mode else 4 + 3
    with pytest.raises(GradcheckError) as error:
        gradcheck(nth(last, lambda g: g + 1), x, fast_mode=fast_mode, check_batched_grad=True)
    assert str(error.value).startswith("For output 0 and input 0:\n\ngradcheck or gradgradcheck")
    assert "\n\nGot:\ntensor([[" in str(error.value)
    with pytest.raises(GradcheckError, match="While computing batched gradients, got: not in a b"):
        gradcheck(nth(last, fails), x, fast_mode=fast_mode, check_batched_grad=True)


@modes
def test_without_a_differentiable_output_nothing_may_change(fast_mode: bool) -> None:
    x = double([1.0, 2.0])
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: (x.detach() * 0, x.detach()), x, fast_mode=fast_mode)
    assert gradcheck(lambda x: x.detach() * 0, x, fast_mode=fast_mode)


# Misuse


@modes
@pytest.mark.parametrize(
    ("changed", "what"),
    [(lambda x: x.repeat(2), "shape"), (lambda x: x.float(), "dtype")],
)
def test_outputs_keep_their_shapes_and_dtypes(
    changed: Callable[..., Any], what: str, fast_mode: bool
) -> None:
    x = double([1.0])
    place = "" if fast_mode else r" on index \(0,\)"
    message = f"return outputs with the same {what} when inputs are perturbed{place} by 1e-06, but"
    with pytest.raises(AssertionError, match=message):
        gradcheck(lambda x: changed(x) if (x >= 1).all() else x, x, fast_mode=fast_mode)


@modes
def test_inputs_must_not_overlap(fast_mode: bool) -> None:
    x = double([[1.0], [2.0]]).expand(2, 3)
    with pytest.raises(RuntimeError, match="The 1th input has a dimension with stride 0"):
        gradcheck(lambda n, x: x * n, (2, x), fast_mode=fast_mode, raise_exception=False)
    assert gradcheck(lambda x: x * 2, double([1.0]).expand(3)[:1], fast_mode=fast_mode)


def test_checks_that_exclude_each_other() -> None:
    x, func = double([1.0]), off_by(0.0)
    for check, arguments, message in (
        (gradcheck, {"check_backward_ad": False}, "at least one of check_forward_ad or check_back"),
        (
            gradcheck,
            {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
            "Setting check_batched_grad=True requires check_backward_ad to be True",
        ),
        (
            gradcheck,
            {"check_batched_forward_grad": True},
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True",
        ),
        (gradgradcheck, {"check_rev_over_rev": False}, "at least one of check_fwd_over_rev or che"),
        (
            gradgradcheck,
            {"check_rev_over_rev": False, "check_fwd_over_rev": True},
            "Setting check_undefined_grad=True requires check_rev_over_rev to be True",
        ),
        (
            gradgradcheck,
            {
                "check_rev_over_rev": False,
                "check_fwd_over_rev": True,
                "check_undefined_grad": False,
                "check_batched_grad": True,
            },
            "Setting check_batched_grad=True requires check_rev_over_rev to be True",
        ),
    ):
        with pytest.raises(AssertionError, match=message):
            check(func, x, **arguments)


@modes
def test_forward_mode(fast_mode: bool) -> None:
    x, z = double([0.5, -1.0]), gradfn.tensor([1 + 2j, 0.5j], dtype=gradfn.complex128)

    def func(x: Any, z: Any) -> Any:
        return x.exp() * z, z.abs().sum() * x[0]

    inputs = (x, z.requires_grad_())
    assert gradcheck(func, inputs, check_forward_ad=True, fast_mode=fast_mode)
    assert gradgradcheck(func, inputs, check_fwd_over_rev=True, fast_mode=fast_mode)


@modes
def test_wrong_tangents(fast_mode: bool) -> None:
    class Wrong(gradfn.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return 2 * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return 2 * grad

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            return 3 * tangent

    arguments: dict[str, Any] = {"fast_mode": fast_mode, "check_forward_ad": True}
    message = "Jacobian computed with forward mode mismatch for output 0 with respect to input 0"
    with pytest.raises(GradcheckError, match=message):
        gradcheck(Wrong.apply, double([1.0]), **arguments)
    assert gradcheck(Wrong.apply, double([1.0]), fast_mode=fast_mode)
    arguments |= {"check_backward_ad": False, "raise_exception": False}
    assert not gradcheck(Wrong.apply, double([1.0]), **arguments)


def test_a_missing_tangent_must_count_as_zeros() -> None:
    class Partial(gradfn.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x + y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad, grad

        @staticmethod
        def jvp(ctx: Any, x_t: Any, y_t: Any) -> Any:
            return x_t + y_t if x_t is not None and y_t is not None else gradfn.ones(1).double()

    inputs = (double([1.0]), double([2.0]))
    with pytest.raises(GradcheckError, match="Mismatch in tangent values for output with index 0"):
        gradcheck(Partial.apply, inputs, check_forward_ad=True)


def test_batches_of_tangents_give_what_single_ones_give() -> None:
    def check(func: Callable[..., Any]) -> bool:
        x = double([1.0, 2.0])
        return gradcheck(func, x, check_forward_ad=True, check_batched_forward_grad=True)

    assert check(lambda x: x.sin())

    def wrong_in_a_batch(x: Any) -> Any:
        tangent = forward_ad.unpack_dual(x).tangent
        return x * 2 if tangent is None or "Batched" not in repr(tangent) else x * 3

    with pytest.raises(GradcheckError, match="While considering vmap over tangents of input 0"):
        check(wrong_in_a_batch)


# Second derivatives


@modes
def test_wrong_second_derivatives(fast_mode: bool) -> None:
    def backward(grads: Any, inputs: Any) -> Any:
        return 2 * grads[0] * inputs[0].detach()

    square = function(lambda x: x * x, backward)
    x = double([1.0, 2.0])
    assert gradcheck(square, x, fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to inp"):
        gradgradcheck(square, x, fast_mode=fast_mode)
    assert gradgradcheck(square, x, fast_mode=fast_mode, raise_exception=False) is False


@modes
def test_gradients_of_outputs_can_be_given(fast_mode: bool) -> None:
    seen = []

    def watched(x: gradfn.Tensor) -> gradfn.Tensor:
        y = x * x
        y.register_hook(lambda grad: seen.append(grad.detach().clone()))
        return y

    given = gradfn.tensor([3.0, 4.0], dtype=gradfn.float64)
    assert gradgradcheck(watched, double([1.0, 2.0]), given, fast_mode=fast_mode)
    assert [3.0, 4.0] in [grad.tolist() for grad in seen]
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        gradgradcheck(watched, double([1.0, 2.0]), double([1.0]), fast_mode=fast_mode)


@pytest.mark.parametrize("x", [double(1.0), double([1.0, 2.0]), complex_double([[1j, 2.0]])])
def test_gradients_of_outputs_need_not_be_contiguous(x: gradfn.Tensor) -> None:
    seen = []

    def watched(x: gradfn.Tensor) -> gradfn.Tensor:
        y = x * x
        y.register_hook(lambda grad: seen.append(grad.is_contiguous()))
        return y

    assert gradgradcheck(watched, x, gen_non_contig_grad_outputs=True)
    assert not all(seen) or x.ndim == 0


# Names


def test_the_function_and_its_module_have_one_name() -> None:
    program = """
import gradfn.compat.torch
import torch.autograd.gradcheck
from torch.autograd.gradcheck import GradcheckError, gradcheck
print(torch.autograd.gradcheck is gradcheck, issubclass(GradcheckError, RuntimeError))
print(GradcheckError.__module__)
"""
    assert printed("-c", program).splitlines() == ["True True", "torch.autograd.gradcheck"]


def test_the_old_names() -> None:
    x, y = double([1.0, 2.0]), double([3.0, 4.0])
    with pytest.warns(FutureWarning, match="`get_numerical_jacobian` was part of PyTorch's priv"):
        of_x, of_y = get_numerical_jacobian(lambda inputs: (2 * inputs[0] + inputs[1], x), (x, y))
    assert np.allclose(of_x, 2 * np.eye(2)) and np.allclose(of_y, np.eye(2))
    with pytest.warns(FutureWarning):
        (of_y,) = get_numerical_jacobian(lambda inputs: inputs[1] * 3, (x, y), target=y)
    assert np.allclose(of_y, 3 * np.eye(2))
    with pytest.warns(FutureWarning, match="`get_analytical_jacobian` was part of PyTorch's pri"):
        jacobians, reentrant, sizes, types = get_analytical_jacobian((x, y), 2 * x + y)
    assert np.allclose(jacobians[0], 2 * np.eye(2)) and np.allclose(jacobians[1], np.eye(2))
    assert reentrant and sizes and types
    for name, arguments in (
        (get_numerical_jacobian, (lambda inputs: inputs[0], x)),
        (get_analytical_jacobian, (x, x * 2)),
    ):
        with (
            pytest.warns(FutureWarning),
            pytest.raises(ValueError, match="Expected grad_out to"),
        ):
            name(*arguments, grad_out=2.0)
    z = complex_double([1j])
    with pytest.warns(FutureWarning), pytest.raises(ValueError, match="to be non-complex"):
        get_analytical_jacobian(z, z * 2)


# PyTorch's verdicts


CHECKED: dict[str, Callable[[Any, Any], Any]] = {
    "right": lambda torch, x: x.exp() * x,
    "off": lambda torch, x: off_by(0.01)(x),
    "off a little": lambda torch, x: off_by(1e-6)(x),
    "complex": lambda torch, x: torch.complex(x, x * 2) ** 2,
    "complex, off": lambda torch, x: off_by(0.01)(torch.complex(x, x)),
    "NaN": lambda torch, x: x * float("nan"),
    "constant": lambda torch, x: x.detach() * 0,
    "not constant": lambda torch, x: x.detach(),
    "empty": lambda torch, x: x[:0],
    "nothing": lambda torch, x: (),
    "one of two": lambda torch, x: (x * 2, off_by(0.01)(x)),
    "not a tensor": lambda torch, x: (x, 3),
    "no second derivative": lambda torch, x: function(
        lambda x: x * x, lambda grads, inputs: 2 * grads[0] * inputs[0].detach(), torch
    )(x),
    "a gradient of another dtype": lambda torch, x: function(
        lambda x: x * 2, lambda grads, inputs: (grads[0] * 2).float(), torch
    )(x),
    "a gradient of another shape": lambda torch, x: function(
        lambda x: x * 2, lambda grads, inputs: grads[0].sum(), torch
    )(x),
}


# Without a differentiable output PyTorch's gradgradcheck calls the function without arguments; in
# single precision its verdict depends on the random gradients it draws.
NOT_TWICE = {"constant", "not constant", "nothing", "a gradient of another dtype"}


@modes
@pytest.mark.parametrize(
    ("name", "check"),
    [(name, "gradcheck") for name in CHECKED]
    + [(name, "gradgradcheck") for name in sorted(CHECKED.keys() - NOT_TWICE)],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_verdicts_are_pytorchs(name: str, check: str, fast_mode: bool, oracle: ModuleType) -> None:
    verdicts = []
    for torch in gradfn, oracle:
        x = torch.tensor([0.5, 2.0, -1.5], dtype=torch.float64, requires_grad=True)

        def func(x: Any, torch: Any = torch) -> Any:
            return CHECKED[name](torch, x)

        try:
            verdict = str(getattr(torch.autograd, check)(func, x, fast_mode=fast_mode))
        except Exception as error:
            verdict = f"{type(error).__name__}: {error}"
        verdicts.append(verdict)
    assert verdicts[0].startswith(verdicts[1][:60])
