"""Node classes, emitted from the table: what they save and how they apply the formulas."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import raw
from ..autograd.memory import UNTRACKED, Memory
from ..autograd.node import AccumulateGrad, Array, Metadata, Node, Status, stale
from ..autograd.saved import SavedTensor
from ..autograd.variable import Variable
from ..autograd.where import internal_files, remember_source
from .declare import LIST, PLAIN, Formula, Operator, words
from .symbols import Symbol, derivative, is_arithmetic


class Saved(NamedTuple):
    """What the nodes of an operator save, as its formulas name it."""

    inputs: dict[str, set[str]]  # tensor argument -> the inputs whose formulas name it
    results: list[str]
    arguments: list[str]
    derived: list[tuple[str, str, str]]  # (self_shape, self, shape)


def saved_by(operator: Operator) -> Saved:
    """Read off the formulas what has to be saved."""
    every = {p.name for p in operator.inputs}
    plain = [p.name for p in operator.parameters if p.kind == PLAIN]
    named: dict[str, set[str]] = {}
    for target, formula in operator.formulas.items():
        for w in words(formula):
            named.setdefault(w, set()).add(target)
    if operator.joint is not None:
        for w in words(operator.joint):
            named[w] = set(every)
    derived = [(f"{n}_{what}", n, what) for n in every for what in ("shape", "dtype")]
    return Saved(
        inputs={name: users for name, users in named.items() if name in every},
        results=[name for name in operator.results if name in named],
        arguments=[name for name in plain if name in named],
        derived=[d for d in derived if d[0] in named],
    )


class OperatorNode(Node):
    """A node whose rule is a row of the table."""

    __slots__ = ()
    operator: Operator

    def unpack(self, index: int | None, array: Array | None, memory: Memory) -> Any:
        """The saved input whose edge is number `index` as a tensor with its place in the graph."""
        if array is None:
            return None
        edge = None if index is None else self.next[index]
        if edge is not None and isinstance(edge[0], AccumulateGrad):
            variable = edge[0].variable
            if variable._array is array:
                return variable
        return self._dual(Variable.wrap(np.asanyarray(array), edge, memory), array)

    def _dual(self, tensor: Any, array: Array) -> Any:
        """`tensor` with the tangent that it had when its `array` was saved."""
        if self.extra is not None and "duals" in self.extra:
            tensor._dual = self.extra["duals"].get(id(array))
        return tensor

    def unpack_list(self, index: int | None, arrays: list[Array] | None, memories: Any) -> Any:
        """A saved list of inputs, the first of whose edges is number `index`."""
        if arrays is None:
            return None
        edges = [None if index is None else index + i for i in range(len(arrays))]
        return [*map(self.unpack, edges, arrays, memories)]

    def unpack_result(self, output_nr: int, array: Array, memory: Memory) -> Any:
        """A saved result as a tensor made by this node."""
        edge = None if array.dtype.kind in "biu" else self.result_edge(output_nr)
        return self._dual(Variable.wrap(array, edge, memory), array)

    def name(self) -> str:
        return self.operator.node_name

    def check(self, name: str, memory: Memory | list[Memory], array: Any) -> None:
        """Raise where a saved value was written to after it was saved."""
        if isinstance(memory, list):
            for m, a in zip(memory, array, strict=True):
                self.check(name, m, a)
        elif memory.modified > self.seq:
            raise stale(self, name, np.asarray(array), memory)

    def saved_value(self, name: str) -> Any:
        """What `_saved_<name>` shows: tensors for tensors, other values as they are."""
        node: Any = self if self.status is None else self.status.node(self)
        value = getattr(node, f"v_{name}")
        if name in self.saved_inputs:
            memory = getattr(node, f"m_{name}")
            if value is not None:
                self.check(name, memory, value)
            take = self.unpack_list if isinstance(memory, list) else self.unpack
            return take(self.saved_inputs[name], value, memory)
        if name in self.saved_results:
            self.check(name, getattr(node, f"m_{name}"), value)
            return self.unpack_result(self.saved_results[name], value, getattr(node, f"m_{name}"))
        return value

    def pack(self, pack: Any, unpack: Any) -> None:
        numbers = [n for n in self.saved_inputs if _is_number(getattr(self, f"v_{n}"))]
        for name, saved in self.raw_saved().items():
            if name in numbers:
                continue
            for tensor in saved if isinstance(saved, list) else [saved]:
                if tensor is not None:
                    tensor.register_hooks(pack, unpack)

    def raw_saved(self) -> dict[str, Any]:
        """The saved tensors as objects that take hooks; from now on the node asks them."""
        if not isinstance(self.status, Packed):
            saved: dict[str, Any] = {}
            for name in (*self.saved_inputs, *self.saved_results):
                value, output_nr = self.saved_value(name), self.saved_results.get(name)
                if isinstance(value, list):
                    saved[name] = [SavedTensor(v, name) for v in value]
                else:
                    saved[name] = None if value is None else SavedTensor(value, name, output_nr)
                setattr(self, f"v_{name}", None)
            self.status = Packed(saved)
        return self.status.saved

    def saved(self) -> dict[str, Any]:
        """The saved values by name, as stored: arrays for tensors."""
        names = [*self.saved_inputs, *self.saved_results, *self.saved_arguments]
        return {name: getattr(self, f"v_{name}") for name in names}

    def outputs_now(self) -> int:
        return self.outputs or len(self.metas)  # type: ignore[attr-defined]

    def metadata_of(self, output_nr: int) -> Metadata:
        if self.outputs == 1:
            return Metadata(self.shape, self.dtype)
        return Metadata(*self.metas[output_nr])  # type: ignore[attr-defined]


class Packed(Status):
    """The saved tensors are objects that may have hooks; they are asked for each use."""

    __slots__ = ("saved",)

    def __init__(self, saved: dict[str, Any]) -> None:
        self.saved = saved

    def node(self, node: Any) -> Any:
        """A copy of `node` with the saved values in place."""
        copy = object.__new__(type(node))
        copy.next = node.next
        for name in node.saved_arguments:
            setattr(copy, f"v_{name}", getattr(node, f"v_{name}"))
        for name, saved in self.saved.items():
            if isinstance(saved, list):
                value: Any = [tensor.unpack(node)._array for tensor in saved]
                memory: Any = [UNTRACKED] * len(saved)
            else:
                value, memory = None if saved is None else saved.unpack(node)._array, UNTRACKED
            setattr(copy, f"v_{name}", value)
            setattr(copy, f"m_{name}", memory)
        return copy


def node_class(operator: Operator) -> type[OperatorNode]:
    """The node class of `operator`, emitted on first demand."""
    if operator.node_class is None:
        operator.node_class = _emit(operator)
    return operator.node_class


def _emit(operator: Operator) -> type[OperatorNode]:
    saved = saved_by(operator)
    derived = [name for name, _, _ in saved.derived]
    tensors = [*saved.inputs, *saved.results]
    slots = [f"v_{n}" for n in (*tensors, *saved.arguments, *derived)]
    slots += [f"m_{n}" for n in tensors]
    if len(operator.results) != 1:
        slots.append("metas")
    name = operator.node_name.rpartition("::")[2]
    lines = [f"class {name}(OperatorNode):", f"    __slots__ = {tuple(slots)!r}"]
    lines += _backward_lines(operator, saved, tensors_too=False)
    lines += _backward_lines(operator, saved, tensors_too=True)
    if tensors:
        lines += ["    def release(self, freed):"]
        lines += ["        " + " = ".join(f"self.v_{n}" for n in tensors) + " = None"]
        lines += ["        self.status = freed"]
    source = "\n".join(lines) + "\n"
    filename = f"<gradfn {operator.overload} (node)>"
    internal_files.add(filename)
    remember_source(filename, source)
    from .. import ops

    scope: dict[str, Any] = {
        "OperatorNode": OperatorNode,
        "UNTRACKED": UNTRACKED,
        "ndarray": np.ndarray,
        "asarray": np.asarray,
        "raw": raw,
        "ops": ops,
        "zeros": _zeros,
        "stale": stale,
        "REAL": {np.float16, np.float32, np.float64},
        "joint": operator.joint,
        **{f"d_{target}": formula for target, formula in operator.formulas.items()},
    }
    exec(compile(source, filename, "exec"), scope)
    made: Any = scope[name]
    made.__module__ = "builtins"  # as PyTorch's, so that the class is shown by its bare name
    made.operator = operator
    made.outputs = len(operator.results) if len(operator.results) == 1 else 0
    made.saved_inputs = {n: operator.edge_index.get(n) for n in saved.inputs}
    made.saved_results = {n: operator.results.index(n) for n in saved.results}
    made.saved_arguments = (*saved.arguments, *derived)
    for n in (*tensors, *made.saved_arguments):
        setattr(made, f"_saved_{n}", property(partial(OperatorNode.saved_value, name=n)))
    for n in tensors:
        setattr(made, f"_raw_saved_{n}", property(partial(_raw_saved, name=n)))
    result: type[OperatorNode] = made
    return result


def _is_number(value: Any) -> bool:
    """Whether a saved value was a Python number: their arrays are shared and never written to."""
    return isinstance(value, np.ndarray) and value.ndim == 0 and not value.flags.writeable


def _raw_saved(node: OperatorNode, name: str) -> Any:
    return node.raw_saved()[name]


def _zeros(node: Any, nr: int, as_tensor: bool) -> Any:
    shape, dtype = node.metas[nr]
    array = np.zeros(shape, dtype)
    return Variable.wrap(array) if as_tensor else array


def _backward_lines(operator: Operator, saved: Saved, tensors_too: bool) -> list[str]:
    """One reading of the formulas: on arrays, or on tensors."""
    method = "backward_tensors" if tensors_too else "backward"
    lines = [f"    def {method}(self, g):"]
    lines += _take_gradients(operator, tensors_too)
    if saved.inputs or saved.results:
        lines += ["        node = self if self.status is None else self.status.node(self)"]
    else:
        lines += ["        node = self"]
    lines += _take_saved(operator, saved, tensors_too)
    for name in (*saved.arguments, *(d[0] for d in saved.derived)):
        lines += [f"        {_local(name)} = node.v_{name}"]
    used = {w for formula in operator.every_formula() for w in words(formula)}
    if "F" in used:
        lines += [f"        F = {'ops' if tensors_too else 'raw'}"]
    if "needs" in used:
        lines += ["        needs = tuple(edge is not None for edge in self.next)"]
    if operator.joint is not None:
        return [*lines, f"        return joint({_arguments(operator.joint)})"]
    parts = []
    kinds = {p.name: p.kind for p in operator.inputs}
    listed = LIST in kinds.values()
    for name, i in operator.edge_index.items():
        call = f"d_{name}({_arguments(operator.formulas[name])})"
        if kinds[name] == LIST:
            parts.append(f"*{call}")
        elif len(operator.formulas) == 1 and not listed:
            parts.append(call)
        else:
            parts.append(f"None if self.next[{i}] is None else {call}")
    return [*lines, f"        return ({''.join(part + ', ' for part in parts)})"]


def _take_gradients(operator: Operator, as_tensors: bool) -> list[str]:
    """Bind the names of the gradients; one that has not come is zero where another has."""
    if len(operator.results) == 1:
        if as_tensors or operator.promote:
            return []
        return ["        if g.__class__ is not ndarray: g = asarray(g)"]
    if operator.listed:
        fill = f"zeros(self, i, {as_tensors}) if x is None else x"
        return [f"        g = [{fill} for i, x in enumerate(g)]"]
    used = {w for formula in operator.every_formula() for w in words(formula)}
    if "g" in used:
        return [
            "        if all(x is None for x in g):",
            "            return (None,) * len(self.next)",
        ]
    lines = [f"        {', '.join(operator.gradient_names())}, = g"]
    needed = [(i, n) for i, n in enumerate(operator.gradient_names()) if n in used]
    if needed:
        lines += [f"        if {' and '.join(f'{n} is None' for _, n in needed)}:"]
        lines += ["            return (None,) * len(self.next)"]
    if len(needed) > 1:
        lines += [
            f"        if {n} is None: {n} = zeros(self, {i}, {as_tensors})" for i, n in needed
        ]
    return lines


def _take_saved(operator: Operator, saved: Saved, as_tensors: bool) -> list[str]:
    """Check the versions of the saved tensors and bind their names."""
    lines = []
    kinds = {p.name: p.kind for p in operator.inputs}
    index = operator.edge_index
    for name in (*saved.inputs, *saved.results):
        local = _local(name)
        if kinds.get(name) == LIST:
            lines += [f"        self.check({name!r}, node.m_{name}, node.v_{name})"]
        else:
            lines += [
                f"        if node.m_{name}.modified > self.seq:"
                f" self.check({name!r}, node.m_{name}, node.v_{name})"
            ]
        if not as_tensors:
            lines += [f"        {local} = node.v_{name}"]
        elif name in saved.results:
            lines += [
                f"        {local} = self.unpack_result({operator.results.index(name)},"
                f" node.v_{name}, node.m_{name})"
            ]
        else:
            take = "unpack_list" if kinds[name] == LIST else "unpack"
            lines += [
                f"        {local} = self.{take}({index.get(name)}, node.v_{name}, node.m_{name})"
            ]
    if not as_tensors and operator.promote and len(operator.results) == 1:
        lines += _take_scalars(operator, [_local(n) for n in (*saved.inputs, *saved.results)])
    return lines


def _take_scalars(operator: Operator, names: list[str]) -> list[str]:
    """0-d gradients are NumPy scalars, which are quick among themselves; so are formulas that are
    pure arithmetic, written out as they read on real symbols."""
    if not names:
        return []
    lines = ["        if g.__class__ is not ndarray:"]
    lines += [f"            if {n} is not None: {n} = {n}[()]" for n in names]
    written = [_arithmetic(operator, target, {"g", *names}) for target in operator.edge_index]
    if all(written):
        tests = [f"({n} is None or {n}.__class__ in REAL)" for n in names]
        several = len(written) > 1
        parts = [
            f"None if self.next[{i}] is None else {text}" if several else str(text)
            for i, text in enumerate(written)
        ]
        lines += [f"            if g.__class__ in REAL and {' and '.join(tests)}:"]
        lines += [f"                return ({', '.join(parts)},)"]
    return lines


def _arithmetic(operator: Operator, target: str, names: set[str]) -> str | None:
    """The formula for `target` as text, if it is arithmetic of `names` alone."""
    if target not in operator.formulas:
        return None
    plain = {p.name: Symbol(p.name) for p in operator.parameters if p.kind == PLAIN}
    try:
        formula = derivative(operator, target, plain)
    except (TypeError, AttributeError, ValueError, RuntimeError):  # it is more than an expression
        return None
    return repr(formula) if is_arithmetic(formula, names) else None


def _local(name: str) -> str:
    return "x" if name == "self" else name


def _arguments(formula: Formula) -> str:
    return ", ".join(_local(w) for w in words(formula))
