"""Derivatives of functions of tensors: PyTorch's `torch.autograd.functional`.

Note [Double-backward trick]: a reverse pass gives ``u -> uᵀJ``, which is linear in ``u``; a second
reverse pass through that, started with ``v``, gives ``Jv``. The value of ``u`` does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from .backward import grad
from .batching import vmap_level
from .forward_ad import dual_level, make_dual, unpack_dual
from .grad_mode import enable_grad
from .variable import Variable

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = Any  # a tensor or a tuple of them
Func = Callable[..., Tensors]
Strategy = Literal["reverse-mode", "forward-mode"]


class Strict(NamedTuple):
    """Strict mode's errors at one step, for input or output number {}: a derivative that is None,
    and one that is wanted with `create_graph` but is a constant."""

    independent: str
    constant: str


_FORBIDDEN = ". This is not allowed in strict mode"
_CONSTANT_JACOBIAN = (
    f"The jacobian of the user-provided function is independent of input {{}}{_FORBIDDEN} when "
    "create_graph=True."
)
_CONSTANT_HESSIAN = _CONSTANT_JACOBIAN.replace("jacobian", "hessian")
_INDEPENDENT = f"The output of the user-provided function is independent of input {{}}{_FORBIDDEN}."

BACK = Strict(_INDEPENDENT, _CONSTANT_JACOBIAN)
BACK_TRICK = Strict(
    f"The gradient with respect to the input is independent of entry {{}} in the grad_outputs when "
    f"using the double backward trick to compute forward mode gradients{_FORBIDDEN}.",
    _CONSTANT_JACOBIAN,
)
DOUBLE_BACK = Strict(
    f"The jacobian of the user-provided function is independent of input {{}}{_FORBIDDEN}.",
    _CONSTANT_HESSIAN,
)
DOUBLE_BACK_TRICK = Strict(
    f"The hessian of the user-provided function is independent of entry {{}} in the grad_jacobian"
    f"{_FORBIDDEN} as it prevents from using the double backward trick.",
    _CONSTANT_HESSIAN,
)

# Strict mode's errors for what must be differentiable, number {}, to go on.
OUTPUT = (
    "Output {} of the user-provided function does not require gradients. The outputs must be "
    "computed in a differentiable manner from the input when running in strict mode."
)
GRADIENT = (
    "The gradient with respect to input {} is independent of the inputs of the user-provided "
    f"function{_FORBIDDEN}."
)
JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with "
    f"respect to input {{}} is independent of the input{_FORBIDDEN}: the function must be twice "
    "differentiable, and not linear in that input."
)


def vjp(
    func: Func,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """``func(*inputs)``, and ``vᵀJ`` for its Jacobian ``J`` at `inputs`.

    `v` is shaped as the outputs; it may be left out for a single output of one element. Tensors and
    tuples of tensors are both taken and returned: the outputs as `func` gives them, ``vᵀJ`` as
    `inputs`. With `create_graph` both results can be differentiated. Where an output does not
    depend on an input, the result is zeros, or with `strict` a RuntimeError.

    >>> import gradfn
    >>> vjp(lambda x: x * x, gradfn.tensor([1.0, 2.0]), gradfn.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        many_in, inputs = _inputs(inputs, "vjp", create_graph)
        many_out, outputs = _outputs(func(*inputs), "vjp", strict)
        v = _vector(v, outputs, many_out, "vjp", create_graph)
        found = _grad(outputs, inputs, v, create_graph)
        result = _filled(found, inputs, strict, create_graph, BACK)
    return _as_given(outputs, many_out, create_graph), _as_given(result, many_in, create_graph)


def jvp(
    func: Func,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """``func(*inputs)``, and ``Jv`` for its Jacobian ``J`` at `inputs`.

    `v` is shaped as the inputs; it may be left out for a single input of one element. See `vjp`
    for the rest. Computed by Note [Double-backward trick].

    >>> import gradfn
    >>> jvp(lambda x: x.sum(), gradfn.tensor([1.0, 2.0]), gradfn.tensor([1.0, 10.0]))
    (tensor(3.), tensor(11.))
    """
    with enable_grad():
        many_in, inputs = _inputs(inputs, "jvp", create_graph)
        v = _vector(v, inputs, many_in, "jvp", create_graph)
        many_out, outputs = _outputs(func(*inputs), "jvp", strict)
        cotangents = _cotangents(outputs)
        linear = _grad(outputs, inputs, cotangents, create_graph=True)
        _check_requires_grad(linear, GRADIENT, strict)
        found = _grad(linear, cotangents, v, create_graph)
        result = _filled(found, outputs, strict, create_graph, BACK_TRICK)
    return _as_given(outputs, many_out, create_graph), _as_given(result, many_out, create_graph)


def jacobian(
    func: Func,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: Strategy = "reverse-mode",
) -> Tensors:
    """The Jacobian of `func` at `inputs`: ``J[i, j] = ∂output[i] / ∂input[j]``.

    Its shape is the output's followed by the input's; where outputs or inputs are a tuple it is a
    tuple over outputs, over inputs, or over outputs of tuples over inputs. With `vectorize` all
    rows are asked for in one call of `grad`, which also allows complex outputs. For `create_graph`
    and `strict` see `vjp`. The strategy "forward-mode" computes columns, not rows: fewer where the
    inputs have fewer elements than the outputs. As in PyTorch it needs `vectorize`.

    >>> import gradfn
    >>> jacobian(lambda x: x.exp(), gradfn.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    _check_strategy(strategy, create_graph, strict, vectorize)
    if strategy == "forward-mode":
        return _forward_jacobian(func, inputs)
    with enable_grad():
        many_in, inputs = _inputs(inputs, "jacobian", create_graph)
        many_out, outputs = _outputs(func(*inputs), "jacobian", strict)
        if vectorize:
            by_output = _batched_rows(outputs, inputs, create_graph)
        else:
            by_output = [
                _rows(output, inputs, strict, create_graph, number)
                for number, output in enumerate(outputs)
            ]
        blocks = [
            tuple(r.view(*o.shape, *i.shape) for r, i in zip(rows, inputs, strict=True))
            for o, rows in zip(outputs, by_output, strict=True)
        ]
    result = tuple(_as_given(of_output, many_in, create_graph) for of_output in blocks)
    return result if many_out else result[0]


def hessian(
    func: Func,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: Strategy = "reverse-mode",
) -> Tensors:
    """The Hessian of `func`, which returns one element: ``H[i, j] = ∂²func / ∂input[i] ∂input[j]``.

    Its shape is the input's, twice; for a tuple of inputs it is a tuple of tuples. It is the
    `jacobian` of a `jacobian`, and takes the same arguments.

    >>> import gradfn
    >>> hessian(lambda x: x.prod(), gradfn.tensor([2.0, 3.0]))
    tensor([[0., 1.],
            [1., 0.]])
    """
    many, _ = _as_tuple(inputs, "inputs", "hessian")

    def scalar(*inputs: Any) -> Any:
        return _single_element(func(*inputs), "hessian", strict).squeeze()

    def gradient(*inputs: Any) -> Tensors:
        if outer_jacobian_strategy == "forward-mode":
            inputs = tuple(input.requires_grad_() for input in inputs)
        found = jacobian(scalar, inputs, create_graph=True)
        _check_requires_grad(found, JACOBIAN, strict)
        return found if many else found[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def vhp(
    func: Func,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """``func(*inputs)``, of one element, and ``vᵀH`` for its Hessian ``H``, shaped as `inputs`.

    The arguments are those of `jvp`. One reverse pass less than `hvp`.

    >>> import gradfn
    >>> vhp(lambda x: (x**3).sum(), gradfn.tensor([1.0, 2.0]), gradfn.tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))
    """
    with enable_grad():
        many, inputs = _inputs(inputs, "vhp", create_graph)
        v = _vector(v, inputs, many, "vhp", create_graph)
        output = _single_element(func(*inputs), "vhp", strict)
        gradient = _grad([output], inputs, None, create_graph=True)
        _check_requires_grad(gradient, JACOBIAN, strict)
        found = _grad(gradient, inputs, v, create_graph)
        result = _filled(found, inputs, strict, create_graph, DOUBLE_BACK)
    return _as_given((output,), False, create_graph), _as_given(result, many, create_graph)


def hvp(
    func: Func,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """``func(*inputs)``, of one element, and ``Hv`` for its Hessian ``H``, shaped as `inputs`.

    The arguments are those of `jvp`. Computed by Note [Double-backward trick] from the gradient.

    >>> import gradfn
    >>> hvp(lambda x: (x**3).sum(), gradfn.tensor([1.0, 2.0]), gradfn.tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))
    """
    with enable_grad():
        many, inputs = _inputs(inputs, "hvp", create_graph)
        v = _vector(v, inputs, many, "hvp", create_graph)
        output = _single_element(func(*inputs), "hvp", strict)
        gradient = _grad([output], inputs, None, create_graph=True)
        _check_requires_grad(gradient, JACOBIAN, strict)
        cotangents = _cotangents(inputs)
        linear = _grad(gradient, inputs, cotangents, create_graph=True)
        found = _grad(linear, cotangents, v, create_graph)
        result = _filled(found, inputs, strict, create_graph, DOUBLE_BACK_TRICK)
    return _as_given((output,), False, create_graph), _as_given(result, many, create_graph)


# Derivatives


def _grad(
    outputs: Sequence[Any],
    inputs: tuple[Any, ...],
    cotangents: tuple[Any, ...] | None,
    create_graph: bool,
    retain_graph: bool | None = None,
    is_grads_batched: bool = False,
) -> tuple[Any, ...]:
    """`grad` of those `outputs` that have a history; all None where none has."""
    pairs = zip(outputs, cotangents or [None] * len(outputs), strict=True)
    recorded = [(o, c) for o, c in pairs if o is not None and o.requires_grad]
    if not recorded:
        return (None,) * len(inputs)
    outputs, grads = zip(*recorded, strict=True)
    return grad(
        outputs,
        inputs,
        grads,
        retain_graph=retain_graph,
        create_graph=create_graph,
        allow_unused=True,
        is_grads_batched=is_grads_batched,
    )


def _rows(
    output: Any, inputs: tuple[Any, ...], strict: bool, create_graph: bool, number: int
) -> tuple[Any, ...]:
    """For each input, the gradients of the elements of `output`, stacked; one pass for each."""
    errors = Strict(BACK.independent.replace("The output", f"Output {number}"), BACK.constant)
    rows = []
    for element in output.reshape(-1).unbind(0):
        found = _grad([element], inputs, None, create_graph, retain_graph=True)
        rows.append(_filled(found, inputs, strict, create_graph, errors))
    if not rows:
        return tuple(input.new_zeros((0, *input.shape)) for input in inputs)
    return tuple(_stacked(column) for column in zip(*rows, strict=True))


def _stacked(tensors: Sequence[Any]) -> Any:
    """The tensors, all of one shape, along a new first dimension; recorded."""
    from ..ops.joining import stack

    return stack(tensors)


def _batched_rows(
    outputs: tuple[Any, ...], inputs: tuple[Any, ...], create_graph: bool
) -> list[tuple[Any, ...]]:
    """For each output and input, what `_rows` gives; all asked for at once."""
    sizes = [output.numel() for output in outputs]
    found: tuple[Any, ...] = (None,) * len(inputs)
    if sum(sizes):
        flat = [output.reshape(-1) for output in outputs]
        basis = _construct_standard_basis_for(outputs, sizes)
        found = _grad(flat, inputs, basis, create_graph, is_grads_batched=True)
    columns = [
        input.new_zeros((sum(sizes), *input.shape)) if rows is None else rows
        for rows, input in zip(found, inputs, strict=True)
    ]
    return list(zip(*(column.split(sizes) for column in columns), strict=True))


def _forward_jacobian(func: Func, inputs: Tensors) -> Tensors:
    """The Jacobian column by column: all columns of an input by one run of `func` inside vmap."""
    many_in, inputs = _as_tuple(inputs, "inputs", "jacobian")
    many_out, by_input = False, []
    for index, input in enumerate(inputs):
        size = input.numel()
        basis = _construct_standard_basis_for([input], [size])[0].reshape(size, *input.shape)
        level = vmap_level(size)
        with level.entered(), dual_level():
            dual = make_dual(input, level.batch(basis))
            given = func(*inputs[:index], dual, *inputs[index + 1 :])
            many_out, outputs = _as_tuple(given, "outputs", "jacobian")
            tangents = [_tangent(output) for output in outputs]
        by_input.append(
            [level.result(t).movedim(0, -1).reshape(*t.shape, *input.shape) for t in tangents]
        )
    blocks = tuple(zip(*by_input, strict=True))
    result = tuple(of_output if many_in else of_output[0] for of_output in blocks)
    return result if many_out else result[0]


def _tangent(output: Any) -> Any:
    """The tangent of an output; zeros where nothing moves it."""
    primal, tangent = unpack_dual(output)
    return primal.new_zeros(primal.shape) if tangent is None else tangent


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """Tensors, or nested tuples of them, without their history unless it was to be recorded."""
    if isinstance(inputs, Variable):
        return inputs if create_graph else inputs.detach()  # type: ignore[attr-defined]
    return tuple(_grad_postprocess(value, create_graph) for value in inputs)


def _tuple_postprocess(result: Any, to_unpack: Any) -> Any:
    """The only entry of a tuple (of tuples) where the argument was no tuple."""
    if isinstance(to_unpack, tuple):
        inner = result if to_unpack[1] else tuple(row[0] for row in result)
        return inner if to_unpack[0] else inner[0]
    return result if to_unpack else result[0]


def _construct_standard_basis_for(
    tensors: Sequence[Any], tensor_numels: Sequence[int]
) -> tuple[Any, ...]:
    """The identity of all elements of `tensors`, cut into their columns, each of its dtype."""
    total, start = sum(tensor_numels), 0
    basis = []
    for tensor, numel in zip(tensors, tensor_numels, strict=True):
        basis.append(Variable.wrap(np.eye(total, numel, -start, dtype=tensor._array.dtype)))
        start += numel
    return tuple(basis)


def _cotangents(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """Any cotangents will do, so zeros: see Note [Double-backward trick]."""
    return tuple(tensor.new_zeros(tensor.shape).requires_grad_() for tensor in tensors)


def _filled(
    found: tuple[Any, ...],
    like: tuple[Any, ...],
    strict: bool,
    create_graph: bool,
    errors: Strict,
) -> tuple[Any, ...]:
    """The derivatives `found`, with zeros for None; RuntimeError for that in strict mode."""
    if strict:
        for number, derivative in enumerate(found):
            if derivative is None:
                raise RuntimeError(errors.independent.format(number))
            if create_graph and not derivative.requires_grad:
                raise RuntimeError(errors.constant.format(number))
    pairs = zip(found, like, strict=True)
    return tuple(t.new_zeros(t.shape) if d is None else d for d, t in pairs)


def _check_requires_grad(tensors: tuple[Any, ...], error: str, strict: bool) -> None:
    """In strict mode, RuntimeError for the first of `tensors` that cannot be differentiated."""
    if not strict:
        return
    for number, tensor in enumerate(tensors):
        if tensor is None:
            raise RuntimeError(_INDEPENDENT.format(number))
        if not tensor.requires_grad:
            raise RuntimeError(error.format(number))


# Arguments and results


def _as_tuple(value: Tensors, what: str, name: str) -> tuple[bool, tuple[Any, ...]]:
    """Whether `value` is a tuple, and `value` as one; TypeError where it holds other things."""
    many = isinstance(value, tuple)
    tensors = value if many else (value,)
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, Variable):
            where = f"the value at index {index} has" if many else f"the given {what} has"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but "
                f"{where} type {type(tensor)}."
            )
    return many, tensors


def _as_given(tensors: tuple[Any, ...], many: bool, create_graph: bool) -> Tensors:
    """Results for the user: a tuple only where one is due, and out of the graph."""
    if not create_graph:
        tensors = tuple(tensor.detach() for tensor in tensors)
    return tensors if many else tensors[0]


def _fresh(tensors: tuple[Any, ...], create_graph: bool, wanted: bool) -> tuple[Any, ...]:
    """New tensors over `tensors`, connected to them where the results are to be differentiated;
    `wanted` says whether gradients with respect to the others are."""
    return tuple(
        tensor.view_as(tensor)
        if create_graph and tensor.requires_grad
        else tensor.detach().requires_grad_(wanted)
        for tensor in tensors
    )


def _inputs(inputs: Tensors, name: str, create_graph: bool) -> tuple[bool, tuple[Any, ...]]:
    many, tensors = _as_tuple(inputs, "inputs", name)
    return many, _fresh(tensors, create_graph, wanted=True)


def _outputs(value: Tensors, name: str, strict: bool) -> tuple[bool, tuple[Any, ...]]:
    many, outputs = _as_tuple(value, "outputs of the user-provided function", name)
    _check_requires_grad(outputs, OUTPUT, strict)
    return many, outputs


def _single_element(value: Tensors, name: str, strict: bool) -> Any:
    """The output of a function that has a Hessian."""
    many, outputs = _outputs(value, name, strict)
    if many:
        raise RuntimeError(
            f"The function given to {name} should return a single Tensor, but it returned a tuple "
            f"of {len(outputs)}."
        )
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element, "
            f"but its shape is {list(outputs[0].shape)}."
        )
    return outputs[0]


def _vector(
    v: Tensors | None, like: tuple[Any, ...], many: bool, name: str, create_graph: bool
) -> tuple[Any, ...] | None:
    """`v` as a tuple, shaped as the tensors `like`: the outputs for `vjp`, else the inputs."""
    if v is None:
        if len(like) == 1 and like[0].numel() == 1:
            return None
        subject = "input to the user-provided function is"
        if name == "vjp":
            subject = "user-provided function returns"
        raise RuntimeError(
            f"The vector v can only be None if the {subject} a single Tensor with a single element."
            f" Here the shapes are {[list(tensor.shape) for tensor in like]}."
        )
    v = _fresh(_as_tuple(v, "v", name)[1], create_graph, wanted=False)
    if len(v) != len(like):
        if many:
            raise RuntimeError(
                f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}."
            )
        raise RuntimeError(f"The given v should contain a single Tensor. It has {len(v)}.")
    for index, (given, due) in enumerate(zip(v, like, strict=True)):
        if given.shape != due.shape:
            entry = f"Entry {index} in v" if many else "v"
            raise RuntimeError(
                f"{entry} has invalid size: should be {due.shape} but got {given.shape}."
            )
    return v


def _check_strategy(strategy: str, create_graph: bool, strict: bool, vectorize: bool) -> None:
    if strategy not in get_args(Strategy):
        raise AssertionError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode". It is {strategy!r}.'
        )
    name = "torch.autograd.functional.jacobian"
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                f'{name}: `create_graph=True` and `strategy="forward-mode"` are not supported '
                "together (yet)."
            )
        if strict:
            raise RuntimeError(
                f'{name}: `strict=True` and `strategy="forward-mode"` are not supported together '
                "(yet)."
            )
        if not vectorize:
            raise NotImplementedError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only "
                "implemented for `vectorize=True`."
            )
        return
    if strict and vectorize:
        raise RuntimeError(
            f"{name}: `strict=True` and `vectorized=True` are not supported together."
        )
