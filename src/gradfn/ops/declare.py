"""The derivative table's vocabulary: `op` declares an operator and its derivatives once.

A row reads as PyTorch's signature, the kernel (arrays in, arrays out) and, for each tensor argument
that has one, the formula of its gradient::

    mul = op("mul(self, other)", kernel=raw.mul, promote="number",
             self=lambda g, other: g * other.conj(),
             other=lambda g, self: g * self.conj(), tangent="bilinear")

The parameter names of a formula say what it needs, and a node saves exactly that:

==================  ===============================================================================
``g``               gradient of the result; ``g_values`` when results have names, each zero where
                    another one has come, or ``g``, all of them, None where none has come; the
                    list of gradients where the row says ``results=list``
``F``               the namespace of functions: ``raw`` on arrays, ``ops`` on tensors
an argument's name  the argument itself (a tensor argument appears on the node as `_saved_<name>`)
``result``          the result (or its name, such as ``values``)
``<input>_shape``   the shape of a tensor argument (a list of them for a list of tensors)
``<input>_dtype``   its NumPy dtype
``needs``           which tensor arguments want a gradient, for a ``joint`` formula
==================  ===============================================================================

Formulas ignore broadcasting and casts: Note [Gradients fit their tensor] in autograd/readings.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

from .return_types import Results

if TYPE_CHECKING:
    from ..tensor import Tensor

Formula: TypeAlias = Callable[..., Any]
Function: TypeAlias = Callable[..., Any]
Sharing: TypeAlias = Literal["alike", "nothing", "anything"]
Promotion: TypeAlias = Literal["number", "float", "no bool"] | None

TENSOR, OPTIONAL, LIST, PLAIN = "tensor", "optional tensor", "list of tensors", "plain"
MASK = "tensor that takes no part in type promotion"
_ANNOTATED = {"Tensor": TENSOR, "Optional": OPTIONAL, "Tensors": LIST, "Mask": MASK}


class Parameter(NamedTuple):
    """One parameter of an operator's signature; `default` is source text, or None."""

    name: str
    kind: str
    default: str | None
    keyword_only: bool


class Operator:
    """A row of the table, as declared. `forms` holds the functions emitted from it."""

    declaration: tuple[str, dict[str, Any]]

    def __init__(
        self,
        signature: str,
        /,  # a formula may be called `self`
        *,
        kernel: Function,
        promote: Promotion = None,
        numbers: bool | Literal["later"] = True,
        refuses: str = "",
        exact_numbers: bool = False,
        node: str | None = None,
        results: tuple[str, ...] | type[list[Any]] | type[Results] = ("result",),
        constants: tuple[str, ...] = (),
        view: bool = False,
        shares: Sharing = "alike",
        joint: Formula | None = None,
        tangent: Any = None,
        batch: Any = None,
        **formulas: Formula,
    ) -> None:
        self.overload, self.parameters = _parse(signature, set(formulas))
        self.name = self.overload.split(".")[0]
        self.kernel = kernel
        self.promote = promote
        self.numbers = bool(numbers) and promote is not None and len(self.inputs) > 1
        self.refuses = refuses
        self.exact_numbers = exact_numbers
        self.number_first = self.numbers and numbers != "later"
        self.node_name = node or "".join(w.capitalize() for w in self.name.split("_")) + "Backward0"
        self.listed = results is list
        names: Any = getattr(results, "_fields", results)
        self.results: tuple[str, ...] = () if self.listed else names
        self.returns = results if isinstance(results, type) else tuple
        self.constants = constants
        self.view = view
        self.shares = shares
        self.joint = joint
        self.formulas = formulas
        self.tangent = tangent
        self.batch = batch
        self.forms: dict[str, Function] = {}
        self.node_class: type[Any] | None = None
        for parameter in self.parameters:
            if _EMITTED.fullmatch(parameter.name):
                raise TypeError(
                    f"an argument of {self.name} is called '{parameter.name}', as a variable of "
                    "the code that is emitted for it"
                )
        for formula in self.every_formula():
            self._check(formula)

    @property
    def inputs(self) -> list[Parameter]:
        """The tensor arguments, in order: the node has an edge for each differentiable one."""
        return [p for p in self.parameters if p.kind != PLAIN]

    def every_formula(self) -> list[Formula]:
        """All formulas of the row."""
        return [*self.formulas.values(), *([self.joint] if self.joint else [])]

    @property
    def edge_index(self) -> dict[str, int]:
        """The number of each differentiable tensor argument among the edges of the node."""
        names = [p.name for p in self.inputs if self.differentiable(p.name)]
        return {name: i for i, name in enumerate(names)}

    def differentiable(self, name: str) -> bool:
        """Whether a gradient can reach the argument `name`."""
        return self.joint is not None or name in self.formulas

    def gradient_names(self) -> list[str]:
        """What a formula may call the gradients of the results."""
        return ["g"] if self.listed or len(self.results) == 1 else [f"g_{r}" for r in self.results]

    def vocabulary(self) -> set[str]:
        """The words that a formula of this row may use."""
        inputs = [p.name for p in self.inputs]
        derived = [f"{name}_{what}" for name in inputs for what in ("shape", "dtype")]
        plain = [p.name for p in self.parameters]
        return {"F", "needs", "g", *self.gradient_names(), *plain, *self.results, *derived}

    def _check(self, formula: Formula) -> None:
        known = self.vocabulary()
        for word in words(formula):
            if word not in known:
                raise TypeError(
                    f"a formula of {self.name} names '{word}', which is unknown there; "
                    f"it may name {', '.join(sorted(known))}"
                )
        for name in self.formulas:
            if name not in [p.name for p in self.inputs]:
                raise TypeError(f"{self.name} has a formula for '{name}', which is no argument")

    def __repr__(self) -> str:
        return f"<operator {self.overload}>"


registry: dict[str, Operator] = {}


def words(formula: Formula) -> list[str]:
    """The parameter names of a formula."""
    code = formula.__code__
    return list(code.co_varnames[: code.co_argcount])


@overload
def op(
    signature: str, *, results: tuple[str, ...] | type[list[Any]] | type[Results], **row: Any
) -> Function: ...
@overload
def op(signature: str, **row: Any) -> Callable[..., Tensor]: ...
def op(signature: str, *, doc: str | None = None, **row: Any) -> Any:
    """Declare an operator; the function returned is compiled on its first call.

    `promote` applies PyTorch's type promotion to the tensor arguments (``"float"`` turns integers
    into the default dtype, ``"no bool"`` refuses booleans) and lets them be numbers, unless
    `numbers` is False; ``numbers="later"`` excepts the first. With `exact_numbers`, numbers are
    not rounded to half precision before they meet such tensors. `refuses` are the kinds of dtype
    (of "biufc") that the operator does not compute in. `view` says that results share memory with
    the first argument, `results` names several results (or is a named tuple of return_types), of
    which those among `constants` have no gradient.
    `joint` computes the gradients of all tensor arguments at once, as a tuple. `tangent` says how
    the operator carries tangents: see families.py; `batch` how it computes with batches inside
    vmap, where its declaration does not tell: see batching.py. Arguments are annotated
    ``Tensor``, ``Optional``, ``Tensors`` or ``Mask`` (a tensor that is not promoted) where no
    formula shows that they are tensors.
    """
    from .emit import form

    operator = Operator(signature, **row)
    if operator.overload in registry:
        raise TypeError(f"operator {operator.overload} is declared twice")
    operator.declaration = signature, row
    registry[operator.overload] = operator
    function = form(operator, "function")
    function.__doc__ = doc
    return function


def variant(function: Function, overload: str, **changes: Any) -> Callable[..., Tensor]:
    """The row of `function` again, as `overload`, with `changes`: its node's name, its kernel."""
    signature, row = function.operator.declaration  # type: ignore[attr-defined]
    parameters = signature[signature.index("(") :]
    again: Callable[..., Tensor] = op(overload + parameters, **{**row, **changes})
    return again


def _parse(signature: str, formulas: set[str]) -> tuple[str, list[Parameter]]:
    """The name and parameters of a signature such as ``sum.dim(self, dim, keepdim=False)``."""
    name, _, rest = signature.removesuffix(")").partition("(")
    parameters: list[Parameter] = []
    keyword_only = False
    for text in _SEPARATORS.split(rest):
        if text == "*":
            keyword_only = True
            continue
        declared, _, default = map(str.strip, text.partition("="))
        word, _, note = map(str.strip, declared.partition(":"))
        if note:
            kind = _ANNOTATED[note]
        elif word == "self" or word in formulas:
            kind = OPTIONAL if default == "None" else TENSOR
        else:
            kind = PLAIN
        parameters.append(Parameter(word, kind, default or None, keyword_only))
    return name, parameters


_EMITTED = re.compile("mode|token|kernel|made|node|frame|other_way|r|[aex][0-9]+")  # ops/emit.py
_SEPARATORS = re.compile(r",\s*(?![^(]*\))")  # commas, but for those within parentheses
