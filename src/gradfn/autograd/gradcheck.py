"""Tests of gradients against finite differences: PyTorch's `gradcheck` and `gradgradcheck`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dtypes import complex128, float64
from .backward import grad
from .forward_check import batched_tangent_fault, forward_fault, undefined_tangent_fault
from .function import Function
from .numeric import (
    IMAGINARY,
    REAL,
    WHOLE,
    Func,
    Outputs,
    Tensors,
    Tolerance,
    analytical_jacobian,
    as_tuple,
    constant_fault,
    differentiable,
    jacobian_fault,
    largest_difference,
    numerical_jacobian,
    projection_fault,
    wanted_inputs,
)
from .variable import Variable

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "gradcheck",
    "gradgradcheck",
]


class GradcheckError(RuntimeError):
    """A gradient is wrong."""


def gradcheck(
    func: Func,
    inputs: Tensors,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the gradients of ``func(*inputs)`` agree with central differences of step `eps`.

    Checks every input that requires grad, each entry within ``atol + rtol * |numerical|``; the
    inputs should have double precision. With `fast_mode` one random projection of each Jacobian
    is compared instead of its entries. It also checks that a second backward pass gives the same
    within `nondet_tol`, that gradients of zero give zero, that missing gradients are taken
    (`check_undefined_grad`), and that batches of gradients give what single ones give
    (`check_batched_grad`).

    What is wrong raises GradcheckError, or returns False if `raise_exception` is False; misuse
    always raises. `check_forward_ad` does the same for the tangents of forward mode, and
    ``check_backward_ad=False`` leaves only that. Gradients here always have the dtype of their
    tensor and are never sparse, so `check_grad_dtypes` and `masked` change nothing.

    >>> import gradfn
    >>> x = gradfn.tensor([1.0, 2.0], dtype=gradfn.float64, requires_grad=True)
    >>> gradcheck(lambda x: x.exp() * x, x)
    True
    """
    assert check_forward_ad or check_backward_ad, (
        "Expected at least one of check_forward_ad or check_backward_ad to be True"
    )
    assert check_backward_ad or not check_batched_grad, (
        "Setting check_batched_grad=True requires check_backward_ad to be True"
    )
    assert check_forward_ad or not check_batched_forward_grad, (
        "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
    )
    tensors, tolerance = as_tuple(inputs), Tolerance(eps, atol, rtol, nondet_tol)
    try:
        _check_inputs(tensors)
        outputs = differentiable(func(*tensors))
        if not outputs:
            _report(constant_fault(func, tensors, eps))
            return True
        if check_backward_ad:
            _check_backward(func, tensors, outputs, tolerance, fast_mode)
        if check_forward_ad:
            _report(forward_fault(func, tensors, tolerance, fast_mode))
        if check_forward_ad and check_undefined_grad:
            _report(undefined_tangent_fault(func, tensors))
        if check_batched_forward_grad:
            _report(batched_tangent_fault(func, tensors))
        if check_backward_ad:
            _check_properties(func, tensors, outputs, check_batched_grad, check_undefined_grad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Func,
    inputs: Tensors,
    grad_outputs: Tensors | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Whether the gradients of the gradients of ``func(*inputs)`` agree with central differences.

    It is `gradcheck` of the function from `inputs` and `grad_outputs` (random ones by default, not
    contiguous with `gen_non_contig_grad_outputs`) to the gradients of `inputs`.

    >>> import gradfn
    >>> x = gradfn.tensor([1.0, 2.0], dtype=gradfn.float64, requires_grad=True)
    >>> gradgradcheck(lambda x: x.exp() * x, x)
    True
    """
    assert check_fwd_over_rev or check_rev_over_rev, (
        "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
    )
    assert check_rev_over_rev or not check_undefined_grad, (
        "Setting check_undefined_grad=True requires check_rev_over_rev to be True"
    )
    assert check_rev_over_rev or not check_batched_grad, (
        "Setting check_batched_grad=True requires check_rev_over_rev to be True"
    )
    tensors = as_tuple(inputs)
    if grad_outputs is None:
        outputs = differentiable(func(*tensors))
        cotangents = _random_cotangents(outputs, contiguous=not gen_non_contig_grad_outputs)
    else:
        cotangents = as_tuple(grad_outputs)
    return gradcheck(
        _gradients_of(func, tensors),
        tensors + cotangents,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
    )


def _random_cotangents(outputs: Sequence[Any], contiguous: bool) -> tuple[Any, ...]:
    """A gradient in [-1, 1) for each of `outputs`, requiring grad."""
    random = np.random.default_rng(0)
    cotangents = []
    for output in outputs:
        array = output._array
        values = random.uniform(-1, 1, (*array.shape, 2))
        if array.dtype.kind == "c":
            values = values + 1j * values[..., ::-1]
        every_second = np.asarray(values.astype(array.dtype)[..., 0])
        cotangents.append(every_second.copy() if contiguous else every_second)
    return tuple(Variable.wrap(array).requires_grad_() for array in cotangents)


def _gradients_of(func: Func, inputs: tuple[Any, ...]) -> Outputs:
    """The function from inputs and gradients of the outputs to the gradients of the inputs."""
    wanted = list(wanted_inputs(inputs))

    def gradients(*args: Any) -> tuple[Any, ...]:
        inputs_now, cotangents = args[: len(inputs)], args[len(inputs) :]
        for index in wanted:
            inputs_now[index].requires_grad_()
        outputs = differentiable(func(*inputs_now))
        if not outputs:
            return ()
        at = [inputs_now[index] for index in wanted]
        found = grad(outputs, at, cotangents, create_graph=True, allow_unused=True)
        return tuple(gradient for gradient in found if gradient is not None)

    return gradients


def _check_backward(
    func: Func,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    tolerance: Tolerance,
    fast_mode: bool,
) -> None:
    """Gradients against finite differences; GradcheckError at the first that is wrong."""
    parts = [WHOLE]
    if any(output.is_complex() for output in outputs):
        parts = [IMAGINARY, REAL]
    find_fault = projection_fault if fast_mode else jacobian_fault
    for part in parts:
        _report(find_fault(func, inputs, part, tolerance))


def _check_properties(
    func: Func,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    check_batched_grad: bool,
    check_undefined_grad: bool,
) -> None:
    """What else must hold of a backward pass."""
    if check_batched_grad:
        for number, output in enumerate(outputs):
            _check_batched(inputs, output, number)
    _check_zero(inputs, outputs)
    if check_undefined_grad:
        _check_undefined(func, inputs)


def _report(fault: str | None) -> None:
    if fault is not None:
        raise GradcheckError(fault)


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    wanted = wanted_inputs(inputs)
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )
    for index, x in wanted.items():
        if x.dtype not in (float64, complex128):
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or "
                f"complex, but {x.dtype}: finite differences will likely be too coarse.",
                UserWarning,
                stacklevel=4,
            )
        if any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {index}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping, to move their elements one by one: call "
                "contiguous() on it first."
            )


# Properties of the backward pass


def _check_batched(inputs: tuple[Any, ...], output: Any, number: int) -> None:
    """A batch of gradients must give what they give one by one."""
    random, wanted = np.random.default_rng(0), wanted_inputs(inputs)
    size = (2, *output.shape)
    values = random.standard_normal(size)
    if output.is_complex():
        values = values + 1j * random.standard_normal(size)
    batch = Variable.wrap(values.astype(output._array.dtype))

    def gradients(cotangent: Any, batched: bool) -> tuple[Any, ...]:
        return grad(
            output,
            list(wanted.values()),
            cotangent,
            retain_graph=True,
            allow_unused=True,
            is_grads_batched=batched,
        )

    one_by_one = zip(*(gradients(entry, False) for entry in batch.unbind(0)), strict=True)
    try:
        together = gradients(batch, True)
    except RuntimeError as error:
        raise GradcheckError(
            f"While computing batched gradients, got: {error}\n\n{_BATCHED_FAILED}"
        ) from error
    for index, got, singles in zip(wanted, together, one_by_one, strict=True):
        if got is None:
            continue
        expected = Variable.wrap(np.stack([g._array for g in singles]))
        if not np.allclose(got._array, expected._array):
            raise GradcheckError(
                f"For output {number} and input {index}:\n\n{_BATCHED_FAILED}\n\nGot:\n{got}\n\n"
                f"Expected:\n{expected}\n"
            )


_BATCHED_FAILED = (
    "gradcheck or gradgradcheck failed while testing batched gradient computation, that is, "
    "grad(..., is_grads_batched=True). check_batched_grad=False leaves this test out."
)


def _check_zero(inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Gradients are linear in those of the outputs: zeros must give zeros."""
    wanted = wanted_inputs(inputs)
    zeros = [output.new_zeros(output.shape) for output in outputs]
    found = grad(outputs, list(wanted.values()), zeros, retain_graph=True, allow_unused=True)
    for index, gradient in zip(wanted, found, strict=True):
        if gradient is not None and gradient._array.any():
            raise GradcheckError(
                "backward not multiplied by grad_output: where that is zero, the gradient of input "
                f"{index} is\n{gradient}"
            )


class _Undefined(Function):
    """The identity, which sends no gradient back."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> None:
        return None


def _check_undefined(func: Func, inputs: tuple[Any, ...]) -> None:
    """The backward pass must do without the gradients of all outputs, and of each."""
    outputs = differentiable(func(*inputs))
    _check_without(set(range(len(outputs))), outputs, inputs)
    if len(outputs) > 1:
        for number in range(len(outputs)):
            _check_without({number}, differentiable(func(*inputs)), inputs)


def _check_without(missing: set[int], outputs: tuple[Any, ...], inputs: tuple[Any, ...]) -> None:
    wanted = wanted_inputs(inputs)
    ends = [_Undefined.apply(o) if i in missing else o for i, o in enumerate(outputs)]
    zeros = [end.new_zeros(end.shape) for end in ends]
    without = f"without a gradient for output(s) {sorted(missing)} and with zeros for the others"
    try:
        found = grad(ends, list(wanted.values()), zeros, retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        _warn_undefined()
        raise GradcheckError(
            f"Expected backward function to handle undefined output grads, but {without} it raised "
            f"{type(error).__name__}: {error}"
        ) from error
    for index, gradient in zip(wanted, found, strict=True):
        if gradient is not None and gradient._array.any():
            _warn_undefined()
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are "
                f"undefined or zero, but {without} the gradient of input {index} is\n{gradient}"
            )


def _warn_undefined() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by "
        "default, but it may break existing callers of this function. If this is true for you, you "
        'can call this function with "check_undefined_grad=False" to disable the feature',
        UserWarning,
        stacklevel=6,
    )


# PyTorch's old names, which its documentation never had


def get_numerical_jacobian(
    fn: Func,
    inputs: Tensors,
    target: Tensors | None = None,
    eps: float = 1e-3,
    grad_out: float = 1.0,
) -> tuple[Any, ...]:
    """Deprecated: the Jacobians of the first output of ``fn(inputs)`` by finite differences, one
    for each tensor of `target`, which are `inputs` or some of them."""
    _check_old("get_numerical_jacobian", grad_out)
    inputs = as_tuple(inputs)

    def outputs_of(*inputs: Any) -> tuple[Any, ...]:
        return as_tuple(fn(inputs))[:1]

    outputs = outputs_of(*inputs)
    _check_real("get_numerical_jacobian", outputs[0])
    targets = wanted_inputs(inputs if target is None else as_tuple(target)).values()
    numbers = [next(i for i, x in enumerate(inputs) if x is target) for target in targets]
    jacobians = [numerical_jacobian(outputs_of, inputs, i, outputs, eps)[0] for i in numbers]
    return tuple(map(Variable.wrap, jacobians))


def get_analytical_jacobian(
    inputs: Tensors, output: Any, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Any, ...], bool, bool, bool]:
    """Deprecated: the Jacobians of `output` by backward passes, and whether a second pass gave the
    same, and gradients had the right shapes and dtypes, which is always so."""
    _check_old("get_analytical_jacobian", grad_out)
    _check_real("get_analytical_jacobian", output)
    tensors = list(wanted_inputs(as_tuple(inputs)).values())
    jacobians, again = analytical_jacobian(tensors, output), analytical_jacobian(tensors, output)
    reentrant = largest_difference(jacobians, again) <= nondet_tol
    return tuple(map(Variable.wrap, jacobians)), reentrant, True, True


def _check_old(name: str, grad_out: float) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed: use gradcheck, "
        "or autograd.functional.jacobian",
        FutureWarning,
        stacklevel=3,
    )
    if grad_out != 1.0:
        raise ValueError(
            f"Expected grad_out to be 1.0: {name} takes no other value, not {grad_out}"
        )


def _check_real(name: str, output: Any) -> None:
    if output.is_complex():
        raise ValueError(f"Expected output to be non-complex: {name} got one of {output.dtype}")
