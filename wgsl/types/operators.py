"""The types of operators: which operands each takes, and what becomes of them."""

from __future__ import annotations

from wgsl.arithmetic import operators as arithmetic
from wgsl.diagnostics import NotWgsl, Span
from wgsl.types.conversions import (
    FLOATS,
    NUMBERS,
    WHOLE,
    common,
    concrete,
    converted,
    scalar_of,
    shaped,
    undefined,
)
from wgsl.types.folding import COMPARISONS, array_of, computed, fold_binary, made
from wgsl.types.kinds import ABSTRACT_FLOAT, ABSTRACT_INT, BOOL, F32, I32, U32, Matrix, Type, Vector, components
from wgsl.types.program import Binary, Constant, Expression, Logical, Part, Unary

SHIFTS = ("<<", ">>")
UNARY = {"-": (*FLOATS, I32, ABSTRACT_INT), "!": (BOOL,), "~": WHOLE}
ALLOWED = {
    **dict.fromkeys("+-*/%", NUMBERS),
    **dict.fromkeys(("<", "<=", ">", ">="), NUMBERS),
    **dict.fromkeys(("==", "!="), (BOOL, *NUMBERS)),
    **dict.fromkeys("&|", (BOOL, *WHOLE)),
    **dict.fromkeys(("^", "<<", ">>"), WHOLE),
}


def unary(operator: str, operand: Expression, place: Span) -> Expression:
    """``-``, ``!`` or ``~`` of a value."""
    if not components(operand.type) or scalar_of(operand.type) not in UNARY[operator]:
        raise NotWgsl("unary", place, sign=operator, operand=operand)
    if isinstance(operand, Constant):
        return computed(operand.type, place, arithmetic.unary, operator, array_of(operand))
    return Unary(operand.type, place, operator, operand)


def binary(operator: str, left: Expression, right: Expression, place: Span) -> Expression:
    """An operator between two values, converted to a common type; constants are computed."""
    if isinstance(left.type, Matrix) or isinstance(right.type, Matrix):
        return _of_matrices(operator, left, right, place)
    convert = _shift if operator in SHIFTS else _matched
    left, right = convert(operator, left, right, place)
    type = left.type if isinstance(left.type, Vector) or operator in SHIFTS else right.type
    if operator in COMPARISONS:
        type = shaped(type, BOOL)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return fold_binary(operator, left, right, type, place)
    _check_known_divisor(operator, left, right, place)
    return Binary(type, place, operator, left, right)


def _of_matrices(operator: str, left: Part, right: Expression, place: Span) -> Expression:
    """A sum of two matrices, or a product with a matrix, a vector or a number."""
    types = left.type, right.type
    scalar = common(types)
    inner = [count for count in (_columns(left.type), _rows(right.type)) if count]
    fits = operator == "*" and len({*inner}) == 1
    if operator in ("+", "-"):
        fits = shaped(left.type, F32) == shaped(right.type, F32)
    if scalar not in FLOATS or not fits:
        raise _mismatch(operator, left, right, place)
    operands = [converted(operand, shaped(operand.type, scalar)) for operand in (left, right)]
    matrix = next(operand.type for operand in operands if isinstance(operand.type, Matrix))
    if operator != "*" or len(inner) == 1:
        if all(isinstance(operand, Constant) for operand in operands):
            return fold_binary(operator, *operands, matrix, place)
        return Binary(matrix, place, operator, *operands)
    if all(isinstance(type, Matrix) for type in types):
        type = Matrix(operands[0].type.element, types[1].count)
    else:
        type = matrix.element if isinstance(types[0], Matrix) else Vector(matrix.count, scalar)
    return made(f"product{inner[0]}", operands, type, place)


def _columns(type: Type) -> int:
    """Of a matrix, or of a vector beside it, which is a row; 0 of a number."""
    return type.count if isinstance(type, Matrix) else getattr(type, "size", 0)


def _rows(type: Type) -> int:
    return type.element.size if isinstance(type, Matrix) else getattr(type, "size", 0)


def _check_known_divisor(operator: str, left: Part, right: Expression, place: Span) -> None:
    """A right operand that is known may be wrong for every left one."""
    if isinstance(right, Constant) and operator in ("/", "%") and scalar_of(left.type) in WHOLE and 0 in right.leaves:
        undefined("division by zero", place)


def _matched(operator: str, left: Part, right: Expression, place: Span) -> list[Expression]:
    """The operands with the scalar that they share; beside a vector, arithmetic takes a scalar, too."""
    scalar = common((left.type, right.type))
    sizes = {components(left.type), components(right.type)}
    shapes_fit = len(sizes) == 1 or (1 in sizes and operator in "+-*/%")
    if scalar not in ALLOWED[operator] or 0 in sizes or not shapes_fit:
        raise _mismatch(operator, left, right, place)
    return [converted(operand, shaped(operand.type, scalar)) for operand in (left, right)]


def _mismatch(operator: str, left: Part, right: Expression, place: Span) -> NotWgsl:
    """Operands that do not go together; a number with a point beside a whole number is to blame itself."""
    if common((left.type, right.type)) is None:
        place = next((operand for operand in (left, right) if scalar_of(operand.type) == ABSTRACT_FLOAT), place)
    return NotWgsl("operands", place, sign=operator, left=left, right=right)


def _shift(operator: str, left: Part, right: Expression, place: Span) -> tuple[Expression, Expression]:
    amount = converted(right, shaped(right.type, U32)) or right
    scalar = scalar_of(left.type)
    if not components(left.type) or scalar not in WHOLE or shaped(left.type, U32) != amount.type:
        raise _mismatch(operator, left, right, place)
    if not isinstance(amount, Constant):
        return concrete(left), amount
    if scalar != ABSTRACT_INT and any(leaf >= 32 for leaf in amount.leaves):
        undefined("shift", place, scalar=scalar)
    return left, amount


def logical(operator: str, left: Expression, right: Expression, place: Span) -> Expression:
    """``&&`` or ``||``."""
    for operand in (left, right):
        if operand.type != BOOL:
            raise NotWgsl("joined", place, sign=operator, value=operand)
    if isinstance(left, Constant) and left.leaves[0] == (operator == "&&"):
        return right
    if isinstance(left, Constant) and isinstance(right, Constant):
        return left
    return Logical(BOOL, place, operator, left, right)


def assigned_operator(operator: str, target: Part, value: Expression) -> Expression:
    """The right side of ``target op= value``, converted; the result of the operator must be of the type stored."""
    if operator in SHIFTS:
        return _shift(operator, target, value, target)[1]
    stretched = components(value.type) not in (0, 1, components(target.type))
    if stretched or common((target.type, value.type)) != scalar_of(target.type):
        raise misfit(value, target)
    if isinstance(target.type, Matrix):
        return _of_matrices(operator, target, value, target).right
    fitting = _matched(operator, target, value, target)[1]
    _check_known_divisor(operator, target, fitting, target)
    return fitting


def misfit(value: Expression, target: Part) -> NotWgsl:
    """A value that cannot be stored where it should be."""
    return NotWgsl("assigned", target, target=target, value=value)
