"""The types of operators: which operands each takes, and what becomes of them."""

from __future__ import annotations

from helpers.wgsl.diagnostics import Refused, Span
from helpers.wgsl.types.conversions import (
    ABSTRACT,
    NUMBERS,
    WHOLE,
    a,
    common,
    concrete,
    converted,
    scalar_of,
    shaped,
    undefined,
    with_scalar,
)
from helpers.wgsl.types.folding import COMPARISONS, fold_binary, fold_unary
from helpers.wgsl.types.kinds import ABSTRACT_FLOAT, ABSTRACT_INT, BOOL, F32, I32, U32, Scalar, Type, Vector
from helpers.wgsl.types.program import Binary, Constant, Expression, Logical, Part, Unary

SHIFTS = ("<<", ">>")
UNARY = {"-": (F32, I32, *ABSTRACT), "!": (BOOL,), "~": WHOLE}
ALLOWED = {
    **dict.fromkeys("+-*/%", NUMBERS),
    **dict.fromkeys(("<", "<=", ">", ">="), NUMBERS),
    **dict.fromkeys(("==", "!="), (BOOL, *NUMBERS)),
    **dict.fromkeys("&|", (BOOL, *WHOLE)),
    **dict.fromkeys(("^", "<<", ">>"), WHOLE),
}


def unary(operator: str, operand: Expression, place: Span) -> Expression:
    """``-``, ``!`` or ``~`` of a value."""
    if not isinstance(operand.type, Scalar | Vector) or scalar_of(operand.type) not in UNARY[operator]:
        needs = {"-": "an f32 or i32", "!": "a condition", "~": "a u32 or i32"}[operator]
        raise Refused(f"`{operator}` needs {needs}, and this is {a(operand.type)}", place)
    if isinstance(operand, Constant):
        return fold_unary(operator, operand, place)
    return Unary(operand.type, place, operator, operand)


def binary(operator: str, left: Expression, right: Expression, place: Span) -> Expression:
    """An operator between two values, converted to a common type; constants are computed."""
    if operator in SHIFTS:
        left, right = _shift(operator, left, right, place)
    else:
        left, right = _matched(operator, left, right, place)
    type = left.type if isinstance(left.type, Vector) or operator in SHIFTS else right.type
    if operator in COMPARISONS:
        type = shaped(type, BOOL)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return fold_binary(operator, left, right, type, place)
    _check_known_divisor(operator, left, right, place)
    return Binary(type, place, operator, left, right)


def _check_known_divisor(operator: str, left: Part, right: Expression, place: Span) -> None:
    """A right operand that is known may be wrong for every left one."""
    if isinstance(right, Constant) and operator in ("/", "%") and scalar_of(left.type) in WHOLE and 0 in right.leaves:
        undefined("division by zero", place)


def _matched(operator: str, left: Part, right: Expression, place: Span) -> tuple[Expression, Expression]:
    scalar = common((left.type, right.type))
    if scalar is None:
        raise _mismatch(operator, left, right, place)
    given = [with_scalar(each, scalar) for each in (left, right)]
    if scalar not in ALLOWED[operator] or not _same_shape(operator, *(each.type for each in given)):
        raise _mismatch(operator, left, right, place)
    return given


def _same_shape(operator: str, left: Type, right: Type) -> bool:
    if not all(isinstance(each, Scalar | Vector) for each in (left, right)):
        return False
    mixed = operator in "+-*/%" and isinstance(left, Vector) != isinstance(right, Vector)
    return left == right or mixed


def _mismatch(operator: str, left: Part, right: Expression, place: Span) -> Refused:
    """Operands that do not go together; a number with a point beside a whole number is to blame itself."""
    if common((left.type, right.type)) is None:
        place = next((each for each in (left, right) if scalar_of(each.type) == ABSTRACT_FLOAT), place)
    reason = f"`{operator}` does not work with {a(left.type)} and {a(right.type)}"
    return Refused(reason, place, "operands", operator, left, right)


def _shift(operator: str, left: Part, right: Expression, place: Span) -> tuple[Expression, Expression]:
    amount = converted(right, shaped(right.type, U32)) if scalar_of(right.type) in ABSTRACT else right
    if scalar_of(left.type) not in WHOLE or amount is None or shaped(left.type, U32) != amount.type:
        raise _mismatch(operator, left, right, place)
    if not isinstance(amount, Constant):
        return concrete(left), amount
    if scalar_of(left.type) != ABSTRACT_INT and any(leaf >= 32 for leaf in amount.leaves):
        undefined(f"a {scalar_of(left.type)} has 32 bits: shift it by less than that", place)
    return left, amount


def logical(operator: str, left: Expression, right: Expression, place: Span) -> Expression:
    """``&&`` or ``||``."""
    for each in (left, right):
        if each.type != BOOL:
            raise Refused(
                f"`{operator}` joins two conditions, and this is {a(each.type)}", place, "joined", operator, each
            )
    if isinstance(left, Constant):
        return right if left.leaves[0] == (operator == "&&") else left
    return Logical(BOOL, place, operator, left, right)


def assigned_operator(operator: str, target: Part, value: Expression) -> Expression:
    """The right side of ``target op= value``, converted; the result of the operator must be of the type stored."""
    if operator in SHIFTS:
        return _shift(operator, target, value, target)[1]
    stretched = isinstance(value.type, Vector) and shaped(value.type, scalar_of(target.type)) != target.type
    if stretched or common((target.type, value.type)) != scalar_of(target.type):
        raise misfit(value, target)
    fitting = _matched(operator, target, value, target)[1]
    _check_known_divisor(operator, target, fitting, target)
    return fitting


def misfit(value: Expression, target: Part) -> Refused:
    """A value that cannot be stored where it should be."""
    return Refused(f"{a(value.type)} does not fit {a(target.type)}", target, "assigned", target, value)
