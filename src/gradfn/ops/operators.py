"""Python's operators on tensors: `OPERATORS` maps special methods to functions.

A binary operator returns NotImplemented for what is neither tensor nor number, so that Python asks
the other operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.variable import Variable
from ..dtypes import promote_types
from . import arithmetic, comparison, powers, products, rounding
from .emit import binary, inplace
from .runtime import SCALARS, is_number, wrapped_array, wrapped_number

Function = Callable[..., Any]


def _by_operand(scalar_row: Function, tensor_row: Function) -> Function:
    """The operator whose row depends on whether its second operand is a number."""
    of_tensors = binary(tensor_row)

    def operator(self: Any, other: Any) -> Any:
        if other.__class__ in SCALARS:
            return scalar_row(self, other)
        result = of_tensors(self, other)
        if result is NotImplemented and isinstance(other, np.generic):
            return scalar_row(self, other.item())
        return result

    return operator


def _operand(other: Any) -> Any:
    """`other` as a tensor; None where it is neither tensor, nor array, nor number."""
    if isinstance(other, Variable):
        return other
    if isinstance(other, np.ndarray):
        return wrapped_array(other)
    return wrapped_number(other) if is_number(other) else None


def _reflected(row: Function) -> Function:
    """The row with its operands exchanged."""

    def operator(self: Any, other: Any) -> Any:
        tensor = _operand(other)
        return NotImplemented if tensor is None else row(tensor, self)

    return operator


_reflected_tensor_power = _reflected(powers.pow_tensor)


def _reflected_division(self: Any, other: Any) -> Any:
    if isinstance(other, np.ndarray):
        return arithmetic.true_divide(wrapped_array(other), self)
    return multiply(powers.reciprocal(self), other)


def _reflected_power(self: Any, other: Any) -> Any:
    if other.__class__ in SCALARS:
        return powers.pow_base(other, self)
    return _reflected_tensor_power(self, other)


def _matrix_product(self: Any, other: Any) -> Any:
    if isinstance(other, np.ndarray):
        self, other = _alike(self, wrapped_array(other))
    return products.matmul(self, other) if isinstance(other, Variable) else NotImplemented


def _reflected_matrix_product(self: Any, other: Any) -> Any:
    if isinstance(other, np.ndarray):
        self, other = _alike(self, wrapped_array(other))
    return products.matmul(other, self) if isinstance(other, Variable) else NotImplemented


def _alike(self: Any, other: Any) -> tuple[Any, Any]:
    """Both in the dtype that arithmetic would promote them to, which `matmul` does not."""
    common = promote_types(self.dtype, other.dtype)
    return self.to(common), other.to(common)


add, multiply = binary(arithmetic.plain_add), binary(arithmetic.mul)
bit_and, bit_or = binary(comparison.bitwise_and), binary(comparison.bitwise_or)
bit_xor = binary(comparison.bitwise_xor)

OPERATORS: dict[str, Function] = {
    "__add__": add,
    "__radd__": add,
    "__sub__": binary(arithmetic.plain_sub),
    "__rsub__": _by_operand(arithmetic.rsub_scalar, arithmetic.rsub_tensor),
    "__mul__": multiply,
    "__rmul__": multiply,
    "__truediv__": binary(arithmetic.true_divide),
    "__rtruediv__": _reflected_division,
    "__div__": binary(arithmetic.true_divide),
    "__rdiv__": _reflected_division,
    "__idiv__": inplace(arithmetic.true_divide),
    "__floordiv__": binary(arithmetic.floor_divide),
    "__rfloordiv__": _reflected(arithmetic.floor_divide),
    "__mod__": _by_operand(arithmetic.remainder_scalar, arithmetic.remainder_tensor),
    "__rmod__": _reflected(arithmetic.remainder_tensor),
    "__pow__": _by_operand(powers.pow_scalar, powers.pow_tensor),
    "__rpow__": _reflected_power,
    "__matmul__": _matrix_product,
    "__rmatmul__": _reflected_matrix_product,
    "__neg__": arithmetic.neg,
    "__pos__": arithmetic.positive,
    "__abs__": rounding.abs,
    "__eq__": binary(comparison.eq),
    "__ne__": binary(comparison.ne),
    "__lt__": binary(comparison.lt),
    "__le__": binary(comparison.le),
    "__gt__": binary(comparison.gt),
    "__ge__": binary(comparison.ge),
    "__and__": bit_and,
    "__rand__": bit_and,
    "__or__": bit_or,
    "__ror__": bit_or,
    "__xor__": bit_xor,
    "__rxor__": bit_xor,
    "__invert__": comparison.bitwise_not,
    "__lshift__": binary(comparison.bitwise_left_shift),
    "__rlshift__": _reflected(comparison.bitwise_left_shift),
    "__rshift__": binary(comparison.bitwise_right_shift),
    "__rrshift__": _reflected(comparison.bitwise_right_shift),
    "__iadd__": inplace(arithmetic.plain_add),
    "__isub__": inplace(arithmetic.plain_sub),
    "__imul__": arithmetic.mul_,
    "__itruediv__": inplace(arithmetic.true_divide),
    "__ifloordiv__": arithmetic.floor_divide_,
    "__imod__": arithmetic.remainder_,
    "__ipow__": powers.pow_,
    "__iand__": comparison.bitwise_and_,
    "__ior__": comparison.bitwise_or_,
    "__ixor__": comparison.bitwise_xor_,
    "__ilshift__": comparison.bitwise_left_shift_,
    "__irshift__": comparison.bitwise_right_shift_,
    "where": comparison.where_method,
}
