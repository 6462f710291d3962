"""Calls: of built-in functions of values and of pointers, and of types, which make a value from parts."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.wgsl.diagnostics import Refused, Unsupported
from helpers.wgsl.syntax import tree
from helpers.wgsl.types.conversions import (
    automatic,
    common,
    concrete,
    converted,
    refused,
    scalar_of,
    shaped,
    with_scalar,
)
from helpers.wgsl.types.folding import check_known, fold_bitcast, fold_builtin, fold_convert
from helpers.wgsl.types.kinds import (
    ABSTRACT_FLOAT,
    ABSTRACT_INT,
    BOOL,
    F32,
    I32,
    U32,
    Array,
    Atomic,
    Field,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    is_constructible,
    is_runtime_sized,
    leaves,
)
from helpers.wgsl.types.program import (
    ArrayLength,
    AtomicCall,
    Bitcast,
    Builtin,
    Constant,
    Construct,
    Convert,
    Expression,
    Part,
    Reference,
    Splat,
    UniformLoad,
)
from helpers.wgsl.types.references import dereferenced, loaded, origin
from helpers.wgsl.types.signatures import SIGNATURES, Other, Signature

# --- Functions of values ---


Values = Sequence[Expression]


def of_values(name: str, arguments: Values, place: Part, callee: Part) -> Expression:
    """A of_values of a built-in function, its arguments converted; constants are computed."""
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
        return refused("type mismatch for reject and accept values in `select` of_values", arguments[0])
    label = f"argument #{i + 1} has type `{arguments[i].type}`; allowed type: {arguments[0].type}"
    return refused(f"inconsistent type passed as argument #{i + 1} to `{name}`", callee, label)


# --- Functions of pointers ---


ATOMICS = {
    **{"atomicLoad": 0, "atomicStore": 1, "atomicExchange": 1, "atomicCompareExchangeWeak": 2},
    **{f"atomic{name}": 1 for name in ("Add", "Sub", "Max", "Min", "And", "Or", "Xor")},
}
BARRIERS = ("workgroupBarrier", "storageBarrier")
POINTER_FUNCTIONS = (*ATOMICS, "arrayLength", "workgroupUniformLoad")


def of_pointer(name: str, arguments: Sequence[Reference | Expression], place: Part, callee: Part) -> Expression:
    """A of_pointer of one of these functions, of which the first argument must be a pointer."""
    check_count(name, 1 + ATOMICS.get(name, 0), arguments, callee)
    pointer, *values = arguments
    pointer = loaded(pointer) if isinstance(pointer.type, Pointer) else pointer
    if not isinstance(pointer.type, Pointer):
        raise refused(_wanted(name), pointer)
    reference = dereferenced(pointer, pointer.at, pointer.end)
    if name == "arrayLength":
        return _length(reference, pointer, place)
    if name == "workgroupUniformLoad":
        return _uniform(reference, pointer, place)
    return _atomic(name, reference, pointer, values, place)


def _length(reference: Reference, pointer: Expression, place: Part) -> ArrayLength:
    if not isinstance(reference.type, Array) or not is_runtime_sized(reference.type):
        raise refused(_wanted("arrayLength"), pointer)
    return ArrayLength(U32, place.at, place.end, reference)


def _uniform(reference: Reference, pointer: Expression, place: Part) -> UniformLoad:
    inner = reference.type.element if isinstance(reference.type, Atomic) else reference.type
    if origin(reference)[0] != "workgroup" or not is_constructible(inner):
        raise refused(_wanted("workgroupUniformLoad"), pointer)
    return UniformLoad(inner, place.at, place.end, reference)


def _atomic(
    name: str, reference: Reference, pointer: Expression, values: Sequence[Reference | Expression], place: Part
) -> AtomicCall:
    if not isinstance(reference.type, Atomic):
        raise refused(_wanted(name), pointer)
    element = reference.type.element
    given = []
    for value in map(loaded, values):
        wanted = converted(value, element)
        if wanted is None:
            raise refused(f"automatic conversions cannot convert elements of `{value.type}` to `{element}`", value)
        given.append(wanted)
    type = _result(name, element)
    return AtomicCall(type, place.at, place.end, name, reference, tuple(given))


def _wanted(name: str) -> str:
    if name in ATOMICS:
        return "atomic operation is done on a pointer to a non-atomic"
    memory = {"arrayLength": "a runtime-sized array, as in `arrayLength(&output)`"}
    return f"{name} takes a pointer to {memory.get(name, 'workgroup memory, as in `workgroupUniformLoad(&total)`')}"


def _result(name: str, element: Type) -> Type | None:
    if name == "atomicCompareExchangeWeak":
        fields = Field("old_value", element, 0), Field("exchanged", BOOL, 1)
        return Struct("__atomic_compare_exchange_result", fields, 2, 1)
    return None if name == "atomicStore" else element


# --- Values made from parts ---


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
