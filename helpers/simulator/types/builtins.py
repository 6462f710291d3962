"""Calls of built-in functions of values: the conversions of their arguments, and their results."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.simulator.grammar.errors import Refused, Unsupported
from helpers.simulator.types.domains import check_known
from helpers.simulator.types.folding import fold_builtin
from helpers.simulator.types.kinds import ABSTRACT_FLOAT, F32, I32, U32, Scalar, Type, Vector
from helpers.simulator.types.overloads import (
    automatic,
    common,
    concrete,
    converted,
    refused,
    scalar_of,
    shaped,
    with_scalar,
)
from helpers.simulator.types.program import Builtin, Constant, Expression, Part
from helpers.simulator.types.signatures import SIGNATURES, Other, Signature

Values = Sequence[Expression]


def call(name: str, arguments: Values, place: Part, callee: Part) -> Expression:
    """A call of a built-in function, its arguments converted; constants are computed."""
    if name not in SIGNATURES:
        raise Unsupported(f"built-in function `{name}`", place.at)
    signature = SIGNATURES[name]
    check_count(name, signature.count, arguments, callee)
    arguments = _converted(name, signature, arguments, callee)
    check_known(name, arguments, callee)
    if all(isinstance(each, Constant) for each in arguments):
        return fold_builtin(name, arguments, signature.result(arguments[0].type), place)
    arguments = tuple(concrete(each) for each in arguments)
    return Builtin(signature.result(arguments[0].type), place.at, place.end, name, arguments)


def check_count(name: str, count: int, arguments: Values, callee: Part) -> None:
    """Refuse too few or too many arguments."""
    if len(arguments) < count:
        reason = f"wrong number of arguments: expected {count}, found {len(arguments)}"
        raise refused(reason, callee, "wrong number of arguments")
    if len(arguments) > count:
        reason = f"too many arguments passed to `{name}`"
        raise refused(reason, arguments[count], f"unexpected argument #{count + 1}")


def _converted(name: str, signature: Signature, arguments: Values, callee: Part) -> list[Expression]:
    others = dict(signature.others)
    alike = [i for i in range(signature.count) if i not in others or others[i].scalar is None]
    for i in alike:
        if not _takes(signature, arguments[i].type, (1,) if i in others and not others[i].each else signature.shapes):
            raise _wrong(name, i, arguments[i].type, callee, signature.scalars)
    result = list(arguments)
    scalar = _shared(name, signature, [arguments[i] for i in alike], callee)
    for i in alike:
        result[i] = with_scalar(arguments[i], scalar)
        if result[i].type != result[0].type and not (i in others and isinstance(result[i].type, Scalar)):
            raise _inconsistent(name, i, result, callee)
    for i, other in others.items():
        if other.scalar is not None:
            result[i] = _other(name, i, result, other, callee)
    return result


def _takes(signature: Signature, type: Type, shapes: tuple[int, ...]) -> bool:
    if not isinstance(type, Scalar | Vector) or (type.size if isinstance(type, Vector) else 1) not in shapes:
        return False
    return any(automatic(scalar_of(type), each) for each in signature.scalars)


def _shared(name: str, signature: Signature, arguments: Values, callee: Part) -> Scalar:
    """The scalar type of the arguments that are alike."""
    for count in range(1, len(arguments) + 1):
        scalar = common([each.type for each in arguments[:count]])
        if scalar is None:
            raise _inconsistent(name, count - 1, arguments, callee)
    if scalar in signature.scalars:
        return scalar
    return next(each for each in (ABSTRACT_FLOAT, I32, U32, F32) if each in signature.scalars)


def _other(name: str, i: int, arguments: Values, other: Other, callee: Part) -> Expression:
    """An argument of a type of its own."""
    wanted = [other.scalar] if other.single else []
    wanted += [shaped(arguments[0].type, other.scalar)] if other.each else []
    for type in wanted:
        if value := converted(arguments[i], type):
            return value
    if name == "select":
        raise refused(f"Expected selection condition to be a boolean value, got {arguments[i].type}", callee)
    raise _wrong(name, i, arguments[i].type, callee, (other.scalar,))


def _wrong(name: str, i: int, given: Type, callee: Part, scalars: tuple[Scalar, ...]) -> Refused:
    """An argument that the function never takes."""
    label = f"argument #{i + 1} has type `{given}`; allowed type: {', '.join(map(str, scalars))}"
    return refused(f"wrong type passed as argument #{i + 1} to `{name}`", callee, label)


def _inconsistent(name: str, i: int, arguments: Values, callee: Part) -> Refused:
    """An argument that does not go with the first one."""
    if name == "select":
        return refused("type mismatch for reject and accept values in `select` call", arguments[0])
    label = f"argument #{i + 1} has type `{arguments[i].type}`; allowed type: {arguments[0].type}"
    return refused(f"inconsistent type passed as argument #{i + 1} to `{name}`", callee, label)
