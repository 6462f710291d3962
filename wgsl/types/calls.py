"""Calls: of built-in functions of values and of pointers, and of types, which make a value from parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from wgsl.arithmetic.operators import bitcast, convert
from wgsl.diagnostics import NotWgsl, Span, Unsupported
from wgsl.syntax import tree
from wgsl.syntax.tokens import Word
from wgsl.types.conversions import (
    ABSTRACT,
    FLOATS,
    automatic,
    check_room,
    common,
    concrete,
    converted,
    scalar_of,
    shaped,
)  # fmt: skip
from wgsl.types.folding import array_of, check_held, check_known, computed, made, zero
from wgsl.types.kinds import (
    ABSTRACT_FLOAT,
    ABSTRACT_INT,
    BOOL,
    F16,
    F32,
    I32,
    U32,
    Array,
    Atomic,
    Field,
    Matrix,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    components,
    is_constructible,
    is_runtime_sized,
    words,
)  # fmt: skip
from wgsl.types.names import MATRICES, needs_type
from wgsl.types.program import (
    ArrayLength,
    AtomicCall,
    Bitcast,
    Constant,
    Construct,
    Convert,
    Expression,
    Reference,
    Splat,
    UniformLoad,
)  # fmt: skip
from wgsl.types.references import loaded, origin, pointee
from wgsl.types.signatures import OF_MATRICES, SIGNATURES, Signature

# --- Functions of values ------------------------------------------------------------------------------------------

Values = Sequence[Expression]


def builtin_call(node: tree.Call, arguments: Values) -> Expression:
    """A call of a built-in function, its arguments converted; constants are computed."""
    name = node.callee.name
    if name in OF_MATRICES:
        return _of_matrix(name, arguments, node)
    if name not in SIGNATURES:
        raise Unsupported("function", node.at, name=name)
    signature = SIGNATURES[name]
    check_count(name, signature.count, arguments)
    arguments = _converted(name, signature, arguments)
    check_known(name, arguments)
    if not all(isinstance(argument, Constant) for argument in arguments):
        arguments = [concrete(argument) for argument in arguments]
    return made(str(name), arguments, signature.result(arguments[0].type), node)


def _of_matrix(name: Word, arguments: Values, node: tree.Call) -> Expression:
    check_count(name, 1, arguments)
    (matrix,) = arguments
    type = matrix.type
    square = isinstance(type, Matrix) and type.count == type.element.size
    if not isinstance(type, Matrix) or (name == "determinant" and not square):
        raise _wrong(name, 0, arguments)
    turned = Matrix(Vector(type.count, scalar_of(type)), type.element.size)
    result = turned if name == "transpose" else scalar_of(type)
    return made(f"{name}{type.count}", (matrix,), result, node)


def check_count(name: Word, count: int, arguments: Values) -> None:
    """Refuse too few or too many arguments."""
    if len(arguments) != count:
        place = arguments[count] if len(arguments) > count else name
        raise NotWgsl("count", place, name=name, wanted=count, given=len(arguments))


def _converted(name: Word, signature: Signature, arguments: Values) -> list[Expression]:
    """The arguments, each of a type that the function takes."""
    first = arguments[0].type
    result = []
    shared = _shared(name, signature, arguments)
    for i, (argument, other) in enumerate(zip(arguments, signature.arguments, strict=True)):
        scalar = other.scalar or shared
        wanted = [scalar] if other.single else []
        wanted += [shaped(first, scalar)] if other.componentwise else []
        fitting = next(filter(None, (converted(argument, type) for type in wanted)), None)
        if fitting is None:
            raise _wrong(name, i, arguments, (other.scalar,) if other.scalar else ())
        result.append(fitting)
    return result


def _shared(name: Word, signature: Signature, arguments: Values) -> Scalar:
    """The scalar type of the arguments that have no other one."""
    types = [argument.type for argument, other in zip(arguments, signature.arguments, strict=True) if not other.scalar]
    for i, type in enumerate(types):
        shapes = signature.shapes if signature.arguments[i].componentwise else (1,)
        if components(type) not in shapes or not any(automatic(scalar_of(type), kind) for kind in signature.scalars):
            raise _wrong(name, i, arguments, signature.scalars)
        if (scalar := common(types[: i + 1])) is None:
            raise _wrong(name, i, arguments)
    taken = (scalar, ABSTRACT_FLOAT, I32, U32, F32)
    return next(candidate for candidate in taken if candidate in signature.scalars)


def _wrong(name: Word, i: int, arguments: Values, scalars: tuple[Scalar, ...] = ()) -> NotWgsl:
    """An argument that the function never takes, or one that does not go with the first one, which it does take."""
    kind = "select" if name == "select" else "argument"
    return NotWgsl(kind, name, name=name, i=i, arguments=arguments, scalars=scalars)


# --- Functions of pointers ----------------------------------------------------------------------------------------

ATOMICS = {
    "atomicLoad": 0,
    "atomicStore": 1,
    "atomicExchange": 1,
    "atomicCompareExchangeWeak": 2,
    **{f"atomic{name}": 1 for name in ("Add", "Sub", "Max", "Min", "And", "Or", "Xor")},
}
BARRIERS = ("workgroupBarrier", "storageBarrier", "textureBarrier")
POINTER_FUNCTIONS = (*ATOMICS, "arrayLength", "workgroupUniformLoad")
WANTED = {  # the refusal of a pointer that leads to anything else than what the function takes
    "arrayLength": "length",
    "workgroupUniformLoad": "pointer to workgroup memory",
}


def pointer_call(node: tree.Call, arguments: Sequence[Reference | Expression]) -> Expression:
    """A call of one of these functions, whose first argument must be a pointer."""
    name = node.callee.name
    check_count(name, 1 + ATOMICS.get(name, 0), arguments)
    pointer, *values = arguments
    reference = pointee(pointer) if isinstance(pointer.type, Pointer) else None
    type = reference and reference.type
    if name == "arrayLength" and isinstance(type, Array) and is_runtime_sized(type):
        return ArrayLength(U32, node, reference)
    if name == "workgroupUniformLoad" and reference and origin(reference)[0] == "workgroup":
        inner = type.element if isinstance(type, Atomic) else type
        if is_constructible(inner):
            return UniformLoad(inner, node, reference)
    if name in ATOMICS and isinstance(type, Atomic):
        operands = tuple(as_type(loaded(value), type.element, value) for value in values)
        return AtomicCall(_result(name, type.element), node, str(name), reference, operands)
    raise NotWgsl(WANTED.get(name, "pointer to an atomic"), pointer, value=pointer)


def _result(name: str, element: Type) -> Type | None:
    if name == "atomicCompareExchangeWeak":
        fields = Field("old_value", element, 0), Field("exchanged", BOOL, 1)
        return Struct("__atomic_compare_exchange_result", fields, 2, 1)
    return None if name == "atomicStore" else element


# --- Values made from parts ---------------------------------------------------------------------------------------


def as_type(value: Expression, wanted: Type, place: Span) -> Expression:
    """A value as the type that belongs at a place."""
    fitting = converted(value, wanted)
    if fitting is None:
        raise NotWgsl("fit", place, value=value, wanted=wanted)
    return fitting


def construct(type: Type, arguments: Values, node: tree.Call) -> Expression:
    """A value of a type that is written with all its arguments."""
    if not is_constructible(type):
        raise NotWgsl("not constructible", node, type=type)
    if not arguments:
        return zero(type, node)
    match type:
        case Scalar():
            if len(arguments) > 1 or not isinstance(arguments[0].type, Scalar):
                raise NotWgsl("one number", arguments[-1], type=type)
            return _converted_to(type, arguments[0], node)
        case Vector():
            return _vector(type, arguments, node)
        case Matrix(element, count):
            first = arguments[0].type
            if isinstance(first, Matrix):
                return _converted_matrix(type, arguments[0], node)
            single = isinstance(first, Scalar)
            wanted = [element.element] * element.size * count if single else [element] * count
            return _parts(type, wanted, arguments, node)
        case Array(element, count):
            return _parts(type, [element] * count, arguments, node)
    return _parts(type, [field.type for field in type.fields], arguments, node)


def _converted_matrix(type: Matrix, value: Expression, node: tree.Call) -> Expression:
    """A matrix of one shape with other floats."""
    if shaped(value.type, type.element.element) != type:
        raise NotWgsl("fit", node, value=value, wanted=type)
    return _converted_to(type, value, node)


def infer(arguments: Values, node: tree.Call) -> Expression:
    """``vec3(...)`` or ``array(...)``, whose element type is that of the arguments."""
    types = [argument.type for argument in arguments]
    name = node.callee.name
    scalar = common(types) if types else ABSTRACT_INT
    if name in MATRICES:
        if not types:
            raise needs_type(name)
        return construct(shaped(MATRICES[name], scalar if scalar in FLOATS else ABSTRACT_FLOAT), arguments, node)
    if name != "array":
        if scalar is None or not all(map(components, types)):
            raise NotWgsl("types in a vector", node)
        return construct(Vector(int(name[3]), scalar), arguments, node)
    if not types:
        raise needs_type(name)
    element = shaped(types[0], scalar) if scalar and scalar_of(types[0]) else _settled(arguments)
    if not is_constructible(element):
        raise NotWgsl("elements", node, element=element)
    return construct(Array(element, len(types)), arguments, node)


def _settled(values: Values) -> Type:
    """The type that values without a common scalar become: of abstract and other results of `modf`, that of these."""
    return next((value.type for value in values if concrete(value).type == value.type), values[0].type)


def _converted_to(type: Type, value: Expression, place: Span) -> Expression:
    """A scalar or vector with each component converted."""
    value = converted(value, type) or value
    if value.type == type:
        return replace(value, place=place) if isinstance(value, Constant) else value
    if isinstance(value, Constant):
        check_held(array_of(value), scalar_of(type), place)
        return computed(type, place, convert, array_of(value), scalar_of(type).name)
    return Convert(type, place, value)


def _vector(type: Vector, arguments: Values, node: tree.Call) -> Expression:
    sizes = [components(argument.type) or 1 for argument in arguments]
    if sizes == [type.size]:
        return _converted_to(type, arguments[0], node)
    splat = sizes == [1]
    if sum(sizes) != type.size and not splat:
        raise NotWgsl("components", node, type=type, given=sum(sizes))
    parts = [_component(type, i, arguments, node.callee.name) for i in range(len(arguments))]
    if splat and not isinstance(parts[0], Constant):
        return Splat(type, node, parts[0])
    return joined(type, parts * type.size if splat else parts, node)


def _component(type: Vector, i: int, arguments: Values, name: Word) -> Expression:
    value = arguments[i]
    if components(value.type) and (component := converted(value, shaped(value.type, type.element))):
        return component
    raise _wrong(name, i, arguments, (type.element,))


def _parts(type: Type, wanted: Sequence[Type], arguments: Values, place: Span) -> Expression:
    if len(arguments) != len(wanted):
        raise NotWgsl("values", place, type=type, wanted=len(wanted), given=len(arguments))
    return joined(type, [as_type(*pair, pair[0]) for pair in zip(arguments, wanted, strict=True)], place)


def joined(type: Type, parts: Values, place: Span) -> Expression:
    """A value whose leaves are those of its parts."""
    if all(isinstance(part, Constant) for part in parts):
        check_room(type, place)
        return Constant(type, place, tuple(chain.from_iterable(part.leaves for part in parts)))
    return Construct(type, place, tuple(parts))


def _halves(value: Expression, type: Type) -> Expression | None:
    """Abstract numbers as f16, where a type has as many bits as these; None where it has not."""
    wanted = shaped(value.type, F16)
    fits = scalar_of(value.type) in ABSTRACT and words(wanted) == words(type)
    return converted(value, wanted) if fits else None


def bit_cast(type: Type, arguments: Values, node: tree.Call) -> Expression:
    """``bitcast<type>(value)``."""
    check_count(node.callee.name, 1, arguments)
    (value,) = arguments
    scalar = scalar_of(type)
    halves = _halves(value, type)
    if scalar == U32 and scalar_of(value.type) == ABSTRACT_INT:
        value = converted(value, shaped(value.type, U32))  # all of its 32 bits
    value = halves or concrete(value)
    fits = components(value.type) and components(type) and BOOL not in (scalar_of(value.type), scalar)
    if not fits or words(value.type) != words(type):
        raise NotWgsl("bits", value, value=value, type=type)
    if value.type == type:
        return value
    if isinstance(value, Constant):
        return computed(type, node, bitcast, array_of(value), scalar.name)
    return Bitcast(type, node, value)
