"""The built-in functions that take a pointer, and the barriers."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.simulator.grammar.errors import Refused
from helpers.simulator.types.kinds import BOOL, U32, Array, Atomic, Field, Pointer, Struct, Type
from helpers.simulator.types.overloads import converted, refused
from helpers.simulator.types.program import ArrayLength, AtomicCall, Expression, Part, Reference, UniformLoad
from helpers.simulator.types.references import dereferenced, origin
from helpers.simulator.types.type_names import is_constructible, is_runtime_sized

ATOMICS = {
    **{"atomicLoad": 0, "atomicStore": 1, "atomicExchange": 1, "atomicCompareExchangeWeak": 2},
    **{f"atomic{name}": 1 for name in ("Add", "Sub", "Max", "Min", "And", "Or", "Xor")},
}
BARRIERS = ("workgroupBarrier", "storageBarrier")
NAMES = (*ATOMICS, "arrayLength", "workgroupUniformLoad")


def call(name: str, arguments: Sequence[Expression], place: Part, name_end: int) -> Expression:
    """A call of one of these functions."""
    count = 1 + ATOMICS.get(name, 0)
    callee = Part(place.type, place.at, name_end)
    if len(arguments) < count:
        raise refused(f"wrong number of arguments: expected {count}, found {len(arguments)}", callee)
    if len(arguments) > count:
        raise refused(f"too many arguments passed to `{name}`", callee)
    pointer, *values = arguments
    if not isinstance(pointer.type, Pointer):
        label = "atomic pointer is invalid" if name in ATOMICS else ""
        raise refused("atomic operation is done on a pointer to a non-atomic", pointer, label)
    reference = dereferenced(pointer, pointer.at, pointer.end)
    if name == "arrayLength":
        return _length(reference, pointer, place)
    if name == "workgroupUniformLoad":
        return _uniform(reference, pointer, place)
    return _atomic(name, reference, pointer, values, place)


def _length(reference: Reference, pointer: Expression, place: Part) -> ArrayLength:
    if not isinstance(reference.type, Array) or not is_runtime_sized(reference.type):
        raise refused(f"arrayLength takes a pointer to a runtime-sized array, not to `{reference.type}`", pointer)
    return ArrayLength(U32, place.at, place.end, reference)


def _uniform(reference: Reference, pointer: Expression, place: Part) -> UniformLoad:
    inner = reference.type.element if isinstance(reference.type, Atomic) else reference.type
    if origin(reference)[0] != "workgroup" or not is_constructible(inner):
        raise refused("workgroupUniformLoad takes a pointer to workgroup memory", pointer)
    return UniformLoad(inner, place.at, place.end, reference)


def _atomic(
    name: str, reference: Reference, pointer: Expression, values: Sequence[Expression], place: Part
) -> AtomicCall:
    if not isinstance(reference.type, Atomic):
        label = "atomic pointer is invalid"
        raise refused("atomic operation is done on a pointer to a non-atomic", pointer, label)
    space, access = origin(reference)
    if space not in ("storage", "workgroup") or (access != "read_write" and name != "atomicLoad"):
        reason = "The pointer [0] doesn't relate to a valid destination for an atomic"
        raise refused(reason, pointer, "writing to this location is not permitted")
    element = reference.type.element
    given = []
    for i, value in enumerate(values):
        wanted = converted(value, element)
        if wanted is None:
            raise _wrong(name, i + 2, value)
        given.append(wanted)
    type = _result(name, element)
    return AtomicCall(type, place.at, place.end, name, reference, tuple(given))


def _wrong(name: str, number: int, value: Expression) -> Refused:
    return refused(f"wrong type passed as argument #{number} to `{name}`", value, f"this has type {value.type}")


def _result(name: str, element: Type) -> Type | None:
    if name == "atomicCompareExchangeWeak":
        fields = Field("old_value", element, 0), Field("exchanged", BOOL, 1)
        return Struct("__atomic_compare_exchange_result", fields, 2, 1)
    return None if name == "atomicStore" else element
