"""Straight-line Python for each operator, compiled on its first call.

`form` gives a function that, when first called, becomes the operator's code for exactly its
signature: no loops over arguments, no ``*args``, no dictionaries on the fast path. Every form of an
operator (function, in-place, binary operator) and its node class come from the one declaration.
The sources are registered with `linecache`, so that debuggers and tracebacks show them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from sys import _getframe
from types import FunctionType
from typing import Any

import numpy as np

from ..autograd.grad_mode import GRAD, get_mode
from ..autograd.inplace import check_overlap, check_result, check_target, copied, rebase, sharing
from ..autograd.memory import UNTRACKED, tick
from ..autograd.node import accumulate_edge
from ..autograd.variable import LEAF, Variable
from ..autograd.where import internal_files, remember_source, user_frame
from ..raw.numbers import in_single
from ..raw.quiet import hush, unhush
from . import runtime
from .declare import LIST, MASK, OPTIONAL, PLAIN, Operator, Parameter
from .node import node_class, saved_by
from .out import write_out
from .overrides import OVERRIDING, overridden
from .parameter_names import FACTORS, NUMPY_NAMES

FUNCTION, INPLACE, BINARY = "function", "in-place", "binary operator"


def form(operator: Operator, kind: str) -> Callable[..., Any]:
    """The function of `operator` in one of its forms; its code is emitted when first called."""
    found = operator.forms.get(kind)
    if found is not None:
        return found
    name = operator.name + ("_" if kind == INPLACE else "")
    filename = f"<gradfn {operator.overload}{'_' if kind == INPLACE else ''} ({kind})>"
    internal_files.add(filename)
    scope: dict[str, Any] = {"__name__": "gradfn.ops", "__file__": filename}

    def become(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        _realise(made, operator, kind, filename)
        return made(*args, **kwargs)

    made: FunctionType = FunctionType(_first_call.__code__, scope, name)
    made.__qualname__ = name
    scope["become"] = become
    made.__module__, made.__kwdefaults__ = "gradfn", None
    made.__dict__.update(operator=operator, __signature__=public_signature(operator))
    operator.forms[kind] = made
    return made


def _realise(function: FunctionType, operator: Operator, kind: str, filename: str) -> None:
    """Give a form its code."""
    real = emit(operator, kind, function.__name__, filename, function.__globals__)
    function.__code__ = real.__code__
    function.__defaults__, function.__kwdefaults__ = real.__defaults__, real.__kwdefaults__


def with_kernel(operator: Operator, kind: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The form of `operator` with another kernel in the place of its own."""
    function = form(operator, kind)
    assert isinstance(function, FunctionType)
    if function.__code__ is _first_call.__code__:
        _realise(function, operator, kind, function.__globals__["__file__"])
    scope = function.__globals__ | {"KERNEL": kernel}
    changed = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    changed.__kwdefaults__ = function.__kwdefaults__
    return changed


def _first_call(*args: Any, **kwargs: Any) -> Any:
    """The code of a form before it is emitted; `become` is in the scope of each."""
    return become(args, kwargs)  # type: ignore[name-defined]  # noqa: F821


def inplace(function: Callable[..., Any]) -> Callable[..., Any]:
    """The in-place variant of a declared operator: ``mul_`` for ``mul``."""
    return form(function.operator, INPLACE)  # type: ignore[attr-defined]


def binary(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` as Python's binary operator: foreign operands get NotImplemented."""
    return form(function.operator, BINARY)  # type: ignore[attr-defined]


def public_signature(operator: Operator) -> inspect.Signature:
    """The signature as declared, with PyTorch's `input` for `self`, and its `out`."""
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    known = [
        inspect.Parameter(
            word(p),
            kinds[p.keyword_only],
            default=inspect.Parameter.empty if p.default is None else _Source(p.default),
        )
        for p in operator.parameters
    ]
    if takes_out(operator):
        known.append(inspect.Parameter("out", kinds[1], default=None))
    return inspect.Signature(known)


class _Source(str):
    """A default value shown as it was written."""

    __repr__ = str.__str__


def word(parameter: Parameter) -> str:
    return "input" if parameter.name == "self" else parameter.name


def emit(
    operator: Operator, kind: str, name: str, filename: str, scope: dict[str, Any]
) -> FunctionType:
    """Write and compile the code of `operator`; `scope` becomes its global names."""
    source = "\n".join(forward_lines(operator, kind, name)) + "\n"
    remember_source(filename, source)
    scope.update(
        OPERATOR=operator,
        KERNEL=operator.kernel,
        RETURNS=operator.returns,
        NODE=node_class(operator) if operator.every_formula() else None,
        Tensor=Variable.concrete,
        new=object.__new__,
        GRAD=GRAD,
        LEAF=LEAF,
        FILES=internal_files,
        memory_of=runtime.memory_of,
        UNTRACKED=UNTRACKED,
        SCALARS=runtime.SCALARS,
        NUMBERS=runtime.NUMBERS,
        ndarray=np.ndarray,
        WRAPPED=(np.generic, Variable),
        unwrapped=runtime.unwrapped_number,
        get_mode=get_mode,
        getframe=_getframe,
        user_frame=user_frame,
        tick=tick,
        hush=hush,
        unhush=unhush,
        accumulate_edge=accumulate_edge,
        scalar=runtime.scalar,
        promote=runtime.promote,
        fallback=runtime.fallback,
        explain=runtime.explain,
        in_single=in_single,
        unrecorded=runtime.unrecorded,
        unsupported=runtime.unsupported,
        as_view=runtime.as_view,
        differentiable=runtime.differentiable,
        check_target=check_target,
        check_overlap=check_overlap,
        sharing=sharing,
        copied=copied,
        check_result=check_result,
        rebase=rebase,
        write_out=write_out,
        OVERRIDING=OVERRIDING,
        overridden=overridden,
    )
    local: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), scope, local)
    real: FunctionType = local[name]
    return real


def forward_lines(operator: Operator, kind: str, name: str) -> list[str]:
    """The source of one form: read the arguments, run the kernel, record."""
    parts = _header(operator)
    with_out = kind == FUNCTION and takes_out(operator)
    if with_out:
        parts += ["out=None"] if "*" in parts else ["*", "out=None"]
    lines = [f"def {name}({', '.join(parts)}):"]
    lines += [
        f"    if {alias} is not None: {name_} = {alias}" for name_, alias in _aliases(operator)
    ]
    every = ", ".join(word(p) for p in operator.parameters)
    given_out = ", out" if with_out else ""
    lines += [
        "    mode = get_mode()",
        "    if mode is not GRAD and mode.intercept is not None:",
        f"        return mode.intercept(OPERATOR, {kind!r}, ({every},){given_out})",
        "    if OVERRIDING:",
        f"        other_way = overridden(OPERATOR, {kind!r}, ({every},))",
        "        if other_way is not NotImplemented: return other_way",
        "    try:",
        *_read_arguments(operator),
        *_plain_numbers(operator),
        "    except AttributeError:",
        f"        return fallback(OPERATOR, {kind!r}, ({every},){given_out})",
    ]
    if kind == INPLACE:
        lines += [f"    check_target(input, {name!r}, mode, {_any_edge(operator)})"]
        lines += ["    check_overlap(input)", *_share(operator)]
    lines += _promotion(operator)
    if operator.refuses:
        arrays = ", ".join(f"a{i}" for i in range(len(operator.inputs)))
        lines += [f"    if x0.dtype.kind in {operator.refuses!r}:"]
        lines += [f"        raise unsupported(OPERATOR, ({arrays},))"]
    if kind == INPLACE:
        return lines + _keep_old(operator) + _write(operator, name) + _rebase(operator)
    return lines + _quietly(operator, [f"r = {_kernel_call(operator)}"]) + _finish(operator, kind)


def _quietly(operator: Operator, lines: list[str]) -> list[str]:
    """Run the kernel without NumPy's warnings, and with PyTorch's errors for its errors."""
    arrays = ", ".join(f"a{i}" for i in range(len(operator.inputs)))
    return [
        "    token = hush()",
        "    try:",
        *("        " + line for line in lines),
        "    except (TypeError, ValueError) as error:",
        f"        explain(OPERATOR, error, ({arrays},))",
        "        raise",
        "    finally:",
        "        unhush(token)",
    ]


def _header(operator: Operator) -> list[str]:
    parts: list[str] = []
    star = False
    for p in operator.parameters:
        if p.keyword_only and not star:
            parts.append("*")
            star = True
        parts.append(word(p) if p.default is None else f"{word(p)}={p.default}")
    aliases = _aliases(operator)
    if aliases and not star:
        parts.append("*")
    parts += [f"{alias}=None" for _, alias in aliases]
    if aliases:  # a required `dim` may come under its other name: then what follows has defaults
        named = {name for name, _ in aliases}
        first = min(i for i, part in enumerate(parts) if part.split("=")[0] in named)
        follows = range(first, parts.index("*"))
        for i, part in enumerate(parts):
            if part in named or (i in follows and "=" not in part):
                parts[i] = f"{part}=None"
    return parts


def _aliases(operator: Operator) -> list[tuple[str, str]]:
    return [(p.name, NUMPY_NAMES[p.name]) for p in operator.parameters if p.name in NUMPY_NAMES]


def _read_arguments(operator: Operator) -> list[str]:
    """Arrays ``a0...`` and edges ``e0...`` of the tensor arguments."""
    lines = []
    for i, p in enumerate(operator.inputs):
        name = word(p)
        take = f"a{i} = {name}._array; e{i} = {name}._edge"
        if p.kind == LIST:
            lines += [f"{name} = tuple({name})", f"a{i} = [t._array for t in {name}]"]
            lines += [f"e{i} = [t._edge for t in {name}]"]
        elif p.kind == OPTIONAL:
            lines += [f"if {name} is None: a{i} = e{i} = None"]
            if operator.numbers:
                lines += _read_number("elif", name, i)
            lines += [f"else: {take}"]
        elif operator.numbers and i > 0:
            lines += [*_read_number("if", name, i), f"else: {take}"]
        else:
            lines += [take]
    return ["        " + line for line in lines]


def _plain_numbers(operator: Operator) -> list[str]:
    """Python's numbers for NumPy's, and 0-d tensors, among the plain arguments."""
    names = [p.name for p in operator.parameters if p.kind == PLAIN and p.name in FACTORS]
    return [
        f"        if isinstance({n}, WRAPPED): {n} = unwrapped(OPERATOR, {n!r}, {n})" for n in names
    ]


def _read_number(test: str, name: str, i: int) -> list[str]:
    return [
        f"{test} {name}.__class__ in SCALARS:",
        f"    a{i} = NUMBERS.get(({name}, {name}.__class__, a0.dtype)); e{i} = None",
        f"    if a{i} is None: a{i} = scalar({name}, a0)",
    ]


def _promotion(operator: Operator) -> list[str]:
    """Arrays ``x0...`` as the kernel gets them."""
    count = len(operator.inputs)
    arrays = ", ".join(f"a{i}" for i in range(count))
    casts = ", ".join(f"x{i}" for i in range(count))
    if not operator.promote:
        return [f"    {casts} = {arrays}"]
    first, *others = promoted = [i for i, p in enumerate(operator.inputs) if p.kind != MASK]
    plain = [f"a{i}.dtype is a{first}.dtype" for i in others]
    for j, i in enumerate(others):
        if operator.inputs[i].kind == OPTIONAL:
            plain[j] = f"(a{i} is None or {plain[j]})"
    if operator.promote == "float":
        plain.append(f"a{first}.dtype.kind not in 'biu'")
    if not plain:
        return [f"    {casts} = {arrays}"]
    names = ", ".join(word(operator.inputs[i]) for i in promoted)
    lines = [f"    {casts} = {arrays}"] if len(promoted) < count else []
    if operator.exact_numbers:
        lines += ["    kernel = KERNEL"]
    arrays, casts = (", ".join(f"{letter}{i}" for i in promoted) for letter in "ax")
    lines += [
        f"    if {' and '.join(plain)}: {casts} = {arrays}",
        "    else:",
        f"        {casts}, = promote(OPERATOR, ({names},), ({arrays},))",
    ]
    if operator.exact_numbers:
        lines += ["        if x1.dtype is not x0.dtype: kernel = in_single(KERNEL)"]
    return lines


def _kernel_call(operator: Operator) -> str:
    arrays = iter(range(len(operator.inputs)))
    arguments = []
    for p in operator.parameters:
        value = word(p) if p.kind == PLAIN else f"x{next(arrays)}"
        arguments.append(f"{p.name}={value}" if p.keyword_only else value)
    if isinstance(operator.kernel, np.ufunc):
        arguments.append("out=...")
    kernel = "kernel" if operator.exact_numbers else "KERNEL"
    return f"{kernel}({', '.join(arguments)})"


def _edge_tests(operator: Operator, names: set[str]) -> str:
    """Whether one of the inputs `names` wants a gradient."""
    tests = [
        f"any(e{i})" if p.kind == LIST else f"e{i} is not None"
        for i, p in enumerate(operator.inputs)
        if p.name in names
    ]
    return " or ".join(tests) or "False"


def _any_edge(operator: Operator) -> str:
    """Whether an input that has a derivative wants a gradient."""
    return f"({_edge_tests(operator, set(operator.edge_index))})"


def takes_out(operator: Operator) -> bool:
    """Whether the function form has PyTorch's `out` argument."""
    return not operator.view and not operator.listed


def _finish(operator: Operator, kind: str) -> list[str]:
    """Wrap the kernel's result, and record the operation where a gradient is wanted."""
    single = len(operator.results) == 1
    lines = []
    if kind == FUNCTION and takes_out(operator):
        lines = ["    if out is not None:"]
        lines += [f"        return write_out(OPERATOR, out, r, {_any_edge(operator)})"]
    if single:
        lines += ["    made = new(Tensor)", "    made._array = r", "    made._memory = None"]
    else:
        lines += ["    made = [new(Tensor) for _ in r]", "    for t, array in zip(made, r):"]
        lines += ["        t._array = array; t._memory = None"]
    result = "made" if single or operator.listed else "RETURNS(made)"
    if operator.view:
        lines.append(f"    as_view(input, {'(made,)' if single else 'made'}, mode)")
    if operator.every_formula():
        casts = any(p.name == "dtype" for p in operator.parameters)  # maybe to integers
        wanted = _any_edge(operator) + " and differentiable(r)" * (casts and single)
        wanted += " and not input._inference" * operator.view
        lines.append(f"    if mode.grad and {wanted}:")
        if operator.view and not single and not operator.listed:
            raise TypeError(f"{operator}: views with named results are not supported")
        record = _record(operator)
        if single:
            record += ["made._edge = (node, 0)"]
        else:
            chosen = "differentiable(t._array)"
            if operator.constants:
                constants = {operator.results.index(name) for name in operator.constants}
                chosen += f" and i not in {constants}"
            record += ["for i, t in enumerate(made):"]
            record += [f"    t._edge = (node, i) if {chosen} else None"]
        lines += ["        " + line for line in [*record, f"return {result}"]]
    edges = _edge_tests(operator, {p.name for p in operator.inputs})
    if single:
        lines += ["    made._edge = None"]
    else:
        lines += ["    for t in made: t._edge = None"]
    lines += [
        f"    if mode is not GRAD or {edges}:",
        f"        unrecorded(OPERATOR, {'(made,)' if single else 'made'}, mode, {edges})",
    ]
    return [*lines, f"    return {result}"]


def _record(operator: Operator, target: str = "") -> list[str]:
    """Make the node; in-place forms (`target` names what they wrote to) save a copy of it."""
    edges = []
    for i, p in enumerate(operator.inputs):
        if not operator.differentiable(p.name):
            continue
        leaf = f"accumulate_edge({word(p)}) if e{i} is LEAF else e{i}"
        if p.kind == LIST:
            leaf = f"*[accumulate_edge(t) if t._edge is LEAF else t._edge for t in {word(p)}]"
        edges.append(leaf)
    lines = ["node = new(NODE)", f"node.next = ({', '.join(edges)},)"]
    if len(operator.results) == 1:
        lines += ["node.shape = r.shape; node.dtype = r.dtype"]
    else:
        lines += ["node.metas = [(array.shape, array.dtype) for array in r]"]
        lines += ["node.shape, node.dtype = node.metas[0] if node.metas else ((0,), None)"]
    return (
        lines
        + _save(operator, target)
        + [
            "frame = getframe(1)",
            "if frame.f_code.co_filename in FILES: frame = user_frame()",
            "node.code = frame.f_code; node.lasti = frame.f_lasti; node.seq = tick()",
            "node.hooks = node.status = node.extra = None",
            "if mode is not GRAD: mode.recorded(node)",
        ]
    )


def _save(operator: Operator, target: str) -> list[str]:
    """Keep what the formulas name, each only where a formula that names it will be used."""
    lines = []
    saved = saved_by(operator)
    index = {p.name: i for i, p in enumerate(operator.inputs)}
    kinds = {p.name: p.kind for p in operator.inputs}
    for name, users in saved.inputs.items():
        i = index[name]
        lines += [f"if {_wanted(operator, users)}:"]
        lines += ["    " + line for line in _save_input(operator, name, i, kinds[name], target)]
        lines += [f"else: node.v_{name} = None; node.m_{name} = UNTRACKED"]
    for name in saved.results:
        if target:
            lines += [f"node.v_{name} = {target}._array; node.m_{name} = {target}.memory()"]
            continue
        single = len(operator.results) == 1
        made = "made" if single else f"made[{operator.results.index(name)}]"
        r = "r" if single else f"r[{operator.results.index(name)}]"
        lines += [f"node.v_{name} = {r}; node.m_{name} = {made}._memory or memory_of({made})"]
    for name in saved.arguments:
        lines += [f"node.v_{name} = {name}"]
    for name, source, what in saved.derived:
        i = index[source]
        if kinds[source] == LIST:
            lines += [f"node.v_{name} = [a.{what} for a in a{i}]"]
        elif kinds[source] == OPTIONAL:
            lines += [f"node.v_{name} = None if a{i} is None else a{i}.{what}"]
        else:
            lines += [f"node.v_{name} = a{i}.{what}"]
    return lines


def _save_input(operator: Operator, name: str, i: int, kind: str, target: str) -> list[str]:
    value = "input" if name == "self" else name
    if kind == LIST:
        return [f"node.v_{name} = a{i}", f"node.m_{name} = [t.memory() for t in {value}]"]
    if target and name == "self":
        return [f"node.v_{name} = old; node.m_{name} = UNTRACKED"]
    tracked = f"{value}._memory or memory_of({value})"
    no_tensor = []
    if operator.numbers and i > 0:
        no_tensor.append(f"{value}.__class__ in SCALARS")
    if kind == OPTIONAL:
        no_tensor.append(f"{value} is None")
    if target:
        no_tensor.append("shared")
    if no_tensor:
        tracked = f"UNTRACKED if {' or '.join(no_tensor)} else {tracked}"
    return [f"node.v_{name} = a{i}", f"node.m_{name} = {tracked}"]


def _wanted(operator: Operator, users: set[str]) -> str:
    """Whether one of the formulas for the inputs `users` will be used."""
    return "True" if users == set(operator.edge_index) else _edge_tests(operator, users)


def _share(operator: Operator) -> list[str]:
    """Copy what will be saved of operands that are in the target's memory before the write."""
    numbers = {p.name: f"a{i}" for i, p in enumerate(operator.inputs)}
    operands = _operands(operator)
    if not operands:
        return []
    given = ", ".join(word(p) for p in operands)
    lines = [f"    shared = sharing(input, OPERATOR.shares, {given})"]
    saved = saved_by(operator).inputs
    arrays = [numbers[p.name] for p in operands if p.name in saved]
    if arrays:
        copies = "; ".join(f"{a} = copied({a})" for a in arrays)
        lines += [f"    if shared and mode.grad and {_any_edge(operator)}: {copies}"]
    return lines


def _operands(operator: Operator) -> list[Parameter]:
    """The tensors that in-place forms read besides their target."""
    return [p for p in operator.inputs[1:] if p.kind != LIST]


def _keep_old(operator: Operator) -> list[str]:
    """Copy the target before the write where a formula names it."""
    saved = saved_by(operator).inputs
    if "self" not in saved:
        return []
    wanted = f"mode.grad and {_any_edge(operator)} and {_wanted(operator, saved['self'])}"
    return [f"    old = a0.copy() if {wanted} else None"]


def _write(operator: Operator, name: str) -> list[str]:
    """Run the kernel into the target: directly where it can be no other dtype or shape."""
    kernel = operator.kernel
    checked = [f"r = {_kernel_call(operator)}", f"check_result(input, r, {name!r})", "a0[...] = r"]
    if hasattr(kernel, "into"):
        checked = [_kernel_call(operator).replace("KERNEL", "KERNEL.into", 1)]
    if isinstance(kernel, np.ufunc) and all(t[0] == t[-1] for t in kernel.types):
        fits = [f"(x{i}.ndim == 0 or x{i}.shape == a0.shape)" for i in range(1, kernel.nin)]
        direct = _kernel_call(operator).replace("out=...", "out=a0")
        checked = [
            f"if {' and '.join(['x0 is a0', *fits])}: {direct}",
            "else:",
            *("    " + line for line in checked),
        ]
    return [*_quietly(operator, checked), f"    input.memory().write({name!r})"]


def _rebase(operator: Operator) -> list[str]:
    """Record the operation, after the write, as the target's new history."""
    lines = []
    if operator.every_formula():
        wanted = f"{_any_edge(operator)} and a0.dtype.kind not in 'biu'"
        lines = [f"    if mode.grad and {wanted}:", "        r = a0"]
        lines += ["        " + line for line in _record(operator, "input")]
        lines += ["        rebase(input, node)"]
    return [*lines, "    return input"]
