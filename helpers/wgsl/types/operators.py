"""The types of operators: which operands each takes, and what becomes of them."""

from __future__ import annotations

from helpers.wgsl.diagnostics import Refused
from helpers.wgsl.types.conversions import (
    ABSTRACT,
    NUMBERS,
    WHOLE,
    common,
    concrete,
    converted,
    refused,
    scalar_of,
    shaped,
    undefined,
    with_scalar,
)
from helpers.wgsl.types.folding import COMPARISONS, fold_binary, fold_unary
from helpers.wgsl.types.kinds import ABSTRACT_FLOAT, ABSTRACT_INT, BOOL, F32, I32, U32, Scalar, Type, Vector
from helpers.wgsl.types.program import Binary, Constant, Expression, Logical, Part, Unary

NAMES = {  # as the adapter's compiler calls them
    **{"+": "Add", "-": "Subtract", "*": "Multiply", "/": "Divide", "%": "Modulo", "==": "Equal", "!=": "NotEqual"},
    **{"<": "Less", "<=": "LessEqual", ">": "Greater", ">=": "GreaterEqual", "&": "And", "^": "ExclusiveOr"},
    **{"|": "InclusiveOr", "&&": "LogicalAnd", "||": "LogicalOr", "<<": "ShiftLeft", ">>": "ShiftRight"},
    "!": "LogicalNot",
}
UNARY = {"-": (F32, I32, *ABSTRACT), "!": (BOOL,), "~": WHOLE}
ALLOWED = {
    **dict.fromkeys("+-*/%", NUMBERS),
    **dict.fromkeys(("<", "<=", ">", ">="), NUMBERS),
    **dict.fromkeys(("==", "!="), (BOOL, *NUMBERS)),
    **dict.fromkeys("&|", (BOOL, *WHOLE)),
    **dict.fromkeys(("^", "<<", ">>"), WHOLE),
}


def unary(operator: str, operand: Expression, at: int, end: int) -> Expression:
    """``-``, ``!`` or ``~`` of a value."""
    place = Part(operand.type, at, end)
    if operator == "~" and scalar_of(operand.type) not in WHOLE:
        raise refused(f"`~` needs a u32 or i32, and this is of type `{operand.type}`", place)
    if not isinstance(operand.type, Scalar | Vector) or scalar_of(operand.type) not in UNARY[operator]:
        name = "Negate" if operator == "-" else NAMES[operator]
        raise refused(f"Operation {name} can't work with [0] (of type {operand.type})", place)
    if isinstance(operand, Constant):
        return fold_unary(operator, operand, place)
    return Unary(operand.type, at, end, operator, operand)


def binary(operator: str, left: Expression, right: Expression, at: int, end: int) -> Expression:
    """An operator between two values, converted to a common type; constants are computed."""
    place = Part(left.type, at, end)
    if operator in ("<<", ">>"):
        left, right = _shift(operator, left, right, place)
    else:
        left, right = _matched(operator, left, right, place)
    type = left.type if isinstance(left.type, Vector) else right.type if operator not in ("<<", ">>") else left.type
    if operator in COMPARISONS:
        type = shaped(type, BOOL)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return fold_binary(operator, left, right, type, place)
    _check_known_divisor(operator, left, right, place)
    return Binary(type, at, end, operator, left, right)


def _check_known_divisor(operator: str, left: Expression, right: Expression, place: Part) -> None:
    """A right operand that is known may be wrong for every left one."""
    if isinstance(right, Constant) and operator in ("/", "%") and scalar_of(left.type) in WHOLE and 0 in right.leaves:
        undefined("Division by zero", place)


def _matched(operator: str, left: Expression, right: Expression, place: Part) -> tuple[Expression, Expression]:
    for operand in (left, right):
        if not isinstance(operand.type, Scalar | Vector):
            raise refused(f"Incompatible operands: {NAMES[operator]}({operand.type}, _)", place)
    scalar = common((left.type, right.type))
    if scalar is None:
        raise mismatch(operator, left, right, place)
    left, right = with_scalar(left, scalar), with_scalar(right, scalar)
    if scalar not in ALLOWED[operator] or not _same_shape(operator, left.type, right.type):
        raise mismatch(operator, left, right, place)
    return left, right


def _same_shape(operator: str, left: Type, right: Type) -> bool:
    mixed = operator in "+-*/%" and isinstance(left, Vector) != isinstance(right, Vector)
    return left == right or mixed


def mismatch(operator: str, left: Expression, right: Expression, place: Part) -> Refused:
    """Operands that do not go together; an abstract number that no conversion fits is to blame itself."""
    concrete_types = {scalar_of(each.type) for each in (left, right)} - set(ABSTRACT)
    for each in (left, right):
        scalar = scalar_of(each.type)
        if operator == "*" and each is right and scalar == ABSTRACT_FLOAT and not isinstance(left.type, Vector):
            return refused("failed to convert expression to a concrete type", place)
        if concrete_types and (scalar == ABSTRACT_FLOAT or (scalar in ABSTRACT and concrete_types == {BOOL})):
            return refused("Abstract types may only appear in constant expressions", each)
    return refused(_cannot(operator, left.type, right.type), place)


def _cannot(operator: str, left: Type, right: Type) -> str:
    return f"Operation {NAMES[operator]} can't work with [0] (of type {left}) and [1] (of type {right})"


def _shift(operator: str, left: Expression, right: Expression, place: Part) -> tuple[Expression, Expression]:
    amount = converted(right, shaped(right.type, U32)) if scalar_of(right.type) in ABSTRACT else right
    shapes = isinstance(left.type, Vector), left.type.size if isinstance(left.type, Vector) else 1
    others = isinstance(right.type, Vector), right.type.size if isinstance(right.type, Vector) else 1
    if scalar_of(left.type) not in WHOLE or amount is None or scalar_of(amount.type) != U32 or shapes != others:
        raise refused(_cannot(operator, left.type, right.type), place)
    if not isinstance(amount, Constant):
        return concrete(left), amount
    bits = 64 if scalar_of(left.type) == ABSTRACT_INT else 32
    if any(leaf >= bits for leaf in amount.leaves) and bits == 32:
        undefined(f"a {scalar_of(left.type)} has 32 bits: shift it by less than that", place)
    return left, amount


def logical(operator: str, left: Expression, right: Expression, at: int, end: int) -> Expression:
    """``&&`` or ``||``."""
    place = Part(BOOL, at, end)
    if left.type != BOOL:
        raise refused(f"Incompatible operands: {NAMES[operator]}({left.type}, _)", place)
    if right.type != BOOL:
        raise refused("The type of [0] doesn't match the type stored in [1]", place)
    if isinstance(left, Constant):
        return right if left.leaves[0] == (operator == "&&") else left
    return Logical(BOOL, at, end, operator, left, right)


def assigned_operator(operator: str, type: Type, value: Expression, place: Part) -> Expression:
    """The right side of ``reference op= value``, converted; the result of the operator must be of the type stored."""
    stored = Part(type, place.at, place.end)
    if operator in ("<<", ">>"):
        return _shift(operator, stored, value, place)[1]
    stretched = isinstance(value.type, Vector) and shaped(value.type, scalar_of(type)) != type
    if common((type, value.type)) != scalar_of(type) or stretched:
        words = "automatic conversions cannot convert elements of"
        label = f"a value with elements of type {type} is required here"
        raise refused(f"{words} `{value.type}` to `{type}`", place, label)
    fitting = _matched(operator, stored, value, place)[1]
    _check_known_divisor(operator, stored, fitting, place)
    return fitting
