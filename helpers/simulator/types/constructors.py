"""Values made from parts: `vec3u(...)`, `array(...)`, a struct's name, conversions such as `f32(x)`."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.simulator.grammar import tree
from helpers.simulator.grammar.errors import Refused
from helpers.simulator.types.folding import fold_bitcast, fold_convert
from helpers.simulator.types.kinds import (
    ABSTRACT_FLOAT,
    ABSTRACT_INT,
    BOOL,
    F32,
    I32,
    U32,
    Array,
    Scalar,
    Struct,
    Type,
    Vector,
    leaves,
)
from helpers.simulator.types.overloads import (
    common,
    concrete,
    converted,
    refused,
    scalar_of,
    shaped,
    with_scalar,
)
from helpers.simulator.types.program import Bitcast, Constant, Construct, Convert, Expression, Part, Splat
from helpers.simulator.types.type_names import is_constructible

Values = Sequence[Expression]


def construct(type: Type, arguments: Values, place: Part, callee: tree.Name) -> Expression:
    """A value of a type that is written with all its arguments."""
    if not is_constructible(type):
        raise refused(f"type `{type}` is not constructible", place, "type is not constructible")
    if not arguments:
        return zero(type, place)
    match type:
        case Scalar():
            return _scalar(type, arguments, place)
        case Vector():
            return _vector(type, arguments, place, callee)
        case Array(element, count):
            return _parts(type, [element] * count, arguments, place)
        case Struct(fields=fields):
            return _parts(type, [field.type for field in fields], arguments, place)
    raise AssertionError(type)


def zero(type: Type, place: Part) -> Constant:
    """The value of which all leaves are zero."""
    zeros = {BOOL: False, F32: 0.0, ABSTRACT_FLOAT: 0.0}
    return Constant(type, place.at, place.end, tuple(zeros.get(scalar, 0) for _, scalar in leaves(type)))


def infer(callee: tree.Name, arguments: Values, place: Part) -> Expression:
    """``vec3(...)`` or ``array(...)``, whose element type is that of the arguments."""
    if callee.name == "array":
        return _array_of(arguments, place)
    size = int(callee.name[3])
    if not arguments:
        return zero(Vector(size, ABSTRACT_INT), place)
    scalar = common([each.type for each in arguments])
    if scalar is None or not all(isinstance(each.type, Scalar | Vector) for each in arguments):
        raise refused("inconsistent type in a vector constructor", place)
    return _vector(Vector(size, scalar), arguments, place, callee)


def _array_of(arguments: Values, place: Part) -> Expression:
    if not arguments:
        raise Refused("`array` needs a template argument specified: `T`, a type", place.at, len("array"))
    element = arguments[0].type
    if scalar_of(element) and (scalar := common([each.type for each in arguments])):
        element = shaped(element, scalar)
    if not is_constructible(element):
        raise refused(f"an array cannot have elements of type `{element}`", place)
    return _parts(Array(element, len(arguments)), [element] * len(arguments), arguments, place)


def _scalar(type: Scalar, arguments: Values, place: Part) -> Expression:
    if len(arguments) > 1:
        raise refused(f"`{type}` takes one value, and {len(arguments)} are given", place)
    value = arguments[0]
    if not isinstance(value.type, Scalar):
        raise refused(f"cannot cast a {value.type} to a {type}", value, f"cannot cast a {value.type} to a {type}")
    return converted_to(type, value, place)


def converted_to(type: Type, value: Expression, place: Part) -> Expression:
    """A scalar or vector with each component converted."""
    scalar = scalar_of(type)
    if automatic := converted(value, type):
        value = automatic
    if value.type == type:
        return value if not isinstance(value, Constant) else Constant(type, place.at, place.end, value.leaves)
    value = value if scalar == BOOL or isinstance(value, Constant) else concrete(value)
    if isinstance(value, Constant):
        return fold_convert(value, scalar, type, place)
    return Convert(type, place.at, place.end, value)


def _vector(type: Vector, arguments: Values, place: Part, callee: tree.Name) -> Expression:
    sizes = [each.type.size if isinstance(each.type, Vector) else 1 for each in arguments]
    if len(arguments) == 1 and sizes[0] == type.size and isinstance(arguments[0].type, Vector):
        return converted_to(type, arguments[0], place)
    if len(arguments) == 1 and isinstance(arguments[0].type, Scalar):
        return _splat(type, _component(type, arguments, 0, callee), place)
    if sum(sizes) != type.size:
        raise refused(f"`{type}` needs {type.size} components, and {sum(sizes)} are given", place)
    return joined(type, [_component(type, arguments, i, callee) for i in range(len(arguments))], place)


def _component(type: Vector, arguments: Values, i: int, callee: tree.Name) -> Expression:
    value = arguments[i]
    if isinstance(value.type, Scalar | Vector) and (found := converted(value, shaped(value.type, type.element))):
        return found
    label = f"argument #{i + 1} has type `{value.type}`; allowed type: {type.element}"
    raise Refused(f"wrong type passed as argument #{i + 1} to `{callee.name}`", callee.at, len(callee.name), label)


def _splat(type: Vector, value: Expression, place: Part) -> Expression:
    if isinstance(value, Constant):
        return Constant(type, place.at, place.end, value.leaves * type.size)
    return Splat(type, place.at, place.end, value)


def _parts(type: Type, wanted: Sequence[Type], arguments: Values, place: Part) -> Expression:
    if len(arguments) != len(wanted):
        raise refused(f"`{type}` needs {len(wanted)} values, and {len(arguments)} are given", place)
    parts = [converted(value, each) for value, each in zip(arguments, wanted, strict=True)]
    for value, part, each in zip(arguments, parts, wanted, strict=True):
        if part is None:
            words = f"automatic conversions cannot convert elements of `{value.type}` to `{each}`"
            raise refused(words, value, f"this expression has type {value.type}")
    return joined(type, parts, place)


def joined(type: Type, parts: Values, place: Part) -> Expression:
    """A value whose leaves are those of its parts."""
    if all(isinstance(each, Constant) for each in parts):
        return Constant(type, place.at, place.end, tuple(leaf for each in parts for leaf in each.leaves))
    return Construct(type, place.at, place.end, tuple(parts))


def bit_cast(type: Type, arguments: Values, place: Part) -> Expression:
    """``bitcast<type>(value)``."""
    if len(arguments) != 1:
        raise refused(f"wrong number of arguments: expected 1, found {len(arguments)}", place)
    value = concrete(_as_word(arguments[0], scalar_of(type)))
    scalars = (F32, I32, U32)
    fits = isinstance(value.type, Scalar | Vector) and scalar_of(value.type) in scalars and scalar_of(type) in scalars
    if not fits or shaped(value.type, scalar_of(type)) != type:
        raise refused(f"cannot cast a {value.type} to a {type}", value)
    if value.type == type:
        return value
    if isinstance(value, Constant):
        return fold_bitcast(value, scalar_of(type), type, place)
    return Bitcast(type, place.at, place.end, value)


def _as_word(value: Expression, wanted: Scalar | None) -> Expression:
    """An abstract integer whose bits are asked for as u32 is one."""
    return with_scalar(value, U32) if wanted == U32 and scalar_of(value.type) == ABSTRACT_INT else value
