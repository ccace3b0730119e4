"""Formulas read on symbols: expressions that can be shown, and evaluated on anything.

`derivative` calls a formula of the table with symbols for its words and `FUNCTIONS` for `F`; what
comes back is the formula as an expression of `raw`'s functions. Symbols stand for real scalars
unless they are told otherwise, so that ``x.conj()`` is just ``x``.

>>> from gradfn import ops
>>> derivative_text(ops.sin.operator, "self")
'g * cos(x)'
>>> derivative(ops.sin.operator, "self").evaluate(raw, {"g": 2.0, "x": 0.0})
np.float64(2.0)
"""

from __future__ import annotations

import ast
import operator as python
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NoReturn

import numpy as np

from .. import raw
from .declare import PLAIN, Operator, words


class Infix:
    """A function that Python has an operator for."""

    def __init__(self, symbol: str, rank: int, function: Callable[[Any, Any], Any]) -> None:
        self.symbol = symbol
        self.rank = rank  # of precedence, as in Python's grammar
        self.function = function


INFIX = {
    "eq": Infix("==", 1, python.eq),
    "ne": Infix("!=", 1, python.ne),
    "lt": Infix("<", 1, python.lt),
    "le": Infix("<=", 1, python.le),
    "gt": Infix(">", 1, python.gt),
    "ge": Infix(">=", 1, python.ge),
    "bitwise_or": Infix("|", 2, python.or_),
    "bitwise_xor": Infix("^", 3, python.xor),
    "bitwise_and": Infix("&", 4, python.and_),
    "add": Infix("+", 5, python.add),
    "sub": Infix("-", 5, python.sub),
    "mul": Infix("*", 6, python.mul),
    "div": Infix("/", 6, python.truediv),
    "pow": Infix("**", 8, python.pow),
}
PREFIX: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "neg": ("-", python.neg),
    "bitwise_not": ("~", python.invert),
}
_PREFIX_RANK, _ATOM_RANK = 7, 9


class Expr:
    """An expression. Python's operators and the functions of `FUNCTIONS` build larger ones."""

    __slots__ = ()
    rank = _ATOM_RANK
    real = True

    def evaluate(self, F: Any, values: Mapping[str, Any]) -> Any:
        """The value with `values` for the symbols and the functions of the namespace `F`."""
        return _evaluate(self, F, values, {})

    def conj(self) -> Expr:
        """The complex conjugate, which of a real expression is itself."""
        return self if self.real else apply("conj", self)

    conjugate = conj  # as Python's numbers call it

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a formula cannot branch on a value, here {self}: where() selects values")

    def __add__(self, other: Any) -> Expr:
        return apply("add", self, other)

    def __radd__(self, other: Any) -> Expr:
        return apply("add", other, self)

    def __sub__(self, other: Any) -> Expr:
        return apply("sub", self, other)

    def __rsub__(self, other: Any) -> Expr:
        return apply("sub", other, self)

    def __mul__(self, other: Any) -> Expr:
        return apply("mul", self, other)

    def __rmul__(self, other: Any) -> Expr:
        return apply("mul", other, self)

    def __truediv__(self, other: Any) -> Expr:
        return apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Expr:
        return apply("div", other, self)

    def __pow__(self, other: Any) -> Expr:
        return apply("pow", self, other)

    def __rpow__(self, other: Any) -> Expr:
        return apply("pow", other, self)

    def __and__(self, other: Any) -> Expr:
        return apply("bitwise_and", self, other)

    def __rand__(self, other: Any) -> Expr:
        return apply("bitwise_and", other, self)

    def __or__(self, other: Any) -> Expr:
        return apply("bitwise_or", self, other)

    def __ror__(self, other: Any) -> Expr:
        return apply("bitwise_or", other, self)

    def __xor__(self, other: Any) -> Expr:
        return apply("bitwise_xor", self, other)

    def __neg__(self) -> Expr:
        return apply("neg", self)

    def __invert__(self) -> Expr:
        return apply("bitwise_not", self)

    def __abs__(self) -> Expr:
        return apply("abs", self)

    def __lt__(self, other: Any) -> Expr:
        return apply("lt", self, other)

    def __le__(self, other: Any) -> Expr:
        return apply("le", self, other)

    def __gt__(self, other: Any) -> Expr:
        return apply("gt", self, other)

    def __ge__(self, other: Any) -> Expr:
        return apply("ge", self, other)

    def __eq__(self, other: Any) -> Expr:  # type: ignore[override]
        return apply("eq", self, other)

    def __ne__(self, other: Any) -> Expr:  # type: ignore[override]
        return apply("ne", self, other)

    __hash__ = object.__hash__


class Symbol(Expr):
    """A name for a value that is not known yet."""

    __slots__ = ("name", "real")

    def __init__(self, name: str, real: bool = True) -> None:
        self.name = name
        self.real = real

    def __repr__(self) -> str:
        return self.name


class Constant(Expr):
    """A number, or another plain value that a formula passes to a function."""

    __slots__ = ("real", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.real = not isinstance(value, complex)

    def __repr__(self) -> str:
        return repr(self.value)

    @property
    def rank(self) -> int:  # type: ignore[override]
        """A negative number binds like a negation."""
        negative = isinstance(self.value, int | float) and self.value < 0
        return _PREFIX_RANK if negative else _ATOM_RANK


class Application(Expr):
    """A function of `raw`, by name, applied to expressions."""

    __slots__ = ("function", "operands", "options", "rank", "real")

    def __init__(
        self, function: str, operands: tuple[Expr, ...], options: dict[str, Expr] | None = None
    ) -> None:
        self.function = function
        self.operands = operands
        self.options = options or {}
        self.real = all(operand.real for operand in operands)
        if self.infix is not None:
            self.rank = self.infix.rank
        else:
            self.rank = _PREFIX_RANK if function in PREFIX else _ATOM_RANK

    @property
    def infix(self) -> Infix | None:
        """Python's operator for this call: none where it has options, as ``add(x, y, alpha=2)``."""
        return None if self.options else INFIX.get(self.function)

    def __repr__(self) -> str:
        if self.function in PREFIX:
            return PREFIX[self.function][0] + _within(self.operands[0], self.rank)
        if self.infix is not None:
            left, right = self.operands
            tighter = self.function == "pow"  # ** groups from the right, the others from the left
            sides = _within(left, self.rank + tighter), _within(right, self.rank + (not tighter))
            return f" {self.infix.symbol} ".join(sides)
        options = (f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.function}({', '.join([*map(repr, self.operands), *options])})"


def _within(operand: Expr, rank: int) -> str:
    """`operand` as text, in parentheses where its own rank is lower than `rank`."""
    return repr(operand) if operand.rank >= rank else f"({operand!r})"


def expression(value: Any) -> Expr:
    """`value` as an expression: plain values become constants."""
    return value if isinstance(value, Expr) else Constant(value)


def apply(function: str, *operands: Any, **options: Any) -> Expr:
    """The expression of a call, simplified where an operand is 0 or 1 and does nothing."""
    every = tuple(map(expression, operands))
    if not options and (function in INFIX or function in PREFIX):
        simpler = _simplified(function, every)
        if simpler is not None:
            return simpler
    return Application(function, every, {k: expression(v) for k, v in options.items()})


def _simplified(function: str, operands: tuple[Expr, ...]) -> Expr | None:
    values = [e.value if isinstance(e, Constant) else None for e in operands]
    if None not in values:
        return Constant(_infix_or_prefix(function)(*values))
    if function == "neg":
        (operand,) = operands
        negated = isinstance(operand, Application) and operand.function == "neg"
        return operand.operands[0] if negated else None  # type: ignore[attr-defined]
    left, right = operands[0], operands[-1]
    if (function, values[-1]) in (("add", 0), ("sub", 0), ("mul", 1), ("div", 1), ("pow", 1)):
        return left
    if (function, values[0]) in (("add", 0), ("mul", 1)):
        return right
    return None


def _infix_or_prefix(function: str) -> Callable[..., Any]:
    prefix = PREFIX.get(function)
    return INFIX[function].function if prefix is None else prefix[1]


def _evaluate(expr: Expr, F: Any, values: Mapping[str, Any], known: dict[int, Any]) -> Any:
    """The value of `expr`; what occurs in it several times is computed once."""
    if isinstance(expr, Constant):
        return expr.value
    if isinstance(expr, Symbol):
        return values[expr.name]
    assert isinstance(expr, Application)
    if id(expr) not in known:
        operands = [_evaluate(operand, F, values, known) for operand in expr.operands]
        if expr.infix is not None or expr.function in PREFIX:
            known[id(expr)] = _infix_or_prefix(expr.function)(*operands)
        elif expr.function == "conj":
            known[id(expr)] = operands[0].conj()
        else:
            options = {k: _evaluate(v, F, values, known) for k, v in expr.options.items()}
            known[id(expr)] = getattr(F, expr.function)(*operands, **options)
    return known[id(expr)]


class Functions:
    """The namespace `F` of the symbolic reading: `raw`, with calls that build expressions."""

    def __getattr__(self, name: str) -> Callable[..., Expr]:
        if name.startswith("__") or not callable(getattr(raw, name, None)):
            raise AttributeError(f"a formula calls F.{name}, but there is no such function")
        return partial(apply, name)


FUNCTIONS = Functions()


def derivative(
    operator: Operator,
    name: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    real: bool = True,
) -> Expr:
    """The gradient formula of the tensor argument `name`, as an expression.

    The argument `self` is the symbol ``x``; other words stand for themselves. Plain arguments have
    the values given in `arguments`, or their defaults. TypeError where the formula decides by the
    values of tensors, KeyError where the argument has no formula of its own.
    """
    formula = operator.formulas[name]
    plain = {p.name: p.default for p in operator.parameters if p.kind == PLAIN}
    dtype = np.dtype(np.float64 if real else np.complex128)
    given: dict[str, Any] = {"F": FUNCTIONS, **(arguments or {})}
    given |= {f"{p.name}_dtype": dtype for p in operator.inputs}
    for word in words(formula):
        if word in given:
            continue
        default = plain.get(word)
        if default is not None:
            given[word] = ast.literal_eval(default)
        else:
            given[word] = Symbol("x" if word == "self" else word, real)
    return expression(formula(**{word: given[word] for word in words(formula)}))


def is_arithmetic(expr: Expr, names: set[str]) -> bool:
    """Whether `expr` is made of `names` and numbers with Python's arithmetic alone."""
    if isinstance(expr, Symbol):
        return expr.name in names
    if isinstance(expr, Constant):
        return isinstance(expr.value, int | float)
    assert isinstance(expr, Application)
    known = expr.function in ("add", "sub", "mul", "div", "neg") and not expr.options
    return known and all(is_arithmetic(operand, names) for operand in expr.operands)


def derivative_text(
    operator: Operator, name: str, arguments: Mapping[str, Any] | None = None
) -> str:
    """The gradient formula of an argument as text, such as ``g * cos(x)``; see `derivative`."""
    return repr(derivative(operator, name, arguments))
